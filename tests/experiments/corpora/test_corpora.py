"""Statistics of corpora (Table 11), and what was left out of them."""

from dataclasses import replace
from pathlib import Path

import pytest
from report_html import Page
from report_jobs import Made, make_part, make_study

from experiments.coherence.papers import encyclopedia
from experiments.coherence.tiny import build_coherence
from experiments.corpora.tiny import corpus_of, tiny
from textcritic.corpora import Article, Section, write_articles
from textcritic.corpora.readers.characters import COMPOSED, REMOVED
from textcritic.critics.recitation import measure_overlap
from textcritic.errors import TextcriticError
from textcritic.experiments.corpora.files import CorporaFiles, Corpus
from textcritic.experiments.corpora.rows import (
    audit_rows,
    came,
    commonest_titles,
    left_out_rows,
    shared_rows,
    statistics_rows,
)
from textcritic.experiments.corpora.sheets import audit_sheet, left_out_sheet, shared_sheet, statistics_sheet
from textcritic.experiments.corpora.words import shared_words
from textcritic.files import read_json, write_json
from textcritic.measures.material import Material
from textcritic.measures.published import Published, read_published
from textcritic.plan.experiment import Part
from textcritic.plan.project import Project
from textcritic.report.tables import read_rows

ROOT = Path(__file__).parents[3]
PUBLISHED = ROOT / "config/published/model-criticism/corpora.csv"


def corpus(name, statistics=Path("none.json"), overlap=Path("none.json")):
    return Corpus(corpus=name, statistics=statistics, overlap=overlap)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return tiny(tmp_path_factory.mktemp("corpora"), documents=60)


def test_values_stand_beside_those_published(files):
    published = Published({("docstrings", "", "data", "", "articles_train"): 32350.0})
    rows = statistics_rows(Material(files, published))
    first = rows[rows["corpus"] == "docstrings"].set_index("metric")
    assert first.loc["articles_train", ["value", "published", "difference"]].tolist() == [420, 32350, 420 - 32350]
    assert first["published"].notna().sum() == 1
    assert "classifier_accuracy_percent" not in set(rows["metric"])
    sheet = statistics_sheet(rows)
    assert sheet.body[0][1].notes == ("published 32,350", "ours −31,930")
    assert sheet.body[0][2].notes == ()


def test_table_11_beside_the_papers_values(tmp_path):
    corpora = ("pubmed", "arxiv", "wiki", "wiki-short")
    for corpus in corpora:
        kind = encyclopedia() if corpus.startswith("wiki") else None
        build_coherence(tmp_path, documents=5, generators=(), corpus=corpus, kind=kind)
    data = tuple(corpus_of(tmp_path, corpus) for corpus in corpora)
    made = make_part("corpora", Part("table11", "statistics", "Of four"), CorporaFiles(data=data), tmp_path, PUBLISHED)
    assert [path.name for path in made] == ["table11.csv", "table11.tex", "table11.html"]
    rows = read_rows(tmp_path, "table11")
    assert rows["corpus"].unique().tolist() == list(corpora)
    types = rows[rows["metric"] == "section_types"]
    assert types["value"].tolist() == [8, 8, 96, 96]
    assert types["published"].tolist() == [27, 50, 96, 96]
    body = statistics_sheet(statistics_rows(Material(CorporaFiles(data=data), read_published(PUBLISHED)))).body[3]
    assert [(cell.text, *cell.notes) for cell in body[2:4]] == [
        ("8", "published 50", "ours −42"),
        ("96", "published 96", "ours ±0"),
    ]
    assert r"\caption{Table 11. Of four}" in (tmp_path / "table11.tex").read_text()


AUDIT = {
    "articles": 1000,
    "words": 52000,
    "switches": [
        {
            "switch": "parser",
            "here": "own",
            "other": "mwparserfromhell",
            "differing": 15,
            "words_here": 20,
            "words_other": 8,
            "reasons": {"quotes of italics and bold": 14, "tables": 1},
            "examples": [{"title": "A & B", "here": "one two", "other": "one 'two"}],
        },
        {
            "switch": "formulas",
            "here": "cut",
            "other": "numbered",
            "differing": 0,
            "words_here": 0,
            "words_other": 0,
            "reasons": {},
            "examples": [],
        },
    ],
}


