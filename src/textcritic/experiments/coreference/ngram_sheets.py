"""Tables of windows of mentions, for reading, in the paper's shape (Tables 6, 15, 16 and 17)."""

from collections.abc import Callable, Iterable, Iterator

import pandas as pd

from textcritic.critics.mentions import BOS, MINIMUM, THRESHOLD
from textcritic.experiments.coreference.ngrams import ALL, CONTRIBUTING, LESS, MORE, OTHERS, UNLIKELY
from textcritic.measures.names import Names
from textcritic.measures.numbers import MINUS, NONE, count, missing, percent, plural
from textcritic.plan.sources import GROUP
from textcritic.report.cells import by_source
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet
from textcritic.values import Row

LETTERS = {"MALE": "M", "FEMALE": "F", "PLURAL": "P", "None": "N"}
DAGGER = "†"
LIKELIER = "Likelier"
ORDER = 5  # columns of a table without a window
TOKENS = (
    "M (male), F (female), P (plural), N (none of these): names and other words than pronouns. The number is that of "
    "the person in the window. A full stop is the start of a sentence, a blank is before the start of the text. "
    f"{DAGGER}: a small positive number."
)
RANDOM = "The published windows are a random choice; they have our critic's log P, also if they do not occur here."
DIRECTIONS = {MORE: "likelier in the sample", LESS: "likelier in real text"}


