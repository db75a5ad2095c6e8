import gzip
import json
import resource
import subprocess
from contextlib import suppress

import numpy as np
import pytest
import samples
from forks import forking_python

import textcritic
from textcritic.cli import main
from textcritic.critics.ctm import fit_starts, infer
from textcritic.critics.ctm.released import read_released
from textcritic.critics.ctm.scoring import latent_nll
from textcritic.latents.bags import read_ldac, read_words
from textcritic.plan.entries import Ctm

VOCABULARY = samples.SMALL / "topics/vocab.txt"
SUBJECTS = [["cat", "dog", "paw", "fur"], ["sun", "moon", "star", "sky"], ["rice", "bread", "salt", "oil"]]


def texts(number, seed):
    """Documents of 20 words, most of one subject, and a word that is in all of them."""
    rng = np.random.default_rng(seed)
    for document in range(number):
        main_subject = SUBJECTS[document % 3]
        subjects = [main_subject if rng.random() < 0.9 else SUBJECTS[rng.integers(3)] for _ in range(20)]
        yield " ".join(["and", *(subject[rng.integers(4)] for subject in subjects)])


def jsonl(path, values):
    lines = "".join(json.dumps(value) + "\n" for value in values).encode()
    path.write_bytes(gzip.compress(lines) if path.suffix == ".gz" else lines)
    return str(path)


@pytest.fixture
def train(tmp_path):
    return jsonl(tmp_path / "train.jsonl", [{"text": text, "more": 1} for text in texts(60, 1)])


@pytest.fixture
def test(tmp_path):
    return jsonl(tmp_path / "test.jsonl", [{"text": text} for text in [*texts(24, 2), "and unseen words", ""]])


def counts(path, rows):
    path.write_text(
        "".join(" ".join([str(len(row)), *(f"{k}:{v}" for k, v in row.items())]) + "\n" for row in rows), "utf-8"
    )
    return str(path)


SMALL = [{0: 3, 1: 2}, {1: 2, 2: 5}, {0: 1, 3: 4}, {}, {2: 2, 3: 2}, {0: 2, 3: 1}]


@pytest.fixture
def ldac(tmp_path):
    return counts(tmp_path / "train.dat", SMALL)


def run(capsys, *arguments):
    assert main(["topics", "--json", *map(str, arguments), "--workers", "1"]) == 0
    out, _ = capsys.readouterr()
    assert out.count("\n") == 1
    return json.loads(out)


