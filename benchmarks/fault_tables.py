"""The tables of docs/known-faults.md, from what the bench found."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from faults import CONTROLS, FAULTS, Fault
from known_faults import SHARES, marked, read_lines
from scipy.stats import beta

BESIDE = ("MAUVE, TF-IDF", "MAUVE, GPT-2", "bigram perplexity", "GPT-2 perplexity", "length, t-test")
TOPICS = ("nll_gap", "distance")
LEVEL, MOST = 0.05, 0.8  # of a fault that counts as seen, the share of runs that mark it
Lines = Sequence[Mapping[str, Any]]


def write_tables(found: Sequence[Path], page: Path) -> None:
    """Rewrite what is between the markers of a page."""
    lines = [line for path in found for line in read_lines(path)]
    tables = {
        f"faults-{n}": _faults([one for one in lines if one["n"] == n]) for n in sorted({one["n"] for one in lines})
    }
    tables |= {"summary": _summary(lines), "controls": _controls(lines), "as-the-paper": _as_the_paper(lines)}
    text = page.read_text("utf-8")
    for name, table in tables.items():
        between = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
        text = re.sub(between, lambda found, rows=table: found[1] + rows + found[2], text, flags=re.DOTALL)
    page.write_text(text, "utf-8")


def before(line: Mapping[str, Any]) -> bool:
    """Whether `criticise` of ca39240 marked it: topics alone, each test for itself."""
    return any(line["p"].get(key, 1.0) < LEVEL for key in TOPICS)


def right(line: Mapping[str, Any], fault: Fault) -> bool | None:
    """Whether the first cause is one of the right ones; None where nothing is marked."""
    causes = marked(line)
    return causes[0] in fault.right if causes else None


def _of(lines: Lines, fault: str, share: float) -> Lines:
    return [line for line in lines if line["fault"] == fault and line["share"] == share]


def _share(seen: Sequence[bool]) -> str:
    return f"{sum(seen)}/{len(seen)}" if seen else ""


def _row(lines: Lines, fault: Fault, share: float) -> list[str]:
    own = _of(lines, fault.name, share)
    judged = [right(line, fault) for line in own]
    causes = [one for one in judged if one is not None]
    return [
        _share([before(line) for line in own]),
        _share([one is not None for one in judged]),
        _share(causes),
        *(_share([line["beside"][name] < LEVEL for line in own]) for name in BESIDE),
    ]


def _faults(lines: Lines) -> str:
    heads = ["fault", "share", "before", "scorecard", "right cause", *BESIDE]
    rows = [
        [fault.name if fault.published else f"{fault.name} (ours)", f"{share:.0%}", *_row(lines, fault, share)]
        for fault in FAULTS
        for share in SHARES
        if _of(lines, fault.name, share)
    ]
    return _table(heads, rows)


def _seen(lines: Lines, published: bool, share: float, how: str) -> str:
    """How many faults are marked in 80% of runs."""
    faults = [fault for fault in FAULTS if fault.published is published and fault.right]
    shares = []
    for fault in faults:
        own = _of(lines, fault.name, share)
        if own:
            shares.append(sum(_marks(line, how) for line in own) / len(own))
    return f"{sum(one >= MOST for one in shares)} of {len(shares)}"


def _marks(line: Mapping[str, Any], how: str) -> bool:
    if how == "before":
        return before(line)
    return bool(marked(line)) if how == "scorecard" else line["beside"][how] < LEVEL


def _summary(lines: Lines) -> str:
    heads = ["n", "share of documents", "whose faults", "before", "scorecard", *BESIDE]
    rows = [
        [str(n), f"{share:.0%}", "published" if published else "ours"]
        + [
            _seen([one for one in lines if one["n"] == n], published, share, how)
            for how in ("before", "scorecard", *BESIDE)
        ]
        for n in sorted({line["n"] for line in lines})
        for share in SHARES
        for published in (True, False)
        if any(_of([one for one in lines if one["n"] == n], f.name, share) for f in FAULTS if f.published is published)
    ]
    return _table(heads, rows)


def _controls(lines: Lines) -> str:
    rows = []
    for n in sorted({line["n"] for line in lines}):
        for name, share, _ in CONTROLS:
            own = [one for one in lines if one["n"] == n and one["share"] == share and one["fault"].startswith(name)]
            if own:
                cards = [bool(marked(line)) for line in own]
                runs = len({line["run"] for line in own})
                rows.append(
                    [
                        name,
                        str(n),
                        _share(cards),
                        _interval(sum(cards), len(cards)),
                        str(runs),
                        _share([*map(before, own)]),
                        *(
                            _share([line["beside"][one] < LEVEL for line in own if one in line["beside"]])
                            for one in BESIDE
                        ),
                    ]
                )
    return _table(["control", "n", "cards marked", "95% interval", "dealings", "before", *BESIDE], rows)


def _interval(marks: int, cards: int) -> str:
    """Clopper and Pearson's."""
    low = beta.ppf(0.025, marks, cards - marks + 1) if marks else 0.0
    high = beta.ppf(0.975, marks + 1, cards - marks) if marks < cards else 1.0
    return f"{low:.1%} to {high:.1%}"


def _as_the_paper(lines: Lines) -> str:
    """Pass where most runs mark the faulty set, all documents of it faulty, and none of its twin is."""
    ns = sorted({line["n"] for line in lines})
    heads = ["test", *(f"{what}, n = {n}" for n in ns for what in ("scorecard", "MAUVE, TF-IDF", "MAUVE, GPT-2"))]
    rows = []
    for fault in FAULTS:
        if fault.published:
            cells = []
            for n in ns:
                own = _of([one for one in lines if one["n"] == n], fault.name, 1.0)
                for how in ("scorecard", "MAUVE, TF-IDF", "MAUVE, GPT-2"):
                    share = sum(_marks(line, how) for line in own) / len(own) if own else None
                    cells.append("" if share is None else "pass" if share >= MOST else "fail")
            rows.append([fault.name, *cells])
    return _table(heads, rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    def lines() -> Iterator[str]:
        yield "| " + " | ".join(heads) + " |"
        yield "|---" * len(heads) + "|"
        yield from ("| " + " | ".join(row) + " |" for row in rows)

    return "\n".join(lines()) + "\n"
