"""Data sets in the hub's layout: fetched from a hub on this machine, with the real client, then read offline."""

import io
import json
import sys
from collections import Counter
from pathlib import Path

import local_hub as local
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import snake
from local_hub import REVISION, local_hub
from samples import SMALL

from textcritic.corpora import Section, read_articles
from textcritic.corpora.readers.hub_dataset import REPEATED, UNEVEN, dataset_articles, extract_dataset
from textcritic.corpora.readers.jsonl import read_scientific
from textcritic.download_dataset import wanted_files
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Dataset
from textcritic.plan.entries.extraction import CorpusOptions
from textcritic.plan.registries import Registries

sys.path.insert(0, str(Path(__file__).parents[1] / "scientific"))

from count import FILES, path_of, records_of

ENTRY = Dataset(repository="some/data", revision=REVISION)
SPLITS = {split: split for split in FILES}
CARD = """---
pretty_name: Some data
configs:
- config_name: lists
  default: true
  data_files:
  - {split: train, path: data/train-*}
  - {split: validation, path: data/validation-*}
  - {split: test, path: data/test-*}
- config_name: few
  data_files:
  - {split: train, path: few/train.parquet}
---
# Some data
"""


def parquet(rows):
    buffer = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), buffer, row_group_size=7)
    return buffer.getvalue()


def record_of(article):
    """A published record in the columns of the data set here: lists, and `scientific_papers`' strings."""
    return {
        "article_id": article["article_id"],
        "section_names": article["section_names"],
        "sections": article["sections"],
        "titled": [
            {"title": t, "text": " ".join(s)}
            for t, s in zip(article["section_names"], article["sections"], strict=True)
        ],
        "article": "\n".join(s for section in article["sections"] for s in section),
        "abstract": "\n".join(article["abstract_text"]).replace("<S>", "").replace("</S>", ""),
        "names": "\n".join(article["section_names"]),
    }


def published():
    """A repository: real articles in Parquet, train in two shards; a second configuration; a script."""
    real = SMALL / "scientific"
    rows = {split: [record_of(r) for r in records_of(real, "pubmed", file)] for split, file in FILES.items()}
    return {
        "README.md": CARD.encode(),
        "data/train-00000-of-00002.parquet": parquet(rows["train"][:20]),
        "data/train-00001-of-00002.parquet": parquet(rows["train"][20:]),
        "data/validation-00000-of-00001.parquet": parquet(rows["validation"]),
        "data/test-00000-of-00001.parquet": parquet(rows["test"]),
        "few/train.parquet": parquet(rows["train"][:5]),
        "other.py": b"raise SystemExit",
        ".gitattributes": b"*.parquet filter=lfs",
    }


@pytest.fixture
def folder(tmp_path):
    """The repository as it lies on disk once it is fetched."""
    return written(tmp_path / "fetched", published())


def written(folder, files):
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def options(columns, from_splits=SPLITS):
    given = {"dataset": "some-data", "from_splits": from_splits, "columns": columns}
    return CorpusOptions.read(given, "a test")


def articles(folder, columns, from_splits=SPLITS, skipped=None, **changes):
    skipped = Counter() if skipped is None else skipped
    return list(dataset_articles(folder, ENTRY.changed(**changes), options(columns, from_splits), skipped))


def scientific():
    """The same articles by the extractor of the published files."""
    for split, file in FILES.items():
        for article in read_scientific(path_of(SMALL / "scientific", "pubmed", file)):
            yield article, split


@pytest.mark.parametrize(
    "columns",
    [
        {"id": "article_id", "titles": "section_names", "sections": "sections"},
        {"id": "article_id", "titles": "names", "sections": "sections"},
        {"id": "article_id", "sections": "titled"},
    ],
)
def test_articles_are_those_of_the_published_files_in_their_order(folder, columns):
    def plain(pairs):
        return [(a.id, a.title, [(s.title, " ".join(s.text.split())) for s in a.sections], split) for a, split in pairs]

    assert plain(articles(folder, columns)) == plain(scientific())


