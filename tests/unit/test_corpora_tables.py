"""Articles and chains from Parquet and Arrow, in the forms in which pyarrow, pandas and `datasets` write them."""

import json

import datasets
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from textcritic import chains as criticise_chains
from textcritic.api.documents import documents_of
from textcritic.corpora import Article, Section, given_articles
from textcritic.corpora.readers.tables import table_rows
from textcritic.errors import TextcriticError

ROWS = [
    {"id": "a", "title": "A", "sections": [{"title": "Plot", "text": "x\n\n y "}, {"title": None, "text": "é"}]},
    {"id": None, "title": None, "sections": []},
    {"id": "c", "title": None, "sections": [{"title": "Plot", "text": ""}]},
]
ARTICLES = [
    ("a", "A", (Section("Plot", "x\n y"), Section(None, "é"))),
    ("row-2", None, ()),
    ("c", None, (Section("Plot", ""),)),
]


def parquet(path, rows=ROWS):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.Table.from_pylist(rows), path)
    return path


def arrow(path, rows=ROWS, form=pa.ipc.new_file):
    table = pa.Table.from_pylist(rows)
    with pa.OSFile(str(path), "wb") as sink, form(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=2)
    return path


def saved(path, rows=ROWS, **options):
    datasets.Dataset.from_list(rows).save_to_disk(path, **options)
    return path


def parts(folder, names):
    for name, row in zip(names, ROWS, strict=True):
        parquet(folder / name, [row])
    return folder


FORMS = {
    "parquet": lambda folder: parquet(folder / "own.parquet"),
    "pandas": lambda folder: pd.DataFrame(ROWS).to_parquet(folder / "own.parquet") or folder / "own.parquet",
    "arrow-file": lambda folder: arrow(folder / "own.arrow"),
    "arrow-stream": lambda folder: arrow(folder / "own.arrow", form=pa.ipc.new_stream),
    "datasets": lambda folder: saved(folder / "own"),
    "datasets-shards": lambda folder: saved(folder / "own", num_shards=3),
    "folder": lambda folder: parts(folder / "own", ["0.parquet", "1.parquet", "2.parquet"]),
    "hub-folder": lambda folder: parts(folder / "own", [f"train-{n:05}-of-00003.parquet" for n in range(3)]),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_gives_the_same_articles(tmp_path, form):
    path = FORMS[form](tmp_path)
    assert list(given_articles(path)) == [Article(*article, path.name) for article in ARTICLES]


def test_a_table_and_json_lines_give_the_same(tmp_path):
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    lines = [(a.id.replace("line", "row"), a.title, a.sections) for a in given_articles(tmp_path / "own.jsonl")]
    assert lines == ARTICLES


def test_a_sequence_of_structs_as_datasets_stored_it_before_version_4(tmp_path):
    rows = [{"id": 7, "sections": {"title": ["Plot", "End"], "text": ["x", "y"]}, "more": 1.5}]
    (article,) = given_articles(parquet(tmp_path / "own.parquet", rows))
    assert article == Article("7", None, (Section("Plot", "x"), Section("End", "y")), "own.parquet")


def test_large_strings_dictionaries_and_list_views_are_read(tmp_path):
    texts = pa.array(["x", "y"], pa.large_string())
    titles = pa.array(["Plot", "Plot"]).dictionary_encode()
    sections = pa.LargeListArray.from_arrays(
        pa.array([0, 2], pa.int64()), pa.StructArray.from_arrays([titles, texts], ["title", "text"])
    )
    arrow_path = tmp_path / "own.arrow"
    table = pa.table({"sections": sections})
    with pa.OSFile(str(arrow_path), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    (article,) = given_articles(arrow_path)
    assert article.sections == (Section("Plot", "x"), Section("Plot", "y"))


def test_a_selection_is_saved_in_its_order_and_read_so(tmp_path):
    datasets.Dataset.from_list(ROWS).select([2, 0]).save_to_disk(tmp_path / "own")
    assert [article.id for article in given_articles(tmp_path / "own")] == ["c", "a"]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([{"id": "a", "body": "x", "n": 1}], r"own\.parquet: no column `sections`; its columns are id, body, n"),
        ([*ROWS, {"id": "d", "sections": None}], r"own\.parquet, row 4: `sections` is null; it should be a list"),
        ([{"sections": "x"}], "row 1: `sections` is a string; it should be a list"),
        ([{"sections": [{"text": "x"}]}, {"sections": [{"text": None}]}], "row 2, section 1: `text` is null"),
        ([{"sections": [{"text": b"x"}]}], "row 1, section 1: `text` is of type bytes; it should be a string"),
        ([{"sections": {"title": ["a"], "text": ["x", "y"]}}], "row 1: `sections` is an object; it should be a list"),
        ([{"id": "a", "sections": []}] * 2, "row 2: id 'a' was used on row 1"),
        ([{"id": 1.5, "sections": []}], "row 1: `id` is a number; it should be a string"),
    ],
)
def test_every_fault_names_file_and_row(tmp_path, rows, message):
    with pytest.raises(TextcriticError, match=message) as caught:
        list(given_articles(parquet(tmp_path / "own.parquet", rows)))
    assert "\n" not in str(caught.value)


