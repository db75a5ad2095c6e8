"""`textcritic importance` and `textcritic.importance`: files, shards, tokens, what is printed, and bad input."""

import json
import subprocess
import sys

import numpy as np
import pytest

import textcritic
from textcritic.cli import main
from textcritic.errors import TextcriticError
from textcritic.inference.importance import (
    COVERS,
    ExactWeights,
    LogWeights,
    corpus_over_pairings,
    corpus_perplexity,
    gap,
    instance_perplexity,
    intervals,
    pareto_k,
)

TEXTS, DRAWS = 40, 40
ROWS = np.random.default_rng(1).normal(-60, 1, (TEXTS, DRAWS))
TOKENS = np.random.default_rng(2).integers(10, 30, TEXTS)


@pytest.fixture
def files(tmp_path):
    np.save(tmp_path / "w.npy", ROWS)
    for number in range(2):
        np.save(tmp_path / f"shard{number}.npy", ROWS[:, 20 * number : 20 * (number + 1)])
    LogWeights(tuple(f"é{n}" for n in range(TEXTS)), ROWS, TOKENS).save(tmp_path / "w.npz")
    np.save(tmp_path / "t.npy", TOKENS)
    (tmp_path / "t.txt").write_text("".join(f"{n}\n" for n in TOKENS), "utf-8")
    (tmp_path / "t.csv").write_text("tokens\n" + "".join(f"{n}\n" for n in TOKENS), "utf-8")
    (tmp_path / "t.json").write_text(json.dumps(TOKENS.tolist()), "utf-8")
    return tmp_path


def printed(capsys, *words):
    assert main(["importance", *map(str, words)]) == 0
    return capsys.readouterr().out


def refused(given, **options):
    with pytest.raises(TextcriticError) as error:
        textcritic.importance(given, **options)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_the_command_and_the_function_give_the_same(files, capsys):
    options = [
        "--tokens",
        files / "t.txt",
        "--repeats",
        "20",
        "--resamples",
        "200",
        "--seed",
        "3",
        "--as-released",
        "1",
    ]
    result = textcritic.importance(ROWS, tokens=TOKENS, repeats=20, resamples=200, seed=3, as_released=1)
    assert printed(capsys, files / "w.npy", *options, "--json") == result.to_json() + "\n"
    assert printed(capsys, files / "w.npy", *options) == repr(result) + "\n"


def test_all_digits_are_those_of_the_parts(files, capsys):
    weights = LogWeights(tuple(map(str, range(TEXTS))), ROWS, TOKENS)
    found = json.loads(printed(capsys, files / "w.npy", "--tokens", files / "t.npy", "--json"))
    assert (found["texts"], found["draws"], found["tokens"]) == (TEXTS, DRAWS, TOKENS.sum())
    assert found["perplexity"]["instance"] == instance_perplexity(weights)
    assert found["perplexity"]["corpus"] == corpus_perplexity(weights)
    assert found["perplexity"]["as_released"] is None
    parts, said = intervals(weights), found["intervals"]
    assert (said["over_instances"]["low"], said["over_instances"]["high"]) == parts.over_instances.ends
    assert (said["over_draws"]["low"], said["over_draws"]["high"]) == parts.over_draws.ends
    assert (said["for_truth"]["high"], said["for_truth"]["log_likelihood"]) == (
        parts.for_truth.perplexity,
        parts.for_truth.log_likelihood,
    )
    assert {name: said[name]["covers"] for name in COVERS} == COVERS
    pairings = corpus_over_pairings(weights, 100)
    assert found["corpus_over_pairings"]["mean"] == pytest.approx(pairings.mean, rel=1e-12)
    assert found["curve"]["draws"][-1] == DRAWS
    assert found["curve"]["instance"][-1] == pytest.approx(instance_perplexity(weights), rel=1e-12)
    assert found["by_text"]["k_hat"] == pareto_k(weights).tolist()
    assert found["advice"]["verdict"] in {"no sign", "too few", "unclear"}


@pytest.mark.parametrize("name", ["t.npy", "t.txt", "t.csv", "t.json"])
def test_tokens_in_every_form(files, capsys, name):
    given = printed(capsys, files / "w.npy", "--tokens", files / name)
    assert given == repr(textcritic.importance(str(files / "w.npy"), tokens=list(TOKENS))) + "\n"


