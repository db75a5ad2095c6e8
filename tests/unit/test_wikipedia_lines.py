"""Lines of a dump as documents: which lines, their tokens, their order, splits by number, faults."""

import json
import random
from collections import Counter
from itertools import chain

import numpy as np
import pyarrow.parquet as pq
import pytest
from sacremoses import MosesPunctNormalizer, MosesTokenizer
from samples import SMALL
from tiny_dump import article, write

from textcritic.corpora import read_articles
from textcritic.corpora.moses import MosesOptions, moses
from textcritic.corpora.wikipedia import Shard, build_lines, extract_shard, shuffle
from textcritic.corpora.wikipedia.extract import NO_TOKEN, STEPS
from textcritic.corpora.wikipedia.shuffle import keys_of
from textcritic.corpora.wikipedia.wikitext import Namespaces, paragraphs_of
from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import check_splits
from textcritic.plan.entries import Corpus
from textcritic.plan.entries.corpora import Splits
from textcritic.rehearsal.dump import dump, multistream, page

ENTRY = {
    "extractor": "wikipedia-lines",
    "options": {"paths": ["x"], "disambiguation_templates": [], "skip_titles": []},
}
OPTIONS = Corpus.read(ENTRY, "test").options
NAMESPACES = Namespaces(frozenset({"file"}), frozenset({"category"}), frozenset({"talk"}))
SPLITS = ("train", "validation", "test")


def extracted(folder, path, shards=1, workers=1):
    """Shards of lines, and their reports."""
    folder.mkdir(parents=True, exist_ok=True)
    files = [(folder / f"{n}-of-{shards}.parquet", folder / f"{n}-of-{shards}.json") for n in range(shards)]
    for number, (out, report) in enumerate(files):
        extract_shard(Shard([path], number, shards, lines=True), OPTIONS, out, report, workers=workers)
    return zip(*files, strict=True)


def built(folder, path, splits, shards=1):
    """The ids of each split, in their order, and the statistics."""
    parts, reports = extracted(folder / "shards", path, shards)
    corpus = folder / f"lines-{shards}"
    build_lines(parts, reports, Splits(**splits), corpus, corpus / "extracted.json")
    ids = {split: pq.read_table(corpus / f"{split}.parquet")["id"].to_pylist() for split in SPLITS}
    return ids, json.loads((corpus / "statistics.json").read_text())


def texts_of(path):
    return {line.id: line.sections[0].text for line in read_articles(path)}


PAGE = """{{Infobox|a=b}}
'''Éric''' is a “man”[1]<ref>x</ref> of 1,200 towns; he isn't [[old|Old]].
The same paragraph.

Another, after {{cite}} a blank line.
== Heading ==
* item
# item
: indented
; term
 preformatted
{| class="wikitable"
* in a table
|-
| cell
|}
After the table.
=== {{lang|Sub}} ===
:{|
| cell
|}
[[File:a.jpg|thumb|caption]]
Last （one）—naïve.
[[Category:Men]]
"""


def test_an_article_gives_its_title_and_its_paragraphs(tmp_path):
    path = write(tmp_path / "dump.xml", dump([page(12, "Éric & B", PAGE), page(13, "Stub", "{{x}}")]))
    (parts, reports) = extracted(tmp_path / "shards", path)
    lines = read_articles(parts[0])
    assert [(line.id, line.sections[0].text) for line in lines] == [
        ("12-0", "eric & b"),
        ("12-1", 'eric is a " man " [ 1 ] of 1,200 towns ; he isn \'t old . the same paragraph .'),
        ("12-2", "another , after a blank line ."),
        ("12-3", "after the table ."),
        ("12-4", "last ( one ) - naive ."),
        ("13-0", "stub"),
    ]
    assert {(line.title, len(line.sections), line.sections[0].title, line.source) for line in lines} == {
        (None, 1, None, "tinywiki")
    }
    report = json.loads(reports[0].read_text())
    assert (report["pages"], report["articles"], report["skipped"], report["rejected"]) == (2, 6, {}, {})


