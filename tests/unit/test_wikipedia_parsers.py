"""The other parser of the Wikipedia extractors, and what the switches of the extraction change."""

import json

import pytest
from tiny_dump import write
from unit.test_wikitext import CONSTRUCTS, ENGLISH

from textcritic.corpora import read_articles
from textcritic.corpora.articles import Section
from textcritic.corpora.wikipedia import Shard, audit, audit_extraction, extract_shard
from textcritic.corpora.wikipedia.pages import Reason
from textcritic.corpora.wikipedia.wikitext import MWPARSERFROMHELL, Namespaces, Reading, paragraphs_of, sections_of
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.rehearsal.dump import dump, page

LIBRARY = Reading(parser=MWPARSERFROMHELL)
OPTIONS = CorpusOptions()

# What the library reads in another way than MediaWiki and our own parser do.
OTHERWISE = {
    "file over lines",  # a link of the library has one pair of single brackets fewer
    "file after a link in a caption that nothing closes",
    "files in files",
    "external link in two brackets",
    "quotes in links",  # a link has lost its brackets before quotes are read
}


@pytest.mark.parametrize("name", [name for name in CONSTRUCTS if name not in OTHERWISE])
def test_both_parsers_show_the_same_of_each_construct(name):
    wikitext, text = CONSTRUCTS[name]
    assert sections_of(wikitext, ENGLISH, reading=LIBRARY) == [Section("abstract", text)]


def test_headings_variants_and_formulas_are_those_of_our_own_parser():
    text = (
        "a <math>x</math>\n== B ''c'' <ref>d</ref> -{zh-cn:e;zh-tw:f}- ==\ng\n=== h ===\n* i\n{|\n| j\n== K ==\nl\n|}\n"
        "== {{lang|ja|m}} ==\nn <math>x</math><math>y</math>\n== {{o}} ==\n[[a|p [q]]] <nowiki>[[r]] -{s}-</nowiki>"
    )
    shown = {"language": "zh", "variant": "zh-tw", "formulas": True}
    ours, theirs = Reading(**shown), Reading(MWPARSERFROMHELL, **shown)
    sections = sections_of(text, ENGLISH, reading=theirs)
    assert [section.title for section in sections] == ["abstract", "B c f", "K", "m"]
    assert sections == sections_of(text, ENGLISH, reading=ours)
    assert sections[3].text == "n formula_1formula_3\np [q] [[r]] -{s}-".replace("[[r]]", "r")
    text = text.replace("\n== K ==", "")
    assert paragraphs_of(text, ENGLISH, theirs) == paragraphs_of(text, ENGLISH, ours)


def test_a_dump_is_extracted_by_the_library_with_the_same_schema(tmp_path):
    path = write(tmp_path / "dump.xml", dump([page(1, "A", "a [[b|c]]\n== D ==\n''e''"), page(2, "F", "g\n==H==\n")]))
    found = []
    for parser in ("own", MWPARSERFROMHELL):
        extract_shard(
            Shard([path], 0, 1), OPTIONS.changed(parser=parser), tmp_path / parser, tmp_path / f"{parser}.json"
        )
        found.append(read_articles(tmp_path / parser))
    assert found[0] == found[1]
    assert found[0][0].sections == (Section("abstract", "a c"), Section("D", "e"))
    used = [
        set(json.loads((tmp_path / f"{name}.json").read_text())["extracted_with"]) for name in ("own", MWPARSERFROMHELL)
    ]
    assert used == [{"textcritic"}, {"textcritic", MWPARSERFROMHELL}]


def test_a_page_that_the_library_gives_up_is_counted(tmp_path, monkeypatch):
    import mwparserfromhell

    def give_up(*_arguments, **_options):
        raise mwparserfromhell.parser.ParserError("given up")

    monkeypatch.setattr(mwparserfromhell, "parse", give_up)
    path = write(tmp_path / "dump.xml", dump([page(1, "A", "a\n== D ==\ne")]))
    for lines in (False, True):
        shard = Shard([path], 0, 1, lines=lines)
        extract_shard(shard, OPTIONS.changed(parser=MWPARSERFROMHELL), tmp_path / "out", tmp_path / "out.json")
        assert json.loads((tmp_path / "out.json").read_text())["skipped"] == {Reason.NOT_PARSED: 1}


@pytest.mark.parametrize("lines", [False, True])
def test_the_audit_says_how_many_articles_and_words_a_switch_changes_and_why(tmp_path, lines):
    same = "a b\n== C ==\nd"
    formula = "a <math>x</math> b\n== C ==\nd <math>y</math>"
    address = "a [[http://b c]] d\n== C ==\nd"
    pages = [page(n, f"P{n}", text) for n, text in enumerate([same, formula, address], 1)]
    path = write(tmp_path / "dump.xml", dump([*pages, page(4, "User:U", same, space=2)]))
    audit_extraction([path], OPTIONS, lines, tmp_path / "audit.json")
    found = json.loads((tmp_path / "audit.json").read_text())
    titles = 0 if lines else 6
    assert (found["articles"], found["words"]) == (3, 3 + 3 + 4 + titles)
    parser, formulas, templates = found["switches"]
    assert (formulas["switch"], formulas["here"], formulas["other"]) == ("formulas", "cut", "numbered")
    assert (formulas["differing"], formulas["words_here"], formulas["words_other"]) == (1, 0, 2)
    assert formulas["reasons"] == {"formulas": 1}
    assert (templates["here"], templates["other"], templates["differing"]) == ("shown", "cut", 0)
    (example,) = formulas["examples"]
    assert (example["title"], "formula_1" in example["other"]) == ("P2", True)
    assert (parser["here"], parser["other"], parser["reasons"]) == ("own", MWPARSERFROMHELL, {"addresses": 1})


def test_the_audit_reads_so_many_articles_and_no_more(tmp_path, monkeypatch):
    monkeypatch.setattr(audit, "AUDITED", 2)
    path = write(tmp_path / "dump.xml", dump([page(n, f"P{n}", "a <math>x</math>\n== C ==\nd") for n in range(1, 6)]))
    audit_extraction([path], OPTIONS.changed(formulas="numbered"), False, tmp_path / "audit.json")
    found = json.loads((tmp_path / "audit.json").read_text())
    assert found["articles"] == found["switches"][1]["differing"] == 2
    assert found["switches"][1]["words_here"] == 2


def test_namespaces_of_the_wiki_decide_links_for_both():
    spaces = Namespaces(frozenset({"datei"}), frozenset({"kategorie"}), frozenset({"media"}))
    text = "a [[Datei:b.jpg|c [[d]]]] [[Kategorie:e]] [[Media:f|g]] [[fr:h]] [http://i j]"
    assert sections_of(text, spaces, reading=LIBRARY) == sections_of(text, spaces) == [Section("abstract", "a g j")]
