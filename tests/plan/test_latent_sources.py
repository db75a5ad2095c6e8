"""Samples of latent language models in a study: what can be compared, and what is refused."""

import pytest
from own_study import assert_refused, experiment, own_folder, project, study, write

MADE = {"train": 4, "validation": 2, "test": 2}
TRAINING = {"epochs": 1}
SAMPLE = "results/samples/people/wo-title/entities/seed1/told/draw1"


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        block(),
        corpora={
            "people": {"extractor": "mentions", "options": {"made": MADE}},
            "sentences": {"extractor": "trees", "options": {"made": MADE}},
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
        },
        generators={
            "entities": {"kind": "entitynlm", "training": TRAINING},
            "words": {"kind": "lstm", "training": TRAINING},
            "ending": {"kind": "lstm", "training": TRAINING, "model": {"ends": True}},
            "grammar": {"kind": "rnng", "training": TRAINING},
            "trigram": {"kind": "ngram"},
        },
        decodings={
            "told": {"stop": "given"},
            "endless": {"unfinished": "keep"},
            "plain": {},
            "flat": {"stop": "given", "temperature": 2},
            "half": {"stop": "given", "precision": "bf16"},
        },
    )


def block(corpora=("people",), generators=("entities", "words"), decodings=("told",), **keys):
    keys = {"settings": ["wo-title"], **keys}
    source = {"corpora": list(corpora), "generators": list(generators), "decodings": list(decodings), **keys}
    return study({"kind": "coreference", "critic": "mentions", "sources": [source]})


def test_samples_of_a_corpus_of_mentions_are_compared(folder):
    files = experiment(folder, "coreference").files()
    assert [sample.generator for sample in files.samples] == ["entities", "words"]
    assert str(files.samples[0].articles) == f"{SAMPLE}.parquet"
    assert str(files.data[0].articles) == "results/corpora/people/test.parquet"
    write(folder / "studies/own.yaml", block(generators=["ending"], decodings=["plain"]))
    assert project(folder).studies["own"].sources()
    write(folder / "studies/own.yaml", block(decodings=["endless"]))
    assert project(folder).studies["own"].sources()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"generators": ["trigram"]}, "trigram is of kind ngram; people is tokens with a structure behind them"),
        ({"generators": ["grammar"]}, "grammar is of kind rnng, which needs a corpus with the extractor trees"),
        ({"settings": ["w-title"]}, "people has no titles; give the setting wo-title"),
        ({"decodings": ["flat"]}, "entities is a latent language model, which is drawn from as it is; flat has a"),
        ({"decodings": ["half"]}, "entities is a latent language model, which is drawn from as it is; half has a"),
        ({"generators": ["ending"]}, "ending ends its texts itself; told has `stop: given`, which tells them"),
        ({"decodings": ["plain"]}, "entities never ends a text, so that all would be rejected; plain should have"),
        ({"corpora": ["sentences"], "generators": ["grammar"]}, "sentences is tokens with a structure behind them"),
        ({"corpora": ["mine"]}, "entities is of kind entitynlm, a latent language model; it draws tokens with a"),
    ],
)
def test_what_does_not_fit_is_refused(folder, changed, message):
    assert_refused(folder, block(**changed), message)
