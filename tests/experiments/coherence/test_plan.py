"""What coherence in the study of the model criticism paper is made of, and what is refused before anything runs."""

from pathlib import Path

import pytest

from textcritic.errors import TextcriticError
from textcritic.plan.project import Project

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def coherence():
    config = {"studies": ["model-criticism"], "audits": True}
    return Project(config, ROOT, ROOT).studies["model-criticism"].experiments["coherence"]


def test_a_part_names_no_more_files_than_it_compares(coherence):
    files = coherence.files("table3")
    assert [real.corpus for real in files.data] == ["wiki-short"]
    assert [(s.generator, s.setting) for s in files.samples] == [
        (generator, setting) for generator in ("gpt2-small", "gpt-neo-125m") for setting in ("w-title", "wo-title")
    ]
    assert files.audit_samples == ()
    assert all("/wiki-short/" in path for path in files.paths())
    assert files.decodings["ancestral"]["stride"] is None
    assert [s.generator for s in coherence.files("table5").samples][::2] == [
        f"gpt2-{size}" for size in ("small", "medium", "large", "xl")
    ]
    assert {s.decoding for s in coherence.files().audit_samples} == {"one-token", "as-released"}


def test_a_numbered_table_that_is_not_there_is_named(coherence):
    for part in ("table4", "figure12"):
        with pytest.raises(TextcriticError, match=f"there is no '{part}' among its tables and figures; known: table2"):
            coherence.request(part)
        with pytest.raises(TextcriticError, match=f"there is no '{part}'"):
            coherence.paths(part)


def test_its_tables_and_figures_are_those_of_the_paper(coherence):
    parts = ["table2", "table3", "table5", "table12", "table13", "figure4"]
    assert list(coherence.parts) == parts
    folder = "results/studies/model-criticism/coherence"
    assert set(coherence.table_files()) == {
        f"{folder}/tables/{name}.{suffix}"
        for name in (*coherence.tables, *parts[:-1])
        for suffix in ("csv", "tex", "html")
    }
    assert coherence.figure_folders() == [f"{folder}/figures", f"{folder}/figure4"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"corpora": ["docstrings"]}, "table2: docstrings is not among the experiment's corpora"),
        ({"generators": ["gpt2-xl"]}, "table2: gpt2-xl on pubmed is not among the sources"),
        ({"name": "table3"}, "table3 is there twice"),
    ],
)
def test_a_table_of_what_the_experiment_does_not_compare_is_refused(coherence, change, message):
    first, *others = coherence.mapping["tables"]
    block = coherence.block.changed(tables=[{**first, **change}, *others])
    with pytest.raises(TextcriticError, match=message) as error:
        type(coherence)(block, coherence.registries, coherence.context).check_parts()
    assert str(error.value).startswith(coherence.where)


def test_an_audit_sample_without_a_base_is_refused(coherence):
    audit = [{**coherence.mapping["costly_audit"][0], "seeds": [7]}]
    other = type(coherence)(coherence.block.changed(audit=audit), coherence.registries, coherence.context)
    with pytest.raises(TextcriticError, match="audit: gpt2-small w-title on pubmed, seed 7, draw 1, is not among"):
        other.check()
