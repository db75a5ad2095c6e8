"""`textcritic.criticise`, `chains`, `coreference`, `topics`: forms of input, the numbers, and what a result shows."""

import doctest
import json
import math
import random
import re
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from report_html import Page

import textcritic
from textcritic import TextcriticError
from textcritic.api.options import TopicFit
from textcritic.api.topics import entry_of
from textcritic.cli import main
from textcritic.critics.ctm import fit_ctm, infer
from textcritic.critics.ctm.scoring import latent_nll
from textcritic.critics.ctm.starts import seed_of_start
from textcritic.critics.mentions import MentionChains, MentionCritic
from textcritic.inference import aggregated_covariance, centred_covariance
from textcritic.latents.bags import VocabularyOptions, build_vocabulary, count_words

SUBJECTS = [["cat", "dog", "paw", "fur"], ["sun", "moon", "star", "sky"], ["rice", "bread", "salt", "oil"]]


def some_chains(number, seed, order=("start", "middle", "end")):
    rng = random.Random(seed)
    return [[title for title in order for _ in range(rng.randint(1, 2))] for _ in range(number)]


def some_texts(number, seed, mixed=0.1):
    rng = random.Random(seed)
    drawn = (
        [rng.choice(SUBJECTS[n % 3 if rng.random() > mixed else rng.randrange(3)]) for _ in range(20)]
        for n in range(number)
    )
    return [" ".join(words) for words in drawn]


def jsonl(path, key, documents):
    path.write_text("".join(json.dumps({key: document}) + "\n" for document in documents), encoding="utf-8")
    return path


def numbers(result):
    return [(score.measure, score.value, score.low, score.high, score.p, score.n) for score in result.scores]


# Forms of input.


def forms(chains, path):
    """The same chains in every form."""
    yield chains
    yield tuple(chains)
    yield [{"chain": chain, "more": 1} for chain in chains]
    yield pd.DataFrame({"more": range(len(chains)), "chain": chains})
    yield pd.DataFrame({"chain": [np.array(chain) for chain in chains]}, index=list("x" * len(chains)))
    yield pa.table({"chain": chains})
    yield str(jsonl(path, "chain", chains))
    yield path


def test_every_form_of_chains_gives_the_same_numbers(tmp_path):
    """Of texts, test_own_documents.py."""
    reference, sample = some_chains(30, 1), some_chains(12, 2)
    wanted = textcritic.criticise(reference, sample, resamples=50)
    assert [score.source for score in wanted.scores][:2] == ["real text", "samples"]
    for real, drawn in zip(forms(reference, tmp_path / "r.jsonl"), forms(sample, tmp_path / "m.jsonl"), strict=True):
        assert numbers(textcritic.criticise(real, {"m": drawn}, resamples=50)) == numbers(wanted)


def test_a_data_set_of_the_hub_library_is_taken(tmp_path):
    reference, sample = some_chains(30, 1), some_chains(12, 2)
    given = datasets.Dataset.from_dict({"chain": reference, "label": [0] * 30})
    wanted = textcritic.criticise(reference, sample, resamples=50)
    assert numbers(textcritic.criticise(given, sample, resamples=50)) == numbers(wanted)


def test_samples_are_one_thing_or_labelled_or_several_paths(tmp_path):
    reference, sample = some_chains(30, 1), some_chains(9, 2)
    paths = [jsonl(tmp_path / name, "chain", sample) for name in ("a.jsonl", "b.jsonl")]
    for samples, labels in (
        (sample, ["samples"]),
        (paths[0], ["a.jsonl"]),
        (str(paths[0]), ["a.jsonl"]),
        (paths, ["a.jsonl", "b.jsonl"]),
        ({"one": sample, "two": paths[1]}, ["one", "two"]),
    ):
        found = textcritic.criticise(reference, samples, resamples=20)
        assert [score.source for score in found.scores] == ["real text", *labels]
        assert len({score.value for score in found.scores[1:]}) == 1


# Chains.


def brute_nll(train, chain, delta):
    """-log P of a chain by counting in plain loops."""
    titles = {title for other in train for title in other}
    pairs = Counter(pair for other in train for pair in zip(["<", *other], [*other, ">"], strict=True))
    sources = Counter(source for other in train for source in ["<", *other])
    steps = zip(["<", *chain], [*chain, ">"], strict=True)
    return -sum(math.log((pairs[a, b] + delta) / (sources[a] + delta * (len(titles) + 1))) for a, b in steps)


