"""Importance sampling in a study: its files, and what is refused."""

import pytest
from own_study import assert_refused, experiment, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.experiments.importance.files import MIXED

MADE = {"train": 4, "validation": 2, "test": 2}
TRAINING = {"epochs": 1}
RNNG = {"corpus": "sentences", "generator": "grammar", "proposals": ["parser"], "seeds": [1, 2]}
LSTM = {"corpus": "sentences", "generator": "words"}
HSMM = {"corpus": "drawn", "generator": "segments", "proposals": ["noisy", "spoilt"], "no_peeking": "blind-one"}
FIGURE = {"name": "figure2", "of": "curves", "generators": ["grammar"]}


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        block(RNNG, LSTM, HSMM),
        corpora={
            "sentences": {"extractor": "trees", "options": {"made": MADE}},
            "people": {"extractor": "mentions", "options": {"paths": ["people.conll"], "longest": 50}},
            "drawn": {"extractor": "process", "options": {"process": {"states": 8, "steps": 6}}},
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
        },
        generators={
            "grammar": {"kind": "rnng", "training": TRAINING},
            "words": {"kind": "lstm", "training": TRAINING},
            "segments": {"kind": "hsmm", "encoding": "symbols", "states": 8},
            "trigram": {"kind": "ngram"},
            "twin": {"kind": "lstm", "training": TRAINING, "label": "grammar"},
        },
        proposals={
            "parser": {"kind": "crf", "training": TRAINING},
            "tagger": {"kind": "entity-disc", "training": TRAINING},
            "noisy": {"kind": "hsmm", "quality": "noisy"},
            "spoilt": {"kind": "hsmm", "quality": "withheld", "value": 2},
            "blind-one": {"kind": "hsmm", "quality": "blind"},
        },
    )


def block(*sources, **keys):
    keys = {"temperatures": [0.5, 1.0], "samples": 10, "shards": 2, "beams": [3], **keys}
    return study({"kind": "importance", "sources": list(sources), "figures": [FIGURE], **keys})


def test_its_files_are_weights_by_proposal_temperature_and_shard(folder):
    files = experiment(folder, "importance").files()
    drawn = [(one.generator, one.proposal, one.seed, one.temperature, one.peeks) for one in files.weighed]
    assert drawn == [
        *(("grammar", "parser", seed, tau, True) for seed in (1, 2) for tau in (0.5, 1.0, MIXED)),
        *(("segments", "noisy", 1, tau, True) for tau in (0.5, 1.0, MIXED)),
        ("segments", "spoilt", 1, 1.0, True),  # it has no temperature
        ("segments", "blind-one", 1, 1.0, False),
    ]
    place = "results/weights/grammar/parser/sentences/seed1"
    assert [str(path) for path in files.weighed[0].shards] == [f"{place}/t0.5/k10/{shard}.npz" for shard in (0, 1)]
    assert str(files.beams[0].joint) == f"{place}/beam3.npz"
    exact = {one.generator: (str(one.weights), one.latent) for one in files.exact}
    assert exact == {
        "words": ("results/weights/words/sentences/seed1/exact.npz", False),
        "segments": ("results/weights/segments/drawn/seed1/exact.npz", True),
    }
    assert {texts.corpus: texts.structured for texts in files.texts} == {"sentences": True, "drawn": False}
    assert [str(path) for path in files.weighed[2].shards] == [
        f"{place}/mixed/0.5-1/k10/{shard}.npz" for shard in (0, 1)
    ]
    part = experiment(folder, "importance").files("figure2")
    assert not any(one.mixed for one in part.weighed)
    assert {one.generator for one in part.weighed} == {"grammar"}
    assert [texts.corpus for texts in part.texts] == ["sentences"]


def test_what_is_trained_is_part_of_the_target_train(folder):
    models = experiment(folder, "importance").models()
    assert "results/generators/sentences/wo-title/grammar/seed2/model" in models
    assert "results/proposals/sentences/parser/seed2/model" in models
    assert not any("noisy" in model for model in models)


def test_particles_are_of_models_with_steps_and_stand_beside_temperature_one(folder):
    assert not experiment(folder, "importance").files().filtered
    write(folder / "studies/own.yaml", block(RNNG, LSTM, HSMM, particles=7, mixture=False))
    files = experiment(folder, "importance").files()
    place = "results/weights/segments"
    assert [str(one.weights) for one in files.filtered] == [
        f"{place}/{proposal}/drawn/seed1/particles7.npz" for proposal in ("noisy", "spoilt", "blind-one")
    ]
    assert not any(one.mixed for one in files.weighed)
    assert not experiment(folder, "importance").files("figure2").filtered
    assert_refused(folder, block(RNNG, particles=7, temperatures=[0.5, 2]), "particles: needs the estimates at")


def test_own_texts_are_of_every_proposal_at_temperature_one(folder):
    assert not experiment(folder, "importance").files().own
    write(folder / "studies/own.yaml", block(RNNG, LSTM, HSMM, own_texts=20))
    files = experiment(folder, "importance").files()
    assert [str(one.exact) for one in files.own] == [
        *(f"results/weights/grammar/parser/sentences/seed{seed}/own20/k10/exact.npz" for seed in (1, 2)),
        *(
            f"results/weights/segments/{proposal}/drawn/seed1/own20/k10/exact.npz"
            for proposal in ("noisy", "spoilt", "blind-one")
        ),
    ]
    assert not experiment(folder, "importance").files("figure2").own
    assert_refused(folder, block(RNNG, own_texts=20, temperatures=[0.5, 2]), "own_texts: needs the estimates at")
    assert_refused(folder, block(RNNG, own_texts=19), "own_texts: 19")


