"""From dumps to articles: what is skipped, shards and workers, faults, the dumps of Wikimedia."""

import bz2
import json
import os
import re
import signal
from collections import Counter

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from samples import LARGE, SMALL, of_large
from tiny_dump import article, write

from textcritic.corpora import Section, build_corpus, read_articles, words_of
from textcritic.corpora.wikipedia import Shard, extract, extract_shard, join_shards
from textcritic.corpora.wikipedia.dump import MULTISTREAM, open_dumps, parts_of
from textcritic.corpora.wikipedia.pages import LARGEST_PAGE, LARGEST_TEXT
from textcritic.corpora.wikipedia.wikitext import FROM_TEMPLATE, JOINED
from textcritic.errors import TextcriticError
from textcritic.plan.checks.corpora import check_dump
from textcritic.plan.entries import Corpus
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.rehearsal.dump import dump, multistream, page
from textcritic.workers import in_order

OPTIONS = CorpusOptions()


def extracted(tmp_path, *paths, shards=1, options=OPTIONS, **more):
    """Path of the joined articles, and the report."""
    files = [(tmp_path / f"{n}-of-{shards}.parquet", tmp_path / f"{n}-of-{shards}.json") for n in range(shards)]
    for shard, (out, report) in enumerate(files):
        extract_shard(Shard(paths, shard, shards), options, out, report, **more)
    articles, reports = zip(*files, strict=True)
    join_shards(articles, reports, tmp_path / "out.parquet", tmp_path / "out.json")
    return tmp_path / "out.parquet", json.loads((tmp_path / "out.json").read_text())


def skipped(tmp_path, *pages, schema="0.10", options=OPTIONS):
    """Why each page gives no article; one that does is added."""
    path = write(tmp_path / "dump.xml", dump([*pages, article(99)], schema=schema))
    out, report = extracted(tmp_path, path, options=options)
    assert [found.id for found in read_articles(out)] == ["99"]
    assert report["provenance"]["dump"]["pages"] == len(pages) + 1
    return report["skipped"]


def test_an_article_is_its_introduction_and_sections(tmp_path):
    text = "'''A''' is.\n== B ==\nb [[c|d]].\n=== E ===\ne\n==F==\n{{x}}\n"
    path = write(tmp_path / "dump.xml", dump([page(12, "A & B", text)], dbname="tinywiki"))
    out, report = extracted(tmp_path, path)
    (found,) = read_articles(out)
    assert (found.id, found.title, found.source) == ("12", "A & B", "tinywiki")
    assert found.sections == (Section("abstract", "A is."), Section("B", "b d.\nE\ne"), Section("F", ""))
    assert (report["extractor"], report["articles"], report["sections"], report["shards"]) == ("wikipedia", 1, 3, 1)
    assert report["skipped"] == {}
    assert report["provenance"]["sources"] == {"tinywiki": 1}
    assert report["provenance"]["dump"] == {
        **{"files": ["dump.xml"], "name": "Tiny", "dbname": "tinywiki", "generator": "MediaWiki 1.0"},
        **{"schema": "0.10", "language": "en", "pages": 1},
    }
    assert pq.read_schema(out).field("split").type == pa.string()


LONG = "== a ==\n"


