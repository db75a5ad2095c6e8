"""The tables of importance sampling, for reading."""

from collections.abc import Sequence

import pandas as pd

from textcritic.experiments.importance.files import MIXED
from textcritic.experiments.importance.names import PEEKLESS, ImportanceNames, temperature_name
from textcritic.experiments.importance.rows import EXACT
from textcritic.measures.numbers import MINUS, NONE, count, difference, interval, missing, number, percent
from textcritic.report.cells import interval_cell, matching, unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Line, Sheet, plain_sheet
from textcritic.values import Row

VERDICTS = {"no sign": "no sign", "too few": "yes", "unclear": "unclear", EXACT: "exact"}
MODEL = ["corpus", "generator", "proposal", "seed"]
SETTING_HEADS = ("Setting", "Value", Cell("What it is", words=True))
WORST = 3  # texts of each estimate that the table of texts names


def estimates_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """Every estimate under the name of its model, with three intervals in columns of their own."""
    filtered, own = (bool(rows[key].notna().any()) for key in ("smc", "gap"))
    heads = (
        "", "Perplexity", *["Particle filter"] * filtered, "Other texts", "Other draws", "The truth is at most",
        "Corpus level", "Effective draws", "Too few draws?",
        *["Gap on own texts"] * own,
    )  # fmt: skip
    body: list[Line] = []
    for _, model in rows.groupby(["corpus", "generator", "seed"], sort=False):
        body.append([Cell(names.model(model.iloc[0].to_dict()), span=len(heads), heading=True)])
        for row in model.to_dict("records"):
            name = Cell(EXACT if row["verdict"] == EXACT else names.short(row))
            body.append([name, *_estimate(row, filtered), *[_gap(row)] * own])
    texts = "; ".join(
        f"{corpus}: {count(group['texts'].iloc[0])} texts, T = {count(group['tokens'].iloc[0])} tokens"
        for corpus, group in rows.groupby("corpus", sort=False)
    )
    draws, particles = (" or ".join(count(k) for k in unique(rows[key].dropna())) for key in ("draws", "particles"))
    parts = {
        "mixed": (rows["temperature"] == MIXED).any(),
        "filter": filtered,
        "ratio": rows["ratio"].notna().any(),
        "gap": own,
    }
    headings = ["estimates", *(f"estimates: {part}" for part, is_there in parts.items() if is_there)]
    remarks = remarks_of(__file__, *headings, draws=draws, texts=texts, particles=particles)
    for why in unique(why for why in rows["ci_why"] if why):
        remarks.append(f"There is {why}." if why.startswith("no ") else f"Other texts: {why}.")
    return plain_sheet("estimates", "Perplexity by importance sampling", heads, body, remarks)


def bounds_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """Strict bounds by the likeliest states, a row each."""
    has_exact, few = bool(rows["exact"].notna().any()), rows["filled"] < rows["states"]
    body: list[Line] = []
    for row, is_few in zip(rows.to_dict("records"), few, strict=True):
        states = Cell(count(row["states"]), (f"{number(row['filled'])} on average",) if is_few else ())
        values = [number(row["ppl"]), number(row["estimate"])]
        body.append([names.drawn(row | {"peeks": True}), states, *values, *[_exact(row)] * has_exact])
    remarks = remarks_of(__file__, "bounds", *["bounds: few"] * bool(few.any()))
    heads = ("Model", "States, k", "Perplexity is at most", "Estimate", *["Exact"] * has_exact)
    return plain_sheet("bounds", "Strict bounds of perplexity", heads, body, remarks)


def curves_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """Perplexity against K at instance level, a column for each estimate."""
    points = rows[rows["level"] == "instance"]
    columns = [group for _, group in points.groupby([*MODEL, "temperature", "peeks"], sort=False)]
    by_draws = [{row["draws"]: row for row in column.to_dict("records")} for column in columns]
    body: list[Line] = [
        [
            count(k),
            *(interval_cell(of[k], ("ppl", "low", "high"), number) if k in of else NONE for of in by_draws),
        ]
        for k in sorted(set(points["draws"]))
    ]
    heads = ["K", *(names.estimate(column.iloc[0].to_dict()) for column in columns)]
    return plain_sheet("curves", "Perplexity against the number of draws", heads, body, remarks_of(__file__, "curves"))


def texts_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """Quantiles over texts of effective draws and k-hat, and the texts that are estimated worst."""
    heads: Line = ["Model", "Effective draws: worst tenth", "median", "best tenth", "k-hat: median", "worst tenth"]
    body: list[Line] = []
    for _, group in rows.groupby([*MODEL, "temperature", "peeks"], sort=False):
        quantiles = [*group["ess"].quantile([0.1, 0.5, 0.9]), *group["k_hat"].quantile([0.5, 0.9])]
        worst = group.sort_values("ess", kind="stable").head(WORST)
        ids = Cell(", ".join(worst["id"]), words=True)
        body.append([names.estimate(group.iloc[0].to_dict()), *map(number, quantiles), ids])
    heads.append(Cell("Fewest effective draws", words=True))
    return plain_sheet("texts", "How well single texts are estimated", heads, body, remarks_of(__file__, "texts"))


def settings_sheet(rows: pd.DataFrame, _: ImportanceNames) -> Sheet:
    """How the estimates were made."""
    body: list[Line] = [
        [row["name"], str(row["value"]), Cell(row["meaning"], words=True)] for row in rows.to_dict("records")
    ]
    return plain_sheet("settings", "How the estimates were made", heads=SETTING_HEADS, body=body)