def test_the_row_of_a_fault_in_a_folder_is_that_of_its_file(tmp_path):
    parquet(tmp_path / "own/0.parquet")
    parquet(tmp_path / "own/1.parquet", [{"id": "z", "sections": []}, {"id": "a", "sections": []}])
    with pytest.raises(TextcriticError, match=r"own/1\.parquet, row 2: id 'a' was used on row 1"):
        list(given_articles(tmp_path / "own"))


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_files_that_are_not_whole(tmp_path, suffix):
    path = tmp_path / f"own{suffix}"
    kind = suffix[1:].capitalize()
    with pytest.raises(TextcriticError, match=f"own{suffix}: no such file"):
        list(given_articles(path))
    for content in (
        b"",
        b"not a table at all, but long enough",
        FORMS[suffix[1:] if suffix == ".parquet" else "arrow-file"](tmp_path).read_bytes()[:-200],
    ):
        path.write_bytes(content)
        with pytest.raises(TextcriticError, match=f"own{suffix}: not a whole {kind} file"):
            list(given_articles(path))


def test_a_stream_cut_within_a_batch_is_not_whole(tmp_path):
    path = arrow(tmp_path / "own.arrow", form=pa.ipc.new_stream)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(TextcriticError, match=r"own\.arrow: not a whole Arrow file"):
        list(given_articles(path))


def test_a_text_that_is_not_utf8_is_one_line(tmp_path):
    broken = pa.array([[b"caf\xe9"]], pa.list_(pa.binary())).view(pa.list_(pa.string()))
    pq.write_table(pa.table({"chain": broken}), tmp_path / "own.parquet")
    with pytest.raises(TextcriticError, match=r"own\.parquet: a text in it is not UTF-8"):
        documents_of(tmp_path / "own.parquet", "train").chains()


def test_folders_that_are_no_one_table(tmp_path):
    datasets.DatasetDict({s: datasets.Dataset.from_list(ROWS) for s in ("test", "train")}).save_to_disk(tmp_path / "d")
    parquet(tmp_path / "mixed/train-00000-of-00001.parquet")
    parquet(tmp_path / "mixed/test-00000-of-00001.parquet")
    parquet(tmp_path / "few/train-00000-of-00003.parquet")
    arrow(tmp_path / "few/x.arrow").rename(parquet(tmp_path / "both/a.parquet").with_suffix(".arrow"))
    (saved(tmp_path / "gone") / "data-00000-of-00001.arrow").unlink()
    (saved(tmp_path / "state") / "state.json").write_text("[]")
    faults = {
        "d": r"a data set in splits \(test, train\); name the folder of one of them",
        "mixed": "files of test, train side by side; put those of one into a folder",
        "few": "1 files called train-.-of-3; 3 are wanted",
        "both": r"it has both \*\.parquet and \*\.arrow",
        "gone": r"data-00000-of-00001\.arrow of its state\.json is missing",
        "state": r"state\.json: not the list of files that `datasets` writes",
    }
    for folder, message in faults.items():
        with pytest.raises(TextcriticError, match=message):
            list(given_articles(tmp_path / folder))
    assert [a.id for a in given_articles(tmp_path / "d/train")] == ["a", "row-2", "c"]


def test_chains_from_tables_score_as_from_json_lines(tmp_path):
    chains = [{"chain": ["a", "b"], "id": n} for n in range(20)] + [{"chain": ["b"], "id": 20}]
    (tmp_path / "own.jsonl").write_text("".join(json.dumps(row) + "\n" for row in chains))
    table, folder = parquet(tmp_path / "own.parquet", chains), saved(tmp_path / "own", chains)
    expected = criticise_chains(tmp_path / "own.jsonl", tmp_path / "own.jsonl", resamples=20).to_json()
    assert criticise_chains(table, folder, resamples=20).to_json() == expected
    with pytest.raises(TextcriticError, match=r"bad\.parquet, row 2: \"chain\" is not a list of strings"):
        documents_of(parquet(tmp_path / "bad.parquet", [{"chain": ["a"]}, {"chain": [None]}]), "test").chains()


def test_rows_come_in_order_and_only_with_the_columns_asked_for(tmp_path):
    rows = [{"text": f"{n}", "n": n} for n in range(1000)]
    path = tmp_path / "own.parquet"
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=300)
    found = list(table_rows(path, ["text", "sections"], ["text"]))
    assert [row for _, _, row in found] == [{"text": str(n)} for n in range(1000)]
    assert [number for number, _, _ in found] == list(range(1, 1001))
    assert found[-1][1] == f"{path}, row 1000"


def test_arrow_holds_a_row_group_and_not_the_file(tmp_path):
    """20 MB of text that cannot be compressed, in row groups of 0.5 MB; pyarrow buffers the whole file if it may."""
    path, schema, random = tmp_path / "own.parquet", pa.schema([("text", pa.string())]), np.random.default_rng(1)
    with pq.ParquetWriter(path, schema, use_dictionary=False) as writer:
        for _ in range(40):
            texts = [random.integers(32, 127, 5000, np.uint8).tobytes().decode() for _ in range(100)]
            writer.write_table(pa.table({"text": texts}, schema=schema))
    before, most = pa.total_allocated_bytes(), 0
    for _ in table_rows(path, ["text"], ["text"]):
        most = max(most, pa.total_allocated_bytes() - before)
    assert most < 8e6