def fails(capsys, *arguments):
    assert main(["topics", "--json", *map(str, arguments), "--workers", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    line = err.splitlines()[-1]
    assert line.startswith("textcritic: ")
    assert "Traceback" not in err
    return line


def test_whole_command_on_text(train, test):
    command = [
        forking_python(),
        "-m",
        "textcritic.cli",
        "topics",
        "--json",
        train,
        test,
        "--num-topics",
        "3",
        "--seed",
        "2",
    ]
    done = subprocess.run(command, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["n"], found["empty"], found["topics"]) == (24, 2, 3)
    assert (found["tokens"], found["tokens_unknown"]) == (480, 24 + 3)
    assert found["train"] == {
        "documents": 60,
        "empty": 0,
        "words": 12,
        "tokens": 1200,
        "removed": {
            "stop word": {"words": 0, "tokens": 0},
            "in more than 50% of documents": {"words": 1, "tokens": 60},
            "placeholder": {"words": 0, "tokens": 0},
            "fewer than 5 times": {"words": 0, "tokens": 0},
        },
    }
    assert found["converged"]
    assert found["bound"] == sorted(found["bound"])
    assert found["seconds"] > 0
    assert sorted(sorted(topic[:4]) for topic in found["top_words"]) == sorted(map(sorted, SUBJECTS))
    for kind in ("in_expectation", "at_mean"):
        low, high = found["ci95"][kind]
        assert low < found["latent_nll_mean"][kind] < high
    assert found["latent_nll_mean"]["at_mean"] < found["latent_nll_mean"]["in_expectation"]


def test_figures_are_those_of_the_parts(tmp_path, capsys, ldac):
    test = counts(tmp_path / "test.ldac", [{}, {1: 1, 2: 2}, {0: 4}])
    found = run(capsys, ldac, test, "--num-topics", 2, "--seed", 3, "--iterations", 5, "--tolerance", 0)
    fits = fit_starts(read_ldac(ldac), Ctm(kind="ctm", topics=2, iterations=5, tolerance=0, seed=3))
    fitted = fits.best
    posterior = infer(fitted.critic, read_ldac(test, 4)[1:])
    expected, at_mean = latent_nll(fitted.critic, posterior.means, posterior.variances)
    assert found["bound"] == pytest.approx(fitted.bounds, rel=1e-12)
    assert found["starts"] == pytest.approx([fit.bounds[-1] for fit in fits.fits], rel=1e-12)
    others = [infer(critic, read_ldac(test, 4)[1:]) for critic in fits.others]
    all_nll = [expected.mean()]
    for critic, one in zip(fits.others, others, strict=True):
        all_nll.append(latent_nll(critic, one.means, one.variances)[0].mean())
    assert found["over_starts"]["in_expectation"] == pytest.approx([min(all_nll), max(all_nll)])
    assert found["latent_nll_mean"] == pytest.approx({"in_expectation": expected.mean(), "at_mean": at_mean.mean()})
    assert found["ci95"] == {"in_expectation": [None, None], "at_mean": [None, None]}  # of two documents
    no_interval = {"ci95": [None, None], "ci95_reason": "no interval of fewer than 20"}
    assert found["over_fits"]["in_expectation"] == {"mean": pytest.approx(np.mean(all_nll)), **no_interval}
    assert (found["n"], found["empty"], found["tokens"], found["tokens_unknown"]) == (2, 1, 7, 0)
    assert found["train"] == {"documents": 6, "empty": 1, "words": 4, "tokens": 24, "removed": None}
    assert found["top_words"] is None


def test_a_model_that_ctm_c_has_fitted(tmp_path, capsys, ldac):
    folder = tmp_path / "ctm-c"
    folder.mkdir()
    numbers = {"mu": [0.5], "cov": [2.0], "log-beta": np.log([[0.4, 0.3, 0.2, 0.1], [0.1, 0.1, 0.2, 0.6]]).ravel()}
    for name, values in numbers.items():
        (folder / f"final-{name}.dat").write_text("".join(f"{value:f}\n" for value in values))
    found = run(capsys, ldac, "--critic", folder)
    posterior = infer(read_released(folder), read_ldac(ldac)[[0, 1, 2, 4, 5]])
    expected, at_mean = latent_nll(read_released(folder), posterior.means, posterior.variances)
    assert found["latent_nll_mean"] == pytest.approx({"in_expectation": expected.mean(), "at_mean": at_mean.mean()})
    assert (found["n"], found["empty"], found["topics"], found["bound"]) == (5, 1, 2, [])
    assert (found["train"], found["starts"], found["over_starts"], found["top_words"]) == (None, [], {}, None)
    words, texts_of = tmp_path / "words.txt", {0: "cat", 1: "dog", 2: "sun", 3: "moon"}
    words.write_text("".join(f"{word}\n" for word in texts_of.values()))
    lines = [{"text": " ".join(texts_of[k] for k, n in row.items() for _ in range(n)) + " unseen"} for row in SMALL]
    again = run(capsys, jsonl(tmp_path / "texts.jsonl", lines), "--critic", folder, "--vocabulary", words)
    assert again["latent_nll_mean"] == pytest.approx(found["latent_nll_mean"])
    assert again["tokens_unknown"] == len(SMALL)
    other = counts(tmp_path / "other.dat", SMALL[:2])
    both = run(capsys, ldac, f"mine={other}", "--critic", folder)["samples"]
    assert list(both) == ["train.dat", "mine"]
    assert both["train.dat"]["latent_nll_mean"] == found["latent_nll_mean"]
    assert (both["mine"]["n"], both["mine"]["tokens"]) == (2, 12)
    assert "give it alone" in fails(capsys, ldac, "--critic", folder, "--num-topics", 2)
    assert "as the vocabulary" in fails(capsys, tmp_path / "texts.jsonl", "--critic", folder)
    words.write_text("cat\n")
    assert "1 words, and" in fails(capsys, ldac, "--critic", folder, "--vocabulary", words)
    assert "id" in fails(capsys, counts(tmp_path / "more.dat", [{4: 1}]), "--critic", folder)
    assert "final-mu.dat: no such file" in fails(capsys, ldac, "--critic", tmp_path)
    assert "train: not given" in fails(capsys, ldac)


def test_seed_decides(tmp_path, capsys, train, test):
    arguments = (train, test, "--num-topics", 3, "--iterations", 3)
    first, again, other = (run(capsys, *arguments, "--seed", seed) for seed in (1, 1, 2))
    assert first | {"seconds": 0} == again | {"seconds": 0}
    assert first["bound"] != other["bound"]


def test_articles_and_gzip_are_the_same_texts(tmp_path, capsys, train, test):
    def as_article(text):
        words = text.split()
        return {"sections": [{"title": "unseen", "text": " ".join(words[:3])}, {"text": " ".join(words[3:])}]}

    articles = jsonl(tmp_path / "articles.jsonl.gz", [as_article(text) for text in texts(60, 1)])
    rest = ("--num-topics", 2, "--iterations", 2)
    assert run(capsys, articles, test, *rest)["bound"] == run(capsys, train, test, *rest)["bound"]


def test_words_that_train_does_not_have_are_left_out(tmp_path, capsys, ldac):
    """Ids behind the last of TRAIN, and those that no document of it has: here 1."""
    gap = counts(tmp_path / "gap.dat", [{0: 3, 2: 2}, {2: 5, 3: 1}, {0: 1, 3: 4}])
    test = counts(tmp_path / "test.dat", [{0: 2, 1: 7}, {1: 3}, {2: 1, 9: 5}])
    words = tmp_path / "words.txt"
    words.write_text("zero\none\ntwo\nthree\r\n" + "x\n" * 6, "utf-8")
    arguments = (gap, test, "--num-topics", 2, "--iterations", 2)
    plain, named = run(capsys, *arguments), run(capsys, *arguments, "--vocabulary", words)
    assert (plain["n"], plain["empty"], plain["tokens"], plain["tokens_unknown"]) == (2, 1, 3, 15)
    assert plain["train"]["words"] == 3
    assert [sorted(topic) for topic in named["top_words"]] == [["three", "two", "zero"]] * 2
    assert named | {"seconds": 0, "top_words": None} == plain | {"seconds": 0}


@pytest.mark.parametrize("high", [2_000_000_000, 2**31 - 2])
def test_a_high_word_id_takes_no_memory(tmp_path, capsys, high):
    """In TRAIN and in TEST; what comes out is what the same words with low ids give."""
    low, known = [{0: 3, 2: 2}, {2: 5, 3: 1}, {0: 1, 3: 4}], [{0: 2, 3: 2}, {2: 1}]
    rest = ("--num-topics", 2, "--iterations", 2, "--resamples", 50)
    plain = run(capsys, counts(tmp_path / "a.dat", low), counts(tmp_path / "b.dat", known), *rest)
    train = counts(tmp_path / "train.dat", [{high if word == 3 else word: n for word, n in row.items()} for row in low])
    test = counts(tmp_path / "test.dat", [{0: 2, high: 2, high - 1: 7}, {2: 1}])
    _, before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (_mapped() + 2**30, before))
    try:
        found = run(capsys, train, test, *rest)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (before, before))
    assert found | {"seconds": 0, "tokens_unknown": 0} == plain | {"seconds": 0}
    assert (found["tokens_unknown"], found["train"]["words"]) == (7, 3)


