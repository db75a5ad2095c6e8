"""Intruder sentences in a real dump, and checkpoints in the hub's formats that are fine-tuned to find them."""

import json
from functools import partial

import pandas as pd
import pyarrow.parquet as pq
import pytest
import snake
from samples import SMALL
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score

from textcritic.rehearsal.checkpoints import tiny_albert, tiny_bert, tiny_electra

DUMP = SMALL / "wikipedia" / "enwiki-sample.xml.bz2"
SPLITS = ("train", "validation", "test")
DETECTORS = ("bert-sample", "albert-sample", "electra-sample", "bag")
STUDY = "results/studies/intruders-sample"

snakemake = partial(snake.snakemake, configfile="tests/wikipedia/config.yaml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("intruders")
    (place / DUMP.name).symlink_to(DUMP)
    texts = ["The quick brown fox jumps over the lazy dog, 0123456789 times; however, it wasn't (yet) “seen”.\n"] * 9
    tiny_bert(place / "results/raw/hub/bert-sample", texts)
    tiny_albert(place / "models/albert-sample", texts)
    tiny_electra(place / "models/electra-sample", texts)
    run = snakemake(place, "--config", "studies=['intruders-sample']")
    assert run.returncode == 0, run.stderr[-4000:]
    return place


def documents(folder, split):
    return pq.read_table(folder / f"results/corpora/intruders-sample/{split}.parquet").to_pylist()


def predictions(folder, detector):
    path = f"results/intruders/{detector}/intruders-sample/seed1/predictions/intruders-sample/test.parquet"
    return pq.read_table(folder / path).to_pylist()


def test_half_of_the_documents_are_attacked_by_a_sentence_of_the_same_split(folder):
    for split in SPLITS:
        found = documents(folder, split)
        assert {3 <= len(document["sentences"]) <= 8 for document in found} == {True}
        attacked = [document for document in found if document["intruder"] is not None]
        assert len(attacked) == pytest.approx(len(found) / 2, abs=1)
        assert all(document["sentences"][document["intruder"]] != document["replaced"] for document in attacked)
        assert {1 <= document["rank"] <= 10 for document in attacked} == {True}
        # Passages are numbered behind the article that they are of.
        articles = {
            row["id"] for row in pq.read_table(folder / f"results/corpora/wiki-sample/{split}.parquet").to_pylist()
        }
        assert {document["origin"].split("#")[0] for document in attacked} <= articles


@pytest.mark.parametrize("detector", DETECTORS)
def test_the_table_is_what_scikit_learn_makes_of_the_predictions(folder, detector):
    gold, flagged, scores, right = [], [], [], []
    for document, said in zip(documents(folder, "test"), predictions(folder, detector), strict=True):
        assert document["id"] == said["id"]
        truth = [place == document["intruder"] for place in range(1, len(document["sentences"]))]
        gold, flagged, scores = gold + truth, flagged + said["flagged"], scores + said["scores"]
        right.append(truth == said["flagged"])
    table = pd.read_csv(folder / STUDY / "intruders/tables/detectors.csv").set_index("detector")
    row = table.loc[detector]
    assert (row["documents"], row["sentences"]) == (len(right), len(gold))
    assert row["auc"] == pytest.approx(roc_auc_score(gold, scores), abs=1e-12)
    assert row["average_precision"] == pytest.approx(average_precision_score(gold, scores), abs=1e-12)
    assert row["f1"] == pytest.approx(100 * f1_score(gold, flagged, zero_division=0), abs=1e-9)
    assert row["accuracy"] == pytest.approx(100 * sum(right) / len(right), abs=1e-9)


def test_the_pretrained_models_were_trained_and_the_report_names_them(folder):
    for detector in DETECTORS[:3]:
        training = json.loads(
            (folder / f"results/intruders/{detector}/intruders-sample/seed1/training.json").read_text()
        )
        assert (training["steps"], training["documents"]["train"]) == (10, len(documents(folder, "train")))
        scores = {score for said in predictions(folder, detector) for score in said["scores"]}
        assert len(scores) > 20
        assert 0 < min(scores) < max(scores) < 1
    report = (folder / STUDY / "report.html").read_text()
    assert {label in report for label in ("tiny BERT", "tiny ALBERT", "tiny ELECTRA")} == {True}
