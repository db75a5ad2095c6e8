"""Word vectors in GloVe's format, and the detectors that read words by number."""

import json

import numpy as np
import pytest
import torch
from tiny_intruders import entry_of, planted, written

from textcritic.critics.detectors.detector import Detector
from textcritic.critics.detectors.learner import Files
from textcritic.critics.detectors.questions import Question
from textcritic.critics.detectors.train import measured, train_detector
from textcritic.critics.detectors.vectors import UNKNOWN, WORD, read_vectors
from textcritic.errors import TextcriticError
from textcritic.training.loop import Run

TRAINING = {"learning_rate": 2e-2, "batch_size": 32, "precision": "fp32"}
SMALL = {"size": 8, "hidden": 16, "minimum_count": 1}


@pytest.fixture
def splits(tmp_path):
    counts = {"train": 300, "validation": 60}
    return [
        written(tmp_path / f"{split}.parquet", planted(count, seed, marked=True))
        for seed, (split, count) in enumerate(counts.items())
    ]


def train(folder, splits, model, files=None, epochs=1, **more):
    run = Run(folder / "model", folder / "training.json", "words", threads=1, checkpoint_seconds=0)
    return train_detector(
        *splits, files or Files(), entry_of(model, training={**TRAINING, "epochs": epochs}, **more), 1, run
    )


def test_words_are_cut_as_glove_cuts_them():
    text = "He doesn't like U.S. trade; they'll say Tom's well-known 3.5% (so he can’t)."
    assert WORD.findall(text) == [
        *("He", "does", "n't", "like", "U.S", ".", "trade", ";", "they", "'ll", "say", "Tom", "'s", "well-known"),
        *("3.5", "%", "(", "so", "he", "ca", "n’t", ")", "."),
    ]


def test_vectors_of_the_wanted_words_are_read(tmp_path):
    path = tmp_path / "glove.txt"
    lines = ["the 1 2 3", ". . . 4 5 6", "at name@domain.com 7 8 9", "The -1 0.5 2e-3", "the 9 9 9", "é 0 0 1"]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = read_vectors(path, {"the", "The", ". . .", "é", "absent"}, 3)
    assert {word: values.tolist() for word, values in found.items()} == {
        "the": [1, 2, 3],
        ". . .": [4, 5, 6],
        "The": [-1, 0.5, pytest.approx(2e-3)],
        "é": [0, 0, 1],
    }
    path.write_text("6 3\n" + "\n".join(lines) + "\n", encoding="utf-8")  # as word2vec writes it
    assert len(read_vectors(path, {"the", "The"}, 3)) == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("the 1 2 3\nof 1 2\n", r"glove.txt, line 2: 2 numbers, 3 are wanted"),
        ("the one 2 3\n", "glove.txt, line 1: not numbers behind the word"),
        ("the nan 2 3\n", "glove.txt, line 1: a number is not finite"),
        ("of 1 2 3\n", "glove.txt: has a vector of no word of the corpus"),
        (None, "glove.txt: cannot be read: No such file"),
    ],
)
def test_a_bad_file_of_vectors_is_named(tmp_path, content, message):
    path = tmp_path / "glove.txt"
    if content:
        path.write_text(content)
    with pytest.raises(TextcriticError, match=message):
        read_vectors(path, {"the"}, 3)


@pytest.mark.parametrize("model", [{"embeddings": SMALL}, {"bilstm": {**SMALL, "states": 8}}])
def test_what_gives_an_intruder_away_is_learnt_from_words(splits, tmp_path, model):
    # Alone, as the mean over a whole document has the word in all of its questions.
    report = train(tmp_path, splits, model, reads="sentence", epochs=8)
    assert report == json.loads((tmp_path / "training.json").read_text())
    documents = planted(60, 2, marked=True)
    detector = Detector.load(tmp_path / "model")
    found = list(detector.predict(documents))
    assert measured(documents, found)["auc"] > 0.98
    alone = next(iter(detector.predict(documents[5:6])))
    np.testing.assert_allclose(alone.scores, found[5].scores, atol=1e-6)


def test_a_question_is_the_words_of_sentence_and_document_cut_at_the_end(splits, tmp_path):
    train(tmp_path, splits, {"embeddings": {**SMALL, "longest": 8}})
    learner = Detector.load(tmp_path / "model").scorer.learner
    number = learner.number
    encoded = learner.encode([Question("ba1 du2.", "ba1 du2. zz9 ki3 lo4 me5."), Question("ba1.", "ba1.")])
    words = [
        number["ba1"],
        number["du2"],
        number["."],
        number["ba1"],
        number["du2"],
        number["."],
        UNKNOWN,
        number["ki3"],
    ]
    assert encoded.tokens[: encoded.starts[1]].tolist() == words
    assert encoded.cut == 1
    assert learner.encode([Question(" ")]).tokens.tolist() == [UNKNOWN]


@pytest.mark.parametrize("tuned", [True, False])
def test_vectors_of_a_file_are_what_training_starts_from(splits, tmp_path, tuned):
    path = tmp_path / "glove.txt"
    path.write_text("ba1 1 2 3 4 5 6 7 8\nnever 0 0 0 0 0 0 0 0\n")
    model = {"embeddings": {**SMALL, "vectors": "glove.txt", "tuned": tuned}}
    report = train(tmp_path, splits, model, Files(vectors=path))
    assert report["words_with_vectors"] == 1
    learner = Detector.load(tmp_path / "model").scorer.learner
    same = torch.equal(learner.model.vectors.weight[learner.number["ba1"]], torch.arange(1.0, 9.0))
    assert same is not tuned
    assert report["trained_parameters"] == report["parameters"] - (0 if tuned else learner.model.vectors.weight.numel())


def test_a_folder_that_lacks_weights_is_refused(splits, tmp_path):
    train(tmp_path, splits, {"embeddings": SMALL})
    (tmp_path / "model/model.safetensors").write_bytes(b"x")
    with pytest.raises(TextcriticError, match=r"model.safetensors: not whole; delete the folder and train it again"):
        Detector.load(tmp_path / "model")