def test_shards_and_our_own_files(files, capsys):
    whole = textcritic.importance(ROWS, tokens=TOKENS)
    shards = printed(capsys, files / "shard0.npy", files / "shard1.npy", "--tokens", files / "t.npy", "--json")
    assert json.loads(shards) == json.loads(whole.to_json())
    ours = textcritic.importance(files / "w.npz")
    assert ours.instance_perplexity == whole.instance_perplexity
    assert ours.table["id"].tolist()[:2] == ["é0", "é1"]
    assert ours.table.columns.tolist() == ["id", "tokens", "log_likelihood", "ess", "k_hat"]
    doubled = textcritic.importance([files / "w.npz", LogWeights.read(files / "w.npz")])
    assert doubled.weights.draws == 2 * DRAWS
    counted = textcritic.importance(files / "w.npz", tokens=2 * TOKENS)
    assert counted.instance_perplexity == pytest.approx(np.sqrt(whole.instance_perplexity), rel=1e-12)
    for rows in ([list(row) for row in ROWS], list(ROWS)):
        assert textcritic.importance(rows, tokens=TOKENS).to_json() == whole.to_json()


def test_a_sum_of_tokens_has_no_interval_over_texts(files, capsys):
    text = printed(capsys, files / "w.npy", "--tokens", int(TOKENS.sum()))
    assert "over texts" in text
    assert "the tokens of each text are not known, only their sum" in text
    found = json.loads(printed(capsys, files / "w.npy", "--tokens", int(TOKENS.sum()), "--json"))
    assert (found["intervals"]["over_instances"]["low"], found["by_text"]["tokens"]) == (None, None)
    assert found["perplexity"]["instance"] == pytest.approx(textcritic.importance(files / "w.npz").instance_perplexity)


def test_one_draw(files):
    result = textcritic.importance(ROWS[:, :1], tokens=TOKENS)
    assert result.instance_perplexity == pytest.approx(result.corpus_perplexity, rel=1e-12)
    found = json.loads(result.to_json())
    assert found["perplexity"]["jackknife"] is None
    assert found["by_text"]["ess"] == [None] * TEXTS
    assert found["intervals"]["over_draws"]["reason"].startswith("one draw of each text")
    assert "There is one draw for each text" in repr(result)


def test_the_table_is_for_reading(files, capsys):
    lines = printed(capsys, files / "w.npz", "--as-released", 1).splitlines()
    assert lines[0] == f"Perplexity by importance sampling: {TEXTS} texts, {TOKENS.sum()} tokens, {DRAWS} draws a text"
    for start in (
        "instance level  ",
        "corpus level  ",
        "jackknife ",
        "Pareto smoothed ",
        "as released ",
        "over texts ",
    ):
        assert sum(line.startswith(start) for line in lines) == 1
    assert "whether K = 40 is too small" in lines[lines.index("Are the draws too few?") + 2]
    assert max(map(len, lines)) <= 120


def test_what_is_infinite_is_null(files):
    apart = np.where(np.eye(3, dtype=bool), -5.0, -np.inf)
    found = json.loads(textcritic.importance(apart, tokens=[3, 3, 3], repeats=3).to_json())
    assert (found["perplexity"]["corpus"], found["log_likelihood"]["corpus"]) == (None, None)
    assert found["perplexity"]["jackknife"] is None
    assert found["perplexity"]["instance"] == pytest.approx(np.exp((15 + 3 * np.log(3)) / 9))


@pytest.mark.parametrize(
    ("weights", "says"),
    [
        (ROWS < -50, "weights: log weights: not real numbers, but truth values; give an array of N rows and K columns"),
        (ROWS + 1j, "not real numbers, but complex numbers"),
        (ROWS.astype("datetime64[s]"), "not real numbers, but dates"),
        (np.zeros((3, 3), [("a", "<f8")]), "not real numbers, but records with fields"),
        (np.array([[None, 1.0]]), "not real numbers, but objects of Python"),
        (
            np.full((2, 3), 900.0),
            "not one is below 0, so these are no log weights of texts: perplexity would be below 1",
        ),
        (np.exp(ROWS), "these are no log weights of texts"),
        (np.full((2, 3), 1e308), "one is beyond 1e+12 nats"),
        (np.full((2, 3), -1e308), "one is beyond 1e+12 nats"),
    ],
)
def test_what_is_no_log_weight_is_refused(tmp_path, weights, says):
    np.save(tmp_path / "w.npy", weights, allow_pickle=True)
    assert says in refused(weights, tokens=9)
    if weights.dtype != object:
        assert refused(tmp_path / "w.npy", tokens=9).endswith(refused(weights, tokens=9).removeprefix("weights: "))