def test_models_that_do_not_draw_by_their_own_probability_have_no_own_texts(folder):
    released = {"kind": "rnng", "training": TRAINING, "model": {"end": "as_released"}}
    write(folder / "registry/generators.yaml", {"grammar": released, "words": {"kind": "lstm", "training": TRAINING}})
    assert_refused(folder, block(RNNG, own_texts=20), "grammar has end: as_released: texts that it draws have no exact")


def shard_files(folder, generator):
    weighed = experiment(folder, "importance").files().weighed
    return {str(path) for one in weighed for path in one.shards if one.generator == generator}


def test_more_shards_keep_the_files_of_fewer(folder):
    few = shard_files(folder, "grammar")
    write(folder / "studies/own.yaml", block(RNNG, LSTM, HSMM, shards=5))
    assert few < shard_files(folder, "grammar")


def test_short_shards_are_drawn_by_one_job_unless_mixtures_read_each(folder):
    """Of hidden semi-Markov models a mixture draws its own."""
    place = "results/weights/segments/noisy/drawn/seed1"
    segments = shard_files(folder, "segments")
    assert {f"{place}/t0.5/k10/0-1.npz", f"{place}/mixed/0.5-1/k10/0-1.npz"} < segments
    assert all(path.endswith("/0-1.npz") for path in segments)
    # 4,000 draws of a trained model's states are more than an hour of work, 10 are a minute.
    for samples, names in ((4_000, {"0", "1"}), (10, {"0-1"})):
        write(folder / "studies/own.yaml", block(RNNG, LSTM, samples=samples, mixture=False))
        assert {path.rpartition("/")[2] for path in shard_files(folder, "grammar")} == {f"{n}.npz" for n in names}


@pytest.mark.parametrize(
    ("sources", "line"),
    [
        (
            [{**RNNG, "corpus": "people"}],
            "grammar is of kind rnng, which needs a corpus with the extractor trees; people",
        ),
        ([{**RNNG, "corpus": "mine"}], "needs a corpus with the extractor trees; mine has jsonl"),
        ([{**RNNG, "proposals": ["tagger"]}], "tagger draws states of entitynlm; grammar is of kind rnng"),
        ([{**RNNG, "proposals": []}], "grammar is of kind rnng, which has latent states: name proposals"),
        (
            [RNNG, {**LSTM, "proposals": ["parser"]}],
            "words is of kind lstm, which has no latent states, so give no proposals",
        ),
        (
            [RNNG, {**LSTM, "generator": "trigram"}],
            "trigram is of kind ngram; name one of kind rnng, entitynlm, kglm, lstm, hsmm",
        ),
        ([RNNG, {**RNNG, "seeds": [3]}], "grammar on sentences: named twice"),
        ([RNNG, {**LSTM, "generator": "twin"}], "grammar and twin have the label 'grammar'"),
        ([{**RNNG, "proposals": ["parsr"]}], "no entry 'parsr'; did you mean 'parser'"),
        ([LSTM], "figure2: grammar is not among the sources of this experiment"),
    ],
)
def test_what_does_not_go_together_is_refused(folder, sources, line):
    assert_refused(folder, block(*sources), line)


@pytest.mark.parametrize(
    ("registry", "entry", "line"),
    [
        ("corpora", {"extractor": "trees"}, "give paths or made, one of the two"),
        ("corpora", {"extractor": "trees", "options": {"paths": ["x"], "made": MADE}}, "give paths or made"),
        (
            "corpora",
            {"extractor": "trees", "options": {"paths": ["x"], "longest": 9}},
            "options.longest: is for the extractors mentions, links",
        ),
        ("corpora", {"extractor": "bible", "options": {"made": MADE}}, "options.made: is for the extractors trees,"),
        (
            "corpora",
            {"extractor": "bible", "options": {"formulas": "numbered"}},
            "options.formulas: is for the extractors wikipedia, wikipedia-lines; this one is bible",
        ),
        (
            "corpora",
            {"extractor": "bible", "options": {"shortest": 2}},
            "options.shortest: is for the extractors trees",
        ),
        ("generators", {"kind": "rnng", "training": {}}, "training: give steps or epochs, one of the two"),
        ("generators", {"kind": "rnng", "model": {"width": 3}, "training": TRAINING}, "unknown key 'width'"),
        ("proposals", {"kind": "crf", "training": {"steps": 1, "epochs": 1}}, "training: give steps or epochs"),
        ("proposals", {"kind": "hsmm", "quality": "withheld"}, "value: is missing; withheld needs it"),
        ("proposals", {"kind": "hsmm", "quality": "noisy", "value": 2}, "value: has no effect"),
    ],
)
def test_entries_that_cannot_be_are_refused(tmp_path, registry, entry, line):
    own_folder(tmp_path, block(LSTM), **{registry: {"odd": entry}})
    with pytest.raises(TextcriticError, match=line) as refused:
        project(tmp_path)
    assert str(refused.value).startswith(f"{tmp_path}/registry/{registry}.yaml: odd: ")


def test_texts_with_structure_are_no_articles(folder):
    source = {"corpora": ["sentences"], "settings": ["wo-title"], "generators": ["trigram"], "decodings": ["demo"]}
    wrong = study({"kind": "tendencies", "critic": "tendencies-demo", "sources": [source]})
    assert_refused(folder, wrong, "sentences is tokens with a structure behind them")
    assert_refused(folder, study({"kind": "corpora", "corpora": ["people"]}), "people is tokens with a structure")
    of_latent = {**source, "corpora": ["mine"], "generators": ["grammar"]}
    wrong = study({"kind": "tendencies", "critic": "tendencies-demo", "sources": [of_latent]})
    assert_refused(folder, wrong, "grammar is of kind rnng, a latent language model")