def _mapped():
    with open("/proc/self/statm") as handle:  # noqa: PTH123
        return int(handle.read().split()[0]) * resource.getpagesize()


def test_a_test_file_without_a_word_of_train_and_an_empty_train(tmp_path, capsys):
    nothing = counts(tmp_path / "nothing.dat", [{}, {}])
    some = counts(tmp_path / "some.dat", [{5: 1}, {2_000_000_000: 3}])
    assert f"no document has a word that {nothing} has" in fails(capsys, nothing, some, "--num-topics", 2)
    assert f"{nothing}: no document has a word" in fails(capsys, some, nothing, "--num-topics", 2)


def test_options_of_the_vocabulary(tmp_path, capsys, train, test):
    stop = tmp_path / "stop.txt"
    stop.write_text("Cat\n", "utf-8")
    found = run(capsys, train, test, "--num-topics", 2, "--stop-words", stop, "--minimum-count", 10**2)
    removed = found["train"]["removed"]
    assert removed["stop word"]["words"] == 1
    assert removed["fewer than 100 times"]["words"] > 0
    assert "cat" not in found["top_words"][0]


def test_slice_of_wikipedia(tmp_path, capsys, wiki_counts):
    lines = wiki_counts.read_bytes().splitlines(keepends=True)
    train, test = tmp_path / "train.dat", tmp_path / "test.dat"
    train.write_bytes(b"".join(lines[:120]))
    test.write_bytes(b"".join(lines[120:150]))
    found = run(capsys, train, test, "--num-topics", 5, "--iterations", 8, "--tolerance", 0, "--vocabulary", VOCABULARY)
    assert (found["n"], found["empty"], len(found["bound"])) == (30, 0, 8)
    assert found["bound"] == sorted(found["bound"])
    assert [len(topic) for topic in found["top_words"]] == [10] * 5
    assert found["tokens_unknown"] > 0


