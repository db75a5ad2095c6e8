"""`textcritic mixing` and `textcritic.mixing`: files of texts, pairs, languages, LDA-C, and bad input."""

import json
import re
import subprocess
from itertools import count
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from forks import forking_python

import textcritic
from textcritic import runlog
from textcritic.api.mixing import _pairs
from textcritic.cli import main
from textcritic.errors import TextcriticError

WORDS = {
    "de": ["der", "die", "und", "das", "nicht"],
    "es": ["el", "los", "una", "pero", "muy"],
    "fr": ["les", "une", "est", "pas", "du"],
}
ALL = [word for own in WORDS.values() for word in own]
QUICK = {"iterations": 150, "starts": 2, "resamples": 200, "workers": 1}


def texts(number, seed, mixed=0.0):
    """(language, text): each text is in one language, but for a share of its words."""
    rng = np.random.default_rng(seed)
    for place in range(number):
        language = list(WORDS)[place % 3]
        own = rng.choice(WORDS[language], 12)
        yield language, " ".join(np.where(rng.random(12) < mixed, rng.choice(ALL, 12), own))


def lines(path, number, seed, mixed=0.0):
    path.write_text("".join(f"{text}\n" for _, text in texts(number, seed, mixed)), "utf-8")
    return path


@pytest.fixture
def real(tmp_path):
    path = tmp_path / "real.jsonl"
    rows = ({"text": text, "language": language} for language, text in texts(150, 1))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return path


@pytest.fixture
def mixed(tmp_path):
    return lines(tmp_path / "mixed.txt", 60, 2, mixed=0.5)


def run(capsys, *arguments):
    options = [f"--{name}={value}" for name, value in QUICK.items()]
    assert main(["mixing", "--json", *map(str, arguments), *options]) == 0
    return json.loads(capsys.readouterr().out)