def test_chains_by_plain_loops_and_an_exact_test():
    train = [["a", "b"], ["a", "a", "b"], ["b"]]
    real, sample = (
        [["a", "b"], ["a"], ["b", "b"], ["a", "b", "b"]],
        [["b", "a"], ["b"], ["b", "a", "a"], ["a", "a"], ["x"]],
    )
    found = textcritic.criticise(train, {"model": sample}, test=real, smoothing=0.5)
    nll = {
        name: [brute_nll(train, chain, 0.5) for chain in chains] for name, chains in (("r", real), ("m", sample[:4]))
    }
    steps = {"r": [len(chain) + 1 for chain in real], "m": [len(chain) + 1 for chain in sample[:4]]}
    ours, model = found["real text"]["latent_ppl"], found["model"]["latent_ppl"]
    assert ours.value == pytest.approx(math.exp(sum(nll["r"]) / sum(steps["r"])), rel=1e-12)
    assert model.value == pytest.approx(math.exp(sum(nll["m"]) / sum(steps["m"])), rel=1e-12)
    pooled = list(zip(nll["m"] + nll["r"], steps["m"] + steps["r"], strict=True))

    def apart(chosen):
        sides = [[pooled[i] for i in range(8) if (i in chosen) is inside] for inside in (True, False)]
        one, two = (sum(n for n, _ in side) / sum(k for _, k in side) for side in sides)
        return abs(one - two)

    all_splits = [apart(set(chosen)) for chosen in combinations(range(8), 4)]
    assert model.p == sum(split >= apart({0, 1, 2, 3}) - 1e-12 for split in all_splits) / 70
    assert (ours.p, ours.n, model.n, model.rejected) == (None, 4, 4, 1)
    assert model.rejected_by_reason == {"unknown title: x": 1}
    assert (model.low, model.high) == (None, None), "of four documents there is no interval"


def test_interval_and_p_value_of_chains_are_drawn_by_the_seed():
    train, real, sample = some_chains(30, 1), some_chains(20, 2), some_chains(20, 3)
    found = [
        textcritic.criticise(train, sample, test=real, smoothing=0.5, resamples=99, seed=seed)["samples"]["latent_ppl"]
        for seed in (1, 1, 2, 3)
    ]
    assert found[0] == found[1]
    assert len({score.value for score in found}) == 1
    assert len({score.p for score in found}) > 1
    assert len({(score.low, score.high) for score in found}) == 3


def test_what_is_held_out_is_not_fitted_on():
    reference, sample = some_chains(40, 1), some_chains(10, 2, ("end", "start"))
    kept = set(np.random.default_rng(7).permutation(40)[:10].tolist())
    train, test = ([c for n, c in enumerate(reference) if (n in kept) is inside] for inside in (False, True))
    found = textcritic.criticise(reference, sample, held_out=0.25, seed=7, resamples=30)
    assert numbers(found) == numbers(textcritic.criticise(train, sample, test=test, seed=7, resamples=30))
    assert found["real text"]["latent_ppl"].n == 10
    assert found["samples"]["latent_ppl"].verdict == "different"
    assert numbers(found) != numbers(textcritic.criticise(reference, sample, held_out=0.25, seed=8, resamples=30))


def test_an_impossible_step_is_infinite_and_has_no_interval():
    found = textcritic.criticise([["a", "b"]] * 5, [["b", "a"]], smoothing=0)
    assert found["samples"]["latent_ppl"].value == math.inf
    assert (found["samples"]["latent_ppl"].low, found["samples"]["latent_ppl"].p) == (None, None)
    assert "∞" in repr(found)
    assert math.isinf(found.table["value"].iloc[1])


@pytest.mark.parametrize("options", [[], ["--as-released", "--smoothing", "1"], ["--smoothing", "0"]])
def test_the_command_prints_what_the_function_gives(tmp_path, capsys, options):
    train, test = some_chains(20, 1), [*some_chains(6, 2), ["end", "start"], ["x"], []]
    files = [str(jsonl(tmp_path / f"{n}.jsonl", "chain", chains)) for n, chains in enumerate((train, test))]
    assert main(["chains", "--json", *files, *options, "--resamples", "40", "--seed", "3"]) == 0
    keywords = {"smoothing": float(options[-1])} if options else {}
    found = textcritic.chains(train, test, as_released="--as-released" in options, resamples=40, seed=3, **keywords)
    assert capsys.readouterr().out == found.to_json() + "\n"
    printed = json.loads(found.to_json())
    assert printed["n"] == found.n == found.scores[0].n
    assert printed["latent_ppl"] == (None if found.unseen_transitions else found.latent_ppl)