def test_pages_that_are_no_articles_are_counted_and_disambiguation_pages_are_articles(tmp_path):
    pages = [
        page(1, "A (disambiguation)", "A is:\n* B"),
        page(2, "B", "#REDIRECT [[C]]"),
        page(3, "Talk:C", "c", space=1),
        page(4, "D", "{{disambiguation}}\nd"),
        page(5, "1987", ""),
        page(6, "\u200e", "e"),
    ]
    parts, reports = extracted(tmp_path / "shards", write(tmp_path / "dump.xml", dump(pages)))
    assert list(texts_of(parts[0]).values()) == ["a ( disambiguation )", "a is :", "d", "d", "e"]
    report = json.loads(reports[0].read_text())
    assert report["skipped"] == {"a redirect": 1, "in another namespace": 1, "without text": 1}
    assert report["rejected"] == {NO_TOKEN: 1}
    assert report["pages"] == 6


def test_a_soft_hyphen_makes_no_second_word(tmp_path):
    path = write(tmp_path / "dump.xml", dump([page(1, "Co\u00adop", "a co\u00adop co&shy;op")]))
    (part,), _ = extracted(tmp_path, path)
    assert list(texts_of(part).values()) == ["coop", "a coop coop"]


def test_variants_and_formulas_of_a_dump(tmp_path):
    text = "-{zh-cn:a;zh-tw:b}- <math>x</math>"
    path = write(tmp_path / "dump.xml", dump([page(1, "C", text)], language="zh"))
    for options, line in (({}, "a"), ({"variant": "zh-tw", "formulas": "numbered"}, "b formula _ 1")):
        out = tmp_path / "out.parquet"
        extract_shard(Shard([path], 0, 1, lines=True), OPTIONS.changed(**options), out, tmp_path / "out.json")
        assert texts_of(out)["1-1"] == line
    with pytest.raises(TextcriticError, match=r"options.variant: 'sr-el': the wiki has those of zh; leave it out"):
        extract_shard(Shard([path], 0, 1), OPTIONS.changed(variant="sr-el"), out, tmp_path / "out.json")
    english = write(tmp_path / "english.xml", dump([page(1, "C", text)]))
    with pytest.raises(TextcriticError, match=r"options.variant: 'zh-tw': the wiki has none in en; leave it out"):
        extract_shard(Shard([english], 0, 1), OPTIONS.changed(variant="zh-tw"), out, tmp_path / "out.json")


@pytest.mark.parametrize(
    ("wikitext", "expected"),
    [
        ("", []),
        ("== a ==", []),
        ("a\n b\nc", ["a", "c"]),
        ("a<br>b", ["a", "b"]),
        ("{{clear}}* item\nb", ["b"]),
        ("a\n=b\n=b=\nc", ["a =b", "c"]),
        ("a\n{|\n|-\n* b\n  |}\nc", ["a", "c"]),
        ("* a\n** b\n\n\nc\nd", ["c d"]),
        ("<poem>\na\n</poem>", ["a"]),
    ],
)
def test_which_lines_are_paragraphs(wikitext, expected):
    assert paragraphs_of(wikitext, NAMESPACES) == expected


def test_the_steps_are_those_of_moses_in_its_order():
    tokens = moses("en", STEPS)
    assert tokens("Ｆ：“Ça”\u0007va…\u00a0１２％ DON'T co-op &amp; <b>") == (
        'ｆ : " ca " va ... 12 % don \'t co-op & amp ; < b >'
    )
    assert tokens(" \u200b \n") == ""
    assert tokens("Ångström İzmir ﬁ ḍ̇ é\u0301") == "angstrom izmir ﬁ d e"
    normalise, split = MosesPunctNormalizer("en", pre_replace_unicode_punct=True), MosesTokenizer("en")
    for text in ("It's 5 % of “the” U.S. (see p. 3).", "He said, “no”, twice。", "a «b» c’s"):
        expected = split.tokenize(normalise.normalize(text), escape=False, return_str=True).lower()
        assert tokens(text) == expected
    assert moses("en", MosesOptions(tokenise=False))("Ça  va…") == "Ça va…"


@pytest.fixture(scope="module")
def sample(tmp_path_factory):
    """Every line of the small dump of the English Wikipedia."""
    path = SMALL / "wikipedia" / "enwiki-sample.xml.bz2"
    folder = tmp_path_factory.mktemp("lines")
    parts, reports = extracted(folder / "one", path)
    return path, texts_of(parts[0]), parts, reports