@pytest.mark.parametrize(
    ("xml", "reason"),
    [
        (page(1, "Talk:A", LONG, space=1), "in another namespace"),
        (page(1, "File:A", LONG, space=None), "in another namespace"),
        (page(1, "user talk:A", LONG, space=None), "in another namespace"),
        (page(1, "A", LONG, more='<redirect title="B" />'), "a redirect"),
        (page(1, "A", "#REDIRECT [[B]]\n" + LONG), "a redirect"),
        (page(1, "A", " \n#redirect: [[B]]"), "a redirect"),
        (page(1, "A", "#ПЕРЕНАПРАВЛЕНИЕ[[B]]"), "a redirect"),
        (page(1, "A", "#पुनर्प्रेषित [[B]]"), "a redirect"),
        (page(1, "A", "#重定向 [[B]]"), "a redirect"),
        (page(1, "A (disambiguation)", LONG), "a disambiguation page"),
        (page(1, "A", LONG + "{{Disambiguation|surname}}"), "a disambiguation page"),
        (page(1, "A", LONG + "{{hndis\n|name=A}}"), "a disambiguation page"),
        (page(1, "A", LONG + "{{Geo-dis}}"), "a disambiguation page"),
        (page(1, "1987", LONG), "a title of skip_titles"),
        (page(1, "5", LONG), "a title of skip_titles"),
        (page(1, "AD 12", LONG), "a title of skip_titles"),
        (page(1, "44 BC", LONG), "a title of skip_titles"),
        (page(1, "1980s", LONG), "a title of skip_titles"),
        (page(1, "0s BC", LONG), "a title of skip_titles"),
        (page(1, "A", "x" * (LARGEST_TEXT + 1)), "too large"),
        (page(1, "A", "é" * (LARGEST_TEXT // 2 + 1)), "too large"),
        (page(1, "A", "x" * (LARGEST_PAGE + 1)), "too large"),
        (page(1, "A", LONG + "\x07"), "not well-formed XML"),
        (page(1, "A", LONG).replace("</page>", ""), "not well-formed XML"),
        (page("", "A", LONG), "without title or number"),
        (page(1, "A", LONG, model="<model>javascript</model><format>text/javascript</format>"), "not wikitext"),
        (page(1, "A", None), "without text"),
        (page(1, "A", " \n "), "without text"),
        (re.sub("<revision>.*</revision>", "", page(1, "A", ""), flags=re.DOTALL), "without text"),
        (page(1, "A", None, text_attributes=' bytes="0" deleted="deleted"'), "text deleted"),
        (page(1, "A", "only an introduction"), "without sections"),
        (page(1, "A", "an introduction\n=== and a subsection ===\n"), "without sections"),
        (page(99, "A", LONG) + page(99, "B", LONG), "an id seen before"),
    ],
)
def test_every_reason_is_counted(xml, reason, tmp_path):
    pages = [part + "</page>" for part in xml.split("</page>")[:-1]] or [xml]
    if reason == "an id seen before":
        path = write(tmp_path / "dump.xml", dump([*pages, article(99)]))
        out, report = extracted(tmp_path, path)
        assert [found.title for found in read_articles(out)] == ["A"]
        assert report["skipped"] == {reason: 2}
    else:
        assert skipped(tmp_path, *pages) == {reason: 1}


def test_pages_with_attributes_are_pages_of_any_packing(tmp_path):
    def with_attributes(xml):
        return xml.replace("<page>", '<page xmlns="http://www.mediawiki.org/xml/export-0.11/"\n id="x">')

    pages = [article(number) for number in range(9)]
    plain = [found.sections for found in read_articles(extracted(tmp_path, write(tmp_path / "a", dump(pages)))[0])]
    for shards, data in ((1, dump(pages).encode()), (3, dump(map(with_attributes, pages)).encode())):
        out, report = extracted(tmp_path, write(tmp_path / "b", data), shards=shards)
        assert [found.sections for found in read_articles(out)] == plain
        assert report["provenance"]["dump"]["pages"] == 9
    packed = write(tmp_path / "c", multistream(list(map(with_attributes, pages))))
    assert open_dumps([packed])[0].packing == MULTISTREAM
    assert len(read_articles(extracted(tmp_path, packed, shards=2)[0])) == 9


def test_headings_mended_are_counted_over_shards(tmp_path):
    pages = [page(n, f"A{n}", "a\n== B ==\nc\n=={{x}}==\nd\n=={{y|E}}==\nf") for n in range(4)]
    _, report = extracted(tmp_path, write(tmp_path / "a", dump(pages)), shards=2)
    assert report["mended"] == {JOINED: 4, FROM_TEMPLATE: 4}


def test_further_aliases_of_namespaces(tmp_path):
    text = "a [[Obrazek:b|c]][[Dział:d]]e [[Strefa:f]]\n== g ==\nh"
    pages = [page(1, "A", text), page(2, "Strefa:B", text, space=None)]
    aliases = {"file": ["Obrazek"], "category": ["Dział"], "other": ["Strefa"]}
    path = write(tmp_path / "a", dump(pages))
    out, report = extracted(tmp_path, path, options=OPTIONS.changed(namespace_aliases=aliases))
    assert [found.sections[0].text for found in read_articles(out)] == ["a e"]
    assert report["skipped"] == {"in another namespace": 1}
    assert [found.sections[0].text for found in read_articles(extracted(tmp_path, path)[0])] == [
        "a cDział:de Strefa:f"
    ] * 2


def test_an_article_that_begins_with_a_list_is_no_redirect(tmp_path):
    path = write(tmp_path / "dump.xml", dump([page(1, "A", "#Foo [[bar]] is one.\n#Two.\n" + LONG)]))
    assert [found.id for found in read_articles(extracted(tmp_path, path)[0])] == ["1"]
    behind = " {{R from move}} [[Category:Moves]] \n"
    assert skipped(tmp_path, page(1, "A", "#REDIRECT [[B]]" + behind + LONG)) == {"a redirect": 1}


def test_an_article_with_a_heading_of_numbers_is_counted_when_the_corpus_is_built(tmp_path):
    path = write(tmp_path / "dump.xml", dump([*(article(n) for n in range(40)), page(50, "A", "a\n== 12 ==\nb")]))
    out, _ = extracted(tmp_path, path)
    sections = {"minimum": 2, "minimum_tokens": 1}
    entry = Corpus.read({"extractor": "wikipedia", "options": {"paths": ["x"]}, "sections": sections}, "test")
    out.rename(tmp_path / "extracted.parquet")
    (tmp_path / "out.json").rename(tmp_path / "extracted.json")
    build_corpus(tmp_path / "extracted.parquet", tmp_path, entry, words_of)
    rejected = json.loads((tmp_path / "statistics.json").read_text())["rejected"]
    assert {reason: count for reason, count in rejected.items() if count} == {"a section without title": 1}


def test_english_defaults_on_a_wiki_of_another_language_are_warned_of(tmp_path, caplog):
    path = write(tmp_path / "dump.xml", dump([article(1)], language="de"))
    extracted(tmp_path, path)
    assert "dump.xml: its language is 'de', but disambiguation_templates are the English defaults" in caplog.text
    caplog.clear()
    extracted(tmp_path, path, options=OPTIONS.changed(disambiguation_templates=["Begriffsklärung"]))
    assert "English defaults" not in caplog.text


@pytest.mark.parametrize(
    "title", ["1987 in film", "300 (film)", "12345", "20th century", "Boeing 747", "AD", "A: B", "Star Wars: Episode I"]
)
def test_titles_that_are_no_years_stay(title, tmp_path):
    for space in (0, None):
        path = write(tmp_path / "dump.xml", dump([page(1, title, LONG)], schema="0.5"))
        path = write(tmp_path / "dump.xml", dump([page(1, title, LONG, space=space)]))
        assert [found.title for found in read_articles(extracted(tmp_path, path)[0])] == [title]


def test_options_of_another_language(tmp_path):
    titles = [r"\d+ v\. Chr\.", "Liste .*"]
    options = OPTIONS.changed(disambiguation_templates=["Begriffsklärung"], skip_titles=titles)
    pages = [page(1, "44 v. Chr.", LONG), page(2, "Liste der A", LONG), page(3, "B", LONG + "{{begriffsklärung}}")]
    found = skipped(tmp_path, *pages, options=options)
    assert found == {"a title of skip_titles": 2, "a disambiguation page": 1}
    path = write(tmp_path / "dump.xml", dump([page(1, "1987", LONG), page(2, "A", LONG + "{{dab}}")]))
    assert len(read_articles(extracted(tmp_path, path, options=options)[0])) == 2


@pytest.mark.parametrize("schema", [f"0.{n}" for n in range(3, 12)])
def test_every_schema(schema, tmp_path):
    old = schema < "0.6" and len(schema) == 3
    change = {"space": None, "model": ""} if old else {}
    pages = [page(1, "A", LONG, **change), page(2, "Portal:A", LONG, **change | ({} if old else {"space": 100}))]
    assert skipped(tmp_path, pages[1], schema=schema) == {"in another namespace": 1}
    assert len(read_articles(extracted(tmp_path, write(tmp_path / "d", dump(pages, schema=schema)))[0])) == 1


def test_a_dump_without_database_name_is_known_by_its_file(tmp_path):
    out, _ = extracted(tmp_path, write(tmp_path / "itwiki.xml", dump([article(1)], dbname=None)))
    assert read_articles(out)[0].source == "itwiki.xml"


# Shards, workers, packings.

PAGES = [
    *(article(number) for number in range(30)),
    page(31, "Talk:A", LONG, space=1),
    page(32, "bad", "\x07"),
    article(33).replace("</page>", ""),
    page(34, "large", "x" * (LARGEST_TEXT + 1)),
    article(5),
    *(article(number) for number in range(40, 60)),
]
# Without the page that never ends, which only plain XML survives.
SOUND = [xml for xml in PAGES if "</page>" in xml]


def kinds(tmp_path, kind):
    """The files of one dump, of the same pages whatever the kind."""
    if kind == "plain":
        return [write(tmp_path / "a.xml", dump(SOUND))]
    if kind == "multistream":
        return [write(tmp_path / "a.xml", multistream(SOUND))]
    if kind == "single":
        return [write(tmp_path / "a.xml", bz2.compress(dump(SOUND).encode()))]
    if kind == "utf-16":
        return [write(tmp_path / "a.xml", dump(SOUND), "utf-16")]
    packs = [multistream, lambda pages: bz2.compress(dump(pages).encode()), lambda pages: dump(pages).encode()] * 2
    return [write(tmp_path / f"{n}.xml", packs[n](SOUND[n * 10 : n * 10 + 10])) for n in range(6)]


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    tmp_path = tmp_path_factory.mktemp("expected")
    out, report = extracted(tmp_path, *kinds(tmp_path, "plain"))
    assert report["articles"] == 50
    assert report["skipped"] == {
        **{"too large": 1, "not well-formed XML": 1, "in another namespace": 1, "an id seen before": 1},
    }
    return out.read_bytes(), report


@pytest.mark.parametrize("shards", [1, 2, 3, 5, 17])
@pytest.mark.parametrize("kind", ["plain", "multistream", "single", "utf-16", "split"])
def test_any_packing_in_any_number_of_shards_is_the_same(kind, shards, expected, tmp_path):
    out, report = extracted(tmp_path, *kinds(tmp_path, kind), shards=shards)
    assert out.read_bytes() == expected[0]
    assert report.pop("shards") == shards
    for found in (report, expected[1]):
        found["provenance"]["dump"].pop("files", None)
    assert report == {key: value for key, value in expected[1].items() if key != "shards"}


@pytest.mark.parametrize("shards", [1, 2, 7])
def test_a_page_that_never_ends_costs_one_page_in_any_number_of_shards(shards, expected, tmp_path):
    out, report = extracted(tmp_path, write(tmp_path / "a.xml", dump(PAGES)), shards=shards)
    assert out.read_bytes() == expected[0]
    assert report["skipped"] == {**expected[1]["skipped"], "not well-formed XML": 2}


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("kind", ["plain", "multistream", "single"])
def test_any_number_of_workers_is_the_same(kind, workers, expected, tmp_path, monkeypatch):
    monkeypatch.setattr(extract, "BATCH", 3000)  # many tasks
    out, _ = extracted(tmp_path, *kinds(tmp_path, kind), workers=workers)
    assert out.read_bytes() == expected[0]


@pytest.mark.parametrize("read", [30, 997])
@pytest.mark.parametrize("kind", ["plain", "multistream", "single", "utf-16"])
def test_any_size_of_reads_is_the_same(kind, read, tmp_path):
    packed = {"multistream": multistream(PAGES[:9]), "single": bz2.compress(dump(PAGES[:9]).encode())}
    encoding = "utf-16" if kind == "utf-16" else "utf-8"
    path = write(tmp_path / "a", packed.get(kind, dump(PAGES[:9])), encoding)
    found = [read_articles(extracted(tmp_path, path, read=size, shards=2)[0]) for size in (read, 1 << 20)]
    assert found[0] == found[1]
    assert len(found[0]) == 9


@pytest.mark.parametrize("read", [1, 4, 30, 997])
def test_the_end_of_one_stream_is_looked_at_wherever_the_reads_end(read, tmp_path):
    """Also where the last read holds the stream's checksum alone, and gives no text."""
    packed = bz2.compress(dump(PAGES[:9]).encode())
    parts = parts_of(open_dumps([write(tmp_path / "whole", packed)]), 0, 1)
    assert sum(task.advance for task in extract._tasks(parts, read)) == len(packed)
    cut = bz2.compress(dump(PAGES[:9]).replace("</mediawiki>", "").encode())
    for size in (read, len(cut) - 4, len(cut) - 1):
        with pytest.raises(TextcriticError, match=rf"without </mediawiki>, in byte {len(cut)};"):
            extracted(tmp_path, write(tmp_path / "cut", cut), read=size)


def test_a_page_of_two_shards_is_kept_once(tmp_path):
    path = write(tmp_path / "dump.xml", dump([*(article(number) for number in range(20)), article(0)]))
    out, report = extracted(tmp_path, path, shards=2)
    assert [found.id for found in read_articles(out)] == [str(number) for number in range(20)]
    first, second = (read_articles(tmp_path / f"{n}-of-2.parquet") for n in range(2))
    assert (first[0].id, second[-1].id) == ("0", "0")
    assert report["skipped"] == {"an id seen before": 1}


def test_shards_of_different_versions_are_told(tmp_path, caplog):
    path = write(tmp_path / "dump.xml", dump([article(1), article(2)]))
    _, report = extracted(tmp_path, path, shards=2)
    (version,) = report["provenance"]["extracted_with"].values()
    shard = json.loads((tmp_path / "1-of-2.json").read_text())
    shard["extracted_with"] = {"textcritic": "0.0.1"}
    write(tmp_path / "1-of-2.json", json.dumps(shard))
    files = [[tmp_path / f"{n}-of-2.{suffix}" for n in range(2)] for suffix in ("parquet", "json")]
    join_shards(*files, tmp_path / "out.parquet", tmp_path / "out.json")
    provenance = json.loads((tmp_path / "out.json").read_text())["provenance"]
    assert provenance["extracted_with"] == {"textcritic": f"0.0.1, {version}"}
    assert "different versions of textcritic" in caplog.text


def test_joining_shards_of_two_dumps_is_refused(tmp_path):
    for name in ("a", "b"):
        path = write(tmp_path / f"{name}.xml", dump([article(1)]))
        extract_shard(Shard([path], 0, 1), OPTIONS, tmp_path / f"{name}.parquet", tmp_path / f"{name}.json")
    files = [[tmp_path / f"{name}.{suffix}" for name in "ab"] for suffix in ("parquet", "json")]
    with pytest.raises(TextcriticError, match=r"b\.json: of another dump than .*a\.json"):
        join_shards(*files, tmp_path / "out", tmp_path / "out.json")


# Faults.


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            lambda: dump(SOUND).encode()[:40_000],
            r"the dump ends within a page, in byte 40000; it was cut, fetch it again",
        ),
        (lambda: dump(SOUND).replace("</mediawiki>", "").encode(), r"the dump ends without </mediawiki>, in byte \d+;"),
        (lambda: bz2.compress(dump(SOUND).encode())[:-100], "ends within the bzip2 stream that begins at byte 0;"),
        (lambda: multistream(SOUND)[:-10], r"ends within the bzip2 stream that begins at byte \d{4,};"),
        (lambda: multistream(SOUND)[:3000], r"ends within the bzip2 stream that begins at byte \d+;"),
        (
            lambda: multistream(SOUND)[: -len(bz2.compress(b"</mediawiki>\n"))],
            r"without </mediawiki>, in the stream at",
        ),
        (lambda: multistream(SOUND)[:3000] + b"????" + multistream(SOUND)[3004:], r"begins at byte \d+ is damaged"),
        (lambda: multistream(PAGES, 1), r"stream that begins at byte \d+ ends within a page, unlike the first"),
        (lambda: dump([]).encode(), r"the-dump: there is no <page> in it; give a dump named \.\.\.-pages-articles"),
        (
            lambda: dump(SOUND[30:32]).encode(),
            r"found no article \(skipped: {'not well-formed XML': 1, 'in another namespace': 1}\); check its options",
        ),
    ],
)
def test_a_fault_is_one_line_and_leaves_nothing_behind(data, message, workers, tmp_path):
    path = write(tmp_path / "the-dump", data())
    (tmp_path / "out").mkdir()
    with pytest.raises(TextcriticError, match=message) as caught:
        extracted(tmp_path / "out", path, workers=workers)
    assert "\n" not in str(caught.value)
    joined = re.search("found no article|there is no <page>", str(caught.value))
    assert str(path) in str(caught.value) or joined
    left = {file.name for file in (tmp_path / "out").iterdir()}
    assert left <= {"0-of-1.parquet", "0-of-1.json"}
    assert not left or joined


