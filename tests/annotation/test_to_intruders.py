"""What the app exports of the task `intruder` is a human row of the kind `intruders`: two people, counted by hand."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from experiments.intruders.tiny import predicted, statistics
from report_jobs import Made

from annotation.campaigns import made_intruder_campaign, open_store
from textcritic.annotation import steps
from textcritic.annotation.answers import read_answers, write_answers
from textcritic.annotation.export import write_export
from textcritic.annotation.links import add_annotator
from textcritic.annotation.steps import Campaign
from textcritic.annotation.store import now
from textcritic.corpora.intruders.documents import Document, write_documents
from textcritic.critics.detectors.predictions import write_predictions
from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.asked import DocumentAnswer, _about, _of_all, annotator_rows
from textcritic.experiments.intruders.files import Asked, Corpus, IntruderFiles, Judged, Voted
from textcritic.experiments.intruders.names import IntruderNames
from textcritic.experiments.intruders.people import people_agreement_rows, vote_rows
from textcritic.experiments.intruders.rows import detector_rows
from textcritic.files import write_json
from textcritic.measures.material import Material
from textcritic.report.cells import matching

pytestmark = pytest.mark.annotation
GOLD, FIRST, SECOND = (2, 3, None, None), (2, None, None, 1), (2, 1, None, None)
"""Four kinds of documents: the intruder, and what two people say. Of each there are five."""
DOCUMENTS = [Document(f"d{n}", tuple(f"Sentence {k} of {n}." for k in range(5)), GOLD[n % 4]) for n in range(20)]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Two annotators answer all documents; the second one does not read the document that checks it."""
    folder = tmp_path_factory.mktemp("campaign")
    made_intruder_campaign(folder, DOCUMENTS, attention=1, per_annotator=20)
    with open_store(folder) as store:
        campaign = Campaign(store)
        for said, reads in ((FIRST, True), (SECOND, False)):
            with store.transaction():
                who = add_annotator(store, False, None)
            steps.consent(campaign, who)
            steps.begin(campaign, who, now())
            while (step := steps.next_step(campaign, who, now())).work is not None:
                shown = [n for n, document in enumerate(DOCUMENTS) if document.sentences == tuple(step.work.texts)]
                named = said[shown[0] % 4] if shown else 2 if reads else 1
                steps.save_answer(campaign, who, step.work.item, {"intruder": named}, f"{who} {step.work.place}", now())
        assert write_export(store, folder / "answers.jsonl") == 42
    test = folder / "results/corpora/stories/test.parquet"
    write_json(folder / "statistics.json", statistics(20))
    write_predictions(folder / "predictions.parquet", predicted(np.random.default_rng(1), DOCUMENTS, 2.0))
    detector = {"corpus": "stories", "trained": "stories", "detector": "sharp", "seed": 1, "label": "a detector"}
    return IntruderFiles(
        corpora=(Corpus(corpus="stories", test=test, statistics=folder / "statistics.json"),),
        judged=(Judged(**detector, predictions=folder / "predictions.parquet"),),
        asked=(Asked(corpus="stories", test=test, annotations=(folder / "answers.jsonl",)),),
        data=(),
        samples=(),
        resamples=200,
    )


def material(files):
    return Material(files, None, IntruderNames.of(files))


def test_people_by_each_rule(files):
    """Of 8 answers 6 rightly say whether there is an intruder; 2 name it, 2 name another sentence, 2 miss it."""
    rows = vote_rows(material(files)).set_index("rule")
    each = rows.loc["each"]
    assert list(each[["documents", "answers", "accuracy", "f1", "precision", "recall"]]) == [20, 40, 75, 50, 50, 50]
    assert each["accuracy_low"] < 75 < each["accuracy_high"]
    # They agree on the first and the third kind.
    assert list(rows.loc["same", ["documents", "accuracy", "f1", "rejected"]]) == [10, 100, 100, 10]
    assert rows.loc["same", "rejected_by_reason"] == "no answer of more than half: 10"
    assert rows.loc["all", "rejected_by_reason"] == "people disagree: 10"


def test_the_human_row_stands_beside_detectors(files):
    rows = detector_rows(material(files))
    (people,) = matching(rows, {"detector": "people"}).to_dict("records")
    assert (people["label"], people["documents"], people["accuracy"], people["f1"]) == ("People", 10, 100, 100)
    (detector,) = matching(rows, {"detector": "sharp"}).to_dict("records")
    assert (detector["people_documents"], detector["people_f1"]) == (10, 100)


def test_agreement(files):
    """Half of the pairs differ; by chance it would be 800 of 1,560 (whether) and 1,000 (which)."""
    rows = people_agreement_rows(material(files)).set_index(["about", "measure"])
    alpha = rows.loc[("whether all sentences belong", "Krippendorff’s alpha")]
    assert alpha["value"] == pytest.approx(1 - (1 / 2) / (800 / 1560))
    assert (alpha["items"], alpha["why"]) == (20, "")
    assert alpha["ci_low"] < alpha["value"] < alpha["ci_high"]
    which = rows.loc[("which sentence does not belong", "Krippendorff’s alpha"), "value"]
    assert which == pytest.approx(1 - (1 / 2) / (1000 / 1560))