@pytest.mark.parametrize(
    ("arrays", "says"),
    [
        ({"log_weights": ROWS + 1j}, "log weights: not real numbers, but complex numbers"),
        ({"log_weights": ROWS < -50}, "log weights: not real numbers, but truth values"),
        ({"log_weights": ROWS.astype("datetime64[s]")}, "log weights: not real numbers, but dates"),
        ({"log_weights": np.full(ROWS.shape, 1e308)}, "log weights: one is beyond 1e+12 nats"),
        ({"log_weights": np.exp(ROWS)}, "log weights: not one is below 0, so these are no log weights of texts"),
        ({"tokens": TOKENS + 0.5}, "is not a whole number"),
        ({"tokens": TOKENS > 0}, "tokens: not real numbers, but truth values"),
        ({"log_weights": np.zeros((3000, 1000))}, "not an .npz file of log weights"),  # a bomb: packed, 16 kB
    ],
)
@pytest.mark.parametrize("name", ["w.npz", "w.npy"])
def test_archives_hold_no_more_than_arrays(tmp_path, arrays, says, name):
    ids = np.arange(len(ROWS)).astype(str)
    with (tmp_path / name).open("wb") as handle:
        np.savez_compressed(handle, **{"ids": ids, "log_weights": ROWS, "tokens": TOKENS} | arrays)
    line = refused(tmp_path / name)
    assert line.startswith(f"{tmp_path / name}: ")
    assert says in line


@pytest.mark.parametrize(
    ("header", "says"),
    [
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (3, 3)", "not a .npy file of numbers"),  # no end
        ("{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000, 1000000000)}", "larger than memory"),
    ],
)
def test_headers_that_lie(tmp_path, header, says):
    path = tmp_path / "w.npy"
    path.write_bytes(b"\x93NUMPY\x01\x00v\x00" + header.ljust(117).encode() + b"\n" + bytes(72))
    assert refused(path, tokens=9).startswith(f"{path}: {says}")


def test_names_that_are_none():
    assert refused("", tokens=9) == "weights: is empty; give the path of a file"
    assert "xxx: not a .npy file of numbers" in refused("x" * 300, tokens=9)
    assert "not a .npy file of numbers" in refused("a\0b", tokens=9)


@pytest.mark.parametrize("tokens", [1.5, "1.5", np.full(len(ROWS), 1.5)])
def test_tokens_are_whole_numbers(tokens):
    assert refused(ROWS, tokens=tokens) == "tokens: 1.5 is not a whole number; give how many tokens there are"


def test_truth_values_are_no_tokens():
    assert (
        refused(ROWS, tokens=True)
        == "tokens: not real numbers, but truth values; give one for each text, or their total"
    )


def test_a_perplexity_below_one_is_said_to_be_impossible():
    found = textcritic.importance(np.random.default_rng(1).normal(1, 2, (20, 30)), tokens=100, resamples=20)
    assert found.instance_perplexity < 1
    assert found.advice.verdict == "unclear"
    assert found.advice.sentences[0].startswith("Perplexity is below 1, which cannot be for text")
    first, second = json.loads(found.to_json())["warnings"]
    assert first.startswith("instance level, corpus level, jackknife and Pareto smoothed: perplexity is below 1, which")
    assert second.startswith("20 of 20 texts have an estimated probability above 1, which cannot be (such as 0, 1, 2,")
    assert repr(found).splitlines()[2].startswith("warning: instance level, corpus level, jackknife and Pareto")


def test_one_text_of_a_probability_above_one_is_unclear():
    rows = np.vstack([np.full((3, 200), -60.0), np.full((1, 200), 5.0)])
    assert textcritic.importance(rows[:3], tokens=100, resamples=20).warnings == ()
    found = textcritic.importance(rows, tokens=100, resamples=20)
    assert found.instance_perplexity == pytest.approx(np.exp(1.75))
    assert found.advice.verdict == "unclear"
    assert found.warnings == ("1 of 4 texts has an estimated probability above 1, which cannot be (3).",)


def test_weights_of_certain_texts_are_not_below_one():
    found = textcritic.importance(np.zeros((3, 7)), tokens=30, resamples=20)
    assert (found.instance_perplexity, found.warnings) == (pytest.approx(1), ())


