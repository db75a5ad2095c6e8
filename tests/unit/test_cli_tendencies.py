"""`textcritic tendencies`, and the same in Python: known differences, second draws, forms of input, bad input."""

import json
import re
import subprocess

import numpy as np
import pandas as pd
import pytest
from forks import forking_python

import textcritic
from textcritic.api.options import TendencyOptions
from textcritic.api.tendencies import _parted
from textcritic.cli import main
from textcritic.critics.tendencies.verdicts import NO_INTERVAL, TENDENCIES, UNTESTED

NAMES = [tendency.name for tendency in TENDENCIES]
WORDS = np.array(["the", "of", "and", ".", *(f"w{n}" for n in range(400))])
QUICK = {"resamples": 99}


def texts(number, seed, length=70, power=1.0):
    """Texts of words whose frequencies fall with the rank to some power."""
    rng = np.random.default_rng(seed)
    shares = np.arange(1, len(WORDS) + 1) ** -power
    return [" ".join(rng.choice(WORDS, max(1, rng.poisson(length)), p=shares / shares.sum())) for _ in range(number)]


def lines(path, some):
    path.write_text("".join(f"{text}\n" for text in some), "utf-8")
    return path


def run(capsys, *arguments, resamples=99):
    assert main(["tendencies", "--json", *map(str, arguments), "--resamples", str(resamples)]) == 0
    return json.loads(capsys.readouterr().out)