def test_each_annotator_and_what_does_not_count(files):
    rows = annotator_rows(material(files)).sort_values("attention_passed", ascending=False)
    columns = ["answers", "documents", "coherent_percent", "accuracy", "f1", "found", "attention_passed", "attention"]
    assert rows.iloc[:2][columns].to_numpy().tolist() == [
        [20, 20, 50, 50, 50, 50, 1, 1],
        [20, 20, 50, 100, 50, 50, 0, 1],
    ]
    assert list(rows["flagged"]) == ["", "missed 1 of 1 attention texts", ""]
    last = rows.iloc[-1]
    assert (last["annotator"], last["answers"], last["accuracy"], last["found"]) == ("all", 40, 75, 50)
    assert last["accuracy_low"] < 75 < last["accuracy_high"]
    assert pd.isna(last["found_low"])  # of ten documents: too few for annotators and documents that are crossed
    assert last["of_these"]
    assert (last["left_out"], last["left_out_by_reason"]) == (2, "attention: 2")


def test_what_is_found_is_counted_over_documents_with_an_intruder():
    """Two annotators, 40 documents: of 20 with an intruder each names the right sentence in 5, another one in 15."""
    attacked = [Document(f"a{n}", ("0", "1", "2", "3"), 1) for n in range(20)]
    whole = [Document(f"w{n}", ("0", "1", "2", "3")) for n in range(20)]
    said = [
        DocumentAnswer(who, document, place, 1.0)
        for shift, who in enumerate(("one", "other"))
        for documents, named in ((attacked, (1, 2, 2, 2)), (whole, (None, None, None, 3)))
        for n, document in enumerate(documents)
        for place in [named[(n + shift) % 4]]
    ]
    row = _about(said, 400)
    assert (row["accuracy"], row["found"]) == (87.5, 25)
    assert row["f1"] == pytest.approx(100 * 20 / (20 + 40 + 30))  # 10 hits; 40 other sentences named; 30 missed
    both = _of_all(said)
    assert both["accuracy_low"] < 87.5 < both["accuracy_high"]
    assert both["found_low"] < 25 < both["found_high"] < 75


def test_the_whole_section_is_made(files, tmp_path):
    Made("intruders", files).all(tmp_path)
    table = pd.read_csv(tmp_path / "intruders/tables/people-annotators.csv")
    assert list(table["annotator"])[-1] == "all"
    html = (tmp_path / "intruders/section.html").read_text(encoding="utf-8")
    assert "What people say" in html
    assert "missed 1 of 1 attention texts" in html
    assert "no answer of more than half" in html


def changed(files, folder, change):
    export = read_answers(files.asked[0].annotations[0])
    write_answers(folder / "other.jsonl", change(export))
    return replace(files, asked=(replace(files.asked[0], annotations=(folder / "other.jsonl",)),))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda e: replace(e, header=replace(e.header, simulated=True)), "a program gave these answers"),
        (
            lambda e: replace(e, rows=tuple(replace(r, document=f"{r.document}x") for r in e.rows)),
            "no such document in",
        ),
        (
            lambda e: replace(e, rows=tuple(replace(r, sha256="0" * 64) for r in e.rows)),
            "is not the text that this annotator was shown",
        ),
        (
            lambda e: replace(e, rows=tuple(replace(r, answer=replace(r.answer, intruder=5)) for r in e.rows)),
            "has 5 sentences, and 5 was named",
        ),
    ],
)
def test_answers_about_other_documents_are_refused(change, message, files, tmp_path):
    with pytest.raises(TextcriticError, match=message):
        vote_rows(material(changed(files, tmp_path, change)))


def test_answers_about_another_corpus_are_counted(files, tmp_path):
    write_documents(tmp_path / "test.parquet", DOCUMENTS, "tests")
    other = replace(files, judged=(), asked=(replace(files.asked[0], corpus="other"),))
    rows = annotator_rows(material(other))
    assert rows[["answers", "left_out_by_reason"]].to_numpy().tolist() == [[0, "about another corpus: 42"]]
    assert vote_rows(material(other)).empty


def test_votes_and_answers_of_one_corpus_are_not_mixed(files, tmp_path):
    vote = {"file_id": "d0", "gold": 2, "annoated": [2] * 5}
    (tmp_path / "votes.jsonl").write_text(json.dumps(vote) + "\n")
    both = replace(files, voted=(Voted(corpus="stories", joined=False, votes=tmp_path / "votes.jsonl"),))
    with pytest.raises(TextcriticError, match="which also has `votes`"):
        vote_rows(material(both))
