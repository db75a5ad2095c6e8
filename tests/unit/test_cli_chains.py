import json
import math
import subprocess
import sys

import pytest

import textcritic
from textcritic.cli import main
from textcritic.critics import TransitionCritic

TRAIN = [["a", "b"], ["a", "a", "b"], ["b"]]


def write(path, chains):
    path.write_text("".join(json.dumps({"chain": chain}) + "\n" for chain in chains), encoding="utf-8")
    return str(path)


@pytest.fixture
def train(tmp_path):
    return write(tmp_path / "train.jsonl", TRAIN)


def run(capsys, *arguments):
    assert main(["chains", "--json", *map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.count("\n") == 1
    return json.loads(out)


def by_hand(delta):
    """1 / probability of begin->a->b->end and begin->b->a->end of `test_whole_command` under a pseudo-count."""
    rows = (3 + 3 * delta) * (3 + 3 * delta) * (3 + 3 * delta)
    return rows**2 / ((2 + delta) * (2 + delta) * (3 + delta) * (1 + delta) * delta * delta)


def test_without_json_it_prints_a_table_and_why_documents_were_rejected(tmp_path, train, capsys):
    test = write(tmp_path / "test.jsonl", [["a", "b"], ["b", "a"], ["b", "z"]])
    assert main(["chains", train, test]) == 0
    out = capsys.readouterr().out
    assert out == f"{textcritic.chains(train, test)!r}\n"
    assert "source  value  95% interval" in out
    assert "test: 1 document rejected (unknown title: z: 1)" in out


def test_whole_command(tmp_path, train):
    test = write(tmp_path / "test.jsonl", [["a", "b"], ["b", "a"], [], ["b", "é", "z"], ["é"]])
    command = [
        sys.executable,
        "-m",
        "textcritic.cli",
        "chains",
        "--json",
        train,
        test,
        "--smoothing",
        "1",
        "--seed",
        "3",
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    # By hand from (c + 1) / (c_i + 3): begin->a->b->end is 3/6 * 3/6 * 4/6, begin->b->a->end is 2/6 * 1/6 * 1/6.
    nll = [-math.log(36 / 216), -math.log(2 / 216)]
    assert found.pop("latent_ppl") == pytest.approx(math.exp(sum(nll) / 6), rel=1e-12)
    assert found.pop("latent_nll_mean") == pytest.approx(sum(nll) / 2, rel=1e-12)
    assert found == {
        "ci95": None,
        "ci95_reason": "no interval of fewer than 20",  # two documents have no interval
        "steps": 6,
        "n": 2,
        "rejected": 3,
        "rejected_by_reason": {"unknown title: é": 2, "empty chain": 1},
        "smoothing": 1.0,
        "other_smoothings": [
            {"smoothing": 0.3, "latent_ppl": pytest.approx((by_hand(0.3)) ** (1 / 6), rel=1e-12)},
            {"smoothing": 3.0, "latent_ppl": pytest.approx((by_hand(3.0)) ** (1 / 6), rel=1e-12)},
        ],
        "warnings": [
            "The Latent PPL of test rests on the smoothing: 2.94 with 1 added to every count, 3.46 with 0.3 and 2.86 "
            "with 3. It makes many steps that the training text hardly has, and what these cost is a choice."
        ],
        "unseen_transitions": [],
        "skipped_transitions": 0,
    }


def test_no_smoothing_names_what_is_unseen(tmp_path, capsys, train):
    test = write(tmp_path / "test.jsonl", [["a", "b"], ["b", "a"], ["b", "a"], ["a"]])
    found = run(capsys, train, test, "--smoothing", 0)
    assert found["latent_ppl"] is found["ci95"] is found["latent_nll_mean"] is None
    assert found["unseen_transitions"] == [
        {"from": "a", "to": "<end>", "count": 3},
        {"from": "b", "to": "a", "count": 2},
    ]
    assert (found["n"], found["steps"], found["smoothing"]) == (4, 11, 0)


def test_no_smoothing_with_nothing_unseen(tmp_path, capsys, train):
    found = run(capsys, train, write(tmp_path / "test.jsonl", [["a", "b"]]), "--smoothing", "0")
    assert found["latent_ppl"] == pytest.approx((2 / 3 * 2 / 3) ** (-1 / 3), rel=1e-12)
    assert found["unseen_transitions"] == []


def test_auto_is_the_default_and_cross_validated(tmp_path, capsys):
    chains = [["a", "b", "c"][: 1 + i % 3] for i in range(30)] + [["c", "a"]]
    train, test = write(tmp_path / "train.jsonl", chains), write(tmp_path / "test.jsonl", chains[:20])
    found = run(capsys, train, test, "--seed", 5)
    assert found["smoothing"] == TransitionCritic.fit(chains, seed=5).delta
    assert found == run(capsys, train, test, "--seed", 5, "--smoothing", "auto")
    assert found["ci95"][0] < found["latent_ppl"] < found["ci95"][1]
    test = write(tmp_path / "test.jsonl", chains[:19])
    few = run(capsys, train, test, "--seed", 5)
    assert (few["ci95"], few["n"]) == (None, 19)
    assert few["latent_ppl"] > 1


def test_as_released(tmp_path, capsys, train):
    test = write(tmp_path / "test.jsonl", [["a", "z", "b"], ["z"]])
    found = run(capsys, train, test, "--as-released", "--smoothing", 1)
    assert found["latent_ppl"] == pytest.approx((3 / 7 * 4 / 7) ** -0.5, rel=1e-12)
    assert (found["n"], found["steps"], found["skipped_transitions"]) == (1, 2, 2)
    assert found["rejected_by_reason"] == {"unknown title: z": 1}


def test_empty_chains_of_train_do_not_count(tmp_path, capsys, train):
    padded = write(tmp_path / "padded.jsonl", [[], *TRAIN, []])
    test = write(tmp_path / "test.jsonl", [["a", "b"]])
    assert run(capsys, padded, test, "--smoothing", 1) == run(capsys, train, test, "--smoothing", 1)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", 'not an object with the key "chain"'),
        (b'{"titles": []}', 'not an object with the key "chain"'),
        (b'{"chain": "ab"}', '"chain" is not a list of strings'),
        (b'{"chain": ["a", null]}', '"chain" is not a list of strings'),
        (b'{"chain": ["a", 1]}', '"chain" is not a list of strings'),
        (b'{"chain": ["\xff"]}', "not UTF-8"),
        (b"[" * 100_000, "nested too deep"),
        (b"1" * 5000, "a number has too many digits"),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_bad_line_is_named(tmp_path, capsys, train, line, message, which):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"chain": ["a"]}\n' + line + b"\n")
    files = [str(bad), train] if which == 0 else [train, str(bad)]
    assert main(["chains", *files]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert f"{bad}:2: {message}" in err


@pytest.mark.parametrize(
    ("train_chains", "test_chains", "message"),
    [
        ([], [["a"]], "train.jsonl: train: no chains"),
        ([["a"], ["a"]], [], "test.jsonl: scores: no document is left"),
        ([["a"], ["a"]], [[""]], r"(unknown title: (empty): 1)"),
        ([["a"], ["a"]], [["x\ny"], []], r"(empty chain: 1; unknown title: x\ny: 1)"),
        ([["a"]], [["a"]], "train.jsonl: train: one document cannot be cross-validated"),
    ],
)
def test_nothing_to_score_is_one_line(tmp_path, capsys, train_chains, test_chains, message):
    files = [write(tmp_path / "train.jsonl", train_chains), write(tmp_path / "test.jsonl", test_chains)]
    assert main(["chains", *files]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert message in err


def test_missing_file_is_named(tmp_path, capsys, train):
    assert main(["chains", train, str(tmp_path / "none.jsonl")]) == 2
    assert "none.jsonl: no such file" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert main(["chains", train, str(tmp_path / "empty")]) == 2
    assert "a folder without *.parquet or *.arrow files" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"textcritic {textcritic.__version__}\n"


def test_command_loads_nothing_heavy(train):
    code = (
        "import sys; from textcritic.cli import main; main(sys.argv[1:]); "
        "sys.exit(', '.join({'torch', 'scipy', 'matplotlib', 'transformers'} & set(sys.modules)) or 0)"
    )
    command = [sys.executable, "-c", code, "chains", "--json", train, train]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