def test_what_the_switches_of_the_extraction_do_is_shown_of_corpora_from_dumps(files, tmp_path):
    write_json(tmp_path / "audit.json", AUDIT)
    data = (replace(files.data[0], audit=tmp_path / "audit.json"), files.data[1])
    rows = audit_rows(Material(CorporaFiles(data=data)))
    assert rows[["switch", "reason", "differing"]].values.tolist() == [
        ["parser", "all", 15],
        ["parser", "quotes of italics and bold", 14],
        ["parser", "tables", 1],
        ["formulas", "all", 0],
    ]
    cells = [[(cell.text, *cell.notes) for cell in row] for row in audit_sheet(rows).body]
    assert cells[0] == [
        ("docstrings",),
        ("parser: own or mwparserfromhell",),
        ("all",),
        ("15 of 1,000", "1.5%"),
        ("20", "of 52,000"),
        ("8", "of 52,000"),
    ]
    assert [cells[1][place] for place in (2, 3)] == [("quotes of italics and bold",), ("14 of 1,000", "1.4%")]
    text = make_study(tmp_path / "study", Made("corpora", CorporaFiles(data=data)))
    assert "A &amp; B: own reads “one two”, mwparserfromhell “one &#39;two”." in text
    other = make_study(tmp_path / "other", Made("corpora", files))
    assert "Audit: what each disputed detail of the extraction changes" in text
    assert "Audit: what each disputed detail of the extraction changes" not in other
    write_json(tmp_path / "audit.json", {})
    with pytest.raises(TextcriticError, match=r"audit.json: no switches in it; delete it and rerun its rule"):
        audit_rows(Material(CorporaFiles(data=data)))


def test_what_is_left_out_is_counted_by_stage_and_reason_the_commonest_first(files, tmp_path):
    statistics = read_json(files.data[0].statistics)
    statistics |= {"skipped": {"disambiguation": 30, "redirect": 1200}, "rejected": {"too long": 1, "rare title": 2}}
    write_json(tmp_path / "statistics.json", statistics)
    rows = left_out_rows(Material(CorporaFiles(data=(corpus("wiki", tmp_path / "statistics.json"),))))
    read, built = "when the text was read", "when the corpus was built"
    assert rows[["stage", "reason", "articles"]].values.tolist() == [
        [read, "redirect", 1200],
        [read, "disambiguation", 30],
        [built, "rare title", 2],
        [built, "too long", 1],
    ]
    totals = came([corpus("wiki", tmp_path / "statistics.json")])
    kept = sum(split["articles"] for split in statistics["splits"].values())
    assert totals == {("wiki", built): kept + 3, ("wiki", read): kept + 3 + 1230}
    sheet = left_out_sheet(rows, {("wiki", read): 4000, ("wiki", built): 2770}, {})
    cells = [[cell.text for cell in line] for line in sheet.body]
    assert cells[0] == ["wiki", read, "redirect", "1,200 of 4,000 (30%)"]
    assert cells[1] == ["", "", "disambiguation", "30 of 4,000 (0.75%)"]
    assert cells[2] == ["wiki", built, "rare title", "2 of 2,770 (0.07%)"]


def test_of_nothing_left_out_there_is_a_table_that_says_so(tmp_path):
    files = tiny(tmp_path, documents=5, empty=True)
    rows = left_out_rows(Material(files))
    assert set(rows["corpus"]) == {"recipes"}
    none = left_out_rows(Material(CorporaFiles(data=files.data[:1])))
    assert none.empty
    assert left_out_sheet(none, {}, {}).remarks == ["Nothing was left out."]
    changed = {"wiki": None, "mine": {COMPOSED: 30, REMOVED: 1200}, "other": {}}
    assert left_out_sheet(none, {}, changed).remarks[1:] == [
        "wiki: characters are as in the source (`normalise: none`).",
        "mine: 30 texts, titles or mentions put into Unicode's form NFC; 1,200 invisible characters removed, such as"
        " soft hyphens (`normalise: unicode`).",
        "other: no character was changed (`normalise: unicode`).",
    ]


def test_titles_are_ranked_by_their_share_of_the_sections(files):
    shares = commonest_titles(files.data[0], 3)
    titles = read_json(files.data[0].statistics)["titles"]
    assert shares[0] == (max(titles, key=titles.get), pytest.approx(max(titles.values()) / sum(titles.values())))
    assert len(shares) == 3
    assert [share for _, share in shares] == sorted((share for _, share in shares), reverse=True)


