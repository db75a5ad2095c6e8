"""`textcritic coreference`: the numbers by plain dictionaries, and every fault in one line."""

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from forks import forking_python
from mention_oracle import AsReleased, KneserNey, synthetic

import textcritic
from textcritic.cli import main

SPLIT = ("--held-out", "0.2")
REAL = [chain for chain in synthetic(1, 60) if chain]


def parted(seed=1, share=0.2):
    """The real chains that the critic is fitted on, and those that are held out."""
    held = np.random.default_rng(seed).permutation(len(REAL))[: round(share * len(REAL))]
    return [chain for n, chain in enumerate(REAL) if n not in held], [REAL[n] for n in sorted(held)]


def write(path, chains):
    path.write_text("".join(json.dumps({"mentions": chain}) + "\n" for chain in chains), encoding="utf-8")
    return str(path)


@pytest.fixture
def real(tmp_path):
    return write(tmp_path / "real.jsonl", REAL)


def run(capsys, *arguments):
    assert main(["coreference", "--json", *map(str, arguments)]) == 0
    out, err = capsys.readouterr()
    assert (err, out.count("\n")) == ("", 1)
    return json.loads(out)


def test_whole_command(tmp_path, real):
    text = [*synthetic(2, 20), [], [".", "."], ["it:1000000", "it:-3", "é:x:Ann", "it:-3"]]
    samples = write(tmp_path / "samples.jsonl", text)
    command = [
        forking_python(),
        "-m",
        "textcritic.cli",
        "coreference",
        "--json",
        real,
        samples,
        "--discount",
        "as_released",
        *SPLIT,
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    train, held = parted()
    critic = AsReleased(train, 5)
    log_prob = critic.log_prob(text)
    tokens = sum(map(len, text))
    assert found.pop("latent_ppl") == pytest.approx(math.exp(-log_prob.sum() / tokens), rel=1e-12)
    assert found.pop("latent_nll_mean") == pytest.approx(-log_prob.sum() / 22, rel=1e-12)
    low, high = found.pop("ci95")
    assert low < math.exp(-log_prob.sum() / tokens) < high
    real_text = found.pop("real")
    assert real_text["latent_ppl"] == pytest.approx(math.exp(-critic.log_prob(held).mean()), rel=1e-12)
    assert real_text["ci95"] == [None, None]  # of fewer than 20 documents
    assert real_text["n"] == len(held) == round(0.2 * len(REAL))
    assert 0 < found.pop("p") <= 1
    assert found.pop("ci95_reason") is None
    assert real_text["ci95_reason"] == "no interval of fewer than 20"
    assert found == {
        "tokens": tokens,
        "n": 22,
        "rejected": 1,
        "rejected_by_reason": {"no mentions": 1},
        "without_people": 1 + sum(set(chain) == {"."} for chain in text[:20]),
        "order": 5,
        "discount": "as_released",
        "unseen": 5,
    }


@pytest.mark.parametrize(("order", "discount"), [(1, "kneser-ney"), (3, "modified"), (9, "kneser-ney")])
def test_options(tmp_path, capsys, real, order, discount):
    text = synthetic(3, 12)
    found = run(
        capsys, real, write(tmp_path / "s.jsonl", text), "--order", order, "--discount", discount, "--seed", 4, *SPLIT
    )
    log_prob = KneserNey(parted(seed=4)[0], order, discount == "modified").log_prob(text)
    assert found["latent_ppl"] == pytest.approx(math.exp(-log_prob.mean()), rel=1e-11)
    assert (found["order"], found["discount"]) == (order, discount)
    options = {"order": order, "discount": discount, "seed": 4, "held_out": 0.2}
    assert json.loads(textcritic.coreference(real, [{"mentions": c} for c in text], **options).to_json()) == found


def test_kneser_ney_of_order_five_is_the_default(tmp_path, capsys, real):
    samples = write(tmp_path / "s.jsonl", synthetic(3, 12))
    assert run(capsys, real, samples) == run(capsys, real, samples, "--order", "5", "--discount", "kneser-ney")


def test_without_gender_the_labels_are_one(tmp_path, capsys, real):
    def plain(chains):
        return [[token.replace("FEMALE:", "None:").replace("MALE:", "None:") for token in chain] for chain in chains]

    text = synthetic(3, 12)
    files = write(tmp_path / "plain_real.jsonl", plain(REAL)), write(tmp_path / "plain.jsonl", plain(text))
    found = run(capsys, real, write(tmp_path / "s.jsonl", text), "--no-gender")
    assert found == run(capsys, *files)
    assert found["latent_ppl"] != run(capsys, real, tmp_path / "s.jsonl")["latent_ppl"]


def test_every_form_gives_the_same_numbers(tmp_path, real):
    text = synthetic(3, 12)
    wanted = textcritic.coreference(real, text).to_json()
    table = pa.table({"mentions": text, "other": range(12)})
    pq.write_table(table, tmp_path / "s.parquet")
    frame = pd.DataFrame({"mentions": [np.array(chain, object) for chain in text]})
    for given in ([{"mentions": chain} for chain in text], table, frame, tmp_path / "s.parquet"):
        assert textcritic.coreference(REAL, given).to_json() == wanted


TEXTS = [
    "Anna Smith met Tom Brown. She told him that he was late. He laughed.",
    "Tom Brown slept. Then he woke himself.",
    "It rained.\n\nNobody saw it.",
    "",
]


def test_mentions_of_texts_are_found_by_rules(tmp_path, capsys):
    files = [tmp_path / "real.jsonl", tmp_path / "samples.jsonl"]
    sections = [{"sections": [{"text": part} for part in text.split("\n\n")]} for text in TEXTS[:3]]
    for file, records in zip(files, ([{"text": text} for text in TEXTS * 3], [*sections, {"text": ""}]), strict=True):
        file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    found = run(capsys, *files, "--resolver", "persons")
    # Anna met Tom . She him he . He | . Tom . he himself | . .
    chains = [
        [".", "FEMALE:1", "MALE:2", ".", "She:1", "him:2", "he:2", ".", "He:2"],
        [".", "MALE:1", ".", "he:1", "himself:1"],
        [".", "."],
        [],
    ]
    given = write(tmp_path / "given.jsonl", chains * 3), write(tmp_path / "chains.jsonl", chains)
    assert found == run(capsys, *given)
    assert (found["n"], found["without_people"], found["rejected_by_reason"]) == (3, 1, {"no mentions": 1})
    assert run(capsys, *files, "--resolver", "persons", "--no-gender") == run(capsys, *given, "--no-gender")
    assert textcritic.coreference(TEXTS * 3, TEXTS, resolver="persons").to_json() == json.dumps(found)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", 'not an object with the key "mentions"'),
        (b'{"text": "He said."}', 'not an object with the key "mentions"'),
        (b'{"mentions": ["."], "text": "He said."}', 'both "mentions" and "text" are there'),
        (b'{"mentions": ". he:1"}', '"mentions" is not a list of strings'),
        (b'{"mentions": [".", 1]}', '"mentions" is not a list of strings'),
        (b'{"mentions": [".", "he"]}', "'he' is no token; it should be '.' or symbol:entity"),
        (b'{"mentions": ["he:"]}', "'he:' is no token"),
        (b'{"mentions": [".:1"]}', "'.:1' is no token"),
        (b'{"mentions": ["<bos>:1"]}', "'<bos>:1' is no token"),
        (b'{"mentions": [":1"]}', "':1' is no token"),
        (b'{"mentions": [""]}', "'' is no token"),
        (b'{"mentions": ["\xff"]}', "not UTF-8"),
    ],
)
@pytest.mark.parametrize("which", [0, 1])
def test_bad_line_is_named(tmp_path, capsys, real, line, message, which):
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b'{"mentions": ["."]}\n' + line + b"\n")
    files = [str(bad), real] if which == 0 else [real, str(bad)]
    assert main(["coreference", *files]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert f"{bad}:2: {message}" in err


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        ([], [["."]], "real.jsonl: there is no document in it"),
        ([["."]], [["."]], "real.jsonl: 1 document; one part is for fitting and the other for comparison"),
        ([["."]], [], "samples.jsonl: there is no document in it"),
        ([[], []], [["."]], "real.jsonl: no mention and no sentence mark in the chains"),
        ([["."], ["."]], [[], []], "samples.jsonl: scores: no document is left after rejection (no mentions: 2)"),
    ],
)
def test_nothing_to_fit_or_to_score_is_one_line(tmp_path, capsys, first, second, message):
    files = [write(tmp_path / "real.jsonl", first), write(tmp_path / "samples.jsonl", second)]
    assert main(["coreference", *files]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert message in err


def test_command_loads_nothing_heavy(real):
    code = (
        "import sys; from textcritic.cli import main; main(sys.argv[1:]); "
        "sys.exit(', '.join({'torch', 'scipy', 'matplotlib', 'transformers'} & set(sys.modules)) or 0)"
    )
    command = [sys.executable, "-c", code, "coreference", "--json", real, real, *SPLIT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_held_out_share_and_the_p_value_are_those_of_criticise(tmp_path, capsys, real):
    """Two doors to one number: the same critic, yardstick and test."""
    samples = synthetic(3, 40)
    found = run(capsys, real, write(tmp_path / "s.jsonl", samples), "--held-out", "0.5", "--resamples", "500")
    table = textcritic.criticise(
        [{"mentions": chain} for chain in REAL],
        {"samples": [{"mentions": chain} for chain in samples]},
        held_out=0.5,
        resamples=500,
    ).table.set_index("source")
    assert found["p"] == table.loc["samples", "p"]
    assert found["latent_ppl"] == table.loc["samples", "value"]
    assert found["real"]["latent_ppl"] == table.loc["real text", "value"]
    assert found["real"]["n"] == len(parted(share=0.5)[1])
