"""`textcritic recitation` and `textcritic.recitation`: texts looked up in training text, and bad input."""

import json

import numpy as np
import pandas as pd
import pytest

import textcritic
from textcritic.cli import main
from textcritic.errors import TextcriticError

WORDS = np.array([f"word{n}" for n in range(200)])
TRAIN = 80


def texts(number, seed, copied=0.0, train=()):
    """Texts of 40 words; about this share of them are half a training text."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(number):
        own = rng.choice(WORDS, 40).tolist()
        if rng.random() < copied:
            own[20:] = train[rng.integers(len(train))].split()[:20]
        found.append(" ".join(own))
    return found


@pytest.fixture(scope="module")
def sets():
    train = texts(TRAIN, 1)
    return {"train": train, "real": texts(60, 2, 0.3, train), "parrot": texts(50, 3, 0.9, train)}


@pytest.fixture
def files(sets, tmp_path):
    paths = {name: tmp_path / f"{name}.txt" for name in sets}
    for name, path in paths.items():
        path.write_text("".join(f"{text}\n" for text in sets[name]), "utf-8")
    return paths


def share_by_hand(found, train):
    known = {tuple(text.split()[n : n + 13]) for text in train for n in range(28)}
    return np.mean([tuple(text.split()[n : n + 13]) in known for text in found for n in range(28)])


def test_the_command_and_the_function_give_the_same(sets, files, capsys):
    assert main(["recitation", "--json", str(files["real"]), str(files["parrot"]), "--train", str(files["train"])]) == 0
    printed = json.loads(capsys.readouterr().out)
    result = textcritic.recitation(sets["real"], {"parrot.txt": sets["parrot"]}, train=sets["train"])
    assert json.loads(result.to_json()) == printed
    real, parrot = printed["real"], printed["samples"]["parrot.txt"]
    assert real["recited"]["value"] == pytest.approx(share_by_hand(sets["real"], sets["train"]))
    assert parrot["recited"]["value"] == pytest.approx(share_by_hand(sets["parrot"], sets["train"]))
    assert parrot["recited"]["low"] > real["recited"]["high"] > real["recited"]["low"]
    assert real["recited"]["p"] is None
    assert parrot["recited"]["p"] < 0.001
    longest = parrot["longest"]
    copied = sets["parrot"][longest["document"]].split()[longest["begin"] :][: longest["words"]]
    assert sets["train"][longest["train_document"]].split()[longest["train_begin"] :][: longest["words"]] == copied
    assert (longest["begin"], longest["words"]) == (20, 20)
    assert real["all"]["16"] == 60 * 25


def test_in_python_it_takes_frames_and_shows_a_table(sets):
    frame = pd.DataFrame({"text": sets["parrot"]})
    result = textcritic.recitation(pd.DataFrame({"text": sets["real"]}), frame, train=sets["train"], resamples=200)
    assert result["samples"]["recited"].verdict == "different"
    assert "Recited 13-grams, % (runs of 13 words that occur word for word in the training text)" in repr(result)
    assert result.table["source"].tolist() == ["real text", "samples"]
    assert result.facts[0][1].startswith(f"{TRAIN} documents, {40 * TRAIN:,} words")


def test_short_texts_are_counted_and_case_is_a_switch(sets):
    samples = [*(text.upper() for text in sets["parrot"]), "", "too few words"]
    folded = textcritic.recitation(sets["real"], samples, train=sets["train"], resamples=99)["samples"]["recited"]
    assert folded.rejected_by_reason == {"no word": 1, "fewer than 13 words": 1}
    assert (folded.n, folded.rejected) == (50, 2)
    cased = textcritic.recitation(sets["real"], samples, train=sets["train"], lower_case=False, resamples=99)
    assert cased["samples"]["recited"].value == 0 < folded.value


def test_bad_input_is_one_line(sets, files, capsys):
    with pytest.raises(TextcriticError, match="train: give the texts that the model was trained on"):
        textcritic.recitation(sets["real"], sets["parrot"])
    with pytest.raises(TextcriticError, match="samples: no text has 13 words; give longer ones"):
        textcritic.recitation(sets["real"], ["too few words"], train=sets["train"])
    with pytest.raises(TextcriticError, match=r"^train: there is no document in it"):
        textcritic.recitation(sets["real"], sets["parrot"], train=[])
    assert main(["recitation", str(files["real"]), str(files["parrot"])]) == 2
    assert "--train: give the texts that the model was trained on" in capsys.readouterr().err


@pytest.mark.parametrize("copied", [0, 1])
def test_sources_of_which_every_document_has_one_value_are_the_same(sets, copied):
    """None or all of each document: no interval, and no difference either."""
    same = sets["train"][:30] if copied else [f"new{n} " * 20 for n in range(30)]
    other = sets["train"][30:60] if copied else [f"else{n} " * 20 for n in range(30)]
    result = textcritic.recitation(same, {"same": other, "few": other[:9]}, train=sets["train"], resamples=99)
    score = result["same"]["recited"]
    assert (score.value, score.low, score.p, score.verdict) == (100 * copied, None, 1, "same")
    assert "≈ the same" in repr(result)
    assert result["few"]["recited"].verdict == "unclear", "of nine documents nothing is known of others"
    assert result.nearest("recited") == []


def test_one_value_everywhere_is_not_the_same_as_another_value(sets):
    result = textcritic.recitation(sets["train"][:30], {"none": ["new " * 20] * 30}, train=sets["train"], resamples=99)
    assert result["none"]["recited"].verdict == "different"
