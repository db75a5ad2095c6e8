"""The jobs of the hidden semi-Markov language model: training that survives kills, bad input, samples."""

import inspect
import json
import logging
import math
import os
import pickle
import signal
import subprocess
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from forks import forking_python
from tiny_hsmm import changed_entry, flat, hsmm_entry, random_model
from tiny_process import TinyProcess, model_of

from textcritic.errors import TextcriticError
from textcritic.generators.hsmm import HSMM, Lexicon
from textcritic.generators.hsmm.adam import Adam
from textcritic.generators.hsmm.em import EM
from textcritic.generators.hsmm.multigram import Windows, find_segments
from textcritic.generators.hsmm.sample import sample_hsmm
from textcritic.generators.hsmm.text import Text, log_likelihood
from textcritic.generators.hsmm.train import pack, train_hsmm, unpack
from textcritic.generators.shards import CUT, ENDED, Shard, read_shard
from textcritic.generators.symbols import make_symbol_tokenizer
from textcritic.generators.train import Encoded
from textcritic.training.load import load_tokenizer
from textcritic.training.loop import Run

BY_EM = hsmm_entry(8, longest=5, iterations=4, tolerance=-1.0)  # never settled
BY_ADAM = hsmm_entry(
    3, longest=4, method="adam", epochs=2, pretraining_epochs=1, most_common=60, evaluate_every=10, batch_size=16
)


def fit(train, validation, tokenizer, folder, entry, checkpoint_seconds=300.0):
    run = Run(f"{folder}/model", f"{folder}/training.json", "hsmm", 1, checkpoint_seconds=checkpoint_seconds)
    return train_hsmm(Encoded(train, validation, tokenizer), entry, 3, run)


def train_small(small: TinyProcess, folder, entry, train="train", **more):
    report = fit(small.prefix(train), small.prefix("validation"), small.tokenizer, folder, entry, **more)
    return report, HSMM.load(folder / "model")


def same(one: HSMM, other: HSMM) -> bool:
    tables = zip(pack(one).values(), pack(other).values(), strict=True)
    return all(torch.equal(a, b) for a, b in tables if torch.is_tensor(a)) and all(
        np.array_equal(a, b) for a, b in zip(one.lexicon.codes, other.lexicon.codes, strict=True)
    )


def stop_in_round(monkeypatch, method, number, act):
    """Do something when a round begins."""
    original, begun = method.round, []

    def round_(self, advance):
        begun.append(None)
        if len(begun) == number:
            act()
        return original(self, advance)

    monkeypatch.setattr(method, "round", round_)


def interrupt():
    raise KeyboardInterrupt


# The report and the model


@pytest.mark.parametrize("entry", [BY_EM, BY_ADAM])
def test_report_and_model(small_process, tmp_path, entry):
    split = "train" if entry.training.method == "em" else "test"
    report, model = train_small(small_process, tmp_path, entry, split)
    assert report == json.loads((tmp_path / "training.json").read_text())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints", "model", "training.json"]
    assert list(report) == [
        "steps",
        "best_step",
        "validation_loss",
        "tokens_seen",
        "parameters",
        "published_parameters",
        "states",
        "states_allowed",
        "segments",
        "segments_allowed",
        "curve",
        "seconds",
        "tokens_per_second",
        "device",
    ]
    tokens, curve = len(small_process.text(split).tokens), report["curve"]
    assert [point["step"] for point in curve] == list(range(report["steps"] + 1))
    assert report["tokens_seen"] == tokens * (report["steps"] if entry.training.method == "em" else 3)
    losses = [point["validation_loss"] for point in curve]
    assert report["validation_loss"] == min(losses) == losses[report["best_step"]] < losses[0]
    assert (curve[0]["train_loss"], curve[-1]["train_loss"]) == (None, pytest.approx(min(losses), rel=0.2))
    assert report["parameters"] == model.parameters
    assert (report["states"], report["segments"]) == (model.states, len(model.lexicon))
    assert report["states_allowed"] == entry.states
    sizes = entry.states + entry.longest + report["segments_allowed"]
    assert report["published_parameters"] == entry.states * sizes
    assert load_tokenizer(tmp_path / "model").eos_token_id == small_process.end
    # What was validated is what was saved.
    method = EM if entry.training.method == "em" else Adam
    arguments = (model,) if method is EM else (model.lexicon,)
    more = () if method is EM else (0, torch.device("cpu"))
    validation = small_process.text("validation")
    lattices = method(*arguments, small_process.text(split), entry, *more).lattices(validation)
    loss = -log_likelihood(model, lattices) / len(validation.tokens)
    assert loss == pytest.approx(report["validation_loss"], rel=1e-6)


