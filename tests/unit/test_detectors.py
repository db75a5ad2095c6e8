"""Detectors that are trained: what they learn, what they do not, how they go on after a kill, and what they refuse."""

import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from tiny_intruders import TOPICS, entry_of, planted, without_signal, written

from textcritic.corpora.intruders.documents import Document, iter_documents
from textcritic.critics.detectors.detector import Detector
from textcritic.critics.detectors.encoded import AnswerJob, Padding, joined
from textcritic.critics.detectors.learner import Files
from textcritic.critics.detectors.predictions import read_predictions
from textcritic.critics.detectors.questions import Question
from textcritic.critics.detectors.scores import Counts, Ranking
from textcritic.critics.detectors.train import measured, predict_documents, train_detector
from textcritic.errors import TextcriticError
from textcritic.plan.entries.detectors import DetectorTraining as Training
from textcritic.rehearsal.checkpoints import tiny_albert, tiny_bert, tiny_electra, tiny_gpt2, tiny_roberta, tiny_xlnet
from textcritic.training.load import load_model, load_tokenizer, train_tokenizer
from textcritic.training.loop import Run

from transformers import AutoModelForSequenceClassification, BertConfig, BertForSequenceClassification  # isort: skip

BERT = {
    "model_type": "bert",
    "num_hidden_layers": 1,
    "hidden_size": 32,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 96,
    "initializer_range": 0.1,
}
TRANSFORMER = {"transformer": {"encoding": "bpe-2048", "init": {"config": BERT}, "max_tokens": 96}}
NONE = Files()
TRAINING = {"learning_rate": 5e-3, "warmup_steps": 5, "epochs": 4, "batch_size": 16, "precision": "fp32"}


@pytest.fixture(scope="session")
def splits(shared_folder):
    """Documents whose intruders have a word of their own, and a tokenizer."""

    def make(folder: Path) -> None:
        for seed, (split, count) in enumerate({"train": 80, "validation": 30}.items()):
            written(folder / f"{split}.parquet", planted(count, seed, marked=True))
        train_tokenizer([" ".join(topic) + " stranger" for topic in TOPICS] * 20, folder / "tokenizer", 360)

    return shared_folder("intruders", make)


@pytest.fixture(scope="session")
def topics(shared_folder):
    """Documents whose intruders have another topic, which only who reads the document knows."""

    def make(folder: Path) -> None:
        for seed, (split, count) in enumerate({"train": 400, "validation": 60}.items()):
            written(folder / f"{split}.parquet", planted(count, seed))

    return shared_folder("intruders-of-topics", make)


def train(folder, splits, entry, files=NONE, seed=1, **more):
    run = Run(folder / "model", folder / "training.json", "tiny", threads=1, checkpoint_seconds=0, **more)
    return train_detector(splits / "train.parquet", splits / "validation.parquet", files, entry, seed, run)


def predicted(folder, documents):
    written(folder / "documents.parquet", documents)
    predict_documents(folder / "model", folder / "documents.parquet", folder / "predictions.parquet", threads=1)
    return read_predictions(folder / "predictions.parquet")


def figures(folder, documents):
    return measured(documents, predicted(folder, documents))


def test_a_transformer_finds_intruders_with_a_word_of_their_own(splits, tmp_path):
    entry = entry_of(TRANSFORMER, training=TRAINING)
    report = train(tmp_path, splits, entry, Files(tokenizer=splits / "tokenizer"))
    assert report == json.loads((tmp_path / "training.json").read_text())
    assert report["threshold"] == 0.5
    assert report["threshold_from"] == "fixed"
    assert report["cut"] == {"train": 0, "validation": 0}
    assert (tmp_path / "checkpoints/finished").is_file()
    documents = planted(100, 2, marked=True)
    found = figures(tmp_path, documents)
    assert found["accuracy"] > 0.95
    assert found["f1"] > 0.95
    among, alone = predicted(tmp_path, documents)[3], predicted(tmp_path, documents[3:4])[0]
    np.testing.assert_allclose(among.scores, alone.scores, atol=1e-5)