@pytest.mark.parametrize(("rows", "topics"), [([{0: 3, 1: 2}], 2), ([{0: 3}, {1: 3}], 3), ([{0: 3}, {1: 3}, {}], 3)])
def test_too_few_documents_are_one_line(tmp_path, capsys, rows, topics):
    train = counts(tmp_path / "train.dat", rows)
    assert f"{train}: " in fails(capsys, train, train, "--num-topics", topics)


def test_kinds_are_not_mixed(tmp_path, capsys, train, ldac):
    message = fails(capsys, train, ldac, "--num-topics", 2)
    assert f"{ldac}: LDA-C, while {train} is text; give files of one kind" in message
    assert "--vocabulary is for LDA-C" in fails(capsys, train, train, "--num-topics", 2, "--vocabulary", "v.txt")
    for option in (["--stop-words", "english"], ["--minimum-count", "2"]):
        assert "can be used with text only" in fails(capsys, ldac, ldac, "--num-topics", 2, *option)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{}", "a line should be"),
    ],
)
def test_bad_line_is_named(tmp_path, capsys, train, line, message, which):
    bad = tmp_path / "bad.jsonl"
    good = json.dumps({"text": "a b c d e f"})
    bad.write_text("".join(f"{x}\n" for x in [*[good] * 3, *['{"text": "g h"}'] * 6, line]), "utf-8")
    files = [bad, train] if which == 0 else [train, bad]
    assert f"{bad}:10: {message}" in fails(capsys, *files, "--num-topics", 2)


def test_bad_counts_are_named(tmp_path, capsys, ldac):
    bad = counts(tmp_path / "bad.dat", [{0: 1}, {0: -1}])
    assert f"{bad}:2: the count of '0:-1'" in fails(capsys, ldac, bad, "--num-topics", 2)
    words = tmp_path / "words.txt"
    words.write_text("a\nb\n", "utf-8")
    message = fails(capsys, ldac, ldac, "--num-topics", 2, "--vocabulary", words)
    assert f"{ldac}:2: word id 2 is beyond the vocabulary of 2 words" in message
    for content, what in ((b"", "there is no word in it"), (b"\xff", "not UTF-8")):
        words.write_bytes(content)
        assert f"{words}: {what}" in fails(capsys, ldac, ldac, "--num-topics", 2, "--vocabulary", words)
    assert "cannot be read" in fails(capsys, ldac, ldac, "--num-topics", 2, "--vocabulary", tmp_path)


def test_nothing_to_score(tmp_path, capsys, train, ldac):
    test = counts(tmp_path / "test.dat", [{}, {7: 1}])
    assert f"{test}: no document has a word that {ldac} has" in fails(capsys, ldac, test, "--num-topics", 2)
    none = jsonl(tmp_path / "none.jsonl", [])
    assert f"{none}: there is no document in it" in fails(capsys, train, none, "--num-topics", 2)
    assert f"{none}: there is no document in it" in fails(capsys, none, train, "--num-topics", 2)
    rare = jsonl(tmp_path / "rare.jsonl", [{"text": "a"}, {"text": "b"}])
    assert f"{rare}: no word is left of the 2 of 2 documents" in fails(capsys, rare, train, "--num-topics", 2)