def test_a_killed_worker_is_an_error(tmp_path):
    def work(number):
        if number == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        return number

    with pytest.raises(TextcriticError, match="a worker process was killed, probably because memory ran out; raise"):
        list(in_order(work, range(20), 2))


def test_an_error_of_a_worker_is_its_own():
    def work(number):
        raise TextcriticError(f"at {number}")

    with pytest.raises(TextcriticError, match="at 0"):
        list(in_order(work, range(20), 2))


def test_workers_take_a_bounded_number_of_tasks_ahead():
    taken = 0

    def tasks():
        nonlocal taken
        while taken < 100:
            taken += 1
            yield taken

    for done, result in enumerate(in_order(abs, tasks(), 2), 1):
        assert result == done
        assert taken - done < 8


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"options\.paths: should be a list"),
        ({"paths": {"train": "a", "validation": "b", "test": "c"}}, r"options\.paths: should be a list"),
        ({"paths": ["a"], "skip_titles": ["("]}, r"options\.skip_titles: '\(' is not a regular expression"),
    ],
)
def test_wrong_options_are_refused(options, message):
    with pytest.raises(TextcriticError, match=message):
        check_dump(CorpusOptions.read(options, "test"))


# Dumps of Wikimedia's.


@pytest.mark.parametrize(
    ("folder", "name", "articles", "left_out"),
    [
        (SMALL, "enwiki-sample", 57, {"in another namespace": 2, "a redirect": 102, "a disambiguation page": 9}),
        (SMALL, "edge-utf16-bgwiki", 1, {"in another namespace": 2}),
        (SMALL, "edge-schema-0.5", 3, {}),
        (SMALL, "edge-schema-0.11-aawiki", 0, {"in another namespace": 64, "a redirect": 1, "without text": 1}),
        of_large(
            *(LARGE, "enwiki-sample", 119, {"in another namespace": 2, "a redirect": 102, "a disambiguation page": 9})
        ),
        of_large(
            *(LARGE, "edge-schema-0.11-aawiki", 0),
            {"in another namespace": 505, "a redirect": 1, "without text": 1},
            id="large-aa",
        ),
    ],
)
def test_real_dumps(folder, name, articles, left_out, tmp_path):
    path = folder / f"wikipedia/{name}.xml.bz2"
    extract_shard(Shard([path], 0, 1), OPTIONS, tmp_path / "out.parquet", tmp_path / "out.json", workers=2)
    report = json.loads((tmp_path / "out.json").read_text())
    found = read_articles(tmp_path / "out.parquet")
    assert (len(found), report["skipped"]) == (articles, left_out)
    # Counted in the text of the whole file, apart from all of our code.
    xml = bz2.decompress(path.read_bytes())
    xml = xml.decode("utf-16" if xml.startswith(b"\xff\xfe") else "utf-8")
    assert report["pages"] == xml.count("<page>") == articles + sum(left_out.values())
    spaces = Counter(re.findall(r"<ns>(-?\d+)</ns>", xml))
    assert left_out.get("in another namespace", 0) == spaces.total() - spaces["0"]
    titles = re.findall(r"<page>\s*<title>(.*?)</title>", xml)
    assert set(titles) >= {found.title for found in found if "&" not in found.title}