def test_whole_command(real, mixed):
    options = ["--iterations", "150", "--starts", "2", "--resamples", "200"]
    command = [
        forking_python(),
        "-m",
        "textcritic.cli",
        "mixing",
        "--json",
        str(real),
        str(mixed),
        *options,
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    ours, theirs = found["real"], found["samples"]
    assert (ours["n"], theirs["n"], found["fit"]["documents"]) == (30, 60, 120)
    assert (ours["tokens"], theirs["tokens"], ours["tokens_unknown"]) == (360, 720, 0)
    assert ours["mixed"]["value"] < 0.03 < 0.2 < theirs["mixed"]["value"] < 0.4
    assert ours["divided"]["value"] < 0.1 < 0.7 < theirs["divided"]["value"]
    assert ours["corners"]["value"] > 0.8 > 0.3 > theirs["corners"]["value"]
    assert ours["entropy"]["value"] < 0.2 < 0.5 < theirs["entropy"]["value"] < np.log(3)
    assert ours["latent_nll"]["value"] < theirs["latent_nll"]["value"]
    assert sum(theirs["topic_shares"]) == pytest.approx(1)
    for source in (ours, theirs):
        for name in ("mixed", "divided", "corners", "entropy", "latent_nll"):
            value, (low, high) = source[name]["value"], source[name]["ci95"]
            # Of real texts that keep to one language each, all may have the same value: no interval then.
            assert source is ours if low is None else low < value < high
    assert found["mixed_p"] < 0.01
    energy = found["energy_distance"]
    assert energy["p"] < 0.01
    assert energy["ci95"][0] < energy["corrected"] < energy["value"]
    assert not energy["paired"]
    assert {topic["language"] for topic in found["topics"]} == set(WORDS)
    for topic in found["topics"]:
        assert set(topic["words"][:5]) == set(WORDS[topic["language"]])
    assert found["agreement"]["words"]["value"] > 0.97
    assert found["agreement"]["documents"]["value"] == 1
    assert (found["fit"]["converged"], found["fit"]["sweeps"]) == (False, 150)
    assert "too few to say" in found["fit"]["words"]


def test_a_long_line_says_how_far_it_is(tmp_path, capsys, monkeypatch, real):
    """On a machine where a second passes between two looks at the clock."""
    seconds = count()
    monkeypatch.setattr(runlog, "time", SimpleNamespace(monotonic=lambda: float(next(seconds))))
    long = tmp_path / "long.txt"
    long.write_text(" ".join(["der", "les"] * 300) + "\nuna pero\n", "utf-8")
    options = [f"--{name}={value}" for name, value in QUICK.items()]
    assert main(["mixing", str(real), str(long), *options]) == 0
    said = capsys.readouterr().err.splitlines()
    of_long = [line for line in said if line.startswith("[mixing] drawing topics: ") and f" of {602 * 51:,} " in line]
    assert len(of_long) > 100
    assert re.search(r"\(5\d%\), [\dhmins ]+ left$", of_long[len(of_long) // 2])


def test_pairs_are_the_texts_of_the_same_lines(tmp_path, capsys, real):
    alike = lines(tmp_path / "alike.txt", 150, 3)
    found = run(capsys, real, alike, "--paired", "--held-out", "0.4")
    assert (found["real"]["n"], found["samples"]["n"], found["energy_distance"]["paired"]) == (60, 60, True)
    assert found["energy_distance"]["p"] > 0.05
    assert found["mixed_p"] > 0.01


def test_how_the_fit_ended_is_said_wherever_its_numbers_are(real, mixed):
    result = textcritic.mixing(real, mixed, **QUICK)
    assert "150 sweeps are too few" in str(result)
    assert "150 sweeps are too few" in dict(result.facts)["Convergence"]
    result = textcritic.mixing(real, mixed, **(QUICK | {"iterations": 3000}))
    assert json.loads(result.to_json())["fit"]["converged"]
    assert result.convergence.sweeps < 3000
    assert "sweeps" not in str(result)


def test_real_texts_without_languages_and_texts_without_known_words(tmp_path, capsys):
    real, samples = lines(tmp_path / "real.txt", 60, 1), tmp_path / "samples.txt"
    samples.write_text("der die das\n\nunseen words\nel los Muy\n", "utf-8")
    found = run(capsys, real, samples)
    assert found["agreement"] is None
    assert [topic["language"] for topic in found["topics"]] == [None] * 3
    assert (found["samples"]["n"], found["samples"]["rejected"]) == (2, 2)
    assert (found["samples"]["tokens"], found["samples"]["tokens_unknown"]) == (5, 3)
    assert run(capsys, real, samples, "--lowercase")["samples"]["tokens"] == 6


def test_counts_in_the_format_of_lda_c(tmp_path, capsys):
    index = {word: place for place, word in enumerate(ALL)}

    def counted(path, number, seed):
        rows = [np.bincount([index[word] for word in text.split()], minlength=15) for _, text in texts(number, seed)]
        pairs = [{word: n for word, n in enumerate(row.tolist()) if n} for row in rows]
        lines = (" ".join([str(len(row)), *(f"{word}:{n}" for word, n in row.items())]) for row in pairs)
        path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
        return path

    real, samples = counted(tmp_path / "real.dat", 60, 1), counted(tmp_path / "samples.ldac", 20, 2)
    found = run(capsys, real, samples)
    assert found["real"]["mixed"]["value"] < 0.05
    assert [topic["words"] for topic in found["topics"]] == [None] * 3
    samples.write_text("2 0:3 40:2\n1 1:4\n", "utf-8")
    assert run(capsys, real, samples)["samples"]["tokens_unknown"] == 2


def test_in_python_with_lists_and_data_frames():
    frame = pd.DataFrame(texts(90, 1), columns=["language", "text"])
    samples = [text for _, text in texts(30, 2, mixed=0.6)]
    result = textcritic.mixing(frame, samples, held_out=0.5, **QUICK)
    assert isinstance(result, textcritic.MixingResult)
    assert set(result.languages) == set(WORDS)
    assert result["samples"]["mixed"].value == 100 * result.samples.statistics["mixed"].value > 5
    assert result["samples"]["energy"].verdict == "different"
    assert result["real text"]["mixed"].p is None
    assert "Energy distance (how far the shares of topics of its texts are from those of real texts)" in repr(result)
    again = textcritic.mixing(frame, samples, held_out=0.5, **{**QUICK, "workers": 2})
    first, second = (json.loads(one.to_json()) for one in (result, again))
    del first["fit"]["seconds"], second["fit"]["seconds"]
    assert first == second, "workers change no number"


@pytest.mark.parametrize(
    ("name", "content", "options", "says"),
    [
        ("none.txt", None, [], r"none.txt: no such file"),
        (
            "five.jsonl",
            b'{"text": "der", "language": "de"}\n{"text": "die", "language": 5}\n',
            [],
            r"five.jsonl: document 2: language: 5 should be text, such as 'en'",
        ),
        ("counts.dat", b"1 0:2\n", [], r"counts.dat: both sets must be text, or both LDA-C"),
        ("few.txt", b"der\ndie\n", ["--paired"], r"few.txt: 2 texts, and .*real.jsonl has 150; pairs need as many"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, real, name, content, options, says):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    quick = [f"--{key}={value}" for key, value in QUICK.items()]
    assert main(["mixing", str(real), str(path), *quick, *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    with pytest.raises(TextcriticError, match=says):
        raise TextcriticError(err.splitlines()[-1])


@pytest.mark.parametrize("paired", [False, True])
def test_a_sample_without_usable_text_is_an_empty_row_with_the_reason(tmp_path, paired):
    real = [{"text": text, "language": language} for language, text in texts(90, 1)]
    mixed = [text for _, text in texts(90, 2, mixed=0.6)]
    samples = {"none": [f"unheard {n}" for n in range(90)], "mixed": mixed, "one": ["der die", *["unheard"] * 89]}
    result = textcritic.mixing(real, samples, paired=paired, **QUICK)
    alone = textcritic.mixing(real, mixed, paired=paired, **QUICK)
    assert result["mixed"]["mixed"].p == alone["samples"]["mixed"].p, "others change nothing"
    none = result["none"]["mixed"]
    assert (none.value, none.n, none.verdict) == (None, 0, "not scored")
    assert none.because == "no text has a word of the texts of the fit"
    said = json.loads(result.to_json())["samples"]["none"]
    assert (said["n"], said["mixed_p"], said["topic_shares"]) == (0, None, [])
    assert said["energy_distance"]["value"] is said["energy_distance"]["p"] is None
    assert said["mixed"] == {"value": None, "ci95": [None, None], "ci95_reason": none.because}
    one = result["one"]  # whose only pair is not held out
    assert one["mixed"].n == (0 if paired else 1)
    assert (one["mixed"].verdict, one["energy"].verdict) == ("not scored" if paired else "not tested", "not scored")
    assert one["energy"].because.startswith("no text has a word" if paired else "no distance of fewer than two texts")
    assert "none, Words of another topic, %: no text has a word" in repr(result)
    assert result.report(tmp_path / "page.html").is_file()


def test_real_texts_that_nothing_can_be_compared_with_are_refused():
    real, samples = [text for _, text in texts(60, 1)], [text for _, text in texts(9, 2)]
    unheard = [{"text": f"unheard{n}"} for n in range(60)]
    with pytest.raises(TextcriticError, match=r"^real: 0 of 12 texts to compare have a word of the texts of the fit"):
        textcritic.mixing(unheard, samples, **QUICK)
    one_group = textcritic.mixing(real, [{"text": text, "group": "g"} for text in samples], **QUICK)
    assert one_group["samples"]["energy"].value is None, "a sample of one group has no distance"
    assert one_group["samples"]["energy"].because.startswith("no distance of fewer than two texts, or groups")


def test_pairs_are_found_by_their_places_among_texts_with_words():
    """Text 1 alone has words on both sides: the first real text that was scored, and the second sample."""
    known = [np.array(some) for some in ([False, True, True], [True, True, False])]
    scored = [SimpleNamespace(known=one) for one in known]
    assert [places.tolist() for places in _pairs(scored)] == [[1], [0]]
