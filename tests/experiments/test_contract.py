"""What every kind of experiment promises, checked for all of them (see `textcritic.plan.experiment`)."""

import dataclasses
import importlib
import json
import pickle
import re
import shutil
import subprocess
import sys
import traceback
from pathlib import Path

import pandas as pd
import pytest
import yaml
from environments import run
from report_html import Page
from report_jobs import Made, description, make_part

from textcritic.errors import TextcriticError
from textcritic.experiments import KINDS, kind_of
from textcritic.measures.card_file import read_card
from textcritic.measures.score import NOT_TESTED
from textcritic.measures.sentences import MOST_SENTENCES
from textcritic.plan.experiment import FORMATS, Part
from textcritic.plan.project import STAGES, Project
from textcritic.plan.registries import REGISTRIES
from textcritic.plan.sources import GROUP, RUN
from textcritic.report import make_manifest, make_report
from textcritic.report.front import front_page
from textcritic.report.show import show_study
from textcritic.report.tables import read_rows

ROOT = Path(__file__).parents[2]
EXPERIMENTS = ROOT / "src/textcritic/experiments"
# The same function writes the figures of all kinds: this one alone has them as .pdf too, numbered ones as well.
WITH_PDF = "coherence"
HEAVY = ("numpy", "pandas", "pyarrow", "torch", "matplotlib")
pytestmark = pytest.mark.parametrize("name", KINDS)


@pytest.fixture(scope="module")
def project():
    return Project({"studies": ["demo", "model-criticism"]}, ROOT, ROOT)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """By kind and size: small files on disk; each is built once."""
    made = {}

    def build(name, **size):
        key = (name, *size.items())
        if key not in made:
            module = importlib.import_module(f"experiments.{name}.tiny")
            made[key] = module.tiny(tmp_path_factory.mktemp(name), **size)
        return made[key]

    return build


def recipes(name, module):
    return importlib.import_module(f"textcritic.experiments.{name}.{module}")


def blocks_of(name):
    """The blocks of a kind in the studies that come with textcritic, and in the micro study, as the YAML has them."""
    paths = [*sorted((ROOT / "config/studies").glob("*.yaml")), ROOT / "tests/micro/studies/micro.yaml"]
    studies = [yaml.safe_load(path.read_text()) for path in paths]
    return [block for study in studies for block in study["experiments"] if block["kind"] == name]


def keys_of(rules, prefix=""):
    for key, sub in rules.get("properties", {}).items():
        yield f"{prefix}{key}", sub
        items = sub.get("items", {}) if sub.get("type") == "array" else sub
        yield from keys_of(items, f"{prefix}{key}.")


def test_its_folder_holds_what_a_reader_looks_for(name):
    there = {path.name for path in (EXPERIMENTS / name).iterdir()}
    modules = ("plan", "block", "files", "rows", "sheets", "tables", "section")
    assert {
        "README.md",
        "__init__.py",
        "definitions.md",
        *(f"{module}.py" for module in modules),
    } <= there
    assert ("figures.py" in there) is kind_of(name).standing_figures


def test_its_readme_names_the_parts_that_its_schema_offers(name):
    text = (EXPERIMENTS / name / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) >= 8
    properties = kind_of(name).rules()["properties"]
    for recipe in properties["tables"]["items"]["properties"]["of"]["enum"]:
        assert f"`of: {recipe}`" in text


def test_every_key_of_its_schema_is_described(name):
    rules = kind_of(name).rules()
    assert rules["description"]
    assert rules["additionalProperties"] is False
    for key, sub in keys_of(rules):
        assert sub.get("description"), key
        assert sub.get("registry", "critics") in REGISTRIES


def test_a_misspelt_key_is_refused_in_one_line(name):
    (block, *_), kind = blocks_of(name), kind_of(name)
    kind.read(block, "study")
    for key in block:
        wrong = {f"{k}x" if k == key else k: v for k, v in block.items()}
        with pytest.raises(TextcriticError) as refused:
            kind.read(wrong, "study: experiments.1")
        assert "\n" not in str(refused.value)
        assert str(refused.value).startswith("study: experiments.1: ")
        assert key in str(refused.value)


