"""Several samples in one call: each has the numbers that it has alone; labels before files; and bad input."""

import json
from pathlib import Path

import pytest

import textcritic
from textcritic.cli import main
from textcritic.commands.arguments import labelled_paths
from textcritic.errors import TextcriticError

SUBJECTS = [["cat", "dog", "paw", "fur"], ["sun", "moon", "star", "sky"], ["rice", "bread", "salt", "oil"]]


def texts(number, step):
    return [
        " ".join(SUBJECTS[(n + (k % 5 == 0) * step) % 3][(n * k + k) % 4] for k in range(20)) for n in range(number)
    ]


def stories(number, every):
    """Mentions of two people; each of so many pronouns is of the wrong gender."""
    found, place = [], 0
    for n in range(number):
        chain = []
        for k in range(6):
            name, pronoun = (("MALE:Tom", "he"), ("FEMALE:Ann", "she"))[(n + k * k) % 2]
            place += 1
            wrong = {"he": "she", "she": "he"}[pronoun] if place % every == 0 else pronoun
            chain += [".", name, f"{wrong}:{name.split(':')[1]}"]
        found.append({"mentions": chain})
    return found


QUICK = {"starts": 1, "resamples": 50, "workers": 1}
CALLS = {
    "coreference": (textcritic.coreference, stories(60, 997), stories(25, 5), stories(30, 2), {"resamples": 50}),
    "topics": (textcritic.topics, texts(60, 1), texts(25, 2), texts(30, 0), {"num_topics": 3, **QUICK}),
    "mixing": (textcritic.mixing, texts(60, 0), texts(25, 1), texts(30, 2), {"iterations": 30, **QUICK}),
}
OF_FIT = {"real", "order", "discount", "bound", "seconds", "converged", "starts", "train", "topics", "top_words"}
OF_FIT |= {"agreement", "fit"}


def of_one(value):
    """What the JSON of one sample says of it, as that of several has it."""
    said = {key: one for key, one in value.items() if key not in OF_FIT}
    return {**said.pop("samples", {}), **said}


@pytest.mark.parametrize("command", CALLS)
def test_each_of_several_has_the_numbers_that_it_has_alone(command):
    function, real, first, second, options = CALLS[command]
    both = function(real, {"b": second, "a": first}, **options)
    value = json.loads(both.to_json())
    assert list(value["samples"]) == list(both.by_label) == ["b", "a"]
    for label, sample in (("a", first), ("b", second)):
        alone = function(real, sample, **options)
        single = json.loads(alone.to_json())
        assert value["samples"][label] == of_one(single)
        assert set(value) == (set(single) & OF_FIT) | {"samples"}
        assert both.by_label[label] != both.by_label["ab".replace(label, "")]
        assert (alone.n, alone.tokens) == (both.by_label[label].n, both.by_label[label].tokens)
        assert json.loads(function(real, {label: sample}, **options).to_json()).keys() == single.keys()
    assert [score.source for score in both.scores if not score.is_real][:2] == ["b", "a"]
    assert "b " in repr(both)


def test_an_attribute_of_one_sample_says_where_those_of_several_are():
    function, real, first, second, options = CALLS["coreference"]
    both = function(real, {"b": second, "a": first}, **options)
    with pytest.raises(
        TextcriticError, match=r"^tokens: exists for one set only, and there are 2 \(b and a\); use `by_label\[LABEL\]`"
    ):
        _ = both.tokens
    with pytest.raises(AttributeError, match="CoreferenceResult has no attribute 'tokns'"):
        _ = both.tokns


def test_labels_are_what_stands_before_the_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("a=b.txt").write_text("one\n", "utf-8")
    assert labelled_paths(["x.txt", "a=b.txt"]) == [Path("x.txt"), Path("a=b.txt")]
    found = labelled_paths(["mine=x.txt", "d/x.txt", "a=b.txt", " org/gpt2 =p=q.txt"])
    wanted = {"mine": "x.txt", "x.txt": "d/x.txt", "a=b.txt": "a=b.txt", "org/gpt2": "p=q.txt"}
    assert {label: str(path) for label, path in found.items()} == wanted
    assert list(found) == list(wanted)


@pytest.mark.parametrize(
    ("words", "fault"),
    [
        (["=x.txt"], "SAMPLES: '=x.txt': write a label before the = and a file behind it"),
        (["  =x.txt"], "SAMPLES: '  =x.txt': write a label before the = and a file behind it"),
        (["m="], "SAMPLES: 'm=': write a label before the = and a file behind it"),
        (["m=x.txt", "m=y.txt"], "SAMPLES: the label 'm' twice, of x.txt and of y.txt"),
        (["x.txt=y.txt", "x.txt"], "SAMPLES: the label 'x.txt' twice, of y.txt and of x.txt"),
        (["m=x.txt", "n=x.txt"], "x.txt: the same file twice; name each file of samples once"),
        (["x.txt", "./x.txt"], "x.txt: the same file twice; name each file of samples once"),
        (["real text=x.txt"], "'real text' is what the reference is called; choose another label"),
        (["m=gone.txt"], "gone.txt: no such file"),
    ],
)
@pytest.mark.parametrize("command", ["recitation", "mixing"])
def test_bad_labels_are_one_line(tmp_path, capsys, monkeypatch, command, words, fault):
    monkeypatch.chdir(tmp_path)
    for name in ("real", "x", "y"):
        Path(f"{name}.txt").write_text("\n".join(texts(30, len(name))), "utf-8")
    rest = ["--train", "real.txt"] if command == "recitation" else []
    assert main([command, "real.txt", *words, *rest]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert fault in err


def test_an_argument_too_many_is_refused_in_the_words_of_its_command(capsys):
    with pytest.raises(SystemExit):
        main(["chains", "train.jsonl", "test.jsonl", "more.jsonl"])
    usage = capsys.readouterr().err
    assert usage.startswith("usage: textcritic chains ")
    assert "textcritic chains: error: unrecognized arguments: more.jsonl" in usage