def test_a_few_lines_are_named_by_their_file_and_their_number(tmp_path, capsys, train):
    few = [jsonl(tmp_path / f"{n}.jsonl", [{"text": "a b c"}] * n) for n in (1, 3)]
    assert f"{few[0]}: no word is left of the 3 of 1 document (" in fails(capsys, few[0], train, "--num-topics", 2)
    assert main(["criticise", str(few[0]), str(train), "--output", str(tmp_path / "out")]) == 2
    assert f"{few[0]}: 1 document with text; one part is for fitting" in capsys.readouterr().err


def test_number_of_topics_is_needed(capsys, train):
    assert "--num-topics: not given" in fails(capsys, train, train)


def test_last_line_of_vocabulary(tmp_path):
    (tmp_path / "words.txt").write_bytes(b"a\nb\xc2\x85c\nd")
    assert read_words(tmp_path / "words.txt") == ("a", "b\x85c", "d")


def test_of_several_numbers_of_topics_one_is_taken(train, test, capsys, tmp_path):
    options = ("--starts", 1, "--resamples", 99, "--seed", 2)
    found = run(capsys, train, test, "--num-topics", "4,2,3", *options)
    search = found["search"]
    assert [row["topics"] for row in search["numbers"]] == [2, 3, 4]
    assert found["topics"] == search["taken"]
    alone = run(capsys, train, test, "--num-topics", search["taken"], *options)
    assert "search" not in alone
    assert alone["latent_nll_mean"] == found["latent_nll_mean"]
    taken = next(row for row in search["numbers"] if row["topics"] == search["taken"])
    best = max(search["numbers"], key=lambda row: row["log_likelihood"])
    assert best["below_best"] == 0
    assert taken is best or taken["below_best_ci95"][0] <= 0
    assert (search["documents"], search["tokens"] + search["tokens_unknown"]) == (60, 600)
    result = textcritic.topics(train, test, [2, 3], starts=1, workers=1, resamples=99)
    assert result.num_topics == result.search.taken.num_topics
    assert "How many topics" in repr(result)
    page = result.report(tmp_path / "page.html").read_text()
    assert ">How many topics</h2>" in page
    assert "log-likelihood of a held-out word" in page


def test_verdicts_of_each_number_stand_in_a_column(train, tmp_path):
    """Samples of one subject differ from texts of all three whatever the number of topics."""
    one = jsonl(tmp_path / "one.jsonl", [{"text": " ".join(SUBJECTS[0] * 5)} for _ in range(30)])
    real = jsonl(tmp_path / "real.jsonl", [{"text": text} for text in texts(30, 5)])
    found = textcritic.topics(train, {"real": real, "one": one}, [2, 3], starts=1, workers=1, resamples=199)
    _, _, heads, rows = found.search.table()
    assert [*heads] == ["topics", "nats a word", "95% interval", "below the best", "95% interval", "one", "taken"]
    assert [row[5] for row in rows] == [found.search.verdicts(k)["one"] for k in (2, 3)]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (
            "5,1",
            "argument --num-topics: (5, 1) is not a whole number from 2 upwards, several of them, or auto",
        ),
        ("many", "argument --num-topics"),
        ("2,70", "topics: 70, and 48 documents are left where a part of them is held out; give fewer topics, or more"),
    ],
)
def test_numbers_of_topics_that_are_none(train, test, capsys, given, line):
    with suppress(SystemExit):
        assert main(["topics", "--json", str(train), str(test), "--num-topics", given, "--workers", "1"]) == 2
    assert line in capsys.readouterr().err


def test_auto_needs_documents(tmp_path, test, capsys):
    few = jsonl(tmp_path / "few.jsonl", [{"text": text} for text in texts(9, 3)])
    options = ("--num-topics", "auto", "--minimum-count", 1)
    assert "num_topics: auto, and 9 documents have words; it needs 13" in fails(capsys, few, test, *options).replace(
        "--num-topics", "num_topics"
    )