def test_a_transformer_reads_the_sentence_and_then_the_document_of_which_it_cuts_the_end(splits, tmp_path):
    entry = entry_of({"transformer": {**TRANSFORMER["transformer"], "max_tokens": 16}}, training=TRAINING)
    train(tmp_path, splits, entry, Files(tokenizer=splits / "tokenizer"))
    learner = Detector.load(tmp_path / "model").scorer.learner
    short, long = Question("ba1 ba2.", "ba1 ba2. ba3."), Question("ba1 ba2.", "ba1 ba2. ba3. " * 20)
    encoded = learner.encode([short, long])
    assert encoded.cut == 1
    ids = lambda text: learner.tokenizer(text, add_special_tokens=False)["input_ids"]  # noqa: E731
    cls, sep = learner.tokenizer.cls_token_id, learner.tokenizer.sep_token_id
    first, second = ids(short.first), ids(short.second)
    whole = [cls, *first, sep, *second, sep]
    assert encoded.tokens[: encoded.starts[1]].tolist() == whole
    assert encoded.types[: encoded.starts[1]].tolist() == [0] * (len(first) + 2) + [1] * (len(second) + 1)
    left = 16 - 3 - len(first)
    assert encoded.tokens[encoded.starts[1] :].tolist() == [cls, *first, sep, *ids(long.second)[:left], sep]
    assert not np.allclose(*learner.answer([Question("ba1 ba2.", "du1."), Question("ba1 ba2.", "ki4.")]))


def test_a_bag_of_words_compares_a_sentence_with_its_document(topics, tmp_path):
    entry = entry_of({"bag": {}})
    report = train(tmp_path / "pair", topics, entry)
    assert report["questions"]["train"]["wrong"] == 200
    found = figures(tmp_path / "pair", planted(200, 2))
    assert found["auc"] > 0.95
    # Alone, nothing gives a sentence away.
    train(tmp_path / "alone", topics, entry_of({"bag": {}}, reads="sentence"))
    documents = planted(400, 3)
    alone = measured(documents, predicted(tmp_path / "alone", documents))
    assert abs(alone["auc"] - 0.5) < 0.1
    assert alone["f1"] == 0


def test_where_nothing_tells_intruders_from_others_the_area_is_a_half(tmp_path):
    for seed, split in enumerate(("train", "validation")):
        written(tmp_path / f"{split}.parquet", without_signal(400, seed))
    train(tmp_path, tmp_path, entry_of({"bag": {}}))
    documents = without_signal(400, 2)
    ranking = Ranking.of(documents, predicted(tmp_path, documents))
    drawn = np.random.default_rng(1).multinomial(400, np.full(400, 1 / 400), size=1000)
    low, high = np.quantile(ranking.auc(drawn), (0.025, 0.975))
    assert low < 0.5 < high
    assert high - low < 0.2


def test_the_majority_class_flags_nothing(splits, tmp_path):
    train(tmp_path, splits, entry_of({"majority": {}}))
    documents = planted(10, 2)
    found = predicted(tmp_path, documents)
    assert not any(prediction.flagged.any() for prediction in found)
    assert measured(documents, found)["accuracy"] == 0.5
    assert measured(documents, found)["auc"] == 0.5
    assert measured(documents, found)["precision"] is None


def test_the_opening_sentence_is_asked_about_where_that_is_wanted(splits, tmp_path):
    train(tmp_path, splits, entry_of({"bag": {}}, opening=True))
    document = Document("d", ("stranger ba1 ba2.", "ba2 ba3.", "ba4 ba5."))
    (prediction,) = predicted(tmp_path, [document])
    assert len(prediction.scores) == 2
    assert prediction.opening > prediction.scores.max()
    counts = Counts.of([document], [prediction])
    assert counts.flagged[0] == counts.false_alarms[0] == int(prediction.opening_flagged)


@pytest.mark.parametrize("test", ["next", "order"])
def test_baselines_learn_from_coherent_documents_and_choose_their_threshold_on_validation(topics, tmp_path, test):
    report = train(tmp_path, topics, entry_of({"bag": {}}, test=test))
    neighbours = sum(
        len(document.sentences) - 1 for document in iter_documents(topics / "train.parquet") if not document.intruder
    )
    assert report["questions"]["train"] == {"questions": 2 * neighbours, "wrong": neighbours}
    assert report["threshold_from"] == "validation"
    found = predicted(tmp_path, planted(200, 2))
    assert not found[0].probabilities
    assert all((p.flagged == (p.scores > report["threshold"])).all() for p in found)
    if test == "next":  # two neighbours of one topic
        assert measured(planted(200, 2), found)["auc"] > 0.85


