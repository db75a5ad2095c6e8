"""What the tables of corpora print, against counts of the articles that went in and came out."""

import json
import random
import re
import statistics
from collections import Counter

import pytest
from report_jobs import Made

from experiments.by_hand import check, printed
from experiments.corpora.tiny import tiny
from textcritic.corpora import build_corpus, extract_corpus, read_articles, words_of
from textcritic.critics.recitation import measure_overlap
from textcritic.experiments.corpora.files import CorporaFiles, Corpus
from textcritic.files import read_json
from textcritic.plan import entries

TITLES = ("Plot", "Cast", "Music", "Release", "Reception")
ENTRY = {
    "extractor": "jsonl",
    "splits": {"validation": 0.2, "test": 0.15},
    "titles": {"drop": []},
    "sections": {"minimum": 2, "minimum_tokens": 2, "maximum_tokens": 60},
}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Folder of a corpus that was built, the articles that it was built from, and the folder of tables."""
    root = tmp_path_factory.mktemp("values")
    draw = random.Random(5)
    articles = [
        [(title, " ".join("w" * draw.choice((1, 3, 9, 40)))) for title in TITLES[: draw.randint(1, 5)]]
        for _ in range(150)
    ]
    articles[7][0] = ("Plot", " ".join("w" * 61))
    lines = [
        json.dumps({"id": str(n), "sections": [{"title": t, "text": x} for t, x in sections]})
        for n, sections in enumerate(articles)
    ]
    path, folder = root / "films.jsonl", root / "films"
    path.write_text("\n".join(lines))
    entry = entries.Corpus.read({**ENTRY, "options": {"paths": [str(path)]}}, "test")
    extract_corpus(entry, [str(path)], folder / "e.parquet", folder / "e.json")
    build_corpus(folder / "e.parquet", folder, entry, words_of)
    splits = {split: folder / f"{split}.parquet" for split in ("validation", "test")}
    measure_overlap(folder / "train.parquet", splits, folder / "overlap.json")
    other = tiny(root / "other").data[0]
    published = root / "published.csv"
    published.write_text(
        "table,corpus,setting,generator,decoding,metric,value,source,note\n"
        "11,films,,data,,articles_validation,30,a paper,\n11,films,,data,,median_sections,3.5,a paper,\n"
        "11,docstrings,,data,,articles_train,170,a paper,\n"
    )
    data = (Corpus(corpus="films", statistics=folder / "statistics.json", overlap=folder / "overlap.json"), other)
    Made("corpora", CorporaFiles(data=data), published=published).tables(root / "tables")
    return folder, articles, root / "tables"


def test_statistics(made):
    folder, _, tables = made
    splits = {split: read_articles(folder / f"{split}.parquet") for split in ("train", "validation", "test")}
    every = [article for articles in splits.values() for article in articles]
    lengths = [len(section.text.split()) for article in every for section in article.sections]
    values = {f"articles_{split}": len(articles) for split, articles in splits.items()}
    values["section_types"] = len({s.title for article in splits["train"] for s in article.sections})
    values["median_sections"] = statistics.median(len(article.sections) for article in every)
    values["median_section_length"] = statistics.median(lengths)
    values["max_section_length"] = max(lengths)
    paper = {"articles_validation": 30, "median_sections": 3.5}
    rows = [row for row in printed(tables, "statistics") if row["corpus"] == "films"]
    assert [row["metric"] for row in rows] == list(values)
    for row in rows:
        value, of_paper = values[row["metric"]], paper.get(row["metric"])
        gap = None if of_paper is None else value - of_paper
        check(row, {"value": value, "published": of_paper, "difference": gap})
        assert set(row) == {"corpus", "metric", "value", "published", "difference"}
    # No two of them are the same, so that none stands in the place of another.
    assert len(set(values.values())) == len(values)


def test_left_out(made):
    folder, articles, tables = made
    why = Counter()
    for sections in articles:
        lengths = [len(text.split()) for _, text in sections]
        if len(sections) < 2:
            why["too few sections"] += 1
        elif min(lengths) < 2:
            why["a section too short"] += 1
        elif max(lengths) > 60:
            why["a section too long"] += 1
    rows = [row for row in printed(tables, "left-out") if row["corpus"] == "films"]
    splits = read_json(folder / "statistics.json")["splits"]
    assert why.total() == len(articles) - sum(split["articles"] for split in splits.values())
    assert [(row["stage"], row["reason"], int(row["articles"])) for row in rows] == [
        ("when the corpus was built", reason, n) for reason, n in why.most_common()
    ]
    page = (tables / "left-out.html").read_text()
    for n in why.values():
        share = 100 * n / len(articles)
        of_all = f"{n} of {len(articles):,} ({share:.{0 if share >= 10 else 1 if share >= 1 else 2}f}%)"
        assert re.search(rf"<td[^>]*>{re.escape(of_all)}</td>", page)