def test_lines_of_a_real_dump(sample):
    _, lines, _, reports = sample
    report = json.loads(reports[0].read_text())
    assert report["pages"] == 170
    assert report["skipped"] == {"a redirect": 102, "in another namespace": 2}
    assert sum(name.endswith("-0") for name in lines) == 66
    assert lines["39-0"] == "albedo"
    assert lines["39-5"] == (
        "the term was introduced into optics by johann heinrich lambert in his 1760 work photometria ."
    )
    for text in lines.values():
        assert text == text.lower() == " ".join(text.split()) != ""
        assert not {"[[", "{{", "<ref", "=="} & set(text.split())


def test_number_of_shards_and_workers_change_nothing(sample, tmp_path):
    path, lines, *_ = sample
    parts, _ = extracted(tmp_path / "three", path, shards=3, workers=2)
    together = [line for part in parts for line in texts_of(part).items()]
    assert together == list(lines.items())


def test_all_lines_are_in_one_split_each_in_the_order_of_the_seed(sample, tmp_path, monkeypatch):
    monkeypatch.setattr(shuffle, "BUCKET", 100)  # 11 of them
    _, lines, parts, reports = sample
    splits = Splits(validation=10, test=200, seed=5)
    (tmp_path / "lines/.shuffled.killed").mkdir(parents=True)
    (tmp_path / "lines/.shuffled.killed/0").write_text("what a killed job left")
    build_lines(parts, reports, splits, tmp_path / "lines", tmp_path / "lines/extracted.json")
    found = {split: texts_of(tmp_path / f"lines/{split}.parquet") for split in SPLITS}
    keys = keys_of(lines, 5)
    order = [name for _, name in sorted(zip(keys.tolist(), lines, strict=True))]
    assert [*found["validation"], *found["test"], *found["train"]] == order
    assert {split: len(part) for split, part in found.items()} == {
        "train": len(lines) - 210,
        "validation": 10,
        "test": 200,
    }
    assert {**found["train"], **found["validation"], **found["test"]} == lines
    record = json.loads((tmp_path / "lines/statistics.json").read_text())
    tokens = {split: [len(text.split()) for text in part.values()] for split, part in found.items()}
    assert record["splits"] == {
        split: {"articles": len(counts), "sections": len(counts), "tokens": sum(counts)}
        for split, counts in tokens.items()
    }
    every = [count for counts in tokens.values() for count in counts]
    assert record["median_section_length"] == np.median(every)
    assert record["max_section_length"] == max(every)
    assert record["extracted"] == len(lines)
    assert json.loads((tmp_path / "lines/extracted.json").read_text()) == {"extractor": "wikipedia-lines", "shards": 1}
    assert not list((tmp_path / "lines").glob(".*"))


def test_the_order_depends_on_the_seed_alone(tmp_path):
    path = write(tmp_path / "dump.xml.bz2", multistream([article(n) for n in range(1, 30)]))
    splits = {"validation": 0.1, "test": 0.2}
    one, _ = built(tmp_path, path, splits)
    four, record = built(tmp_path, path, splits, shards=4)
    other, _ = built(tmp_path / "other", path, {**splits, "seed": 2})
    assert one == four != other
    assert sorted(chain(*one.values())) == sorted(chain(*other.values()))
    total = record["extracted"]
    assert (len(one["validation"]), len(one["test"])) == (round(0.1 * total), round(0.2 * total))


def test_the_number_of_files_that_are_open_has_a_limit_and_changes_nothing(sample, tmp_path, monkeypatch):
    _, _, parts, reports = sample
    orders = []
    for size, most in ((1000, 500), (10, 7)):
        monkeypatch.setattr(shuffle, "BUCKET", size)
        monkeypatch.setattr(shuffle, "MOST_BUCKETS", most)
        out = tmp_path / f"lines-{most}"
        build_lines(parts, reports, Splits(validation=1, test=1), out, out / "extracted.json")
        orders.append(list(texts_of(out / "train.parquet")))
    assert orders[0] == orders[1]


def test_train_has_a_limit_if_it_is_given(tmp_path):
    path = write(tmp_path / "dump.xml", dump([article(n) for n in range(1, 30)]))
    every, _ = built(tmp_path, path, {"validation": 5, "test": 6})
    first, record = built(tmp_path, path, {"validation": 5, "test": 6, "train": 20})
    assert first == {**every, "train": every["train"][:20]}
    assert record["splits"]["train"]["articles"] == 20


