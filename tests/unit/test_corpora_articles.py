import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textcritic.corpora import ARTICLE_SCHEMA, Article, Section, iter_articles, read_articles, write_articles
from textcritic.corpora.articles import ROWS_PER_GROUP
from textcritic.errors import TextcriticError


def sections_of(n: int) -> tuple[Section, ...]:
    return tuple(Section(f"t{k}" if k else None, f"é{n}") for k in range(n % 4))


def many(count: int) -> list[Article]:
    return [
        Article(f"id{n}", None if n % 2 else "T", sections_of(n), "s", None if n % 3 else f"group {n // 9}")
        for n in range(count)
    ]


def test_what_is_written_is_read_back_across_row_groups(tmp_path):
    articles = many(ROWS_PER_GROUP + 7)
    write_articles(tmp_path / "a.parquet", iter(articles))
    assert read_articles(tmp_path / "a.parquet") == articles
    file = pq.ParquetFile(tmp_path / "a.parquet")
    assert file.schema_arrow.equals(ARTICLE_SCHEMA)
    assert file.num_row_groups == 2


def test_no_articles_are_a_valid_file(tmp_path):
    write_articles(tmp_path / "a.parquet", [])
    assert read_articles(tmp_path / "a.parquet") == []


def test_iter_articles_is_lazy_and_ignores_other_columns(tmp_path):
    table = pa.table(
        {
            "source": ["s"],
            "extra": [1],
            "sections": pa.array([[{"title": None, "text": "x"}]], ARTICLE_SCHEMA.field("sections").type),
            "title": pa.array([None], pa.string()),
            "id": ["a"],
            "group": ["g"],
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    stream = iter_articles(tmp_path / "a.parquet")
    assert next(stream) == Article("a", None, (Section(None, "x"),), "s", "g")


def test_a_failed_write_leaves_nothing(tmp_path):
    def broken():
        yield from many(ROWS_PER_GROUP + 1)
        raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        write_articles(tmp_path / "a.parquet", broken())
    assert list(tmp_path.iterdir()) == []


def test_bad_files(tmp_path):
    path = tmp_path / "a.parquet"
    with pytest.raises(TextcriticError, match=r"a\.parquet: no such file"):
        read_articles(path)
    write_articles(path, many(100))
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(TextcriticError, match=r"a\.parquet: not whole Parquet; delete it"):
        read_articles(path)
    pq.write_table(pa.table({"id": ["a"], "title": ["b"]}), path)
    with pytest.raises(TextcriticError, match=r"a.parquet: column 'sections' should be list<.*no such column"):
        read_articles(path)
    pq.write_table(pa.table({"id": [1], "title": ["b"]}), path)
    with pytest.raises(TextcriticError, match="column 'id' should be string, the file has int64"):
        read_articles(path)
