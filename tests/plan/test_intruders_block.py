"""Intruder sentences in a study: its files, and what is refused."""

import pytest
from own_study import assert_refused, experiment, own_folder, study, write

CORPORA, DETECTORS = ["tales", "reports"], ["words", "silence"]
SOURCES = [{"corpora": ["mine"], "generators": ["trigram"], "decodings": ["plain"]}]


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        block(),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "tales": {"extractor": "intruders", "options": {"corpus": "mine"}},
            "reports": {"extractor": "intruders", "options": {"corpus": "docstrings"}},
        },
        generators={"trigram": {"kind": "ngram"}},
        decodings={"plain": {"articles": 10, "max_tokens": 50}},
        critics={
            "words": {"kind": "detector", "label": "a bag", "model": {"bag": {}}},
            "silence": {"kind": "detector", "model": {"majority": {}}},
            "twin": {"kind": "detector", "label": "a bag", "model": {"majority": {}}},
            "tendencies-of-mine": {"kind": "tendencies"},
        },
    )


def block(**keys):
    one = {"kind": "intruders", "corpora": CORPORA, "detectors": [{"detectors": DETECTORS}], "judges": ["words"]}
    votes = [{"corpus": "tales", "path": "votes.jsonl", "edited": [{"probe": "gender", "path": "edited.jsonl"}]}]
    parts = [
        {"name": "table2", "of": "incoherence", "caption": "Kinds"},
        {"name": "table3", "of": "detection", "caption": "Detectors", "generators": ["silence"], "corpora": ["tales"]},
        {"name": "table5", "of": "agreement", "caption": "People"},
    ]
    return study(one | {"sources": SOURCES, "votes": votes, "tables": parts, "probes": True} | keys)


def test_detectors_judge_what_they_were_trained_on_and_the_other_corpus(folder):
    files = experiment(folder, "intruders").files()
    assert [(one.corpus, one.detector, one.trained) for one in files.judged] == [
        *(("tales", "words", trained) for trained in ("tales", "reports")),
        *(("reports", "words", trained) for trained in ("reports", "tales")),
        *(("tales", "silence", trained) for trained in ("tales", "reports")),
        *(("reports", "silence", trained) for trained in ("reports", "tales")),
    ]
    first = files.judged[0]
    assert (first.label, str(first.predictions), str(first.probes)) == (
        "a bag",
        "results/intruders/words/tales/seed1/predictions/tales/test.parquet",
        "results/intruders/words/tales/seed1/predictions/tales/probes.parquet",
    )
    assert [str(one.votes) for one in files.voted] == ["votes.jsonl"]
    assert [str(one.votes) for one in files.voted[0].edited] == ["edited.jsonl"]


def test_answers_of_a_campaign_are_read_with_the_documents_of_each_corpus(folder):
    write(folder / "studies/own.yaml", block(votes=[], annotations=["answers.jsonl"]))
    one = experiment(folder, "intruders")
    tests = [f"results/corpora/{corpus}/test.parquet" for corpus in CORPORA]
    assert [str(asked.test) for asked in one.files().asked] == tests
    # The table of people alone needs nothing else.
    assert one.files("table5").paths() == [tests[0], "answers.jsonl", tests[1]]


def test_generated_text_is_cut_and_judged_as_the_corpus_made_of_its_corpus(folder):
    files = experiment(folder, "intruders").files()
    (real,) = files.data
    assert (real.corpus, str(real.documents)) == ("mine", "results/intruders/documents/tales/data/test.parquet")
    judged = "results/intruders/words/tales/seed1/predictions/tales"
    assert [str(path) for path in real.predictions] == [f"{judged}/data/test.parquet"]
    (sample,) = files.samples
    tail = "samples/wo-title/trigram/seed1/plain/draw1"
    assert str(sample.documents) == f"results/intruders/documents/tales/{tail}.parquet"
    assert [str(path) for path in sample.predictions] == [f"{judged}/{tail}.parquet"]
    assert str(sample.perplexity) == "results/generators/mine/wo-title/trigram/seed1/perplexity.json"


def test_a_part_reads_what_it_needs_alone(folder):
    made = experiment(folder, "intruders")
    assert made.files("table2").paths() == []
    assert made.files("table5").paths() == ["votes.jsonl", "edited.jsonl"]
    assert {(one.corpus, one.detector) for one in made.files("table3").judged} == {("tales", "silence")}
    assert made.models()[0] == "results/intruders/words/tales/seed1/model"
    assert made.corpora() == ["tales", "reports", "mine"]


def test_detectors_may_stay_at_home(folder):
    write(folder / "studies/own.yaml", block(detectors=[{"detectors": DETECTORS, "across": False, "seeds": [1, 2]}]))
    made = experiment(folder, "intruders")
    assert {(one.corpus, one.trained) for one in made.files().judged} == {(one, one) for one in CORPORA}
    assert len(made.files().judged) == 2 * 2 * 2


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"corpora": ["mine"]}, "corpora: mine has the extractor jsonl; name one with intruders"),
        (
            {"detectors": [{"detectors": ["tendencies-of-mine"]}]},
            "is of kind tendencies; name an entry of kind detector",
        ),
        ({"detectors": [{"detectors": ["words", "twin"]}]}, "words and twin have the same label 'a bag'"),
        ({"detectors": [{"detectors": ["words"], "trained": ["mine"]}]}, "mine is not among the corpora of this"),
        ({"judges": []}, "sources: generated text needs judges too"),
        ({"sources": []}, "judges: generated text needs sources too"),
        ({"judges": ["twin"]}, "judges: twin is not trained on tales; put it among the detectors"),
        ({"corpora": ["reports"]}, "none of the corpora is made from mine"),
        (
            {"tables": [{"name": "table3", "of": "detection", "caption": "x", "generators": ["twin"]}]},
            "table3: twin is not among the detectors of this experiment",
        ),
        (
            {"votes": [{"corpus": "mine", "path": "votes.jsonl", "joined": True}]},
            "votes: mine is not among the corpora of this experiment",
        ),
    ],
)
def test_what_does_not_go_together_is_refused(folder, keys, message):
    assert_refused(folder, block(**{"tables": [], "votes": [], **keys}), message)