def test_a_packed_model_is_unpacked(tmp_path):
    model = random_model(1, holes=True)
    torch.save(pack(model), tmp_path / "model.pt")
    again = unpack(torch.load(tmp_path / "model.pt", weights_only=True))
    assert same(model, again)
    assert again.lexicon.vocabulary == model.lexicon.vocabulary


# Kills


PROGRAM = f"""
import os, pickle, signal, sys
from textcritic.generators.hsmm.em import EM
from textcritic.generators.hsmm.train import train_hsmm
from textcritic.generators.train import Encoded
from textcritic.training.loop import Run
{inspect.getsource(fit)}
original, rounds = EM.round, []

def killed(self, advance):
    rounds.append(None)
    if len(rounds) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return original(self, advance)

EM.round = killed
fit(*sys.argv[1:5], pickle.loads({pickle.dumps(BY_EM)!r}), checkpoint_seconds=0)
"""


def test_a_kill_leaves_no_trace(small_process, tmp_path, caplog):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    report, model = train_small(small_process, whole, BY_EM)
    arguments = [small_process.prefix("train"), small_process.prefix("validation"), small_process.tokenizer, broken]
    command = [forking_python(), "-c", PROGRAM, *map(str, arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    assert subprocess.run(command, check=False, env=environment).returncode == -signal.SIGKILL
    assert not (broken / "model").exists()
    with caplog.at_level(logging.INFO, "textcritic"):
        again, resumed = train_small(small_process, broken, BY_EM, checkpoint_seconds=0)
    assert "resuming from step 3" in caplog.text
    assert "finding segments" not in caplog.text
    assert same(model, resumed)
    for key in set(report) - {"seconds", "tokens_per_second"}:
        assert report[key] == again[key], key
    assert (broken / "checkpoints/finished").is_file()


@pytest.mark.parametrize("seconds", [0, 1e9])
def test_adam_goes_on_where_it_was(small_process, tmp_path, monkeypatch, seconds):
    """From the last round, or from the first one that an attempt made, as checkpoints come; also while pretraining."""
    report, model = train_small(small_process, tmp_path / "whole", BY_ADAM, "test")
    broken = tmp_path / "broken"
    for at in (2, 3):  # of the rounds that each attempt begins
        with monkeypatch.context() as patch:
            stop_in_round(patch, Adam, at, interrupt)
            with pytest.raises(KeyboardInterrupt):
                train_small(small_process, broken, BY_ADAM, "test", checkpoint_seconds=seconds)
    states = [path.name for path in (broken / "checkpoints").glob("state-*")]
    assert max(states).startswith("state-4." if seconds == 0 else "state-2.")
    again, resumed = train_small(small_process, broken, BY_ADAM, "test", checkpoint_seconds=seconds)
    assert same(model, resumed)
    for key in set(report) - {"seconds", "tokens_per_second"}:
        assert report[key] == again[key], key


def test_sigterm_in_a_round(small_process, tmp_path, monkeypatch):
    before = signal.getsignal(signal.SIGTERM)
    with monkeypatch.context() as patch:
        stop_in_round(patch, EM, 2, lambda: os.kill(os.getpid(), signal.SIGTERM))
        with pytest.raises(TextcriticError, match="hsmm: stopped by SIGTERM in round 2; the last checkpoint is kept"):
            train_small(small_process, tmp_path, BY_EM, "test", checkpoint_seconds=0)
    assert signal.getsignal(signal.SIGTERM) == before
    assert list((tmp_path / "checkpoints").glob("state-2.*"))
    assert not (tmp_path / "checkpoints" / "lock.json").exists()
    report, _ = train_small(small_process, tmp_path, BY_EM, "test")
    assert report["steps"] == len(report["curve"]) - 1 == 4


def test_sigterm_while_segments_are_found(small_process, tmp_path, monkeypatch):
    original = Windows.occurrences

    def terminated(self, log_weights):
        os.kill(os.getpid(), signal.SIGTERM)
        return original(self, log_weights)

    monkeypatch.setattr(Windows, "occurrences", terminated)
    with pytest.raises(TextcriticError, match="stopped by SIGTERM in round 0"):
        train_small(small_process, tmp_path, BY_EM, "test")


@pytest.mark.parametrize(("change", "named"), [({"iterations": 3}, "settings.iterations"), ({"states": 2}, "states")])
def test_state_of_other_settings_is_not_taken_up(small_process, tmp_path, monkeypatch, caplog, change, named):
    with monkeypatch.context() as patch:
        stop_in_round(patch, EM, 2, interrupt)
        with pytest.raises(KeyboardInterrupt):
            train_small(small_process, tmp_path, BY_EM, "test", checkpoint_seconds=0)
    with caplog.at_level(logging.INFO, "textcritic"):
        report, _ = train_small(small_process, tmp_path, changed_entry(BY_EM, **change), "test")
    assert f"the training was changed ({'settings.' + named.removeprefix('settings.')})" in caplog.text
    assert "resuming" not in caplog.text
    assert report["steps"] == change.get("iterations", 4)


def test_two_jobs_do_not_train_one_model(small_process, tmp_path, monkeypatch):
    refused = []

    def second():
        try:
            train_small(small_process, tmp_path, BY_EM, "test")
        except TextcriticError as error:
            refused.append(str(error))

    stop_in_round(monkeypatch, EM, 1, second)
    train_small(small_process, tmp_path, BY_EM, "test")
    assert len(refused) == 1
    assert "is at work in this folder" in refused[0]


# Adam


@pytest.fixture
def adam(small_process):
    text = small_process.text("test")
    return Adam(Lexicon.count(text.tokens, text.offsets, 11, 4, 60), text, BY_ADAM, 1, torch.device("cpu"))


def rounds_of(adam):
    return Adam.plan(adam.how, len(adam.text))[0]


def logits_of(adam):
    return {name: value.detach().clone() for name, value in adam.logits.items()}


def test_the_first_tables_are_xaviers(adam):
    states, lexicon = 3, adam.lexicon
    shapes = {f"emission{n}": (len(codes), states) for n, codes in enumerate(lexicon.codes, start=1)}
    shapes |= {"transition": (states, states), "length": (states, 4), "initial": (1, states)}
    assert adam.logits.keys() == shapes.keys()
    for name, shape in shapes.items():
        value, bound = adam.logits[name].detach(), math.sqrt(6 / sum(shape))
        assert value.numel() == math.prod(shape)
        assert 0.4 * bound < float(value.abs().max()) <= bound
    model = adam.model
    model.validate()
    # A state's length, then an n-gram of that length.
    lengths = torch.from_numpy(lexicon.lengths)
    by_length = torch.stack([model.emission[lengths == n].sum(dim=0) for n in range(1, 5)], dim=1)
    torch.testing.assert_close(by_length, adam.logits["length"].detach().softmax(dim=1))


def test_pretraining_trains_the_emissions_alone(adam):
    seen = []
    before = logits_of(adam)
    for rounds in range(rounds_of(adam)):
        adam.round(lambda _: None)
        after = logits_of(adam)
        changed = {name for name in before if not torch.equal(before[name], after[name])}
        emissions = {f"emission{n}" for n in range(1, 5)}
        if adam.updates <= adam.pretraining:
            assert changed == emissions
            assert adam.optimiser.param_groups[0]["lr"] == BY_ADAM.training.pretraining_learning_rate
            seen.append("pretraining")
        elif adam.updates - adam.pretraining >= BY_ADAM.training.evaluate_every:
            assert changed == emissions | {"transition", "length", "initial"}
            assert {group["lr"] for group in adam.optimiser.param_groups} == {BY_ADAM.training.learning_rate}
            seen.append("training")
        before = after
        assert adam.after_validation(1 / (rounds + 1)) == (rounds == rounds_of(adam) - 1)
    assert set(seen) == {"pretraining", "training"}
    assert adam.updates == 3 * math.ceil(400 / 16)


def test_every_sequence_is_read_once_an_epoch(adam):
    text = adam.text
    for _ in range(2):
        tokens = [adam._batch().tokens.tolist() for adam.updates in range(adam.updates, adam.updates + adam.per_epoch)]
        adam.updates += 1
        assert sorted(chain.from_iterable(tokens)) == sorted(np.diff(text.offsets).tolist())


def test_the_learning_rate_falls_when_validation_does_not(adam):
    adam.updates = adam.pretraining
    adam.after_validation(2.0)
    adam.after_validation(2.5)  # the pretraining has its own rate
    assert adam.rate == 0.3
    adam.updates += 1
    for loss, rate in ((1.9, 0.3), (1.9, 0.15), (1.8, 0.15), (1.85, 0.075), (1.84, 0.0375)):
        adam.after_validation(loss)
        assert adam.rate == pytest.approx(rate)
    for _ in range(20):
        adam.after_validation(9.0)
    assert adam.rate == BY_ADAM.training.minimum_learning_rate


def test_the_end_is_that_of_sequences_as_long_as_those_of_the_last_round(adam):
    """The expected transitions of a sequence are those that the model's emission lengths give."""
    adam.round(lambda _: None)
    model, text = adam.model, adam.text
    assert model.end.unique().numel() == 1
    segments = 1 / float(model.end[0])
    tokens = np.diff(text.offsets).mean()
    assert tokens / 4 < segments < tokens


def test_a_length_without_n_grams_is_never_emitted():
    text = Text(*flat([[0, 1], [1, 0], [0, 0]] * 8))
    lexicon = Lexicon.count(text.tokens, text.offsets, 2, 3)
    assert len(lexicon.codes[2]) == 0
    adam = Adam(lexicon, text, changed_entry(BY_ADAM, longest=3, pretraining_epochs=0), 1, torch.device("cpu"))
    for _ in range(rounds_of(adam)):
        assert math.isfinite(adam.round(lambda _: None))
    adam.model.validate()


def test_a_loss_that_is_no_number_is_told(small_process, tmp_path):
    entry = changed_entry(BY_ADAM, learning_rate=1e30, pretraining_epochs=0)
    with pytest.raises(TextcriticError, match=r"loss is (nan|inf).*lower training.learning_rate"):
        train_small(small_process, tmp_path, entry, "test")


# Bad input


def write(folder: Path, split: str, sequences, end=3) -> Path:
    """Symbols 0 to 2, where 3 is the end of text."""
    stream = np.array(sum(([*sequence, end] for sequence in sequences), [end]), np.int32)
    np.save(folder / f"{split}.tokens.npy", stream)
    np.save(folder / f"{split}.kinds.npy", np.where(stream == end, 0, 2).astype(np.uint8))
    return folder / split


def train_on(folder, sequences, validation, entry=BY_EM):
    make_symbol_tokenizer(folder / "tokenizer", "ab")
    splits = write(folder, "train", sequences), write(folder, "validation", validation)
    report = fit(*splits, folder / "tokenizer", folder, entry)
    return report, HSMM.load(folder / "model")


def good(seed, count):
    """Sequences of two to five pieces."""
    rng = np.random.default_rng(seed)
    pieces = [[0, 2], [1, 1, 2], [1, 0, 2], [0, 0, 1, 2]]
    return [list(chain.from_iterable(pieces[i] for i in rng.choice(4, rng.integers(2, 6)))) for _ in range(count)]


GOOD = good(0, 60)


@pytest.mark.parametrize(
    ("train", "validation", "split", "message"),
    [
        (GOOD, [[0, 5]], "validation", "sequence 0, token 1: symbol 5 is unknown; the vocabulary is 0 to 2"),
        ([*GOOD, [0, 4]], GOOD, "train", "sequence 60, token 1: symbol 4 is unknown"),
        ([*GOOD, [], [0]], GOOD, "train", "sequence 60 is empty"),
        (GOOD, [[1], []], "validation", "sequence 1 is empty"),
    ],
)
@pytest.mark.parametrize("entry", [BY_EM, BY_ADAM])
def test_bad_streams(tmp_path, entry, train, validation, split, message):
    with pytest.raises(TextcriticError, match=f"{tmp_path / split}.tokens.npy: {message}") as caught:
        train_on(tmp_path, train, validation, entry)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("entry", [BY_EM, BY_ADAM])
def test_symbols_that_training_lacks_have_a_probability(tmp_path, entry):
    """Symbol 1 is in the vocabulary, but occurs in validation only."""
    train = [[0, 0, 2, 0, 2], [0, 2, 0, 0, 2], [0, 2, 0, 2, 0, 2]] * 20
    report, model = train_on(tmp_path, train, [[0, 2, 1, 2]], entry)
    assert 0.5 < report["validation_loss"] < 20
    assert model.lexicon.counts[1] == 0


@pytest.mark.parametrize("entry", [BY_EM, BY_ADAM])
@pytest.mark.parametrize("change", [{"states": 50}, {"longest": 25}, {"states": 1}])
def test_odd_settings(tmp_path, entry, change):
    """More states than kinds of segments, segments longer than any sequence, one state."""
    report, model = train_on(tmp_path, GOOD, GOOD[:3], changed_entry(entry, **change))
    model.validate()
    assert math.isfinite(report["validation_loss"])
    assert model.lexicon.longest == change.get("longest", entry.longest)
    if entry.training.method == "em":
        assert model.states <= len(model.lexicon)
    else:
        assert model.states == change.get("states", 3)


@pytest.mark.parametrize("entry", [BY_EM, BY_ADAM])
@pytest.mark.parametrize(
    "train",
    [
        [[0, 2, 1, 1, 2] * 6],  # one sequence
        [[0, 2] * 5] * 12,  # one kind of segment
        [[0, 2, 1, 1, 2]] * 2,  # nothing to generalise from
        [[0]] * 3 + [[1, 1], [0, 1, 2]],
    ],
)
def test_little_text(tmp_path, entry, train):
    report, model = train_on(tmp_path, train, [[0, 2, 0, 2]], changed_entry(entry, longest=2))
    model.validate()
    assert math.isfinite(report["validation_loss"])


def test_sequences_of_one_segment_have_no_states(tmp_path):
    with pytest.raises(TextcriticError, match=r"no sequence of the train split has two segments.*shorter `longest`"):
        train_on(tmp_path, [[0], [1], [2]] * 9, GOOD)


def test_n_grams_that_no_sequence_is_made_of(tmp_path):
    entry = changed_entry(BY_EM, most_common=1, longest=2)
    with pytest.raises(TextcriticError, match=r"no sequence .* can be cut into the 2 n-grams .* larger `most_common`"):
        train_on(tmp_path, [[0, 1, 2], [1, 2, 0], [2, 0, 1]], GOOD, entry)


def test_missing_files(small_process, tmp_path):
    with pytest.raises(TextcriticError, match=r"none\.tokens\.npy: no such file"):
        fit(tmp_path / "none", small_process.prefix("validation"), small_process.tokenizer, tmp_path, BY_EM)


def test_a_word_that_no_segment_spells_is_cut_nowhere():
    """Sequences that the n-grams cannot make are left out, and the others are cut."""
    sequences = [[0, 1]] * 30 + [[2, 2, 2]]
    text = Text(*flat(sequences))
    lexicon = Lexicon.count(text.tokens, text.offsets, 3, 2, most_common=1)
    segments = find_segments(lexicon, text)
    assert np.diff(segments.offsets).tolist() == [1] * 30 + [0]


# Samples


@pytest.fixture(scope="module")
def model_folder(small_process, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model") / "model"
    model_of(small_process.process, end=0.1).save(folder)
    load_tokenizer(small_process.tokenizer).save_pretrained(folder)
    return folder


def sample(folder, path, first=0, count=40, seed=5, **more):
    sample_hsmm(folder, Shard(seed, first, count, path), **more)
    return read_shard(path)


def test_a_shard_depends_on_seed_and_index_only(model_folder, tmp_path):
    whole = sample(model_folder, tmp_path / "a")
    parts = [sample(model_folder, tmp_path / "b", first, 10) for first in (0, 10, 20, 30)]
    assert whole == list(chain.from_iterable(parts))
    assert [draw.index for draw in whole] == list(range(40))
    other = sample(model_folder, tmp_path / "c", seed=6)
    assert sum(one.text == two.text for one, two in zip(whole, other, strict=True)) < 10
    assert len({draw.text for draw in whole}) > 30


@pytest.mark.parametrize("segments", [None, 10])
def test_drawn_sequences_are_the_processs(small_process, model_folder, tmp_path, segments):
    draws = sample(model_folder, tmp_path / "shard", count=300, segments=segments)
    process, lengths, numbers = small_process.process, set(), []
    for one in draws:
        assert one.finish == ENDED
        assert one.text.endswith(" ")
        pieces = one.text.removesuffix(" ").split(" ")
        assert all(piece in process.state_of for piece in pieces)
        assert one.tokens == len(one.text) + 1
        lengths |= {len(piece) + 1 for piece in pieces}
        numbers.append(len(pieces))
    assert lengths == {3, 4, 5}  # the longest too
    if segments:
        assert set(numbers) == {10}
    else:  # geometric: ten segments on average
        assert np.mean(numbers) == pytest.approx(10, abs=4 * np.sqrt(90 / 300))


def test_a_sequence_that_does_not_end_is_cut(model_folder, tmp_path):
    draws = sample(model_folder, tmp_path / "shard", segments=10, max_tokens=12)
    assert {(draw.finish, draw.tokens, len(draw.text)) for draw in draws} == {(CUT, 12, 12)}
    draws = sample(model_folder, tmp_path / "shard", count=100, max_tokens=12)
    assert {draw.finish for draw in draws} == {ENDED, CUT}
    for draw in draws:
        assert len(draw.text) == draw.tokens - (draw.finish == ENDED) <= 12


def test_no_model(small_process, tmp_path):
    (tmp_path / "empty").mkdir()
    load_tokenizer(small_process.tokenizer).save_pretrained(tmp_path / "empty")
    with pytest.raises(TextcriticError, match=r"config\.json"):
        sample(tmp_path / "empty", tmp_path / "shard")
    assert not (tmp_path / "shard").exists()
