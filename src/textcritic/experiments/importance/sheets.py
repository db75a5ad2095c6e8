"""The tables of importance sampling, for reading."""

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from textcritic.experiments.importance.files import MIXED
from textcritic.experiments.importance.names import ALL, PEEKLESS, ImportanceNames, temperature_name
from textcritic.experiments.importance.rows import EXACT
from textcritic.measures.numbers import MINUS, NONE, count, difference, interval, missing, number, percent
from textcritic.report.cells import unique
from textcritic.report.prose import remarks_of
from textcritic.report.sheet import Cell, Sheet

VERDICTS = {"enough": "yes", "not enough": "no", "unclear": "unclear", EXACT: "exact"}
MODEL = ["corpus", "generator", "proposal", "seed"]
WORST = 3  # texts of each estimate that the table of texts names


def estimates_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """Every estimate under the name of its model, with its three intervals, each under a heading of its own."""
    filtered = bool(rows["smc"].notna().any())
    heads = (
        "", "Perplexity", *["Particle filter"] * filtered, "Other texts", "Other draws", "The truth is at most",
        "Corpus level", "Effective draws", "Is K enough?",
    )  # fmt: skip
    body = []
    for _, model in rows.groupby(["corpus", "generator", "seed"], sort=False):
        body.append([Cell(names.model(model.iloc[0].to_dict()), span=len(heads), heading=True)])
        body += [_estimate(row, names, filtered) for row in model.to_dict("records")]
    texts = "; ".join(
        f"{corpus}: {count(group['texts'].iloc[0])} texts, T = {count(group['tokens'].iloc[0])} tokens"
        for corpus, group in rows.groupby("corpus", sort=False)
    )
    draws = " or ".join(count(k) for k in unique(rows["draws"].dropna()))
    remarks = [
        *remarks_of(__file__, "estimates", draws=draws, texts=texts),
    ]
    if (rows["temperature"] == MIXED).any():
        remarks.append(
            f"{ALL.capitalize()}: the draws of all temperatures together, weighed as draws from the mixture of them; "
            "no weight is then much larger than under the temperature that suits it best."
        )
    if filtered:
        particles = " or ".join(count(k) for k in unique(rows["particles"].dropna()))
        remarks.append(
            f"Particle filter: the same perplexity by sequential Monte Carlo with {particles} particles of each text "
            "and the same proposal, with its 95% interval over texts; it is too high on average too."
        )
    if rows["ratio"].notna().any():
        remarks.append(
            "Ratio: this perplexity divided by that of the model without latent states, over the same texts, with its "
            "95% interval; below 1 the model with latent states is better."
        )
    remarks += [f"There is {why}." for why in unique(why for why in rows["ci_why"] if why)]
    caption = "Perplexity by importance sampling"
    return Sheet("estimates", caption, [[Cell(head) for head in heads]], body, remarks=remarks)


def bounds_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """Strict bounds by the likeliest states, a row each."""
    body, known = [], bool(rows["exact"].notna().any())
    for row in rows.to_dict("records"):
        name = names.drawn(row | {"peeks": True})
        few = row["filled"] < row["states"]
        states = Cell(count(row["states"]), (f"{number(row['filled'])} on average",) if few else ())
        cells = [states, Cell(number(row["ppl"])), Cell(number(row["estimate"])), *[_exact(row)] * known]
        body.append([Cell(name, heading=True), *cells])
    remarks = [
        *remarks_of(__file__, "bounds"),
        *(
            ["Where a text has fewer states than k, all of them are summed."]
            if (rows["filled"] < rows["states"]).any()
            else []
        ),
    ]
    heads = ("Model", "States, k", "Perplexity is at most", "Estimate", *["Exact"] * known)
    return Sheet("bounds", "Strict bounds of perplexity", [[Cell(head) for head in heads]], body, remarks=remarks)