def test_every_recipe_that_its_schema_offers_is_there(name):
    properties, kind = kind_of(name).rules()["properties"], kind_of(name)
    tables = recipes(name, "tables")
    assert set(properties["tables"]["items"]["properties"]["of"]["enum"]) == set(tables.PAPER_TABLES)
    assert set(kind.tables) == set(tables.TABLES)
    assert set(kind.figures_read) <= set(kind.tables)
    assert not any(re.fullmatch(r"table\d+|figures?\d*", table) for table in kind.tables)
    offered = properties.get("figures", {"items": {"properties": {"of": {"enum": []}}}})
    figures = recipes(name, "figures").FIGURES if kind.standing_figures else {}
    assert set(offered["items"]["properties"]["of"]["enum"]) == set(figures) - {"figures"}


def test_a_part_reads_nothing_that_the_whole_does_not(name, project):
    for study in project.studies.values():
        for experiment in (e for e in study.experiments.values() if e.kind == name):
            whole = set(experiment.files().paths())
            assert whole
            for part in experiment.parts:
                assert set(experiment.files(part).paths()) <= whole


def test_its_files_survive_the_way_to_a_job(name, built):
    files = built(name)
    assert type(files).from_json(files.to_json()) == files
    assert files.paths()
    assert all(Path(path).is_file() for path in files.paths())


# In the environment of figures, which has no torch: what functions import once they are called, too.
DRAW = """
import json, pickle, sys, traceback
from pathlib import Path

place, faults = Path({place!r}), {{}}
sys.path.insert(0, {tests!r})
for name, made in pickle.loads((place / "made.pickle").read_bytes()).items():
    try:
        made.drawn(place / name / "study")
    except Exception:
        faults[name] = traceback.format_exc()
print(json.dumps(faults))
"""


@pytest.fixture(scope="module")
def whole(built, tmp_path_factory):
    """By kind: a study with everything that it can make of the declared files, and they alone, in another folder."""
    place, ready, faults = tmp_path_factory.mktemp("whole"), {}, {}
    for name in KINDS:
        try:
            ready[name] = everything(name, declared_alone(built(name), place / name / "declared"))
            ready[name].all_tables(place / name / "study")
        except TextcriticError:
            faults[name] = traceback.format_exc()
    (place / "made.pickle").write_bytes(pickle.dumps({name: ready[name] for name in ready if name not in faults}))
    done = run("plot", DRAW.format(place=str(place), tests=str(ROOT / "tests")))
    assert done.returncode == 0, done.stderr
    faults |= json.loads(done.stdout.splitlines()[-1])

    def study(name):
        assert name not in faults, faults[name]
        return place / name / "study"

    return study


def declared_alone(files, folder):
    """The same with copies of what it declares, and of nothing else."""
    text = files.to_json()
    for number, path in enumerate(files.paths()):
        copy = folder / f"{number}{Path(path).suffix}"
        copy.parent.mkdir(exist_ok=True, parents=True)
        shutil.copy(path, copy)
        text = text.replace(json.dumps(path), json.dumps(str(copy)))
    return type(files).from_json(text)


def test_nothing_undeclared_is_read(name, whole):
    """Every table, figure and section is made where the other files are not, figures and section without torch."""
    made = {*whole(name).rglob("*.*")}
    assert {path.suffix for path in made} >= {f".{suffix}" for suffix in FORMATS}
    drawn = {path for path in made if path.suffix == ".svg" and not path.stem.endswith(".narrow")}
    assert bool(drawn) is kind_of(name).standing_figures
    also = {path.with_suffix(".pdf") for path in drawn} if name == WITH_PDF else set()
    assert also == {path for path in made if path.suffix == ".pdf"}


def refusal(work):
    """The line that refuses some work; None where it is done."""
    try:
        work()
    except TextcriticError as error:
        return str(error)
    return None


