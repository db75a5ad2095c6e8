"""Published values: read, looked up, and cut down to one table of a paper."""

from pathlib import Path

import pytest

from textcritic.errors import TextcriticError
from textcritic.measures.published import Published, read_published

FOLDER = Path(__file__).parents[2] / "config/published/model-criticism"
HEAD = "table,corpus,setting,generator,decoding,metric,value,source,note"


def of(published, *place):
    """The value of (corpus, setting, generator, metric) or of (corpus, setting, generator, metric, decoding)."""
    corpus, setting, generator, metric, *decoding = place
    keys = {"corpus": corpus, "setting": setting, "generator": generator, "decoding": "".join(decoding)}
    return published.value(metric, keys)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n", "the columns are a, b; they should be table"),
        ("{h}\n2,wiki,,data,,ppl,many,paper,\n", "line 2: 'many' is not a number"),
        ("{h}\n2,wiki,,data,,ppl,1,paper,\n5,wiki,,data,,ppl,2,paper,\n", "line 3: wiki data ppl has two values"),
    ],
)
def test_faulty_published_values_are_refused(tmp_path, text, message):
    path = tmp_path / "published.csv"
    path.write_text(text.format(h=HEAD))
    with pytest.raises(TextcriticError, match=message):
        read_published(path)


@pytest.mark.parametrize("content", [HEAD.encode("utf-16"), b"\xff\x00\xff", b""])
def test_a_file_that_is_no_csv_is_named(tmp_path, content):
    path = tmp_path / "published.csv"
    path.write_bytes(content)
    with pytest.raises(TextcriticError, match=r"published\.csv: not CSV in UTF-8 \(.*\); save it as that"):
        read_published(path)


def test_a_byte_order_mark_is_no_part_of_a_name(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text(f"{HEAD}\n2,wiki,,data,,ppl,3,paper,\n", encoding="utf-8-sig")
    assert of(read_published(path), "wiki", "", "data", "ppl") == 3


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(TextcriticError, match=r"nothing\.csv: no such file; `published` names a folder"):
        read_published(tmp_path / "nothing.csv")


def test_a_kind_may_have_other_key_columns(tmp_path):
    path = tmp_path / "published.csv"
    path.write_text("table,model,metric,value,source,note\n4,a,ppl,2.5,paper,of one run\n4,,ppl,3,paper,\n")
    published = read_published(path, ("model",))
    assert published.value("ppl", {"model": "a"}) == 2.5
    assert published.note("ppl", {"model": "a"}) == "of one run"
    # An empty key stands for every value.
    assert published.value("ppl", {"model": "b"}) == 3
    assert published.of_source({"model": "b"}) == {"ppl": 3}


def test_the_cell_that_says_most_is_taken_and_earlier_keys_weigh_more():
    keys = ("corpus", "generator", "decoding")
    place = {"corpus": "wiki", "generator": "gpt2", "decoding": "plain"}
    cells = [("wiki", "gpt2", "plain"), ("wiki", "gpt2", ""), ("wiki", "", "plain"), ("wiki", "", "")]
    cells += [("", "gpt2", "plain"), ("", "gpt2", ""), ("", "", "plain"), ("", "", "")]
    values = {(*cell, "ppl"): float(n) for n, cell in enumerate(cells)}
    for n, cell in enumerate(cells):
        published = Published(dict(reversed(values.items())), keys, {(*cell, "ppl"): f"note {n}"})
        assert published.value("ppl", place) == n
        assert published.note("ppl", place) == f"note {n}"
        assert published.value("latent_ppl", place) is None
        del values[*cell, "ppl"]
    # Another value of a key is another source, and a place without a key takes what stands for all.
    only = Published({("wiki", "gpt2", "plain", "ppl"): 1.0, ("wiki", "", "", "ppl"): 2.0}, keys)
    assert only.value("ppl", place | {"decoding": "top-k"}) == 2.0
    assert only.value("ppl", {"corpus": "wiki", "generator": None}) == 2.0
    assert only.value("ppl", place | {"corpus": "arxiv"}) is None


def test_the_papers_values():
    published = read_published(FOLDER / "coherence.csv")
    assert of(published, "arxiv", "wo-title", "gpt-neo-125m", "latent_ppl") == 18.64
    # The value of real text belongs to both settings.
    assert of(published, "wiki", "w-title", "data", "latent_ppl") == 4.80
    assert of(published, "wiki", "wo-title", "gpt2-xl", "ppl") == 11.99
    assert of(published, "wiki-short", "wo-title", "gpt-neo-125m", "latent_ppl") == 10.72
    assert of(published, "wiki", "wo-title", "gpt2-small", "total_errors_percent") == 7.54
    assert of(published, "docstrings", "wo-title", "gpt2-small", "ppl") is None
    assert of(read_published(FOLDER / "corpora.csv"), "pubmed", "", "data", "articles_train") == 32350


def test_a_published_value_of_one_decoding_stands_beside_that_one_only():
    published = read_published(FOLDER / "process.csv")
    hsmm = ("process", "wo-title", "hsmm-800-adam")
    assert of(published, *hsmm, "latent_ppl", "sequences-given") == 47.24
    assert of(published, *hsmm, "latent_ppl", "sequences") is None
    assert [of(published, *hsmm, "word_ppl", d) for d in ("sequences", "sequences-given")] == [2.05, 2.05]
    transformer = {"corpus": "process", "setting": "wo-title", "generator": "transformer-released"}
    transformer["decoding"] = "sequences"
    assert published.value("latent_ppl", transformer) == 64.80
    assert "66.80" in published.note("latent_ppl", transformer)
    assert published.note("word_ppl", transformer) == ""
    assert of(published, "process", "wo-title", "data", "latent_ppl") == 44.30


def test_values_of_another_table_do_not_stand_in_a_table():
    published = read_published(FOLDER / "coherence.csv")
    small, medium = ("wiki", "w-title", "gpt2-small", "latent_ppl"), ("wiki", "w-title", "gpt2-medium", "latent_ppl")
    assert [of(published.in_table(n), *small) for n in ("2", "5")] == [4.67, 4.67]
    assert [of(published.in_table(n), *medium) for n in ("2", "5")] == [None, 4.79]
    assert of(published.in_table("3"), "wiki-short", "", "data", "latent_ppl") == 4.78
    assert of(published.in_table("99"), *medium) is None
    # Said in the appendix's text and in no table: beside every table that has its metric.
    share = ("wiki", "wo-title", "gpt2-small", "repetition_share_percent")
    assert [of(published.in_table(n), *share) for n in ("12", "13")] == [25.93, 25.93]