def curves_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """Perplexity against K at instance level, a column for each estimate."""
    points = rows[rows["level"] == "instance"]
    columns = [group for _, group in points.groupby([*MODEL, "temperature", "peeks"], sort=False)]
    draws = sorted(set(points["draws"]))
    body = []
    for k in draws:
        cells = []
        for column in columns:
            found = column[column["draws"] == k].to_dict("records")
            cells.append(
                Cell(number(found[0]["ppl"]), (interval(found[0]["low"], found[0]["high"]),)) if found else Cell(NONE)
            )
        body.append([Cell(count(k), heading=True), *cells])
    header = [[Cell("K"), *(Cell(names.estimate(column.iloc[0].to_dict())) for column in columns)]]
    remarks = ["The mean over random orders of the draws, and under it what the middle 95% of them lie between."]
    return Sheet("curves", "Perplexity against the number of draws", header, body, remarks=remarks)


def texts_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """How effective draws and k-hat are spread over texts, and the texts that are estimated worst."""
    heads = ("Model", "Effective draws: worst tenth", "median", "best tenth", "k-hat: median", "worst tenth")
    body = []
    for _, group in rows.groupby([*MODEL, "temperature", "peeks"], sort=False):
        low, middle, high = group["ess"].quantile([0.1, 0.5, 0.9])
        tail, worst_tail = group["k_hat"].quantile([0.5, 0.9])
        worst = group.sort_values("ess", kind="stable").head(WORST)
        cells = [Cell(number(value)) for value in (low, middle, high, tail, worst_tail)]
        ids = Cell(", ".join(worst["id"]), words=True)
        body.append([Cell(names.estimate(group.iloc[0].to_dict()), heading=True), *cells, ids])
    header = [[*(Cell(head) for head in heads), Cell("Fewest effective draws", words=True)]]
    remarks = ["Quantiles over texts. A k-hat of 0.7 or more says that a few draws decide the estimate of a text."]
    return Sheet("texts", "How well single texts are estimated", header, body, remarks=remarks)


def settings_sheet(rows: pd.DataFrame, _: ImportanceNames) -> Sheet:
    """How the estimates were made."""
    body = [
        [Cell(row["name"], heading=True), Cell(str(row["value"])), Cell(row["meaning"], words=True)]
        for row in rows.to_dict("records")
    ]
    header = [[Cell("Setting"), Cell("Value"), Cell("What it is", words=True)]]
    return Sheet("settings", "How the estimates were made", header, body)


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
    body = []
    for level, (value, printed, gap) in levels.items():
        body.append([Cell(level, heading=True), *(Cell("") for _ in columns)])
        for peeks, temperature in lines:
            name = temperature_name(temperature) if peeks else PEEKLESS
            cells = []
            for column in columns:
                found = _of_line(drawn, column, peeks, temperature)
                cells.append(_beside_published(found, value, printed, gap) if found else Cell(NONE))
            body.append([Cell(name, heading=True), *cells])
    header = [[Cell(""), *(Cell(names.drawn(column | {"peeks": True})) for column in columns)]]
    remarks = [_of_models(drawn), *_of_published(drawn["published"])]
    return Sheet("estimates", "Perplexity by temperature and level", header, body, remarks=remarks)


def paper_bounds_sheet(rows: pd.DataFrame, names: ImportanceNames) -> Sheet:
    """IS Table 2: strict bounds, a column for each model; published values under ours."""
    columns = _columns(rows)
    body = []
    for states in sorted(set(rows["states"])):
        cells = []
        for column in columns:
            own = rows[(rows[MODEL] == pd.Series(column)[MODEL]).all(axis=1) & (rows["states"] == states)]
            found = own.to_dict("records")
            cells.append(_beside_published(found[0], "ppl", "published", "difference") if found else Cell(NONE))
        body.append([Cell(f"k = {states:,}", heading=True), *cells])
    header = [[Cell(""), *(Cell(names.drawn(column | {"peeks": True})) for column in columns)]]
    return Sheet("bounds", "Strict bounds", header, body, remarks=_of_published(rows["published"]))


