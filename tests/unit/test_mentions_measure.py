"""The jobs on annotated text, the table of figures that ships, and the rules that run the jobs."""

import io
import math
import tarfile

import pytest
import yaml
from samples import LARGE, of_large
from snake import dry_run

from textcritic import __version__
from textcritic.critics.mentions.measure import MeasuredFiles, annotated_texts, write_quality, write_resolver_error
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.latents.resolvers.measured import About, figures_of, read_figures, write_figures
from textcritic.latents.resolvers.quality import measure_resolver, summary_of
from textcritic.latents.resolvers.resolve import resolver_of
from textcritic.plan.entries import read_entry
from textcritic.plan.registries import Registries
from textcritic.workflow import workflow_folder

TALE = """#begin document (tale-{0}); part 0
t 0 0 Anna (1)
t 0 1 met -
t 0 2 Tom (2)
t 0 3 . -

t 0 0 She (1)
t 0 1 liked -
t 0 2 him (2)
t 0 3 . -

t 0 0 {1} (2)
t 0 1 left -
t 0 2 London (3)
t 0 3 . -

#end document
"""
FIGURES = workflow_folder() / "config/measured/resolvers.csv"


@pytest.fixture
def annotation(tmp_path):
    path = tmp_path / "tales.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for number in range(4):
            data = TALE.format(number, ("He", "Tom")[number % 2]).encode()
            member = tarfile.TarInfo(f"gold/{number}.conll")
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    return read_entry({"files": [str(path)], "folder": "gold"}, "annotations", "tales")


def entry(registry, **keys):
    return read_entry(keys, registry, "own")


def written(tmp_path):
    return MeasuredFiles(tmp_path / "table.parquet", tmp_path / "summary.json")


def test_a_resolver_is_measured(tmp_path, annotation):
    write_quality(annotation, entry("resolvers", kind="persons"), written(tmp_path))
    table, summary = read_table(tmp_path / "table.parquet"), read_json(tmp_path / "summary.json")
    assert table["id"].to_pylist() == [f"tale-{number}" for number in range(4)]
    assert summary["documents"] == 4
    assert summary["people"]["conll"] == {"value": 1.0, "low": None, "high": None}
    assert summary["whole"]["mentions_recall"]["value"] == 20 / 24
    assert summary["pronouns"]["third"] == {"value": 1.0, "low": None, "high": None, "n": 10, "unnamed": 0}


def test_a_resolver_that_is_the_annotation_has_no_error(tmp_path, annotation):
    given = entry("resolvers", kind="given", files=annotation.files)
    critic = entry("critics", kind="mentions", resolver="own", order=3, chains={"people": "all"})
    write_resolver_error(annotation, critic, given, written(tmp_path))
    table, summary = read_table(tmp_path / "table.parquet"), read_json(tmp_path / "summary.json")
    # Six mentions and three marks of sentences.
    assert table["steps_gold"].to_pylist() == table["steps_resolved"].to_pylist() == [9] * 4
    for row in summary["differences"].values():
        assert row == {"value": 0, "low": None, "high": None}


@pytest.mark.parametrize(("which", "places"), [("all", [0, 1, 2, 3]), ("even", [0, 2]), ("odd", [1, 3])])
def test_documents_at_some_places_by_name(annotation, which, places):
    texts = annotated_texts(annotation.changed(documents=which))
    assert [text.id for text in texts] == [f"tale-{place}" for place in places]


def test_gold_people_are_those_of_the_words(tmp_path, annotation):
    critic = entry("critics", kind="mentions", resolver="own", order=3)
    write_resolver_error(annotation, critic, entry("resolvers", kind="persons"), written(tmp_path))
    # Without London, which is no person.
    assert read_table(tmp_path / "table.parquet")["steps_gold"].to_pylist() == [8] * 4


ABOUT = {"resolver": "persons", "annotation": "tales", "version": "1", "date": "2026-11-22", "hardware": "a, b"}


def test_figures_are_written_and_read(tmp_path, annotation):
    write_quality(annotation, entry("resolvers", kind="nearest"), written(tmp_path))
    figures = list(figures_of(read_json(tmp_path / "summary.json"), About(**ABOUT)))
    assert {(figure.part, figure.metric): figure.n for figure in figures}["people", "conll"] == 20
    write_figures(tmp_path / "figures.csv", figures)
    again = read_figures(tmp_path / "figures.csv")
    assert [repr(figure) for figure in again] == [repr(figure) for figure in figures]  # NaN is not itself
    assert {math.isnan(figure.low) and math.isnan(figure.high) for figure in again} == {True}  # of four texts
    assert read_figures(tmp_path / "figures.csv", "nearest") == []


@pytest.mark.parametrize("text", ["", "resolver,version\n", "a\n1\n"])
def test_another_table_is_no_table_of_figures(tmp_path, text):
    (tmp_path / "figures.csv").write_text(text)
    with pytest.raises(TextcriticError, match=r"figures\.csv: no table of figures") as error:
        read_figures(tmp_path / "figures.csv")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("name", "file"),
    [of_large("litbank", "litbank", id="litbank"), of_large("ontogum", "gum-ontogum", id="ontogum")],
)
def test_the_figures_that_ship_are_those_of_this_code(name, file):
    """Otherwise run tools/measure_resolvers.py again, and take its figures into docs/results/coreference.md."""
    shipped = Registries([workflow_folder() / "config/registry"], workflow_folder()).entry("annotations", name)
    texts = annotated_texts(shipped.changed(files=[str(LARGE / f"coreference/{file}-conll.tar.gz")], folder=None))
    for kind in ("persons", "nearest"):
        table = measure_resolver(resolver_of(entry("resolvers", kind=kind)), texts, shipped.singletons)
        about = About(**{**ABOUT, "resolver": kind, "annotation": name, "version": __version__})
        today = {(row.part, row.metric): row for row in figures_of(summary_of(table, resamples=2), about)}
        rows = {(row.part, row.metric): row for row in read_figures(FIGURES, kind) if row.annotation == name}
        assert today.keys() == rows.keys()
        for key, row in rows.items():
            assert (row.value, row.n, row.documents) == (today[key].value, today[key].n, today[key].documents), key
            assert row.low <= row.value <= row.high


def test_rules_measure_on_ones_own_files(tmp_path, annotation):
    (tmp_path / "registry").mkdir()
    (tmp_path / "registry/annotations.yaml").write_text(yaml.safe_dump({"tales": {"files": ["tales.tar.gz"]}}))
    own = ["--config", "registry_folders=['config/registry','registry']", "studies=[]", "--"]
    (tmp_path / "registry/critics.yaml").write_text(
        yaml.safe_dump({"own": {"kind": "mentions", "resolver": "f-coref"}})
    )
    quality = "results/quality"
    targets = [
        f"{quality}/{name}" for name in ("persons/tales.json", "mentions/tales.error.json", "persons/litbank.json")
    ]
    run = dry_run(
        tmp_path, "--dry-run", *own, *targets, f"{quality}/f-coref/tales.json", f"{quality}/own/tales.error.json"
    )
    assert run.returncode == 0, run.stderr + run.stdout
    rules = ("measure_resolver", "measure_resolver_error", "measure_neural_resolver", "measure_neural_resolver_error")
    for rule in (*rules, "download_file", "download_model"):
        assert f"rule {rule}:" in run.stdout + run.stderr