def test_titles_alone_and_texts_alone(folder):
    """What the hub has of `scientific_papers`: titles without the borders of sections, and texts without titles."""
    of_titles = articles(folder, {"titles": "names"})
    assert [[s.title for s in a.sections] for a, _ in of_titles] == [
        [s.title for s in a.sections] for a, _ in scientific()
    ]
    assert {s.text for a, _ in of_titles for s in a.sections} == {""}
    assert [a.id for a, _ in of_titles][:2] == ["train-1", "train-2"]
    assert len({a.id for a, _ in of_titles}) == len(of_titles) == 70
    of_texts = articles(folder, {"texts": ["abstract", "article"]})
    assert {tuple(s.title for s in a.sections) for a, _ in of_texts} == {("abstract", "article")}
    words = [a.sections[1].text.split() for a, _ in of_texts]
    assert words == [[w for s in a.sections for w in s.text.split()] for a, _ in scientific()]


def test_one_list_of_splits_has_no_given_split(folder):
    found = articles(folder, {"titles": "names"}, ["test", "validation"])
    assert [split for _, split in found] == [None] * 22
    assert found[0][0].id == "test-1"


def test_another_configuration_and_another_format(folder):
    columns = {"titles": "section_names", "sections": "sections"}
    expected = [a.sections for a, split in scientific() if split == "train"]
    assert [a.sections for a, _ in articles(folder, columns, ["train"], config="few")] == expected[:5]
    rows = pq.read_table(folder / "data/train-00000-of-00002.parquet").to_pylist()
    (folder / "x.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [a.sections for a, _ in articles(folder, columns, ["all"], files={"all": ["x.jsonl"]})] == expected[:20]


def test_files_of_a_data_set_without_a_card(tmp_path):
    files = published()
    names = ("data/train-00000-of-00002.parquet", "data/train-00001-of-00002.parquet")
    place = written(tmp_path / "d", {f"pubmed/papers-{name[5:]}": files[name] for name in names})
    found = articles(place, {"titles": "names"}, ["all"], files={"all": ["pubmed/papers-train-*.parquet"]})
    assert [a.id for a, _ in found] == [f"all-{n}" for n in range(1, 49)]


def test_a_string_is_cut_and_uneven_and_repeated_articles_are_counted(tmp_path):
    rows = [
        {"key": 7, "names": "A|B", "body": "x|y\n\nz", "name": "T", "book": 3},
        {"key": 8, "names": "A|B", "body": "x", "name": None, "book": 3},
        {"key": 7, "names": "A", "body": "again", "name": None, "book": 3},
        {"key": None, "names": "", "body": "", "name": None, "book": None},
    ]
    place = written(tmp_path / "d", {"data/train-00000-of-00001.parquet": parquet(rows)})
    columns = {"id": "key", "title": "name", "titles": "names", "sections": "body", "separator": "|", "group": "book"}
    out, report = tmp_path / "extracted.parquet", tmp_path / "extracted.json"
    extract_dataset(place, ENTRY, options(columns, ["train"]), out, report)
    first, last = read_articles(out)
    assert (first.id, first.title, first.source) == ("7", "T", "some/data")
    assert first.sections == (Section("A", "x"), Section("B", "y\nz"))
    assert (last.id, last.sections) == ("train-4", ())
    assert (first.group, last.group) == ("3", None)
    found = read_json(report)
    assert found["skipped"] == {UNEVEN: 1, REPEATED: 1}
    assert found["provenance"]["repository"] == "some/data"
    assert found["provenance"]["revision"] == REVISION


@pytest.mark.parametrize(
    ("columns", "from_splits", "changes", "message"),
    [
        (
            {"titles": "section_name"},
            ["test"],
            {},
            "split test: no column `section_name`; its columns are article_id, section_names,",
        ),
        ({"titles": "names"}, ["dev"], {}, r"no split `dev`; it has train, validation, test$"),
        (
            {"titles": "names"},
            ["train"],
            {"config": "nope"},
            r"cannot be read as a data set \(.*nope.*it should hold the files of https://",
        ),
        ({"titles": "names"}, ["train"], {"files": {"train": ["data/x-*"]}}, "cannot be read as a data set"),
        (
            {"titles": "sections"},
            ["test"],
            {},
            "split test, row 1: `sections` is a list with a list in it; it should be a string, or a list of",
        ),
        (
            {"texts": ["section_names"]},
            ["test"],
            {},
            "split test, row 1: `section_names` is a list; it should be a string",
        ),
    ],
)
def test_what_the_data_set_has_not(folder, columns, from_splits, changes, message):
    with pytest.raises(TextcriticError, match=message) as caught:
        articles(folder, columns, from_splits, **changes)
    assert "\n" not in str(caught.value)


def test_the_row_of_a_wrong_value_is_named(tmp_path):
    rows = [{"names": ["a"], "body": "x"}] * 300 + [{"names": ["a"], "body": None}]
    place = written(tmp_path / "d", {"train.parquet": parquet(rows)})
    for columns, wanted in (
        ({"titles": "names", "sections": "body"}, "a string, or a list"),
        ({"texts": ["body"]}, "a"),
    ):
        with pytest.raises(TextcriticError, match=f"train, row 301: `body` is null; it should be {wanted}"):
            articles(place, columns, ["train"])


def test_a_file_that_is_not_whole_is_one_line(folder):
    path = folder / "data/train-00001-of-00002.parquet"
    path.write_bytes(path.read_bytes()[:4000])
    with pytest.raises(
        TextcriticError, match=r"split train: cannot be read after row \d+ .*delete the folder"
    ) as caught:
        articles(folder, {"titles": "names"})
    assert "\n" not in str(caught.value)


# The download.


def fetch(out_dir, **changes):
    return local.fetch("download_dataset.download_dataset", "some-data", ENTRY.changed(**changes), out_dir)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    with local_hub(published(), tmp_path / "hf-home", monkeypatch) as served:
        yield served


def test_all_data_come_whole_and_no_code(hub, tmp_path):
    target = tmp_path / "raw/datasets/some-data"
    assert fetch(target) == ""
    there = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    assert there == set(hub.files) - {"other.py", ".gitattributes"}
    assert all((target / name).read_bytes() == hub.files[name] for name in there)
    assert [path.name for path in target.parent.iterdir()] == ["some-data"]
    assert len(articles(target, {"titles": "names"})) == 70


def test_a_file_that_differs_is_refused_and_only_the_wanted_files_come(hub, tmp_path):
    name = "data/test-00000-of-00001.parquet"
    files = {"test": ["data/test-*"]}
    hub.spoilt[name] = hub.files[name][:-1] + b"?"
    line = fetch(tmp_path / "d", files=files)
    assert line == f"some/data: {name}: differs from the file of commit {REVISION}; rerun to fetch it again"
    assert not (tmp_path / "d").exists()
    hub.spoilt.clear()
    (tmp_path / ".d.partial/data/train-00000-of-00002.parquet").write_bytes(b"of another attempt")
    assert fetch(tmp_path / "d", files=files) == ""
    assert sorted(p.name for p in (tmp_path / "d").rglob("*") if p.is_file()) == ["README.md", Path(name).name]


def test_without_a_network_one_line_says_what_to_do_by_hand(tmp_path, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the port that refuses
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    line = fetch(tmp_path / "d", files={"train": ["a/*.parquet"], "test": ["b.parquet"]})
    assert line.startswith("some/data: cannot be downloaded (")
    assert line.endswith(
        f"put a/*.parquet, b.parquet of https://huggingface.co/datasets/some/data/tree/{REVISION} into {tmp_path / 'd'}"
        " by hand, in the folders they are in there, and rerun"
    )
    assert "\n" not in line


def test_which_files_are_wanted():
    listed = ["README.md", "a/train.parquet", "a/b/test.csv", "load.py", "logo.png"]
    assert wanted_files(listed, ENTRY) == ["README.md", "a/train.parquet", "a/b/test.csv"]
    chosen = ENTRY.changed(files={"x": ["**/test.csv"], "y": ["a/*.parquet"]})
    assert wanted_files(listed, chosen) == ["README.md", "a/b/test.csv", "a/train.parquet"]
    with pytest.raises(
        TextcriticError, match=rf"{REVISION} has no file a/val\*, which its entry names for the split v"
    ):
        wanted_files(listed, ENTRY.changed(files={"v": ["a/val*"]}))
    with pytest.raises(
        TextcriticError, match=r"no data files; it has load\.py, which is not run; .*refs%2Fconvert%2Fparquet"
    ):
        wanted_files(["README.md", "load.py"], ENTRY)


# Its place in the workflow.


def registries(tmp_path, corpus=None, **changes):
    entries = {"datasets": {"some-data": ENTRY.plain() | changes}, "corpora": {"mine": corpus} if corpus else {}}
    for name, content in entries.items():
        (tmp_path / f"{name}.yaml").write_text(json.dumps(content))
    return Registries([tmp_path], tmp_path)


def corpus(**changes):
    given = {"dataset": "some-data", "from_splits": SPLITS, "columns": {"titles": "names"}}
    return {"extractor": "hub-dataset", "options": {key: value for key, value in (given | changes).items() if value}}


@pytest.mark.parametrize(
    ("entry", "changes", "message"),
    [
        (corpus(), {"revision": "5" * 39}, r"datasets\.yaml: some-data: revision: .* is not a commit, 40 hexadecimal"),
        (None, {"config": "c", "files": {"train": ["x"]}}, "some-data: config: has no effect beside files"),
        (
            corpus(),
            {"files": {"train": ["x"]}},
            "mine: options.from_splits: some-data has no 'validation'; it has train$",
        ),
        (corpus(dataset="some-date"), {}, r"mine: options.dataset: .*no entry 'some-date'; did you mean 'some-data'"),
        (corpus(columns=None), {}, "mine: options.columns is missing"),
        (corpus(columns={"id": "x"}), {}, "mine: options.columns: names no text; give sections"),
        (corpus(columns={"titles": "a", "texts": ["b"]}), {}, "leave titles out, or texts"),
        (corpus(paths=["x"]), {}, "mine: options.paths: has no effect"),
        (corpus(from_splits={"train": "train"}), {}, "options.from_splits"),
        ({**corpus(), "extractor": "jsonl"}, {}, "options.dataset: is for the extractor hub-dataset; this is jsonl"),
    ],
)
def test_bad_entries_are_refused_before_anything_runs(tmp_path, entry, changes, message):
    with pytest.raises(TextcriticError, match=message):
        registries(tmp_path, entry, **changes)


def test_a_corpus_is_fetched_extracted_and_built_by_the_workflow(hub, tmp_path):
    (tmp_path / "registry").mkdir()
    sections = {"minimum": 2, "minimum_tokens": 0, "minimum_title_count": 2, "rare_title": "drop-section"}
    registries(tmp_path / "registry", {**corpus(), "titles": {"lemmatise": False}, "sections": sections})
    run = snake.snakemake(
        tmp_path,
        "results/corpora/mine/statistics.json",
        "--config",
        "registry_folders=['config/registry','registry']",
        configfile="config/config.yaml",
        python=sys.executable,  # the hub's client reads its address when it is imported
    )
    assert run.returncode == 0, run.stderr
    found = read_json(tmp_path / "results/corpora/mine/statistics.json")
    assert found["extracted"] == 70
    assert found["provenance"]["revision"] == REVISION
    assert sum(part["tokens"] for part in found["splits"].values()) == 0
    assert found["splits"]["train"]["articles"] > 20