# Mentions.


def some_mentions(number, seed, mixed=0.0):
    """Two people in turns; a share of the pronouns is of the other gender."""
    rng = random.Random(seed)
    wrong = {"he": "she", "she": "he"}
    chains = []
    for _ in range(number):
        chain = ["MALE:7", "FEMALE:Ann"]
        for _ in range(rng.randint(5, 15)):
            pronoun, entity = rng.choice([("he", "7"), ("she", "Ann")])
            chain.append(rng.choice([".", f"{wrong[pronoun] if rng.random() < mixed else pronoun}:{entity}"]))
        chains.append(chain)
    return chains


def test_mentions_are_criticised_by_the_parts():
    train, test, sample = some_mentions(60, 1), some_mentions(60, 2), some_mentions(60, 3, mixed=0.2)
    sets = [[{"mentions": chain} for chain in chains] for chains in (train, test, sample)]
    found = textcritic.criticise(sets[0], {"mixed": sets[2]}, test=sets[1], resamples=200, order=4, discount="modified")
    critic = MentionCritic.fit(MentionChains.of(train), 4, "modified")
    for source, chains in (("real text", test), ("mixed", sample)):
        log_prob = critic.log_prob(MentionChains.of(chains))
        assert found[source]["latent_ppl"].value == pytest.approx(math.exp(-log_prob.mean()), rel=1e-12)
    assert found["mixed"]["latent_ppl"].verdict == "different"
    for number, verdict in ((60, "unclear"), (600, "same")):
        sets = [[{"mentions": chain} for chain in some_mentions(number, seed)] for seed in (1, 2)]
        again = textcritic.criticise(*sets, held_out=0.5, resamples=200)
        assert (again["real text"]["latent_ppl"].n, again["samples"]["latent_ppl"].verdict) == (number // 2, verdict)


# Texts.


def test_topics_are_those_of_the_command_and_of_the_parts(tmp_path, capsys):
    train, test = some_texts(40, 1), [*some_texts(9, 2), "unseen", ""]
    files = [str(jsonl(tmp_path / f"{n}.jsonl", "text", texts)) for n, texts in enumerate((train, test))]
    arguments = ["--num-topics", "3", "--workers", "1", "--resamples", "40", "--stop-words", "english"]
    assert main(["topics", "--json", *files, *arguments]) == 0
    printed = json.loads(capsys.readouterr().out)
    found = textcritic.topics(train, test, 3, workers=1, resamples=40, stop_words="english")
    assert {**printed, "seconds": 0} == {**json.loads(found.to_json()), "seconds": 0}
    assert (found.n, found.empty, found.num_topics) == (9, 2, 3)
    score = found["test"]["latent_nll"]
    assert (score.value, score.low, score.high) == (
        printed["latent_nll_mean"]["in_expectation"],
        *printed["ci95"]["in_expectation"],
    )


def test_texts_are_criticised_by_the_parts():
    train, test, sample = some_texts(60, 1), some_texts(60, 2), some_texts(60, 3, mixed=1.0)
    found = textcritic.criticise(train, {"mixed": sample}, test=test, num_topics=3, workers=1, resamples=60)
    vocabulary, _ = build_vocabulary([text.split() for text in train], VocabularyOptions())
    counts = [count_words([text.split() for text in texts], vocabulary) for texts in (train, test, sample)]
    options = entry_of(TopicFit(), 3)
    seeds = [seed_of_start(options.seed, number) for number in range(4)]
    fits = [fit_ctm(counts[0], options.changed(seed=seed)) for seed in seeds]
    critic = max(fits, key=lambda fit: fit.bounds[-1]).critic
    real, mixed = (infer(critic, rows) for rows in counts[1:])
    gaps = []
    for one in fits:
        under = [infer(one.critic, rows) for rows in counts[1:]]
        of_real, of_mixed = (latent_nll(one.critic, each.means, each.variances)[0].mean() for each in under)
        gaps.append(of_mixed - of_real)
    gap = found["mixed"]["nll_gap"]
    assert gap.value == pytest.approx(np.mean(gaps), rel=1e-9)
    assert gap.low < np.mean(gaps) - 3.18 * np.std(gaps, ddof=1) / np.sqrt(2)
    assert (found["real text"]["nll_gap"].value, found["real text"]["distance"].value) == (0, 0)
    full = [[np.c_[m, np.zeros(len(m))] for m in (p.means, p.variances)] for p in (mixed, real)]
    one, two = (centred_covariance(aggregated_covariance(*moments)) for moments in full)
    plain = np.linalg.norm(one - two) / np.linalg.norm(two)
    distance = found["mixed"]["distance"]
    assert 0 < distance.low <= distance.value < plain  # what finite sets add to it is taken off
    assert distance.p < 0.05


# What a result shows.


@pytest.fixture(scope="module")
def spoilt():
    """A result with a label that is markup."""
    return textcritic.criticise(some_chains(20, 1), {"<b>&": some_chains(5, 2), "two": [["end"]] * 9}, resamples=20)


def test_a_result_as_text_table_and_html(spoilt):
    lines = repr(spoilt).splitlines()
    assert lines[0] == spoilt.title
    assert any(line.startswith("two ") and "  n = 9: ≠ higher" in line for line in lines)
    page = Page(spoilt._repr_html_())
    assert [tag for tag, _ in page.tags].count("tr") == 4
    assert "&lt;b&gt;&amp;amp;" not in spoilt._repr_html_()
    assert "<b>" not in spoilt._repr_html_()
    table = spoilt.table
    assert list(table["source"]) == ["real text", "<b>&", "two"]
    assert table["p"].isna().tolist() == [True, False, False]
    assert table["value"].tolist() == [score.value for score in spoilt.scores]
    with pytest.raises(KeyError, match="the sources are real text, <b>&, two"):
        spoilt["three"]
    with pytest.raises(KeyError, match="'nix'; the measures are latent_ppl"):
        spoilt["two"]["nix"]


def test_a_score_says_what_it_is_and_what_its_verdict_is(spoilt):
    words = repr(spoilt["two"]["latent_ppl"])
    assert re.fullmatch(r"<latent_ppl of two: [\d,.]+ \(p (<|=) [\d.]+; n = 9: different\)>", words)
    assert repr(spoilt["real text"]["latent_ppl"]).startswith("<latent_ppl of real text: ")


@pytest.mark.parametrize(("scorable", "verdict"), [(1, "not tested"), (3, "not tested"), (4, "different")])
def test_of_too_few_documents_to_tell_anything_no_sample_differs(scorable, verdict):
    """One document among 31 is the farthest in 3% of cases by chance, whatever was rejected beside it."""
    real, strange = [["a", "b"]] * 30, [["b", "b", "b"]] * scorable + [["x"]] * 29
    found = textcritic.criticise(real, {"model": strange}, test=real, resamples=200)
    score = found["model"]["latent_ppl"]
    assert (score.n, score.rejected, score.verdict) == (scorable, 29, verdict)
    assert (score.p is None) == (verdict == "not tested")
    assert f"n = {scorable}: {'≠ higher' if verdict == 'different' else verdict}" in repr(found)
    said = found.said_of("Latent PPL")
    assert said.startswith(f"n = {scorable}: model ")
    assert said.count("n = ") == 1


def test_names_of_files_in_a_list_are_texts_and_the_message_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("real", "model"):
        (tmp_path / f"{name}.jsonl").write_text('["a", "b"]\n' * 30)
    with pytest.raises(
        TextcriticError, match=r"holds texts, .* strings in a list are texts: for files give `pathlib.Path`s"
    ):
        textcritic.criticise("real.jsonl", ["model.jsonl"])
    with pytest.raises(TextcriticError, match=r"while the reference holds \w+$"):
        textcritic.criticise("real.jsonl", ["a text", "long " * 4000])


def test_two_models_are_compared_by_their_distances_from_real_text():
    real = some_chains(200, 1)
    result = textcritic.criticise(
        real,
        {
            "as real": some_chains(100, 2),
            "again": some_chains(100, 3),
            "random": some_chains(100, 4, ("end", "start", "middle")),
        },
    )
    near, far = result["as real"]["latent_ppl"], result["random"]["latent_ppl"]
    found = result.compare("as real", "random")["latent_ppl"]
    log = [abs(math.log(score.value / result["real text"]["latent_ppl"].value)) for score in (near, far)]
    assert found.difference == pytest.approx(log[0] - log[1])
    assert found.high < 0
    assert found.p < 0.05
    assert result.nearest("latent_ppl") == ["as real", "again"]
    assert "is nearest to real text (" in " ".join(repr(result).split())
    assert [line[-1] == "★" for line in repr(result).splitlines()[5:9]] == [False, True, True, False]
    assert result.compare("random", "as real")["latent_ppl"].difference == -found.difference
    alone = textcritic.criticise(real, {"one": some_chains(100, 2)})
    assert alone.nearest("latent_ppl") == []
    with pytest.raises(KeyError, match=r"'ppl'; the measures are latent_ppl"):
        alone.nearest("ppl")
    assert "nearest" not in repr(alone)


def test_the_page_needs_no_other_file(spoilt, tmp_path):
    page = Page(spoilt.report(tmp_path / "new folder/page.html").read_text(encoding="utf-8"))
    assert all(link.startswith("#") for link in page.loads)
    assert {link[1:] for link in page.loads} <= set(page.ids)
    assert len(page.ids) == len(set(page.ids))


def test_a_folder_is_written_for_chains_too(tmp_path, capsys):
    files = [str(jsonl(tmp_path / f"{name}.jsonl", "chain", some_chains(20, n))) for n, name in enumerate("rm")]
    assert main(["criticise", *files, "--output", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert out.splitlines()[-1] == f"report: {tmp_path / 'out/report.html'}"
    table = pd.read_csv(tmp_path / "out/table.csv")
    found = textcritic.criticise(files[0], [Path(files[1])], seed=1)
    assert table["value"].tolist() == found.table["value"].tolist()
    assert repr(found) in out


# Bad input: one line that names the argument and the item.

ARTICLE = {"sections": [{"title": "a", "text": "x"}]}
MENTIONS = {"mentions": [".", "he:1"]}


IN_SPLITS = datasets.DatasetDict({part: datasets.Dataset.from_dict({"chain": [["a"]]}) for part in ("train", "test")})


@pytest.mark.parametrize(
    ("reference", "samples", "options", "line"),
    [
        ([], [["a"]], {}, "reference: there is no document in it; give a list of chains"),
        (3, [["a"]], {}, "reference: int is not a set of documents; give a list of chains"),
        ([1], [["a"]], {}, "reference[0]: an object of type int is not a document; give a list of chains"),
        ([{"x": 1}], [["a"]], {}, "reference[0]: a dict with the keys x is not a document; give a list of chains"),
        ([["a"], "b"], [["a"]], {}, 'reference[1]: not an object with the key "chain"; each item must be'),
        ([["a"], ["a", 1]], [["a"]], {}, 'reference[1]: "chain" is not a list of strings; each item must be'),
        ([["a"]] * 3, {"m": [["a"], [None]]}, {}, """samples['m'][1]: "chain" is not a list of strings"""),
        ([["a"]] * 3, {"m": ["a b"]}, {}, "samples['m']: holds texts, while the reference holds chains"),
        ([["a"]] * 3, {}, {}, "samples: none given; give what a model wrote"),
        ([["a"]] * 3, {1: [["a"]]}, {}, "samples[1]: the label of a sample is a string"),
        ([["a"]] * 3, {"real text": [["a"]]}, {}, "samples['real text']: 'real text' is what the reference is called"),
        (
            [["a"]] * 3,
            {"m": [["b"], []]},
            {},
            "m: scores: no document is left after rejection (unknown title: b: 1; empty chain: 1)",
        ),
        ([["a"]], [["a"]], {}, "reference: 1 document; one part is for fitting and the other for comparison"),
        ([["a"]] * 3, [["a"]], {"held_out": 1}, "held_out: 1 is not a number above 0 and below 1"),
        ([["a"]] * 3, [["a"]], {"held_out": 0.5, "test": [["a"]]}, "held_out: cannot be used together with `test`"),
        ([["a"]] * 3, [["a"]], {"resamples": 0}, "resamples: 0 is not a whole number from 1 to 10,000,000"),
        ([["a"]] * 3, [["a"]], {"seed": True}, "seed: True is not a whole number from 0 upwards"),
        ([["a"]] * 3, [["a"]], {"smoothing": math.nan}, "smoothing: nan is not a finite number from 0 upwards"),
        ([["a"]] * 3, [["a"]], {"order": 2}, "order: is for mentions, texts and articles; reference holds chains"),
        ([MENTIONS] * 3, [MENTIONS], {"order": 0}, "order: 0 is not a whole number from 1 to 9"),
        ([MENTIONS] * 3, [MENTIONS], {"discount": "x"}, "discount: 'x' is not one of kneser-ney, as_released"),
        ([MENTIONS] * 3, {"m": [["a"]]}, {}, "samples['m']: holds chains, while the reference holds mentions"),
        ([MENTIONS, {"mentions": ["he"]}], [MENTIONS], {}, "reference[1]: 'he' is no token; it should be '.' or"),
        ([MENTIONS] * 3, {"m": [{"mentions": []}]}, {}, "m: scores: no document is left after rejection (no mentions"),
        ([{"mentions": []}] * 3, [MENTIONS], {}, "reference: no mention and no sentence mark in the chains"),
        ([["a"]] * 3, [["a"]], {"num_topics": 2}, "num_topics: is for texts and articles; reference holds chains"),
        ([["a"]] * 3, [["a"]], {"test": pd.DataFrame({"x": [1]})}, "test: no column chain; it has x"),
        (pd.DataFrame({"x": [1]}), [["a"]], {}, "reference: no column chain or mentions or sections or text; it has x"),
        (["a b"] * 9, ["c"], {"num_topics": 1}, "num_topics: 1 is not a whole number from 2 upwards"),
        (["a b"] * 4, [None], {}, "samples[0]: an object of type NoneType is not a document"),
        ([ARTICLE, {"sections": 1}], [ARTICLE], {}, "reference[1]: `sections` is a number; it should be a list"),
        ([ARTICLE], {"m": [{**ARTICLE, "id": "1"}] * 2}, {}, "samples['m'][1]: id '1' was used on item 0; give"),
        ([ARTICLE], [{"sections": [{"text": 3}]}], {}, "samples[0], section 1: `text` is a number"),
        ([ARTICLE], "/none.jsonl", {}, "/none.jsonl: no such file"),
        ([ARTICLE], (), {}, "samples: none given; give what a model wrote, to compare with reference, or a `model`"),
        ([["a"]] * 3, [], {}, "samples: none given; give what a model wrote, to compare with reference"),
        (IN_SPLITS, [["a"]], {}, "reference: a data set in splits (train, test); give one of them: reference['train']"),
        ([["a"]] * 3, {"m": IN_SPLITS}, {}, "samples['m']: a data set in splits (train, test); give one of them"),
        ([["a"]] * 3, [["a"]], {"test": IN_SPLITS}, "test: a data set in splits (train, test); give one of them"),
    ],
)
def test_bad_input_is_one_line(tmp_path, reference, samples, options, line):
    if isinstance(reference, list) and reference[:1] == [ARTICLE]:
        options = {**options, "output": tmp_path / "out"}
    with pytest.raises(TextcriticError) as error:
        textcritic.criticise(reference, samples, **options)
    assert str(error.value).startswith(line)
    assert "\n" not in str(error.value)


def test_an_option_that_does_not_exist():
    with pytest.raises(TypeError, match="has no option 'seeds'; did you mean 'seed'"):
        textcritic.criticise([["a"]] * 3, [["a"]], seeds=1)


def test_import_is_light_and_names_are_found():
    code = (
        "import sys, textcritic; heavy = {'numpy', 'pandas', 'pyarrow', 'torch'}; assert not heavy & set(sys.modules);"
        "assert {'criticise', 'chains', 'coreference', 'topics', 'mixing'} <= set(dir(textcritic));"
        "assert 'compare_tendencies' in dir(textcritic); textcritic.chains;"
        "textcritic.coreference;"
        "assert not {'torch', 'matplotlib', 'snakemake'} & set(sys.modules); textcritic.criticise; print('light')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("light\n", "")
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        textcritic.nothing  # noqa: B018


def test_the_examples_of_the_manual_print_what_they_show(tmp_path, monkeypatch):
    manual = Path(__file__).parents[2] / "docs/python.md"
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    failed, tried = doctest.testfile(str(manual), module_relative=False)
    assert (failed, tried > 15) == (0, True)