def test_the_section_tells_the_unit_of_lengths_and_its_lines_the_numbers(files, tmp_path):
    statistics = read_json(files.data[1].statistics)
    write_json(tmp_path / "statistics.json", {**statistics, "length_unit": "gpt2"})
    other = replace(files.data[1], statistics=tmp_path / "statistics.json")
    text = make_study(tmp_path / "study", Made("corpora", CorporaFiles(data=(files.data[0], other))))
    page = Page(text)
    assert "docstrings: section lengths in words." in text
    assert "recipes: section lengths in tokens of gpt2." in text
    assert len(page.ids) == len(set(page.ids))
    assert {"corpora", "corpora-table-statistics", "corpora-table-left-out", "corpora-table-shared-text"} <= set(
        page.ids
    )
    lines = read_json(tmp_path / "study/corpora/section.json")["lines"]
    assert lines[0] == "Corpus docstrings: 420 train, 60 validation, 60 test; 1,515 articles left out"


def test_statistics_that_lack_a_number_are_refused(tmp_path):
    write_json(tmp_path / "statistics.json", {"splits": {}})
    files = CorporaFiles(data=(corpus("wiki", tmp_path / "statistics.json"),))
    with pytest.raises(TextcriticError, match=r"statistics\.json: no 'train' in it; delete it and rerun its rule"):
        statistics_rows(Material(files, Published({})))


def test_what_splits_share_is_counted_and_said(tmp_path):
    """Two of three documents are copies, one is half of a copy, one is too short."""
    words = [f"w{n}" for n in range(60)]
    train = [" ".join(words[:30]), " ".join(words[30:])]
    test = [train[0], train[1], " ".join([*words[:15], *[f"x{n}" for n in range(12)]]), "w1 w2", ""]
    for name, texts in (("train", train), ("validation", test[2:]), ("test", test)):
        sections = [(Section("a title", text),) for text in texts]
        articles = [Article(f"{name}-{n}", None, one, "made up") for n, one in enumerate(sections)]
        write_articles(tmp_path / f"{name}.parquet", articles)
    splits = {split: tmp_path / f"{split}.parquet" for split in ("validation", "test")}
    measure_overlap(tmp_path / "train.parquet", splits, tmp_path / "overlap.json")
    rows = shared_rows(Material(CorporaFiles(data=(corpus("wiki", overlap=tmp_path / "overlap.json"),))))
    found = rows.set_index(["split", "metric"])[["value", "all"]]
    assert found.loc["test", "copies"].tolist() == [2, 5]
    assert found.loc["validation", "copies"].tolist() == [0, 3]
    assert found.loc["test", "more_than_half"].tolist() == [2, 3]
    # Of the third document the first 15 words are those of a training document.
    assert found.loc["validation", "ngrams_13"].tolist() == [3, 15]
    assert found.loc["test", "ngrams_13"].tolist() == [3 + 2 * 18, 15 + 2 * 18]
    assert found.loc["test", "ngrams_4"].tolist() == [12 + 2 * 27, 24 + 2 * 27]
    (says,) = shared_words("wiki", rows)
    assert says == (
        "wiki: of the runs of 13 words of the test documents, 76% occur word for word in the training documents too. "
        "67% of the test documents share more than half of theirs; 2 are an exact copy."
    )
    assert [cell.text for cell in shared_sheet(rows).body[0]] == ["documents, exact copies", "0%", "40%"]
    write_json(tmp_path / "overlap.json", {"test": {}})
    with pytest.raises(TextcriticError, match=r"overlap\.json: no 'copies' in it; delete it and rerun its rule"):
        shared_rows(Material(CorporaFiles(data=(corpus("wiki", overlap=tmp_path / "overlap.json"),))))


def test_it_reads_the_statistics_of_the_corpora_alone():
    project = Project({"studies": ["model-criticism"]}, ROOT, ROOT)
    (experiment,) = (e for e in project.studies["model-criticism"].experiments.values() if e.kind == "corpora")
    of_each = (f"results/corpora/{corpus}" for corpus in ("pubmed", "arxiv", "wiki", "wiki-short"))
    paths = [f"{folder}/{name}.json" for folder in of_each for name in ("statistics", "overlap")]
    assert experiment.files("table11").paths() == paths
    assert set(experiment.files().paths()) - set(paths) == {"results/corpora/wiki/audit.json"}