@pytest.mark.parametrize("parts", [2, 4])
def test_several_forward_passes_have_the_gradients_of_one(parts):
    """Also of the last step of an epoch, of 13 questions, whose parts are of unequal sizes."""
    random = np.random.default_rng(3)
    questions = [Question(("a",), number % 3 == 0) for number in range(45)]
    pieces = [random.integers(1, 50, length).astype(np.int32) for length in random.integers(3, 30, len(questions))]
    encoded = joined(pieces, questions, Padding())
    config = BertConfig(**{**BERT, "vocab_size": 50, "hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0})
    jobs = []
    for size, passes in ((16, 1), (16 // parts, parts)):
        torch.manual_seed(1)
        training = Training(learning_rate=1e-3, batch_size=size, accumulation=passes, epochs=2, precision="fp32")
        jobs.append(AnswerJob("d", BertForSequenceClassification(config), training, 1, (encoded, encoded)))
    one, several = jobs
    assert (one.steps, one.per_epoch) == (several.steps, several.per_epoch) == (6, 3)
    for step in range(3):
        losses = [job.backward(SimpleNamespace(step=step)) for job in jobs]
        assert losses[1] == pytest.approx(float(losses[0]), rel=1e-6)
        for first, second in zip(one.model.parameters(), several.model.parameters(), strict=True):
            torch.testing.assert_close(first.grad, second.grad, rtol=2e-5, atol=1e-7)
            first.grad = second.grad = None
    assert {len(one._rows(step)) for step in range(3)} == {16, 13}


def test_a_stopped_training_resumes_to_the_same_weights(splits, tmp_path, monkeypatch):
    accumulated = {**TRAINING, "batch_size": 8, "accumulation": 2}
    entry = entry_of(TRANSFORMER, training={**accumulated, "float32_matmul_precision": "high"})
    files = Files(tokenizer=splits / "tokenizer")
    train(tmp_path / "whole", splits, entry, files)
    backward = AnswerJob.backward

    def stopping(job, loop):
        assert torch.get_float32_matmul_precision() == "high"
        if loop.step == 25:
            loop.stop.set()
        return backward(job, loop)

    monkeypatch.setattr(AnswerJob, "backward", stopping)
    with pytest.raises(TextcriticError, match="stopped by SIGTERM after step 26"):
        train(tmp_path / "stopped", splits, entry, files)
    assert not (tmp_path / "stopped/model").exists()
    monkeypatch.undo()
    train(tmp_path / "stopped", splits, entry, files)
    whole, resumed = (load_file(tmp_path / name / "model/model.safetensors") for name in ("whole", "stopped"))
    assert all(torch.equal(weights, resumed[name]) for name, weights in whole.items())
    assert torch.get_float32_matmul_precision() == "highest"
    reports = [json.loads((tmp_path / name / "training.json").read_text()) for name in ("whole", "stopped")]
    assert reports[0]["curve"] == reports[1]["curve"]
    assert reports[0]["validation"] == reports[1]["validation"]


def test_a_frozen_encoder_stays_as_it_was(splits, tmp_path):
    folder = tiny_bert(tmp_path / "bert", [" ".join(topic) + " stranger." for topic in TOPICS] * 5)
    frozen = {"transformer": {"init": {"folder": str(folder)}, "max_tokens": 96, "freeze": True}}
    report = train(tmp_path, splits, entry_of(frozen, training=TRAINING), Files(pretrained=folder))
    assert report["trained_parameters"] == 2 * 32 + 2
    before = load_model(
        AutoModelForSequenceClassification, {"folder": str(folder)}, load_tokenizer(folder), new_head=True
    )
    after = Detector.load(tmp_path / "model").scorer.learner.model.base_model.state_dict()
    assert all(torch.equal(weights, after[name]) for name, weights in before.base_model.state_dict().items())


@pytest.mark.parametrize(
    ("model", "more", "message"),
    [
        ({"bag": {"minimum_count": 10_000}}, {}, "no word occurs in 10000 sentences"),
        (TRANSFORMER, {"training": {**TRAINING, "learning_rate": 1e30}}, "loss nan|gradient norm|validation loss is"),
    ],
)
def test_what_cannot_be_learnt_is_refused(splits, tmp_path, model, more, message):
    with pytest.raises(TextcriticError, match=message):
        train(tmp_path, splits, entry_of(model, **more), Files(tokenizer=splits / "tokenizer"))
    assert not (tmp_path / "model").exists()


def test_documents_without_intruders_teach_nothing(splits, tmp_path):
    documents = [document for document in planted(40, 1) if document.intruder is None]
    for split in ("train", "validation"):
        written(tmp_path / f"{split}.parquet", documents)
    with pytest.raises(TextcriticError, match="0 intruders among"):
        train(tmp_path, tmp_path, entry_of({"bag": {}}))
    # The baselines learn from such documents, but have no threshold then.
    with pytest.raises(TextcriticError, match="no intruder among the documents that the threshold"):
        train(tmp_path, tmp_path, entry_of({"bag": {}}, test="next"))


def test_a_model_that_is_given_another_tokenizer_is_refused(splits, tmp_path):
    texts = [" ".join(topic) for topic in TOPICS]
    bert, gpt2 = tiny_bert(tmp_path / "bert", texts), tiny_gpt2(tmp_path / "gpt2", texts)
    entry = entry_of({"transformer": {"init": {"folder": str(gpt2)}, "max_tokens": 32}}, training=TRAINING)
    with pytest.raises(TextcriticError, match="the tokenizer has no padding token"):
        train(tmp_path, splits, entry, Files(pretrained=gpt2))
    for path in splits.glob("tokenizer/tokenizer*"):
        (bert / path.name).write_bytes(path.read_bytes())
    entry = entry_of({"transformer": {"init": {"folder": str(bert)}, "max_tokens": 32}}, training=TRAINING)
    with pytest.raises(TextcriticError, match="the model embeds 97 tokens, the encoding has 281"):
        train(tmp_path, splits, entry, Files(pretrained=bert))


@pytest.mark.parametrize("make", [tiny_bert, tiny_electra, tiny_albert, tiny_roberta, tiny_xlnet])
def test_pretrained_encoders_of_every_kind_are_fine_tuned(splits, tmp_path, make):
    folder = make(tmp_path / "hub", [" ".join(topic) + " stranger. " for topic in TOPICS] * 5)
    entry = entry_of(
        {"transformer": {"init": {"folder": str(folder)}, "max_tokens": 96}}, training={**TRAINING, "epochs": 8}
    )
    train(tmp_path, splits, entry, Files(pretrained=folder))
    documents = planted(60, 2, marked=True)
    found = predicted(tmp_path, documents)
    assert measured(documents, found)["f1"] > 0.9
    alone = predicted(tmp_path, documents[5:6])[0]  # padding has no effect
    np.testing.assert_allclose(found[5].scores, alone.scores, atol=1e-4)
    learner = Detector.load(tmp_path / "model").scorer.learner
    assert learner.tokenizer.padding_side == ("left" if make is tiny_xlnet else "right")
    questions = [Question("ba1.", "ba1. ba2."), Question("ba1.", "ba1. ba2. ba3. ba4.")]
    encoded = learner.encode(questions)
    batch = encoded.batch(np.arange(2))
    # As the tokenizer itself makes a batch.
    inputs = ["ba1.", "ba1."], ["ba1. ba2.", "ba1. ba2. ba3. ba4."]
    expected = learner.tokenizer(*inputs, padding=True, return_tensors="pt", return_token_type_ids=True)
    for name, values in batch.items():
        assert torch.equal(values, expected[name]), name
    assert ("token_type_ids" in batch) == (make is not tiny_roberta)


def test_more_tokens_than_positions_are_refused(splits, tmp_path):
    folder = tiny_roberta(tmp_path / "roberta", ["ba1 ba2 stranger. "] * 5)
    entry = entry_of({"transformer": {"init": {"folder": str(folder)}, "max_tokens": 97}}, training=TRAINING)
    with pytest.raises(TextcriticError, match="max_tokens: 97 is more than the encoder's 96 positions"):
        train(tmp_path, splits, entry, Files(pretrained=folder))


def test_weights_in_the_older_format_are_read_as_tensors_alone(splits, tmp_path):
    folder = tiny_electra(tmp_path / "electra", [" ".join(topic) + " stranger. " for topic in TOPICS] * 5)
    weights = {name: tensor for path in folder.glob("*.safetensors") for name, tensor in load_file(path).items()}
    for path in [*folder.glob("*.safetensors"), folder / "model.safetensors.index.json"]:
        path.unlink()
    torch.save(weights, folder / "pytorch_model.bin")
    tokenizer = load_tokenizer(folder)
    load = lambda: load_model(  # noqa: E731
        AutoModelForSequenceClassification, {"folder": str(folder)}, tokenizer, new_head=True
    )
    read = load().state_dict()
    assert all(torch.equal(tensor, read[name]) for name, tensor in weights.items() if name.startswith("electra."))
    torch.save({**weights, "evil": Path("x")}, folder / "pytorch_model.bin")
    with pytest.raises(TextcriticError, match="electra: no model can be loaded from it"):
        load()
    (folder / "pytorch_model.bin").write_bytes((folder / "pytorch_model.bin").read_bytes()[:500])
    with pytest.raises(TextcriticError, match="electra: no model can be loaded from it"):
        load()
