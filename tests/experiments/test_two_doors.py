"""A number has one value, interval, p-value, verdict and sentence, by whichever door it comes: files or memory.

Every kind whose rows are made of measures is read from its tiny files, as a job reads them. The same material then goes
in by the door of the Python functions, `measures.memory`. Nothing may differ.
"""

import importlib
from dataclasses import replace

import numpy as np
import pytest

from textcritic.api.results import Result
from textcritic.experiments import KINDS
from textcritic.experiments.coherence.rows import PPL
from textcritic.experiments.topics.rows import GAP
from textcritic.inference import Number
from textcritic.measures.card import scorecard
from textcritic.measures.material import Material
from textcritic.measures.measure import Resampling, Scored
from textcritic.measures.memory import REAL, scores_of_sets
from textcritic.measures.rows import source_rows
from textcritic.measures.score import Score, scores_of
from textcritic.measures.scored import first_runs
from textcritic.measures.sentences import sentences

# Where the rows of each kind's measures are made.
ROWS = {
    "coherence": ("rows", "coherence_rows"),
    "coreference": ("rows", "ppl_rows"),
    "topics": ("rows", "topic_rows"),
    "process": ("rows", "perplexity_rows"),
    "mixing": ("rows", "mixing_rows"),
    "intruders": ("generated", "generated_rows"),
    "people": ("rows", "metric_rows"),
    "recitation": ("rows", "recitation_rows"),
    "order": ("rows", "order_rows"),
}
# Their rows are not made by `source_rows`; those of `metrics` are made measure by measure (metrics/test_metrics.py).
OTHERS = {"tendencies", "importance", "corpora", "metrics"}
FIELDS = (
    *("measure", "key", "means", "label", "number", "n", "left_out", "rejected_by_reason", "p", "real", "by_ratio"),
    *("margin", "because", "verdict", "way", "gap", "strength", "compared"),
)


def test_every_kind_is_here():
    assert set(ROWS) | OTHERS == set(KINDS)


@pytest.fixture(scope="module", params=ROWS)
def doors(request, tmp_path_factory):
    """The scores of one corpus by both doors, real text called the same."""
    module, function = ROWS[request.param]
    rows_module = importlib.import_module(f"textcritic.experiments.{request.param}.{module}")
    tables = importlib.import_module(f"textcritic.experiments.{request.param}.tables")
    files = importlib.import_module(f"experiments.{request.param}.tiny").tiny(tmp_path_factory.mktemp("files"))
    read, declared = {}, []

    def noting(material, read_one, measures):
        declared[:] = measures

        def noted(source, real):
            read[str(source.keys)] = (source, read_one(source, real))
            return read[str(source.keys)][1]

        return source_rows(material, noted, measures)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(rows_module, "source_rows", noting)
        names = tables.NAMES(files) if hasattr(tables, "NAMES") else None
        material = Material(files, names=names)
        rows = getattr(rows_module, function)(material)
    yardstick, sources = next(iter(files.groups()))
    rows = first_runs(rows[rows["corpus"] == sources[0].keys["corpus"]])
    names = material.names

    def label(row, **_):
        is_real = row["generator"] == "data"
        return REAL if is_real else names.source(row, corpus=False, seed=False)

    of_files, of_memory = [], []
    real = yardstick.keys["source"]
    chosen = {str(source.keys): source for source in files_first(rows, sources)}
    sets = {REAL: read[str(yardstick.keys)][1]}
    for keys, source in chosen.items():
        if source.keys["generator"] != "data":
            sets[label(source.keys)] = read[keys][1]
    measures = [one for one in declared if one.name and (one.p or one.low)]
    for measure in measures:
        of_files += scores_of(rows, measure, label, measure.anchor, real=[real])
    of_memory = scores_of_sets(sets, measures, Resampling(files.resamples))
    return measures, of_files, [one for one in of_memory if one.compared or not one.is_real]


def files_first(rows, sources):
    """The sources whose rows are those of the first training and draw."""
    group, run = ("source", "setting", "generator", "decoding"), ("seed", "draw")
    kept = {tuple(row[key] for key in group): row for row in rows.to_dict("records")}
    for source in sources:
        row = kept.get(tuple(source.keys[key] for key in group))
        if row is not None and all(source.keys[key] is None or source.keys[key] == row[key] for key in run):
            yield source


def test_the_same_scores_by_both_doors(doors):
    measures, of_files, of_memory = doors
    assert measures
    assert len(of_files) == len(of_memory) > len(measures)
    for one, other in zip(of_files, of_memory, strict=True):
        for name in FIELDS:
            assert getattr(one, name) == getattr(other, name), (one, other, name)


def test_the_same_nearest_and_sentences_by_both_doors(doors):
    _, of_files, of_memory = doors
    plain = [replace(one, corpus="", setting="", decoding="", corpus_label="", decoding_label="") for one in of_files]
    # The number of a sample in memory is its generator.
    generators = {one.label: one.generator for one in of_memory}
    plain = [replace(one, generator=generators[one.label], seed=None, draw=None) for one in plain]
    (first,), (second,) = (scorecard({"": scores}, {"": ""}) for scores in (plain, of_memory))
    assert first.columns == second.columns
    assert [first.nearest(column) for column in first.columns] == [second.nearest(column) for column in second.columns]
    assert sentences([first]) == sentences([second])
    result = Result(title="", scores=tuple(of_memory), facts=())
    for column in first.columns:
        key = next(one.key for one in of_memory if one.measure == column.measure)
        assert set(result.nearest(key)) == first.nearest(column)


def test_a_gap_of_nothing_is_the_same_and_starred():
    """In Python such a gap was unclear and no sample was nearest, while the report said "the same" and starred it."""
    known = {"corpus": "", "measure": GAP.name, "key": GAP.known_as, "section": "x", "n": 240, "p": 0.9}
    known |= {"real": Number(0.0), "margin": GAP.margin, "decoding": ""}
    near = Score(**known, generator="1", label="same", number=Number(0.01, -0.02, 0.03))
    far = Score(**known | {"p": 0.001}, generator="2", label="odd", number=Number(1.74, 1.65, 1.81))
    real = Score(corpus="", measure=GAP.name, key=GAP.known_as, section="x", label=REAL, number=Number(0.0), n=240)
    result = Result(title="", scores=(real, near, far), facts=())
    assert [one.verdict for one in result.scores] == ["real", "same", "different"]
    assert result.nearest("nll_gap") == ["same"]
    assert result["same"]["nll_gap"].nearer_than(result["odd"]["nll_gap"]).p < 0.05


def test_few_real_documents_have_no_nearest_by_either_door():
    """Of fewer than 20 real texts the error of their value is not known, so nothing says which sample is nearer."""
    sets = {REAL: 15, "one": 40, "two": 40}
    rng = np.random.default_rng(1)
    read = {
        label: Scored({PPL.value: np.stack([rng.normal(size=n) ** 2 + 1, np.ones(n)], 1)}, n)
        for label, n in sets.items()
    }
    scores = scores_of_sets(read, [PPL], Resampling(99))
    (block,) = scorecard({"": scores}, {"": ""})
    assert block.nearest(block.columns[0]) == frozenset()
    assert "nearest" not in sentences([block])[0].says
    assert Result(title="", scores=scores, facts=()).nearest("latent_ppl") == []