def test_bad_input_is_one_line(files, capsys):
    assert refused(ROWS).startswith("weights: no `tokens`; give how many")
    assert main(["importance", str(files / "w.npy")]) == 2
    assert f"{files}/w.npy: no --tokens; give how many" in capsys.readouterr().err
    faulty = ROWS.copy()
    faulty[3, 5] = np.nan
    assert refused(faulty, tokens=9.0).startswith("weights: log weights: NaN at row 3 (text '3'), draw 5")
    faulty[3] = -np.inf
    assert refused(faulty, tokens=9.0).startswith("weights: log weights: row 3 (text '3') is all -inf")
    assert refused(files / "none.npy", tokens=9) == f"{files}/none.npy: no such file"
    (files / "text.npy").write_text("x")
    assert (
        refused(files / "text.npy", tokens=9)
        == f"{files}/text.npy: not a .npy file of numbers; write one by `numpy.save`"
    )
    np.save(files / "objects.npy", np.array([{}, 1], dtype=object), allow_pickle=True)
    assert "objects.npy: not a .npy file of numbers" in refused(files / "objects.npy", tokens=9)
    assert "t.npy: log weights: shape (40,); give [texts, draws]" in refused(files / "t.npy", tokens=9)
    assert "weights: log weights: shape (); give" in refused(3.0, tokens=9)
    assert "not real numbers, but texts" in refused([["x"]], tokens=9)
    assert "weights[1]: tokens: shape (40,); give one number for each of 2 texts" in refused(
        [ROWS, ROWS[:2]], tokens=TOKENS
    )
    assert refused([ROWS, ROWS[:2]], tokens=9.0).startswith("shard 2: 2 texts, not 40")


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("t.txt", "1\nx\n", "'x' is not a number; give a number a line"),
        ("t.csv", "tokens\n1\n2,3\n", "'2,3' is not a number"),
        ("t.json", '{"a": 1}', "not real numbers"),
        ("t.json", "[[1, 2]]", "shape (1, 2); give a list of numbers"),
        ("t.json", "[1", "not a JSON file"),
        ("t.md", "1\n", "is no number, and no .npy, .txt, .csv or .json file"),
        ("t.npy", "1", "not a .npy file of numbers"),
        ("t.json", "[true, 3]", "t.json: not real numbers, but truth values"),
        ("t.json", '{"a"', "; give a list of numbers, one for each text"),
        ("t.txt", "1\n-2\n", "t.txt: -2 of text 1; tokens are numbers above 0"),
        ("t.txt", "1\n2\n", "give one number for each of 40 texts"),
    ],
)
def test_tokens_that_are_none(tmp_path, name, text, line):
    path = tmp_path / name
    path.write_text(text)
    assert line in refused(ROWS, tokens=path)
    assert "no such file" in refused(ROWS, tokens=tmp_path / "none.txt")
    assert refused(ROWS, tokens=-3).startswith("tokens: -3 of text 0; tokens are numbers above 0")