def everything(name, files):
    """All that a kind can make: standing and numbered tables and figures, and the section."""
    kind = kind_of(name)
    parts = {Part(f"table{n}", of, "A caption."): files for n, of in enumerate(recipes(name, "tables").PAPER_TABLES, 1)}
    if kind.standing_figures:
        drawn = [of for of in recipes(name, "figures").FIGURES if of != "figures"]
        parts |= {Part(f"figure{n}", of): files for n, of in enumerate(drawn, 1)}
    return Made(name, files, parts, pdf=name == WITH_PDF)


@pytest.mark.parametrize("size", [{"documents": 1}, {"empty": True}], ids=["one document", "empty"])
def test_tables_and_the_section_come_out_whatever_the_samples(name, built, tmp_path, size):
    """Or one line says which file there is nothing to compare in."""
    refused = refusal(lambda: Made(name, built(name, **size), pdf=False).all(tmp_path))
    if refused is not None:
        assert "\n" not in refused
        assert re.search(r"\.(parquet|json|npz): ", refused), refused
        return
    check_study(tmp_path, name)


def test_tables_and_the_section_come_out(name, whole):
    check_study(whole(name), name)


def check_study(study, name):
    place = study / name
    for table in kind_of(name).tables:
        rows = pd.read_csv(place / f"tables/{table}.csv")
        assert len(rows.columns) > 1
        latex = (place / f"tables/{table}.tex").read_text(encoding="utf-8")
        assert latex.count("\\begin{") == latex.count("\\end{")
        assert "</table>" in (place / f"tables/{table}.html").read_text(encoding="utf-8")
    check_page(study, name)


def test_a_draw_has_rows_of_its_own(name, built, tmp_path):
    """Two draws of one training are told apart in tables, and all is made of them; a card has one row of both."""
    files = built(name)
    if not getattr(files, "samples", ()):
        return
    first = next(sample for sample in files.samples if not sample.from_file)
    others = tuple(sample for sample in files.samples if sample.slug != first.slug)
    twice = dataclasses.replace(files, samples=(first, dataclasses.replace(first, draw=2), *others))
    Made(name, twice, pdf=False).all(tmp_path)
    text = recipes(name, "tables").TEXT
    tables = [read_rows(tmp_path / name / "tables", table, text) for table in kind_of(name).tables]
    of_first = [rows[rows["generator"] == first.generator] for rows in tables if {*GROUP, *RUN} <= set(rows.columns)]
    assert any({1, 2} <= set(rows["draw"].dropna()) for rows in of_first)
    for rows in tables:
        if {*GROUP, *RUN, "label"} <= set(rows.columns) and "rank" not in rows:
            runs = rows.drop_duplicates([*GROUP, *RUN, "label"])
            assert set(runs.loc[runs["draw"] == 2, "label"]).isdisjoint(runs.loc[runs["draw"] == 1, "label"])


def check_page(study, name):
    make_manifest(description([name], [1]), [], study / "manifest.json")
    make_report({name: study / name / "section.html"}, study / "manifest.json", study / "report.html")
    text = (study / "report.html").read_text(encoding="utf-8")
    # Templates have a space behind their braces; a text may have braces of its own, `{{x}}`.
    assert not re.search(r"\{\{ |\{%", text)
    page = Page(text)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.loads if link.startswith("#")} <= set(page.ids)
    facts = json.loads((study / name / "section.json").read_text())
    assert facts["title"]
    assert all(len(pair) == 2 and all(pair) for pair in facts["definitions"])
    check_card(study, name, page)


