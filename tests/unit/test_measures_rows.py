"""A measure, declared once, gives row, interval, test, cell, mark and score: four shapes of number, each made up."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from textcritic.errors import TextcriticError
from textcritic.inference import (
    DIFFERENT,
    SAME,
    Number,
    bootstrap_interval,
    over_trainings,
    paired_permutation_test,
    permutation_test,
    ratio_of_sums,
    trainings_p,
    with_ones,
)
from textcritic.measures.material import Material
from textcritic.measures.measure import Estimate, Measure, Resampling, Scored
from textcritic.measures.published import Published
from textcritic.measures.rows import completed, estimated, source_rows
from textcritic.measures.score import REAL, scores_of
from textcritic.measures.scored import RECIPE
from textcritic.plan.sources import Compared, Drawn, RealText, data_keys
from textcritic.report.cells import measure_cell
from textcritic.report.charts import marks_of
from textcritic.report.tables import read_rows

RESAMPLES = 199
COUNTS = ("documents", "rejected", "rejected_share", "rejected_by_reason", *RECIPE)
WHOLE = ("seed", "documents", "rejected", "seeds")


@dataclass(frozen=True, slots=True, kw_only=True)
class Files(Compared):
    data: tuple[RealText, ...]
    samples: tuple[Drawn, ...]
    resamples: int = RESAMPLES


@dataclass(frozen=True, slots=True)
class Text(RealText):
    scores: Path = Path("real.parquet")


def sample(generator: str, seed: int = 1) -> Drawn:
    path = Path(f"{generator}.{seed}")
    where = {"articles": path, "counts": path, "scores": path}
    about = {"setting": "wo-title", "generator": generator, "decoding": "plain", "label": generator.upper()}
    return Drawn(corpus="docs", seed=seed, from_file=False, **about, **where)


def normal(mean: float, seed: int, n: int = 60) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 1, n)


MEAN = Measure(
    name="Words",
    value="words",
    low="low",
    high="high",
    p="p",
    section="values",
    statistic=ratio_of_sums,
    metric="words",
    published="published",
    difference="difference",
)
MEAN_COLUMNS = ("label", "words", "low", "high", "p", "published", "difference", *COUNTS)


MEASURED_ALREADY = Measure(name="Words", value="words", low="low", high="high", p="p")


def mean_rows(
    files: Files, values: dict[Any, np.ndarray], published: Published | None = None, measure: Measure = MEAN
) -> pd.DataFrame:
    material = Material(files, published)

    def read(source: Any, _: Scored | None) -> Scored:
        found = values[getattr(source, "generator", "data"), getattr(source, "seed", None)]
        return Scored({"words": with_ones(found)} if len(found) else {}, len(found), {"empty": 3, "cut": 1})

    return completed(source_rows(material, read, [measure]), MEAN_COLUMNS, [measure], WHOLE)


def row_of(rows: pd.DataFrame, generator: str, seed: int | None = None) -> dict[str, Any]:
    found = rows[rows["generator"] == generator]
    (row,) = (found if seed is None else found[found["seed"] == seed]).to_dict("records")
    return row


def test_a_mean_over_documents_by_hand():
    files = Files(data=(Text(corpus="docs"),), samples=(sample("far"), sample("near"), sample("near", 2)))
    values = {("data", None): normal(5, 1), ("far", 1): normal(7, 2), ("near", 1): normal(5, 3, 40)}
    values["near", 2] = np.empty(0)
    rows = mean_rows(files, values, Published({("", "", "far", "", "words"): 6.5}))
    assert rows["generator"].tolist() == ["data", "far", "near", "near"]
    assert rows["label"].tolist() == ["real text", "FAR", "NEAR, seed 1", "NEAR, seed 2"]
    for key, found in values.items():
        row = row_of(rows, *key)
        assert (row["documents"], row["rejected"]) == (len(found), 4)
        assert row["rejected_share"] == 4 / (len(found) + 4)
        assert row["rejected_by_reason"] == "empty: 3; cut: 1"
        if len(found):
            interval = bootstrap_interval(with_ones(found), ratio_of_sums, RESAMPLES)
            assert [row["words"], row["low"], row["high"]] == [interval.estimate, interval.low, interval.high]
            assert row["words"] == pytest.approx(found.mean(), rel=1e-12)
    test = permutation_test(with_ones(values["far", 1]), with_ones(values["data", None]), ratio_of_sums, RESAMPLES)
    assert row_of(rows, "far")["p"] == test.p
    assert row_of(rows, "far")["difference"] == pytest.approx(values["far", 1].mean() - 6.5)
    assert pd.isna([row_of(rows, "data")[name] for name in ("p", "published", "seeds")]).all()
    assert pd.isna([row_of(rows, "near", 2)[name] for name in ("words", "low", "p")]).all()
    # Of one training that could be scored there is a mean, but nothing on the recipe.
    assert row_of(rows, "near", 2)["seeds_mean"] == row_of(rows, "near", 1)["words"]
    for seed in (1, 2):
        row = row_of(rows, "near", seed)
        assert row["seeds"] == 2
        assert pd.isna([row[name] for name in ("seeds_low", "seeds_high", "seeds_sd", "seeds_p")]).all()
    (real, far, near) = marks_of(rows, Material(files).names, MEAN)
    assert (real.setting, far.published, far.note, near.values) == (
        "",
        6.5,
        "p = 0.005",
        (row_of(rows, "near", 1)["words"],),
    )
    scores = {score.label: score for score in scores_of(rows, MEAN, Material(files).names.source, "at")}
    assert [scores[name].verdict for name in ("real text", "FAR")] == [REAL, DIFFERENT]
    assert (scores["FAR"].real.value, scores["FAR"].left_out) == (row_of(rows, "data")["words"], 4)


@pytest.mark.parametrize("by_ratio", [False, True])
def test_the_columns_of_a_recipe_are_those_of_its_trainings(by_ratio):
    files = Files(data=(Text(corpus="docs"),), samples=tuple(sample("near", seed) for seed in (1, 2, 3)))
    values = {("data", None): normal(5, 1), **{("near", seed): normal(6, seed + 1) for seed in (1, 2, 3)}}
    rows = mean_rows(files, values, measure=replace(MEAN, by_ratio=by_ratio))
    means = [values["near", seed].mean() for seed in (1, 2, 3)]
    recipe, real = over_trainings(means, by_ratio), row_of(rows, "data")
    p = trainings_p(means, Number(real["words"], real["low"], real["high"]), by_ratio)
    for seed in (1, 2, 3):
        found = [row_of(rows, "near", seed)[name] for name in RECIPE]
        assert found == pytest.approx([3, recipe.mean, recipe.low, recipe.high, recipe.sd, p], rel=1e-12)
    assert pd.isna([real[name] for name in RECIPE]).all()


def test_a_recipe_is_compared_with_the_real_text_that_its_samples_are_compared_with():
    """As with section titles: real text has inferred ones, and a row with those that were given follows."""
    values = {"inferred": 5.0, "gold": 9.0}
    rows = [data_keys("docs", name) | {"words": x, "low": x - 1, "high": x + 1} for name, x in values.items()]
    rows += [sample("near", seed).keys | {"words": 5.0 + seed} for seed in (1, 2)]
    for row in rows:
        row["documents"] = 60
    columns = ("words", "low", "high", "p", "documents", *RECIPE)
    for name, x in values.items():
        table = completed(rows, columns, [MEASURED_ALREADY], WHOLE[:2], real=name)
        assert table["seeds_p"].tolist()[2:] == [trainings_p([6.0, 7.0], Number(x, x - 1, x + 1))] * 2


def test_a_recipe_is_not_tested_against_real_text_of_too_few_documents():
    files = Files(data=(Text(corpus="docs"),), samples=(sample("near", 1), sample("near", 2)))
    for documents in (19, 20):
        values = {("data", None): normal(5, 1, documents), ("near", 1): normal(7, 2), ("near", 2): normal(7, 3)}
        rows = mean_rows(files, values)
        assert pd.isna(row_of(rows, "data")["low"]) == pd.isna(row_of(rows, "near", 1)["seeds_p"]) == (documents < 20)


def test_each_measure_is_tested_on_its_own_numbers_and_has_its_own_published_value():
    files = Files(data=(Text(corpus="docs"),), samples=(sample("near"),))
    measures = [
        Measure(
            name=f"{name} of words",
            value=name,
            **{key: f"{name}_{key}" for key in ("low", "high", "p", "published")},
            metric=name,
            statistic=ratio_of_sums,
        )
        for name in ("length", "rank")
    ]
    values = {
        "data": {"length": normal(5, 1), "rank": normal(50, 2)},
        "near": {"length": normal(6, 3), "rank": normal(50, 4)},
    }

    def read(source: Any, _: Scored | None) -> Scored:
        found = values[source.keys["generator"]]
        return Scored({name: with_ones(numbers) for name, numbers in found.items()}, 60)

    published = Published({("", "", "near", "", "length"): 5.5, ("", "", "near", "", "rank"): 51.0})
    row = row_of(pd.DataFrame(source_rows(Material(files, published), read, measures)), "near")
    for name, printed in (("length", 5.5), ("rank", 51.0)):
        near, real = (with_ones(values[source][name]) for source in ("near", "data"))
        test = permutation_test(near, real, ratio_of_sums, RESAMPLES)
        assert (row[f"{name}_p"], row[f"{name}_published"]) == (test.p, printed)
    assert row["length_p"] < 0.05 < row["rank_p"]


def test_real_text_without_a_scored_document_is_one_line():
    files = Files(data=(Text(corpus="docs"),), samples=())
    with pytest.raises(TextcriticError, match=r"real\.parquet: no document could be scored \(empty: 3; cut: 1\)"):
        mean_rows(files, {("data", None): np.empty(0)})


def test_an_infinite_value_has_no_interval_and_no_test():
    files = Files(data=(Text(corpus="docs"),), samples=(sample("far"),))
    rows = mean_rows(files, {("data", None): normal(5, 1), ("far", 1): np.array([1.0, np.inf])})
    row = row_of(rows, "far")
    assert row["words"] == np.inf
    assert pd.isna([row["low"], row["high"], row["p"]]).all()


def test_a_statistic_that_is_no_sum_over_documents():
    """As MAUVE is: of two whole sets, with an interval by halves, and no test but its own."""

    def overlap(scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
        if real is None:
            return Estimate()
        shared = len(set(scored.data["overlap"]) & set(real.data["overlap"])) / len(set(real.data["overlap"]))
        return Estimate(
            shared, shared - 0.1, shared + 0.1, 1 / resampling.resamples, {"resamples": resampling.resamples}
        )

    measure = Measure(name="Overlap", value="overlap", estimate=overlap, of_real=1.0, whole=1)
    files = Files(data=(Text(corpus="docs"),), samples=(sample("far"),))
    words = {"data": "abcd", "far": "cdef"}

    def read(source: Any, _: Scored | None) -> Scored:
        return Scored({"overlap": words[source.keys["generator"]]}, 4)

    rows = pd.DataFrame(source_rows(Material(files), read, [measure]))
    row = row_of(rows, "far")
    assert (row["overlap"], row["ci_low"], row["p_value"], row["resamples"]) == (0.5, 0.4, 1 / RESAMPLES, RESAMPLES)
    assert pd.isna(row_of(rows, "data")["overlap"])
    assert measure_cell(rows[rows["generator"] == "far"], measure).notes == ("40%–60%", "p = 0.005")
    real, far = scores_of(rows.astype({"overlap": float}), measure, Material(files).names.source)
    assert (real.number.value, far.real.value, far.verdict) == (1.0, 1.0, DIFFERENT)


def f1(sums: np.ndarray) -> np.ndarray:
    hits, false_alarms, misses = np.moveaxis(sums, -1, 0)
    return 2 * hits / (2 * hits + false_alarms + misses)


def paired(scored: Scored, other: Scored | None, resampling: Resampling) -> Estimate:
    """F1, and the test that exchanges the two decisions on a document."""
    draws = resampling.resamples, resampling.seed
    interval = bootstrap_interval(scored.data["f1"], f1, draws[0], seed=draws[1]).of_share()
    p = None if other is None else paired_permutation_test(scored.data["f1"], other.data["f1"], f1, *draws).p
    return Estimate(interval.estimate, interval.low, interval.high, p)


def test_an_estimate_against_truth_paired_between_two_sources():
    """As F1 of detectors is: each decides on the same documents, and the others are compared with the first."""

    @dataclass(frozen=True)
    class Detector:
        name: str

        @property
        def keys(self) -> dict[str, Any]:
            about = {"setting": "", "generator": self.name, "decoding": "", "seed": 1}
            return data_keys("docs") | {"source": "sample"} | about

    rng = np.random.default_rng(3)
    truth = rng.random(200) < 0.4
    right = {"weak": 0.6, "strong": 0.95}

    def counts(name: str) -> np.ndarray:
        said = np.where(np.random.default_rng(len(name)).random(200) < right[name], truth, ~truth)
        return np.stack([truth & said, ~truth & said, truth & ~said], axis=1).astype(float)

    class Detectors:
        samples, resamples = (), RESAMPLES

        def groups(self) -> Any:
            weak, strong = Detector("weak"), Detector("strong")
            return [(weak, [weak, strong])]

    measure = Measure(name="F1", value="f1", estimate=paired, whole=1)
    material = Material(Detectors(), names=type("Names", (), {"source": lambda _, row, **kw: row["generator"]})())
    rows = pd.DataFrame(
        source_rows(material, lambda source, _: Scored({"f1": counts(source.name)}, len(truth)), [measure])
    )
    for name in right:
        hits, false_alarms, misses = counts(name).sum(axis=0)
        row = row_of(rows, name)
        assert row["f1"] == pytest.approx(2 * hits / (2 * hits + false_alarms + misses), rel=1e-12)
        assert row["ci_low"] < row["f1"] < row["ci_high"]
    assert (
        row_of(rows, "strong")["p_value"]
        == paired_permutation_test(counts("strong"), counts("weak"), f1, RESAMPLES, 1).p
    )
    assert pd.isna(row_of(rows, "weak")["p_value"]), "the source compared with is not tested against itself"


def test_a_corpus_without_samples_and_real_text_that_is_an_exact_number():
    """As in importance sampling: estimates of an exact value, whose sources are ways to estimate it."""

    @dataclass(frozen=True)
    class Way:
        proposals: int

        @property
        def keys(self) -> dict[str, Any]:
            known = not self.proposals
            about = {"source": "exact" if known else "sample", "generator": "data" if known else "rnng"}
            return data_keys("trees") | about | {"decoding": f"K = {self.proposals}"}

    class Ways:
        samples, resamples = (), RESAMPLES

        def groups(self) -> Any:
            exact = Way(0)
            return [(exact, [exact, Way(1), Way(1000)])]

    exact, rng = 12.0, np.random.default_rng(2)

    def read(way: Way, _: Scored | None) -> Scored:
        if not way.proposals:
            return Scored(more={"ppl": exact})
        return Scored({"ppl": exact + rng.normal(2 / way.proposals, 0.1, 50)}, 50)

    def estimate(scored: Scored, real: Scored | None, resampling: Resampling) -> Estimate:
        if "ppl" not in scored.data:
            return Estimate(scored.more["ppl"])
        found = bootstrap_interval(with_ones(scored.data["ppl"]), ratio_of_sums, resampling.resamples)
        inside = real is not None and found.low <= real.more["ppl"] <= found.high
        return Estimate(found.estimate, found.low, found.high, 1.0 if inside else 0.01)

    measure = Measure(name="Perplexity", value="ppl", estimate=estimate, by_ratio=True)
    names = type("Names", (), {"source": lambda _, row, **kw: row["decoding"]})()
    rows = pd.DataFrame(source_rows(Material(Ways(), names=names), read, [measure]))
    assert rows["ppl"].tolist()[0] == exact
    assert pd.isna(rows.loc[0, ["ci_low", "p_value"]]).all()
    first, few, many = scores_of(rows, measure, names.source, real=["exact"])
    assert (first.number.value, first.verdict) == (exact, REAL)
    assert [few.verdict, many.verdict, many.real.value] == [DIFFERENT, SAME, exact]
    assert len(marks_of(rows, names, measure)) == 3


def test_a_kind_that_reads_the_tables_of_other_experiments(tmp_path):
    """As people's answers do: a number for each sample beside what another experiment's table says of it."""
    keys = Files(data=(Text(corpus="docs"),), samples=(sample("far"), sample("near")))
    table = pd.DataFrame(
        [source.keys | {"latent_ppl": value} for source, value in zip(keys.samples, (9, 3), strict=True)]
    )
    table.to_csv(tmp_path / "coherence.csv", index=False)
    votes = {"data": 40, "far": 5, "near": 38}

    def read(source: Any, _: Scored | None) -> Scored:
        other = read_rows(tmp_path, "coherence")
        found = other.loc[other["generator"] == source.keys["generator"], "latent_ppl"]
        more = {"latent_ppl": found.iloc[0] if len(found) else None}
        chosen = np.arange(50) < votes[source.keys["generator"]]
        return Scored({"chosen": with_ones(chosen)}, 50, more=more)

    measure = Measure(name="Taken for human", value="chosen", statistic=ratio_of_sums, whole=1)
    rows = pd.DataFrame(source_rows(Material(keys), read, [measure]))
    assert rows["chosen"].tolist() == [0.8, 0.1, 0.76]
    assert rows["latent_ppl"].tolist()[1:] == [9, 3]
    assert rows["p_value"].tolist()[1] < 0.05 < rows["p_value"].tolist()[2]


def test_of_a_sample_with_several_seeds_the_first_is_shown():
    files = Files(data=(Text(corpus="docs"),), samples=(sample("b", 3), sample("a", 2), sample("b", 1), sample("a", 5)))
    shown = [(source.keys["generator"], source.keys["seed"]) for source in files.shown(files.data[0])]
    assert shown == [("data", None), ("a", 2), ("b", 1)]


def test_a_value_that_a_kind_forgot_to_read_is_named_with_those_it_read():
    measure = Measure(name="Mean", value="mean", statistic=ratio_of_sums)
    with pytest.raises(TextcriticError, match=r"Measure 'Mean': value: Scored.data has no 'mean'; it has 'maen'"):
        estimated(measure, Scored({"maen": with_ones(normal(0, 1))}, 60), None, Resampling(99))
    assert estimated(measure, Scored(more={"mean": 1.0}), None, Resampling(99)) is None