def test_it_loads_neither_torch_nor_pandas(files):
    code = (
        "import sys; from textcritic.cli import main; main(sys.argv[1:]);"
        "assert not {'torch', 'pandas', 'pyarrow', 'matplotlib'} & set(sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "importance", str(files / "w.npz"), "--json"], capture_output=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


# Texts of the model, with the weights of their exact states.


def exact_file(path, rows=None, tokens=TOKENS, ids=None):
    rows = ROWS[:, :1] if rows is None else rows
    names = [f"é{n}" for n in range(len(rows))] if ids is None else ids
    np.savez(path, ids=np.array(names), log_weights=rows, tokens=tokens)
    return path


def test_reverse_is_the_same_on_the_command_line(files, capsys):
    path = exact_file(files / "exact.npz")
    result = textcritic.importance(files / "w.npz", reverse=path, resamples=200)
    assert printed(capsys, files / "w.npz", "--reverse", path, "--resamples", 200) == repr(result) + "\n"
    told = json.loads(printed(capsys, files / "w.npz", "--reverse", path, "--resamples", 200, "--json"))
    assert told == json.loads(result.to_json())
    expected = gap(LogWeights.read(files / "w.npz"), ExactWeights.read(path), 200)
    assert told["gap"]["nats"]["value"] == expected.nats.estimate
    assert told["gap"]["by_text"] == expected.by_text.tolist()
    assert json.loads(textcritic.importance(files / "w.npz").to_json())["gap"] is None
    arrays = textcritic.importance(ROWS, tokens=TOKENS, reverse=ROWS[:, :1], resamples=200)
    assert arrays.gap.sentences == result.gap.sentences
    assert "Does the proposal find the posterior?" in repr(result)
    assert "--reverse" not in repr(result)
    assert "--reverse" in repr(textcritic.importance(files / "w.npz"))


def test_states_that_the_proposal_cannot_reach_are_counted_and_named(files, capsys):
    rows = ROWS[:, :2].copy()
    rows[[3, 7], 0] = np.inf
    rows[7, 1] = np.inf
    text = printed(capsys, files / "w.npz", "--reverse", exact_file(files / "exact.npz", rows))
    words = " ".join(text.split())
    assert "it can never draw 3 exact states of 2 of 40 texts of the model ('é3', 'é7')." in words
    assert "In the other 38 texts both bounds of log p are" in words
    told = json.loads(printed(capsys, files / "w.npz", "--reverse", files / "exact.npz", "--json"))["gap"]
    assert (told["sign"], told["states"], told["unreached"]) == ("missed", 3, ["é3", "é7"])
    assert (told["nats"]["value"], told["ratio"]["value"], told["by_text"][7]) == (None, None, None)
    assert told["by_text"][3] is not None  # its other state is a bound, if a loose one


def test_reverse_of_other_texts_is_refused_in_one_line(files, capsys):
    given = files / "w.npz"
    other = exact_file(files / "exact.npz", ids=["x", *(f"é{n}" for n in range(1, TEXTS))])
    says = "reverse: text 0 is 'x', not 'é0' as in the weights; both are of the same texts in one order"
    assert refused(given, reverse=other) == says
    assert main(["importance", str(given), "--reverse", str(other)]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    tokens = exact_file(files / "tokens.npz", tokens=TOKENS + 1)
    assert refused(given, reverse=tokens).startswith("reverse: other numbers of tokens than in the weights")
    assert refused(ROWS, tokens=9.0, reverse=ROWS[:3, :1]) == (
        "reverse: 3 texts, not 40 as in the weights; both are of the same texts in one order"
    )


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (
            -np.inf,
            "-inf at row 2 (text '2'), draw 0; values are finite, or +inf where the proposal never draws the state",
        ),
        (np.nan, "NaN at row 2 (text '2'), draw 0"),
        (1e308, "one is beyond 1e+12 nats"),
    ],
)
def test_exact_states_that_cannot_be(value, says):
    rows = ROWS[:, :1].copy()
    rows[2, 0] = value
    line = refused(ROWS, tokens=TOKENS, reverse=rows)
    assert line.startswith("reverse: log weights: ")
    assert says in line


def test_both_files_have_their_place(files):
    given, exact = files / "w.npz", files / "saved.npz"
    ExactWeights(tuple(f"é{n}" for n in range(TEXTS)), ROWS[:, :1], TOKENS).save(exact)
    assert refused(exact) == f"{exact}: log weights of exact states; give them as `reverse`"
    assert refused(ExactWeights.read(exact)) == "weights: log weights of exact states; give them as `reverse`"
    assert refused(given, reverse=given).startswith(f"{given}: given as weights and as `reverse`")
    assert refused(given, reverse=files / "none.npz") == f"{files}/none.npz: no such file"
    assert refused(given, reverse="") == "reverse: is empty; give FILE"
    assert textcritic.importance(given, reverse=exact, resamples=20).gap.states == 0
    assert "not real numbers, but truth values" in refused(ROWS, tokens=TOKENS, reverse=ROWS < -60)


def test_few_long_texts_have_no_interval():
    long = np.where(np.arange(TEXTS) == 5, 4000, 20)
    found = textcritic.importance(ROWS, tokens=long, resamples=20)
    assert found.intervals.over_instances.reason == "too few long texts for an interval"
    assert "over texts none too few long texts for an interval" in " ".join(repr(found).split())


def test_one_text_has_no_interval_over_draws():
    found = textcritic.importance(ROWS[:1], tokens=20, resamples=20)
    assert found.intervals.over_draws.low is None
    assert found.intervals.over_draws.reason.startswith("of a single text")
    words = " ".join(repr(found).split())
    assert "Perplexity by importance sampling: 1 text, 20 tokens, 40 draws a text" in words
    assert "or more, up or down." in words
    assert "(95% interval)" not in words


def test_the_interval_over_draws_of_few_texts_says_how_seldom_it_may_hold():
    few = json.loads(textcritic.importance(ROWS[:5], tokens=TOKENS[:5], resamples=20).to_json())["intervals"]
    assert few["over_draws"]["covers"] == COVERS["over_draws"] + (
        "; of so few texts in 80% of runs alone, where a few draws decide"
    )
    assert few["over_instances"]["covers"] == COVERS["over_instances"]