def paper_estimates_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """IS Table 1: both levels by temperature, a column for each model; published values under ours."""
    drawn = rows[rows["proposal"] != ""]
    columns = _columns(drawn)
    levels = {
        "Corpus level": ("pairing_mean", "published_corpus", "difference_corpus"),
        "Instance level": ("ppl", "published", "difference"),
    }
    lines = [(True, t) for t in sorted(set(drawn.loc[drawn["peeks"], "temperature"]))]
    lines += [(False, t) for t in unique(drawn.loc[~drawn["peeks"], "temperature"])]
    body: list[Line] = []
    for level, keys in levels.items():
        body.append([level, *("" for _ in columns)])
        for peeks, temperature in lines:
            row_of_models = [_of_line(drawn, column, peeks, temperature) for column in columns]
            name = temperature_name(temperature) if peeks else PEEKLESS
            body.append([name, *(_with_published(one, *keys) for one in row_of_models)])
    heads = ["", *(names.drawn({**column, "peeks": True}) for column in columns)]
    remarks = [_of_models(drawn), *_of_published(drawn["published"])]
    return plain_sheet("estimates", "Perplexity by temperature and level", heads, body, remarks)


def paper_bounds_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """IS Table 2: strict bounds, a column for each model; published values under ours."""
    columns = _columns(rows)
    body: list[Line] = []
    for states in sorted(set(rows["states"])):
        row_of_models = [matching(rows, {**column, "states": states}).to_dict("records") for column in columns]
        cells = (_with_published(next(iter(one), None), "ppl", "published", "difference") for one in row_of_models)
        body.append([f"k = {states:,}", *cells])
    heads = ["", *(names.drawn({**column, "peeks": True}) for column in columns)]
    return plain_sheet("bounds", "Strict bounds", heads, body, _of_published(rows["published"]))


def _estimate(row: Row, filtered: bool) -> Line:
    smc: Line = [interval_cell(row, ("smc", "smc_low", "smc_high"), number)] * filtered
    texts = interval(row["ci_low"], row["ci_high"])
    if row["verdict"] == EXACT:
        return [number(row["ppl"]), *smc, texts, *[NONE] * 4, EXACT]
    notes = [*_printed(row, "published", "difference"), *_off(row)]
    if not missing(row["ratio"]):
        notes.append(f"ratio {number(row['ratio'])}")
        notes += [] if missing(row["ratio_low"]) else [interval(row["ratio_low"], row["ratio_high"])]
    pairing = interval(row["pairing_low"], row["pairing_high"])
    tail = "no k-hat" if missing(row["k_hat_poor"]) else f"{percent(row['k_hat_poor'])} of texts"
    return [
        Cell(number(row["ppl"]), tuple(notes)),
        *smc,
        texts,
        interval(row["draws_low"], row["draws_high"]),
        number(row["truth_at_most"]),
        Cell(number(row["pairing_mean"]), (pairing, *_printed(row, "published_corpus", "difference_corpus"))),
        Cell(number(row["ess"]), (tail,)),
        VERDICTS[row["verdict"]],
    ]


def _gap(row: Row) -> Cell:
    """The gap with its interval, or in how many texts it is infinite."""
    if missing(row["gap"]):
        return Cell(NONE)
    lost = int(row["gap_unreached"])
    note = f"{count(lost)} of {count(row['own_texts'])} texts" if lost else interval(row["gap_low"], row["gap_high"])
    return Cell(number(row["gap"]), () if note == NONE else (note,))


def _off(row: Row) -> list[str]:
    """How far an estimate is from the exact value, if that is known."""
    return [] if missing(row["exact"]) else [f"{_signed(row['ppl'] / row['exact'] - 1)} off"]


def _signed(share: float) -> str:
    return f"{'+' if share >= 0 else MINUS}{percent(abs(share))}"


def _exact(row: Row) -> Cell:
    if missing(row["exact"]):
        return Cell(NONE)
    return Cell(number(row["exact"]), (f"{_signed(row['ppl'] / row['exact'] - 1)} off",))


def _printed(row: Row, printed: str, gap: str) -> tuple[str, ...]:
    if missing(row[printed]):
        return ()
    return (f"published {row[printed]:,.1f}", f"ours {difference(row[gap], of=row[printed])}")


def _with_published(row: Row | None, value: str, printed: str, gap: str) -> Cell:
    return Cell(NONE) if row is None else Cell(number(row[value]), _printed(row, printed, gap))


def _columns(rows: pd.DataFrame) -> list[Row]:
    """Models with their proposals that peek; if no proposal peeks, all models have columns."""
    peeking = rows[rows["peeks"]] if "peeks" in rows and rows["peeks"].any() else rows
    columns: Sequence[Row] = peeking.drop_duplicates(MODEL)[MODEL].to_dict("records")
    return list(columns)


def _of_line(rows: pd.DataFrame, column: Row, peeks: bool, temperature: float) -> Row | None:
    """The row of a model at a temperature; without peeking its proposal is a different one."""
    keys = MODEL if peeks else [key for key in MODEL if key != "proposal"]
    own = matching(rows, {key: column[key] for key in keys} | {"peeks": peeks, "temperature": temperature})
    records: list[Row] = own.to_dict("records")
    return records[0] if records else None


def _of_models(rows: pd.DataFrame) -> str:
    draws = " or ".join(f"{count(k)}" for k in unique(rows["draws"]))
    return f"Per token; lower is better. K = {draws} draws of each text. Corpus level: the mean over random pairings."


def _of_published(printed: pd.Series) -> list[str]:
    if printed.isna().all():
        return []
    return ["Under each value: the published one, on other data and with other models, and ours minus it."]