def test_keys_are_uniform_and_have_nothing_to_do_with_the_place_of_a_line():
    ids = [f"{number // 8}-{number % 8}" for number in range(40_000)]
    keys = keys_of(ids, 3)
    places = np.argsort(np.argsort(keys)) / len(keys)
    # Chi-squared with 99 degrees of freedom; its 1 and 99.99999% points are 69 and 183.
    counts = np.bincount((keys >> np.uint64(32)).astype(np.int64) * 100 >> 32, minlength=100)
    assert 60 < ((counts - 400) ** 2 / 400).sum() < 183
    # Rank correlations of n places have a standard deviation of 1 / sqrt(n) = 0.005.
    assert abs(np.corrcoef(places, np.arange(len(ids)))[0, 1]) < 0.025
    assert abs(np.corrcoef(places[:-1], places[1:])[0, 1]) < 0.025
    assert abs(np.corrcoef(keys.astype(float), keys_of(ids, 4).astype(float))[0, 1]) < 0.025


def test_a_page_that_comes_twice_counts_once(tmp_path):
    pages = [article(n) for n in range(1, 9)]
    once, _ = built(tmp_path, write(tmp_path / "dump.xml", dump(pages)), {"validation": 2, "test": 3})
    again = write(tmp_path / "again.xml", dump([*pages, article(3)]))
    twice, record = built(tmp_path, again, {"validation": 2, "test": 3}, shards=2)
    assert twice == once
    (lines_of_3,) = Counter(
        name.split("-")[0] for names in once.values() for name in names if name[:2] == "3-"
    ).values()
    assert record["skipped"] == {"lines of an id seen before": lines_of_3}


def test_too_few_lines_for_the_splits(tmp_path):
    path = write(tmp_path / "dump.xml", dump([article(1)]))
    with pytest.raises(
        TextcriticError, match=r"corpus 'lines-1': \d lines are too few .* validation of 2, test of 90 "
    ):
        built(tmp_path, path, {"validation": 2, "test": 90})
    assert not (tmp_path / "lines-1/train.parquet").exists()


def test_shards_of_another_dump_or_that_are_not_whole_are_refused(tmp_path):
    for name in ("a", "b"):
        write(tmp_path / f"{name}.xml", dump([article(n) for n in range(1, 9)], dbname=name))
    (one,), (first,) = extracted(tmp_path / "a", tmp_path / "a.xml")
    (two,), (second,) = extracted(tmp_path / "b", tmp_path / "b.xml")
    splits, out = Splits(validation=1, test=1), tmp_path / "out"
    with pytest.raises(TextcriticError, match=r"b/0-of-1.json: of another dump than .*a/0-of-1.json; delete both"):
        build_lines([one, two], [first, second], splits, out, out / "extracted.json")
    one.write_bytes(one.read_bytes()[:-20])
    with pytest.raises(TextcriticError, match=r"a/0-of-1.parquet: not whole Parquet; delete it and rerun"):
        build_lines([one], [first], splits, out, out / "extracted.json")
    assert not list(out.iterdir())


@pytest.mark.parametrize(
    ("extractor", "splits", "message"),
    [
        ("wikipedia", {"test": 1}, "splits.test: 1 should be less than 1, a share .* extractor wikipedia-lines"),
        ("wikipedia", {"train": 7}, "splits.train: is for the extractor wikipedia-lines; train has all that"),
        ("wikipedia-lines", {"test": 10.5}, "splits.test: 10.5 should be a whole number of lines, or less than 1"),
        ("wikipedia-lines", {"test": 0.5, "validation": 0.5}, "splits: validation and test together should be less"),
    ],
)
def test_splits_that_cannot_be_made_are_refused(extractor, splits, message):
    entry = Corpus.read({**ENTRY, "extractor": extractor, "splits": splits}, "test")
    with pytest.raises(TextcriticError, match=message):
        check_splits(entry)


def test_splits_by_number_pass():
    splits = {"validation": 10_000, "test": 0.1, "train": 5}
    check_splits(Corpus.read({**ENTRY, "splits": splits}, "test"))


def test_words_of_random_lines_survive(tmp_path):
    draw = random.Random(1)
    texts = [" ".join(draw.choices(["river", "the", "of", "city"], k=draw.randrange(1, 40))) for _ in range(50)]
    path = write(tmp_path / "dump.xml", dump([page(7, "Seven", "\n\n".join(texts))]))
    (part,), _ = extracted(tmp_path / "shards", path)
    assert list(texts_of(part).values()) == ["seven", *texts]