def test_what_differs_is_found_and_what_is_the_same_is_kept(tmp_path):
    real = lines(tmp_path / "real.txt", texts(240, 1))
    same, other = lines(tmp_path / "same.txt", texts(40, 2)), tmp_path / "other.jsonl"
    rows = ({"text": text, "id": n} for n, text in enumerate(texts(40, 3, length=85, power=1.5)))
    other.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = [
        forking_python(),
        "-m",
        "textcritic.cli",
        "tendencies",
        "--json",
        *map(str, (real, same, other)),
        "--draws",
        "3",
    ]
    done = subprocess.run([*command, "--resamples", "199"], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    found = json.loads(done.stdout)
    ours = found["real"]
    assert (ours["documents"], ours["empty"], ours["draws"]) == (120, 0, {"number": 3, "documents": 40})
    assert ours["estimates"]["length_mean"]["low"] < 70 < ours["estimates"]["length_mean"]["high"]
    assert ours["estimates"]["s"]["sd"] > 0
    assert list(found["samples"]) == ["same.txt", "other.jsonl"]
    first, second = found["samples"].values()
    assert list(first["verdicts"]) == list(second["verdicts"]) == NAMES
    assert "differs" not in {said["verdict"] for said in first["verdicts"].values()}
    assert first["sentences"] == []
    differ = {name for name, said in second["verdicts"].items() if said["verdict"] == "differs"}
    assert {"rank-frequency", "unigrams", "length", "stopwords"} <= differ
    ways = [second["verdicts"][name]["way"] for name in ("rank-frequency", "length", "stopwords")]
    assert ways == ["more", "longer", "more"]
    assert len(second["sentences"]) == len(differ)
    assert any(
        re.fullmatch(r"Its documents are longer \(.* times what chance gives, p .*\)\.", s) for s in second["sentences"]
    )
    for name in ("length_ks", "rank", "unigram_max"):
        distance = second["distances"][name]
        assert distance["low"] <= distance["value"] <= distance["high"]
        assert distance["floor"] <= distance["floor_most"] < distance["value"]
        assert distance["p"] == 0.005  # the smallest that 199 permutations can have
        assert second["verdicts"]["length"]["p_adjusted"] == pytest.approx(9 * 0.005)
    assert second["fault"] is None
    sized = second["one_size"]
    assert sized["tokens"] == second["tokens"] < ours["tokens"]
    assert sized["estimates"]["types"]["real"] < ours["estimates"]["types"]["value"]
    assert first["one_size"]["estimates"]["s"]["low"] < 0 < first["one_size"]["estimates"]["s"]["high"]
    assert second["one_size"]["estimates"]["s"]["low"] > 0


@pytest.mark.parametrize(
    ("documents", "sample", "draws", "compared", "sizes"),
    [
        (1000, 100, 5, 500, [100] * 5),
        (1000, 200, 5, 500, [200] * 2),
        (1000, 1000, 5, 1000, []),
        (1000, 500, 3, 500, [500]),
        (20, 5, 5, 10, [5] * 2),
        (30, 100, 5, 30, []),
        (1000, 100, 0, 1000, []),
        (1, 100, 5, 1, []),
    ],
)
def test_real_documents_are_divided(documents, sample, draws, compared, sizes):
    test, drawn = _parted([None] * documents, sample, TendencyOptions(draws=draws))
    assert (len(test), [len(part) for part in drawn]) == (compared, sizes)
    together = np.concatenate([test, *drawn])
    assert len(np.unique(together)) == len(together)
    assert (together >= 0).all()
    assert (together < documents).all()


def test_of_few_documents_nothing_is_said_to_be_kept(tmp_path, capsys):
    """Fewer than 20 have no interval; p alone can say that something differs."""
    real, samples = lines(tmp_path / "real.txt", texts(14, 1)), tmp_path / "samples.jsonl"
    sections = [{"sections": [{"text": text}]} for text in texts(14, 2, length=20)]
    samples.write_text("".join(json.dumps(row) + "\n" for row in sections))
    found = run(capsys, real, samples)
    assert found["real"]["documents"] == 14
    assert found["real"]["draws"]["number"] == 0
    of_samples = found["samples"]["samples.jsonl"]
    assert {one[end] for one in of_samples["distances"].values() for end in ("low", "high", "floor")} == {None}
    for name, said in of_samples["verdicts"].items():
        p = of_samples["distances"].get(said["distance"], {}).get("p")
        expected = "not measured" if p is None else "differs" if p < 0.05 else "unclear"
        assert said["verdict"] == expected, name
        assert (said["why"] != "") is (expected != "differs")
        assert said["why"] == NO_INTERVAL or expected != "unclear"
    assert of_samples["verdicts"]["length"]["verdict"] == "differs"
    assert of_samples["verdicts"]["burstiness"]["verdict"] == "not measured"
    assert any(s.startswith("n = 14: Its documents are shorter (") for s in of_samples["sentences"])


def test_more_documents_keep_more():
    """Two samples of the real text's own source: what 30 documents cannot tell, 1,000 can."""
    some = texts(2000, 5, length=30)
    verdicts = {}
    for number in (30, 1000):
        found = textcritic.compare_tendencies(some[1000:], {"same": some[:number]}, resamples=199)
        verdicts[number] = [score.verdict for score in found.scores]
        words = [one.verdict for one in found.verdicts["same"]]
        assert words.count("keeps") == verdicts[number].count("same")
        assert words.count("differs") == verdicts[number].count("different")
    assert "same" not in verdicts[30]
    assert verdicts[1000].count("same") >= 4
    assert verdicts[30].count("unclear") > verdicts[1000].count("unclear")


def test_options_reach_the_counts(tmp_path, capsys):
    real, stop = tmp_path / "real.txt", lines(tmp_path / "stop.txt", ["cat"])
    real.write_text("The cat, the end.\n\nA Cat\n")
    said = run(capsys, real, real)["real"]
    assert (said["documents"], said["tokens"], said["empty"]) == (3, 8, 1)
    assert said["estimates"]["types"]["value"] == 6  # the cat , end . a
    said = run(capsys, real, real, "--tokenizer", "whitespace", "--keep-case", "--stop-words", stop)["real"]
    assert said["tokens"] == 6
    assert said["estimates"]["types"]["value"] == 6  # The cat, the end. A Cat
    assert said["estimates"]["stopwords_mean"]["value"] == pytest.approx(0.25)


def test_in_python_with_lists_data_frames_and_labels(tmp_path):
    frame = pd.DataFrame({"text": texts(120, 1), "more": 1})
    samples = {"short": texts(20, 2, length=30), "real again": [{"text": text} for text in texts(20, 3)]}
    result = textcritic.compare_tendencies(frame, samples, **QUICK, draws=2)
    assert isinstance(result, textcritic.TendenciesResult)
    assert result["short"]["length"].verdict == "different"
    assert result["real again"]["length"].verdict == "unclear"
    length = next(one for one in result.verdicts["real again"] if one.tendency == "length")
    assert length.noticed > length.margin == result["real again"]["length"].margin == 0.1
    assert set(result.table["source"]) == {"real text", *samples}
    assert set(result.table["measure"]) <= set(NAMES)
    of_samples = result.table[result.table["source"] != "real text"]
    assert (of_samples["floor_most"] >= of_samples["floor"]).all()
    assert result.nearest("length") == ["real again"]
    assert result.samples["short"]["sentences"][0].endswith(").")
    assert re.search(r"^short \(20 documents; distances from real text\)\n\ntendency ", repr(result), re.MULTILINE)
    assert re.search(r"^Length .* differs$", repr(result), re.MULTILINE)
    assert "unclear (noticed from 0." in repr(result)
    assert "in at most 5% of samples. Not measured of short: " in " ".join(repr(result).split())
    page = result.report(tmp_path / "page.html").read_text("utf-8")
    assert "Rank and frequency" in page
    again = textcritic.compare_tendencies(frame, samples, **QUICK, draws=2, workers=2)
    assert again.to_json() == result.to_json(), "workers change no number"


@pytest.mark.parametrize(
    ("name", "content", "options", "says"),
    [
        ("blank.txt", b"\n\n", [], r"blank\.txt: .*2 documents and no token"),
        ("spaces.jsonl", b'{"text": " "}\n', [], r"spaces\.jsonl: .*1 documents and no token"),
        ("wide.txt", "a b\n".encode("utf-16"), [], r"wide\.txt: UTF-16; save the file as UTF-8"),
        (
            "fault.jsonl",
            b'{"text": "a"}\n{"words": "a"}\n',
            [],
            r"fault\.jsonl:2: a line should be .*; there is no `text`",
        ),
        ("one.txt", b"a b\n", ["--stop-words", "klingon"], r"klingon: stop words cannot be read"),
    ],
)
def test_bad_input_is_one_line(tmp_path, capsys, name, content, options, says):
    real, path = lines(tmp_path / "real.txt", ["a b c"] * 3), tmp_path / name
    if content is not None:
        path.write_bytes(content)
    assert main(["tendencies", str(real), str(path), *options]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    (line,) = err.splitlines()
    assert re.search(says, line), line
    # The same of real text: options are as bad, and files are named.
    assert main(["tendencies", str(path), str(real), *options]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert re.search(says, line), line


def test_little_text_is_compared_and_gaps_have_reasons(tmp_path, capsys):
    real = lines(tmp_path / "real.txt", texts(12, 1))
    little = {"one.txt": ["a"], "type.txt": ["a a a"] * 20, "long.txt": ["x" * 10_000] * 3}
    paths = [lines(tmp_path / name, given) for name, given in little.items()]
    found = run(capsys, real, *paths, "--draws", 0, resamples=9)["samples"]
    found |= run(capsys, paths[0], real, resamples=9)["samples"]
    assert set(found) == {*little, "real.txt"}
    for said in found.values():
        for one in said["verdicts"].values():
            assert (one["why"] != "") is (one["verdict"] in ("not measured", "unclear"))
            assert one["why"] in (UNTESTED, NO_INTERVAL) or one["verdict"] != "unclear"
        assert said["verdicts"]["type-token"]["verdict"] == "not measured"
        assert said["verdicts"]["length"]["verdict"] != "not measured"
    assert "xxx" not in json.dumps(found)


def test_copies_that_belong_together_say_no_more_than_one_of_them():
    real, sample = texts(40, 1), texts(60, 2)
    copies = [{"text": text, "group": f"page {n}"} for n, text in enumerate(real) for _ in range(3)]
    alone, together = (textcritic.compare_tendencies(given, {"s": sample}, resamples=99) for given in (real, copies))
    for name in ("length_ks", "stopwords_ks", "symbols_ks", "heaps", "length_difference"):
        assert together.samples["s"]["distances"][name] == alone.samples["s"]["distances"][name]
    one, other = (result.real["estimates"]["length_mean"] for result in (alone, together))
    assert [other[key] for key in ("value", "low", "high")] == pytest.approx(
        [one[key] for key in ("value", "low", "high")]
    )
    said = dict(together.facts)["Groups"]
    assert said.startswith("real text: 120 documents in 40 groups; documents of a group count as one")
    assert "Groups" not in dict(alone.facts)
    few = textcritic.compare_tendencies(copies[:57], {"s": sample}, resamples=9)
    assert few.real["estimates"]["length_mean"]["low"] is None  # 19 pages
    assert {score.low for score in few.scores} == {None}


def test_second_draws_have_whole_groups():
    groups = [f"page {n // 4}" for n in range(200)]
    kept, draws = _parted(groups, 20, TendencyOptions(draws=3))
    pages = [{groups[place] for place in part} for part in (kept, *draws)]
    assert [len(part) for part in pages] == [25, 5, 5, 5]
    assert len(set().union(*pages)) == 40


def test_text_of_another_tokenizer_is_said_to_be(tmp_path):
    real = [f"{text} , it 's fine ." for text in texts(12, 1, length=10)]
    raw = lines(tmp_path / "raw.txt", [f"{text}, it's fine." for text in texts(12, 2, length=10)])
    result = textcritic.compare_tendencies(real, [raw], resamples=9)
    fault = json.loads(result.to_json())["samples"]["raw.txt"]["fault"]
    assert fault.startswith("0.0% of the tokens of the real text have an apostrophe inside, such as it's, and ")
    assert " ".join(repr(result).split()).endswith(f"raw.txt: {fault}.")
    assert ("Tokens of raw.txt", fault) in result.facts


def test_bad_labels_are_refused():
    with pytest.raises(textcritic.TextcriticError, match="'real text' is what the reference is called"):
        textcritic.compare_tendencies(["a b"], {"real text": ["a"]})


def test_a_table_names_what_could_not_be_measured_and_counts_the_tests_that_were_made():
    real = [f"the cat sat on the mat and then it ran to house {n}" for n in range(30)]
    found = repr(textcritic.compare_tendencies(real, {"tiny": ["a b c"], "like": real}, resamples=20))
    said = " ".join(found.split())
    assert "Not measured of tiny: different words by length, burstiness and recurrence." in said
    table = found[found.index("tiny (1 document;") :]
    assert "recurrence" not in table.split("like (")[0].lower()
    assert re.search(r"[\d.]+ of [678] tests find a difference by chance, on average", said)


def test_a_sample_may_have_the_name_of_a_tendency():
    """The sentence on the lengths of all samples once stood under the table of the sample of that name."""
    found = textcritic.compare_tendencies(texts(60, 1), {"Length": texts(30, 2), "b": texts(30, 3)}, resamples=19)
    assert "nearest" not in repr(found)
    assert found.table.loc[found.table["source"] == "real text", "n"].unique().tolist() == [60]


def test_the_margin_of_a_tendency_is_that_of_its_verdict():
    """Words that recur so often that a fifth of real text's recurrence is more than the margin of all texts."""

    def own_words(number, seed):
        rng = np.random.default_rng(seed)
        return [" ".join(rng.choice(rng.choice(WORDS, 5), 80)) for _ in range(number)]

    found = textcritic.compare_tendencies(own_words(60, 1), {"m": own_words(30, 2)}, resamples=19)
    (judged,) = (one for one in found.verdicts["m"] if one.tendency == "recurrence")
    assert found["m"]["recurrence"].margin == judged.margin > 0.2