def check_card(study, name, page):
    """Its scores lead to places in the page, and what the front page says are sentences."""
    card = read_card(study)[name]
    assert {score.section for score in card} <= set(page.ids)
    compared = {score.corpus for score in card if not score.is_real and score.compared}
    assert compared <= {score.corpus for score in card if score.is_real}
    # Two scores of one source, seed and measure could not be told apart.
    assert len({(s.corpus, s.label, s.seed, s.measure) for s in card}) == len(card)
    assert all(score.verdict != NOT_TESTED or score.number.low is None for score in card)
    check_scores(study / name / "tables", name, card)
    front = front_page({name: study / name / "section.json"})
    assert len(front.sentences) <= MOST_SENTENCES
    strengths = [sentence.strength for sentence in front.sentences]
    assert strengths == sorted(strengths, reverse=True)
    for sentence in front.sentences:
        assert sentence.section in page.ids
        assert re.fullmatch(r"[^.]([^.]|\.(?! [A-Z]))*\.", sentence.says), sentence.says
    if card:
        assert f"{front.blocks[0].rows[0].label}" in show_study(study)


def check_scores(tables, name, card):
    """Every score is a row of a standing table: value, interval, p-value and number of documents of one source."""
    kind = importlib.import_module(f"textcritic.experiments.{name}.tables")
    rows = [row for table in kind_of(name).tables for row in read_rows(tables, table, kind.TEXT).to_dict("records")]
    for score in card:
        keys = {key: getattr(score, key) for key in GROUP}
        runs = ((key, getattr(score, key)) for key in RUN)
        keys |= {key: run for key, run in runs if run is not None}
        own = [row for row in rows if keys.items() <= row.items()]
        said = {score.number.low, score.number.high, score.p, score.n} - {None}
        said |= {score.number.value} - ({0.0} if score.is_real else set()) - {None}
        assert any(said <= set(row.values()) for row in own), score


def test_two_of_a_kind_fit_into_one_page(name, built, whole, tmp_path):
    """The one is called as its kind is, by default, and has numbered parts too."""
    names = (name, "second")
    for experiment in names:
        shutil.copytree(whole(name) / name, tmp_path / experiment)
    Made(name, built(name), name="second").section(tmp_path)
    make_manifest(description(list(names), [1]), [], tmp_path / "manifest.json")
    sections = {experiment: tmp_path / experiment / "section.html" for experiment in names}
    make_report(sections, tmp_path / "manifest.json", tmp_path / "report.html")
    ids = Page((tmp_path / "report.html").read_text(encoding="utf-8")).ids
    assert len(ids) == len(set(ids))


def test_a_missing_file_is_named(name, built, tmp_path):
    files = built(name)
    first = Path(files.paths()[0])
    gone = type(files).from_json(files.to_json().replace(json.dumps(str(first)), json.dumps(str(tmp_path / "gone"))))
    part = Part("table1", next(iter(recipes(name, "tables").PAPER_TABLES)))
    with pytest.raises(TextcriticError, match=re.escape(f"{tmp_path / 'gone'}: no such file; run the rule")):
        make_part(name, part, gone, tmp_path)


@pytest.fixture(scope="module")
def loaded():
    """By kind: the heavy packages that its controller's side loads which those before it have not."""
    code = f"""
import importlib, json, sys
found, before = {{}}, set()
for name in {KINDS!r}:
    for module in ("plan", "files"):
        importlib.import_module(f"textcritic.experiments.{{name}}.{{module}}")
    there = {{module for module in {HEAVY!r} if module in sys.modules}}
    found[name], before = sorted(there - before), there
print(json.dumps(found))
"""
    return json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def test_the_controller_s_side_is_light(name, loaded):
    assert loaded[name] == []


def test_the_micro_study_has_a_block_of_it(name):
    """So that every script of it runs in a test."""
    study = yaml.safe_load((ROOT / "tests/micro/studies/micro.yaml").read_text())
    assert name in [block["kind"] for block in study["experiments"]]


def test_it_is_a_stage_of_its_own(name):
    assert name not in (*STAGES,)
    config = {"studies": ["demo"], "stage_versions": {name: 2}}
    assert Project(config, ROOT, ROOT).stage(name) == 2


def test_its_files_are_a_frozen_dataclass(name, built):
    files = built(name)
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(files, dataclasses.fields(files)[0].name, None)