def _estimate(row: Mapping[str, Any], names: ImportanceNames, filtered: bool) -> list[Cell]:
    texts, smc = Cell(interval(row["ci_low"], row["ci_high"])), [_filtered(row)] * filtered
    if row["verdict"] == EXACT:
        return [Cell(EXACT), Cell(number(row["ppl"])), *smc, texts, *[Cell(NONE)] * 4, Cell(EXACT)]
    notes = [*_printed(row, "published", "difference"), *_off(row)]
    if not missing(row["ratio"]):
        notes.append(f"ratio {number(row['ratio'])}")
        notes += [] if missing(row["ratio_low"]) else [interval(row["ratio_low"], row["ratio_high"])]
    pairing = interval(row["pairing_low"], row["pairing_high"])
    tail = "no k-hat" if missing(row["k_hat_poor"]) else f"{percent(row['k_hat_poor'])} of texts"
    return [
        Cell(names.short(row)),
        Cell(number(row["ppl"]), tuple(notes)),
        *smc,
        texts,
        Cell(interval(row["draws_low"], row["draws_high"])),
        Cell(number(row["truth_at_most"])),
        Cell(number(row["pairing_mean"]), (pairing, *_printed(row, "published_corpus", "difference_corpus"))),
        Cell(number(row["ess"]), (tail,)),
        Cell(VERDICTS[row["verdict"]]),
    ]


def _filtered(row: Mapping[str, Any]) -> Cell:
    """The estimate of a particle filter and its interval over texts."""
    if missing(row["smc"]):
        return Cell(NONE)
    return Cell(number(row["smc"]), () if missing(row["smc_low"]) else (interval(row["smc_low"], row["smc_high"]),))


def _off(row: Mapping[str, Any]) -> list[str]:
    """How far an estimate is from the exact value, where that is known."""
    return [] if missing(row["exact"]) else [f"{_signed(row['ppl'] / row['exact'] - 1)} off"]


def _signed(share: float) -> str:
    return f"{'+' if share >= 0 else MINUS}{percent(abs(share))}"


def _exact(row: Mapping[str, Any]) -> Cell:
    if missing(row["exact"]):
        return Cell(NONE)
    return Cell(number(row["exact"]), (f"{_signed(row['ppl'] / row['exact'] - 1)} off",))


def _printed(row: Mapping[str, Any], printed: str, gap: str) -> tuple[str, ...]:
    if missing(row[printed]):
        return ()
    return (f"published {row[printed]:,.1f}", f"ours {difference(row[gap], of=row[printed])}")


def _beside_published(row: Mapping[str, Any], value: str, printed: str, gap: str) -> Cell:
    return Cell(number(row[value]), _printed(row, printed, gap))


def _columns(rows: pd.DataFrame) -> list[dict[str, Any]]:
    """Models with their proposals that peek; one whose only proposal does not has a column too."""
    found = rows[rows["peeks"]] if "peeks" in rows and rows["peeks"].any() else rows
    columns: Sequence[dict[str, Any]] = found.drop_duplicates(MODEL)[MODEL].to_dict("records")
    return list(columns)


def _of_line(rows: pd.DataFrame, column: Mapping[str, Any], peeks: bool, temperature: float) -> dict[str, Any] | None:
    """The row of a model at a temperature; without peeking its proposal is another."""
    keys = MODEL if peeks else [key for key in MODEL if key != "proposal"]
    own = rows[(rows["peeks"] == peeks) & (rows["temperature"] == temperature)]
    for key in keys:
        own = own[own[key] == column[key]]
    records: list[dict[str, Any]] = own.to_dict("records")
    return records[0] if records else None


def _of_models(rows: pd.DataFrame) -> str:
    draws = " or ".join(f"{count(k)}" for k in unique(rows["draws"]))
    return f"Per token; lower is better. K = {draws} draws of each text. Corpus level: the mean over random pairings."


def _of_published(printed: pd.Series) -> list[str]:
    if printed.isna().all():
        return []
    return ["Under each value the published one, on other data and with other models, and ours minus it."]
