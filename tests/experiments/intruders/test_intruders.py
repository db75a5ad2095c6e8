"""Detectors, people, edits and generated text: numbers against sums by hand, and what is refused."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from report_jobs import Made, make_part, make_study

from experiments.intruders.tiny import DETECTORS, build_intruders, made_up, predicted
from textcritic.corpora.intruders.documents import Document, read_documents, write_documents
from textcritic.critics.detectors.predictions import Prediction, read_predictions, write_predictions
from textcritic.critics.detectors.votes import Votes
from textcritic.errors import TextcriticError
from textcritic.experiments.intruders.examples import choose, marked
from textcritic.experiments.intruders.generated import PERPLEXITY, generated_rows
from textcritic.experiments.intruders.names import IntruderNames
from textcritic.experiments.intruders.people import (
    agreed_rows,
    alone_rows,
    by_people_rows,
    right_rows,
    unanimous_rows,
    vote_rows,
)
from textcritic.experiments.intruders.probe_rows import probe_rows
from textcritic.experiments.intruders.read import Judgement, flagged
from textcritic.experiments.intruders.rows import KEYS, detector_rows, difficulty_rows, exchange_p, pair_rows
from textcritic.experiments.intruders.tables import held_rows
from textcritic.measures.card_file import read_card
from textcritic.measures.material import Material
from textcritic.measures.published import read_published
from textcritic.measures.score import NOT_COMPARED
from textcritic.plan.experiment import Part
from textcritic.report.cells import matching

PUBLISHED = Path(__file__).parents[3] / "config/published/document-coherence/intruders.csv"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return build_intruders(tmp_path_factory.mktemp("intruders"))


@pytest.fixture(scope="module")
def material(files):
    return Material(files, None, IntruderNames.of(files))


def of(rows, **wanted):
    """The one row with these values."""
    (row,) = matching(rows, wanted).to_dict("records")
    return row


def by_hand(documents, predictions):
    """Accuracy, F1, precision and recall in percent, counted sentence by sentence."""
    right, found = [], Counter()
    for document, prediction in zip(documents, predictions, strict=True):
        flags = [n for n, flag in enumerate(prediction.flagged, start=1) if flag]
        right.append((len(flags) > 0) == (document.intruder is not None))
        for n in range(1, len(document.sentences)):
            found[(n == document.intruder), n in flags] += 1
    hits, false, missed = found[True, True], found[False, True], found[True, False]
    return {
        "accuracy": 100 * np.mean(right),
        "f1": 100 * 2 * hits / (2 * hits + false + missed),
        "precision": 100 * hits / (hits + false) if hits + false else np.nan,
        "recall": 100 * hits / (hits + missed),
    }


def test_detectors_have_the_numbers_that_are_counted_by_hand(files, material):
    rows = material.get(detector_rows)
    for judged in files.judged:
        documents = read_documents(next(corpus.test for corpus in files.corpora if corpus.corpus == judged.corpus))
        row = of(rows, corpus=judged.corpus, trained=judged.trained, detector=judged.detector, seed=judged.seed)
        for name, value in by_hand(documents, read_predictions(judged.predictions)).items():
            assert row[name] == pytest.approx(value, nan_ok=True), name
            if 0 < value < 100:
                assert row[f"{name}_low"] < value < row[f"{name}_high"]
        assert row["documents"] == len(documents)
        assert row["sentences"] == sum(len(document.sentences) - 1 for document in documents)
        assert row["domain"] == ("in" if judged.trained == judged.corpus else "cross")


def test_the_sharp_detector_beats_silence_and_the_silent_one_does_not(material):
    rows = material.get(detector_rows)
    sharp, silent = (of(rows, corpus="one", trained="one", detector=name) for name in ("sharp", "silent"))
    assert sharp["p_majority"] < 0.001
    assert silent["p_majority"] == 1
    assert silent["precision_why"] == "nothing is flagged"
    assert sharp["auc_low"] > 0.5
    majority = of(rows, corpus="one", detector="majority")
    assert majority["accuracy"] == pytest.approx(100 * (1 - majority["incoherent"] / majority["documents"]))
    assert majority["f1"] == 0


def test_people_and_detectors_are_compared_on_the_same_documents(files, material):
    rows = material.get(detector_rows)
    row = of(rows, corpus="one", trained="one", detector="sharp")
    votes = [json.loads(line) for line in files.voted[0].votes.read_text().splitlines()]
    commonest = {one["file_id"]: Counter(one["annoated"]).most_common(1)[0] for one in votes}
    agreed = {name: int(answer) for name, (answer, n) in commonest.items() if n >= 3}
    documents = [document for document in read_documents(files.corpora[0].test) if document.id in agreed]
    assert row["people_documents"] == len(documents)
    right = [(agreed[document.id] > 0) == (document.intruder is not None) for document in documents]
    assert row["people_accuracy"] == pytest.approx(100 * np.mean(right))
    own = [one for one in read_predictions(files.judged[0].predictions) if one.id in agreed]
    assert row["own_f1"] == pytest.approx(by_hand(documents, own)["f1"])
    assert 0 < row["p_people_accuracy"] <= 1
    assert pd.isna(of(rows, corpus="two", trained="two", detector="sharp")["people_documents"])


def test_pairs_are_of_one_training_corpus_or_of_one_detector(material):
    rows = material.get(pair_rows)
    assert len(rows) == 2 * (2 * 3 + 3)
    for row in rows.to_dict("records"):
        assert row["first_trained"] == row["second_trained"] or row["first_detector"] == row["second_detector"]
        assert row["holm_accuracy"] >= row["p_accuracy"]
    row = of(rows, corpus="one", first_detector="sharp", second_detector="silent", first_trained="one")
    assert row["first_alone"] > row["second_alone"]
    assert row["p_f1"] < 0.05


def test_documents_that_two_detectors_judge_alike_can_be_summed_up():
    """They change no exchange: p is that of all of them."""
    rng = np.random.default_rng(4)
    first = np.column_stack([2 * rng.integers(0, 2, 10), 2 + rng.integers(0, 3, 10)]).astype(float)
    second = first.copy()
    second[:4] = [[0, 2], [2, 3], [0, 4], [2, 2]]
    from textcritic.inference import paired_permutation_test, ratio_of_sums

    whole = paired_permutation_test(first, second, ratio_of_sums)
    gap, p = exchange_p(first, second, None, 10_000)
    assert p == pytest.approx(whole.p, abs=1e-12)
    assert gap == pytest.approx(100 * whole.difference)
    assert np.isnan(exchange_p(np.zeros((3, 2)), first[:3], None, 10)[1])


def test_difficulty_is_by_the_place_of_the_source(files, material):
    rows = material.get(difficulty_rows)
    documents = read_documents(files.corpora[0].test)
    ranks = Counter("random" if one.rank is None else str(one.rank) for one in documents if one.intruder is not None)
    own = matching(rows, {"corpus": "one", "trained": "one", "detector": "sharp", "by": "rank"})
    assert dict(zip(own["level"], own["documents"], strict=True)) == ranks
    assert list(own["level"])[-1] == "random"
    predictions = {one.id: one for one in read_predictions(files.judged[0].predictions)}
    some = [one for one in documents if one.rank == 2]
    found = [predictions[one.id].flagged[one.intruder - 1] for one in some]
    assert of(own, level="2")["found"] == pytest.approx(100 * np.mean(found))
    highest = [predictions[one.id].scores.argmax() == one.intruder - 1 for one in some]
    assert of(own, level="2")["highest"] == pytest.approx(100 * np.mean(highest))
    guessed = [1 / (len(one.sentences) - 1) for one in some]
    assert of(own, level="2")["chance"] == pytest.approx(100 * np.mean(guessed))
    assert set(rows.loc[rows["by"] == "filter", "level"]) == {"easy", "hard"}


def test_an_edit_is_compared_with_the_document_before_it(files, material):
    rows = material.get(probe_rows)
    row = of(rows, corpus="one", trained="one", detector="sharp", probe="gender", where="intruder")
    documents = {one.id: one for one in read_documents(files.corpora[0].test)}
    before = {one.id: one for one in read_predictions(files.judged[0].predictions)}
    after = {one.id: one for one in read_predictions(files.judged[0].probes)}
    attacked = [one for one in documents.values() if one.intruder is not None]
    sides = [before, {one.id: after[f"{one.id}#gender"] for one in attacked}]
    values = [by_hand(attacked, [side[one.id] for one in attacked])["f1"] for side in sides]
    assert [row["base_f1"], row["edited_f1"]] == pytest.approx(values)
    assert row["difference"] == pytest.approx(values[1] - values[0])
    assert row["documents"] == len(attacked)
    control = of(rows, corpus="one", trained="one", detector="sharp", probe="gender", where="own")
    assert pd.isna(control["difference"])
    assert 0 <= control["base_flagged"] <= 100
    people = of(rows, corpus="one", detector="people", probe="gender")
    assert people["difference"] == pytest.approx(people["edited_f1"] - people["base_f1"])


def test_where_people_are_right_and_what_only_one_side_sees(files, material):
    rows = material.get(by_people_rows)
    own = matching(rows, {"trained": "one", "detector": "sharp"})
    assert list(own["right"]) == [0, 1, 2, 3, 4, 5]
    assert own["documents"].sum() == len(read_documents(files.corpora[0].test))
    alone, unanimous = material.get(alone_rows), material.get(unanimous_rows)
    for gold in ("coherent", "incoherent"):
        table = matching(unanimous, {"gold": gold})
        total = table[table["answer"].isin(["right", "wrong", "called incoherent"])]["documents"].sum()
        found = matching(alone, {"gold": gold})[["both", "people_alone", "detector_alone", "neither"]]
        assert (found.sum(axis=1) == total).all()
    parts = unanimous["answer"].isin(["called coherent", "another sentence named"])
    agreed = material.get(agreed_rows)
    assert set(agreed["documents"]) == {unanimous.loc[~parts, "documents"].sum()}
    assert material.get(right_rows)["share"].sum() == pytest.approx(100)
    assert list(material.get(vote_rows)["rule"]) == ["same", "gold", "all", "each"]


def test_generated_text_is_compared_at_the_lengths_of_real_text(files, material):
    rows = material.get(generated_rows)
    real, drifter, writer = (of(rows, generator=name) for name in ("data", "drifter", "writer"))
    documents = read_documents(files.data[0].documents)
    flags = [bool(flagged(one)) for one in read_predictions(files.data[0].predictions[0])]
    assert real["flagged_0"] == pytest.approx(100 * np.mean(flags))
    weights = Counter(len(document.sentences) for document in documents)
    sample = read_documents(files.samples[0].documents)
    hits = [bool(flagged(one)) for one in read_predictions(files.samples[0].predictions[0])]
    share = {
        size: np.mean([hit for hit, one in zip(hits, sample, strict=True) if len(one.sentences) == size])
        for size in weights
    }
    expected = sum(share[size] * n for size, n in weights.items()) / sum(weights.values())
    assert drifter["flagged_0"] == pytest.approx(100 * expected)
    assert drifter["flagged_0_p"] < 0.05 < writer["flagged_0_p"]
    assert (drifter["ppl_all"], drifter["rejected"]) == (20, 5)


def test_the_front_page_has_perplexity_without_a_verdict(files, tmp_path):
    make_study(tmp_path / "demo", Made("intruders", files))
    card = read_card(tmp_path / "demo")["intruders"]
    perplexity = [score for score in card if score.measure == PERPLEXITY.name]
    assert [score.label for score in perplexity] == ["a drifter", "a writer"]
    assert {score.verdict for score in perplexity} == {NOT_COMPARED}
    assert len([score for score in card if score.is_real]) == len(files.judges)
    page = (tmp_path / "demo/report.html").read_text(encoding="utf-8")
    assert "Perplexity" in page
    assert "not tested" not in page


def test_several_trainings_and_groups(tmp_path):
    files = build_intruders(tmp_path, corpora=("one",), seeds=(1, 2), groups=2)
    rows = Material(files, None, IntruderNames.of(files)).get(detector_rows)
    assert list(matching(rows, {"detector": "sharp"})["seed"]) == [1, 2]
    assert set(matching(rows, {"detector": "sharp"})["groups"]) == {30}
    made = Made("intruders", files).all(tmp_path / "study")
    assert any(path.name == "pairs.csv" for path in made)
    assert "over 2 trainings" in (tmp_path / "study/intruders/tables/detectors.html").read_text()


def test_a_flagged_opening_sentence_is_a_fault():
    one = Prediction("a", np.array([0.2, 0.9]), np.array([False, True]), opening=0.8, opening_flagged=True)
    assert flagged(one) == [0, 2]
    document = Document("a", ("One.", "Two.", "Three."), 2)
    judged = Judgement(None, [document], [one])
    assert judged.counts.tolist() == [[1, 1, 1, 0, 1]]


def test_documents_to_read_are_of_each_kind():
    rng = np.random.default_rng(2)
    documents = made_up(rng, "x", 30)
    judged = [Judgement(None, documents, predicted(rng, documents, shift)) for _, shift in DETECTORS.values()]
    votes = {documents[n].id: Votes(documents[n].id, documents[n].intruder, (None,) * 5) for n in (3, 4, 5, 6)}
    chosen = choose(judged, votes)
    assert len(chosen) == len({place for place, _ in chosen}) == 8
    for place, kind in chosen:
        assert (documents[place].intruder is None) == (kind in ("unflagged", "flagged"))
    assert {3, 4, 5, 6} <= {place for place, _ in chosen}


def test_words_that_differ_are_marked_and_escaped():
    assert marked("He <was> here.", "She <was> here.") == (
        "<mark>He</mark> &lt;was&gt; here.",
        "<mark>She</mark> &lt;was&gt; here.",
    )


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda one: [], r"predictions of 60 documents; rerun its rule"),
        (lambda one: [replace(p, scores=p.scores[:-1], flagged=p.flagged[:-1]) for p in one], r"has \d scores; rerun"),
        (lambda one: [replace(p, id=f"{p.id}x") for p in one], "has no prediction; rerun its rule"),
    ],
)
def test_predictions_of_other_documents_are_refused(files, tmp_path, spoil, message):
    first = files.judged[0]
    write_predictions(tmp_path / "other.parquet", spoil(read_predictions(first.predictions)))
    other = replace(files, judged=(replace(first, predictions=tmp_path / "other.parquet"),))
    with pytest.raises(TextcriticError, match=message):
        detector_rows(Material(other, None, IntruderNames.of(other)))


def votes_file(folder, *records):
    path = folder / "votes.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"file_id": "nobody"}, "no file_id is a document of one; leave out `joined`"),
        ({"gold": "1"}, "gold 1, and the document has"),
        ({"annoated": ["9"] * 5}, "a vote for sentence 9, and the document has"),
    ],
)
def test_votes_on_other_documents_are_refused(files, tmp_path, changed, message):
    document = next(one for one in read_documents(files.corpora[0].test) if one.intruder is None)
    record = {"file_id": document.id, "gold": "-1", "annoated": ["-1"] * 5} | changed
    voted = replace(files.voted[0], votes=votes_file(tmp_path, record))
    other = replace(files, voted=(voted,))
    with pytest.raises(TextcriticError, match=message):
        detector_rows(Material(other, None, IntruderNames.of(other)))


def test_statistics_that_lack_something_are_refused(files, tmp_path):
    (tmp_path / "statistics.json").write_text("{}")
    other = replace(files, corpora=(replace(files.corpora[0], statistics=tmp_path / "statistics.json"),))
    with pytest.raises(TextcriticError, match=r"statistics.json: no 'all' in it; delete it and rerun its rule"):
        held_rows(Material(other))


def test_a_corpus_without_documents_is_refused(files, tmp_path):
    write_documents(tmp_path / "test.parquet", [], "nothing")
    other = replace(files, corpora=(replace(files.corpora[0], test=tmp_path / "test.parquet"),), voted=())
    with pytest.raises(TextcriticError, match=r"test.parquet: no documents in it; give a corpus with longer documents"):
        detector_rows(Material(other, None, IntruderNames.of(other)))


@pytest.fixture(scope="module")
def published():
    return read_published(PUBLISHED, KEYS)


def test_the_published_values_are_those_of_seven_tables(published):
    numbers = Counter(table for tables in published.tables.values() for table in tables)
    assert {table: numbers[str(table)] for table in range(1, 8)} == {1: 12, 2: 3, 3: 108, 4: 12, 5: 4, 6: 20, 7: 144}


def test_table_3_has_rows_of_detectors_that_cannot_be_had(tmp_path):
    """Their published values stand alone; people and the majority class have one value for both training corpora."""
    files = build_intruders(tmp_path / "files", corpora=("wikipedia-intruders", "cnn-intruders"), documents=24)
    part = Part("table3", "detection", "Accuracy and F1")
    make_part("intruders", part, files, tmp_path, PUBLISHED)
    rows = pd.read_csv(tmp_path / "table3.csv", keep_default_na=False)
    found = matching(rows, {"detector": "infersent", "corpus": "wikipedia-intruders", "trained": "wikipedia-intruders"})
    assert found[["accuracy", "published_accuracy", "published_f1"]].to_numpy().tolist() == [["", "57.3", "0.0"]]
    assert not set(rows["detector"]) & {"xlnet-large-alone", ""}
    html = (tmp_path / "table3.html").read_text(encoding="utf-8")
    assert "InferSent, not available" in html
    assert "published 81.7" in html


def test_published_numbers_add_up(published):
    """Transcription: F1 is that of precision and recall, and counts of people are those of Table 5."""
    wiki = {"corpus": "wikipedia-intruders", "trained": "wikipedia-intruders", "probe": ""}
    for detector in ("bert-large", "xlnet-large", "albert-xxlarge"):
        values = {name: published.value(name, wiki | {"detector": detector}) for name in ("precision", "recall", "f1")}
        harmonic = 2 * values["precision"] * values["recall"] / (values["precision"] + values["recall"])
        assert harmonic == pytest.approx(values["f1"], abs=0.12)
    people = {"corpus": "wikipedia-intruders", "detector": "people"}
    counts = {
        name: published.value(name, people)
        for name in ("coherent_right", "coherent_called_incoherent", "incoherent_right", "incoherent_wrong")
    }
    total = sum(counts.values())
    assert total == 1977
    coherent = counts["coherent_right"] + counts["coherent_called_incoherent"]
    majority = published.value(
        "accuracy", {"corpus": "wikipedia-intruders", "detector": "majority", "probe": "all-agree"}
    )
    assert round(100 * coherent / total, 1) == majority
    alone = {
        name: published.value(name, wiki | {"detector": "albert-xxlarge", "probe": "all-agree"})
        for name in ("detector_alone_incoherent", "neither_incoherent", "detector_alone_coherent", "neither_coherent")
    }
    assert alone["detector_alone_incoherent"] + alone["neither_incoherent"] == counts["incoherent_wrong"]
    assert alone["detector_alone_coherent"] + alone["neither_coherent"] == counts["coherent_called_incoherent"]


def test_no_f1_after_an_edit_is_above_100(published):
    cells = [cell for cell in published.values if cell[-1] == "difference"]
    assert len(cells) == 72
    for *place, _ in cells:
        f1 = published.values[(*place, "f1")]
        assert 0 <= f1 + published.values[(*place, "difference")] <= 100