def contributions_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The windows that contribute most to the difference of each sample from real text (Table 6)."""
    order = _order(rows)
    heads = ("% in real text", "% in the sample", "log P", "Contribution")

    def cells(row: Row) -> list[Cell]:
        log_prob = NONE if row["window"] in (ALL, OTHERS) else _fixed(row["log_prob"], 2)
        span = _span(row, "contribution_low", "contribution_high", lambda nats: _fixed(nats, 4))
        return [*_shares(row), Cell(log_prob), Cell(_fixed(row["contribution"], 4), tuple(span))]

    body = []
    for heading, group in _samples(rows, names, order + len(heads)):
        body.append(heading)
        whole, *windows = group
        if windows:
            body += [[*_window(row, order), *cells(row)] for row in windows[:-1]]
            for words, row in (("all other windows", windows[-1]), ("all windows", whole)):
                body.append([Cell(words, span=order), *cells(row)])
    remarks = [
        f"The {CONTRIBUTING} windows of {order} tokens that contribute most{_and_published(rows)}. {TOKENS}",
        *remarks_of(__file__, "contributions"),
        *_sums(rows, names),
    ]
    caption = "What makes the chains of mentions of a sample differ from those of real text"
    return Sheet("coreference-ngrams", caption, _header(order, heads), body, stubs=order, remarks=remarks)


def unlikely_sheet(rows: pd.DataFrame, names: Names) -> Sheet:
    """The commonest unlikely windows of each sample, and the likelier mention (Table 15)."""
    order = _order(rows)
    heads = ("log P", LIKELIER, "its log P", "% in the sample", "% in real text")

    def cells(row: Row) -> list[Cell]:
        published = [
            f"published {_fixed(row[f'published_{name}'], 2)}" for name in ("log_prob", "alternative_log_prob")
        ]
        has_published = [not missing(row[f"published_{name}"]) for name in ("log_prob", "alternative_log_prob")]
        other = [f"published {_token(row['published_alternative'])}"] * bool(row["published_alternative"])
        real, sample = _shares(row)
        return [
            Cell(_fixed(row["log_prob"], 2), tuple(published[:1] * has_published[0])),
            Cell(_token(row["alternative"]) if row["alternative"] else NONE, tuple(other), narrow=True),
            Cell(_fixed(row["alternative_log_prob"], 2), tuple(published[1:] * has_published[1])),
            sample,
            real,
        ]

    body = []
    for heading, (whole, *windows) in _samples(rows, names, order + len(heads)):
        body.append(heading)
        if not missing(whole["percent"]):
            real, sample = _shares(whole)
            kinds = plural(int(whole["windows"]), "different window")
            body.append([Cell("all of them", (kinds,), span=order), *[Cell("")] * 3, sample, real])
        body += [[*_window(row, order), *cells(row)] for row in windows]
    remarks = [
        f"Windows with log P below {_fixed(THRESHOLD, 0)} under the critic, the {UNLIKELY} commonest of each sample, "
        f"equally common ones in alphabetical order{_and_published(rows)}. {TOKENS}",
        *remarks_of(__file__, "unlikely"),
        *[RANDOM] * bool(rows["published_log_prob"].notna().any()),
    ]
    caption = "Unlikely chains of mentions, and the likelier mention"
    return Sheet("coreference-unlikely", caption, _header(order, heads), body, stubs=order, remarks=remarks)


def ratios_sheet(rows: pd.DataFrame, names: Names, directions: Iterable[str] = (MORE, LESS)) -> Sheet:
    """Windows that a sample finds likelier than real text does, and the reverse (Tables 16 and 17).

    Args:
        rows: as `ngrams.ratio_rows` makes them.
        names: of the sources.
        directions: the directions to show.
    """
    order = _order(rows)
    heads = ("P in real text", "P in the sample", "Log-ratio")
    chosen = tuple(directions)
    body: list[list[Cell]] = []
    for heading, group in _samples(rows, names, order + len(heads)):
        body.append(heading)
        for direction in chosen:
            shown = [row for row in group if row["direction"] == direction]
            words = DIRECTIONS[direction] if shown else f"no window is {DIRECTIONS[direction]}"
            if len(chosen) > 1 or not shown:
                body.append([Cell(words, span=order + len(heads))])
            body += [[*_window(row, order), *_ratio(row)] for row in shown]
    remarks = [
        f"Windows that occur at least {MINIMUM} times in both{_and_published(rows)}. {TOKENS}",
        *remarks_of(__file__, "ratios"),
        *_compared(rows, names),
    ]
    caption = "Chains of mentions that are likelier in a sample than in real text, and the reverse"
    return Sheet("coreference-ratios", caption, _header(order, heads), body, stubs=order, remarks=remarks)


def _ratio(row: Row) -> list[Cell]:
    cells = []
    for prefix in ("real_", ""):
        notes = _span(row, f"{prefix}low", f"{prefix}high", lambda p: _fixed(p, 2))
        notes += [plural(int(row[f"{prefix}count"]), "time")]
        cells.append(Cell(_small(row[f"{prefix}probability"]), (*notes, *_published_note(row, f"{prefix}published"))))
    span = _span(row, "ratio_low", "ratio_high", lambda ratio: _fixed(ratio, 2))
    return [*cells, Cell(_fixed(row["log_ratio"], 2), tuple(span))]


def _samples(rows: pd.DataFrame, names: Names, columns: int) -> Iterator[tuple[list[Cell], list[Row]]]:
    """The row that heads each sample, and the rows of its windows."""
    for name, group in by_source(rows, names):
        windows = group.to_dict("records")
        nothing = ("nothing could be scored",) * bool(windows[0].get("tokens") == 0)
        yield [Cell(name, nothing, span=columns, heading=True)], windows


def _shares(row: Row) -> list[Cell]:
    """The share in real text and in the sample."""
    cells = []
    for prefix in ("real_", ""):
        span = _span(row, f"{prefix}ci_low", f"{prefix}ci_high", lambda share: _fixed(share, 2))
        occurs = count(row[f"{prefix}count"])
        notes = [
            *span * bool(0 < row[f"{prefix}count"] < row[f"{prefix}tokens"]),
            f"{occurs} of {count(row[f'{prefix}tokens'])}",
        ]
        cells.append(Cell(_small(row[f"{prefix}percent"]), (*notes, *_published_note(row, f"{prefix}published"))))
    return cells


def _published_note(row: Row, column: str) -> list[str]:
    value = row.get(column)
    return [] if missing(value) else [f"published {_fixed(value, 2)}"]


def _window(row: Row, order: int) -> list[Cell]:
    tokens = str(row["window"]).split()
    return [Cell(_token(token), narrow=True) for token in tokens] if tokens else [Cell(NONE, span=order)]


def _token(token: str) -> str:
    """A token as the paper prints it: `M0`, `his0`, `.`, nothing for padding."""
    symbol, _, label = token.rpartition(":")
    return f"{LETTERS.get(symbol, symbol)}{label}" if symbol else token.removeprefix(BOS)


def _order(rows: pd.DataFrame) -> int:
    windows = rows.loc[~rows["window"].isin((ALL, OTHERS, "")), "window"]
    return len(windows.iloc[0].split()) if len(windows) else ORDER


def _header(order: int, heads: Iterable[str]) -> list[list[Cell]]:
    return [
        [
            *(Cell(f"z{place}", narrow=True) for place in range(1, order + 1)),
            *(Cell(head, narrow=head == LIKELIER) for head in heads),
        ]
    ]


def _sums(rows: pd.DataFrame, names: Names) -> list[str]:
    """The sum of the contributions of each sample, and the part of it that is shown."""
    sums = []
    for name, group in by_source(rows[rows["contribution"].notna()], names):
        whole = group[group["window"] == ALL].iloc[0]
        shown = group[group["rank"].notna()]["contribution"].sum()
        words = f"{name}: {_fixed(whole['contribution'], 4)} over all windows"
        part = f" ({percent(shown / whole['contribution'])})" if 0 < shown <= whole["contribution"] else ""
        sums.append(f"{words}, {_fixed(shown, 4)}{part} by the {len(group[group['rank'].notna()])} shown")
    if not sums:
        return []
    start = "Over all windows contributions add up to log Latent PPL of the sample minus log Latent PPL of real text"
    return [f"{start}. {'; '.join(sums)}."]


def _compared(rows: pd.DataFrame, names: Names) -> list[str]:
    firsts = rows.drop_duplicates(["source", *GROUP]).to_dict("records")
    counts = [
        f"{names.source(row, seed=False)}, {count(row['windows'])}" for row in firsts if not missing(row["windows"])
    ]
    return [f"Windows compared: {'; '.join(counts)}."] if counts else []


def _and_published(rows: pd.DataFrame) -> str:
    columns = [name for name in rows.columns if name.startswith(("published", "real_published"))]
    numbers = [name for name in columns if name != "published_alternative"]
    return ", and those published" if rows[numbers].notna().any(axis=None) else ""


def _span(row: Row, low: str, high: str, written: Callable[[float], str]) -> list[str]:
    """An interval in words; empty if there is none."""
    return [] if missing(row[low]) else [f"{written(row[low])} to {written(row[high])}"]


def _small(value: float | None) -> str:
    """Two decimals; a dagger if that is 0 and the value is not."""
    if value is None or missing(value):
        return NONE
    return _fixed(value, 2) + DAGGER * (0 < value < 0.005)


def _fixed(value: float | None, decimals: int) -> str:
    """A number with so many decimals and a true minus sign."""
    if value is None or missing(value):
        return NONE
    written = f"{value:.{decimals}f}"
    return written.removeprefix("-") if float(written) == 0 else written.replace("-", MINUS)
