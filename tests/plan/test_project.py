"""The configuration as a whole: what is refused, what the manifest records, and what reading it loads."""

import subprocess
import sys

import pytest
from own_study import ROOT, own_folder, project, study, write

from textcritic.errors import TextcriticError
from textcritic.experiments import KINDS
from textcritic.plan.checks.sources import check_file
from textcritic.plan.project import STAGES, Project
from textcritic.plan.sources import Source

SAMPLES = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}
COHERENCE = {"kind": "coherence", "critic": "transitions-demo", "sources": [SAMPLES]}


@pytest.fixture
def folder(tmp_path):
    """A registry and a study of one's own, beside the shipped ones."""
    return own_folder(
        tmp_path,
        study(COHERENCE),
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}},
    )


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "config/studies").glob("*.yaml")))
def test_every_shipped_study_is_valid_and_has_sources(name):
    shipped = Project({"studies": [name]}, ROOT).studies[name]
    sources = shipped.sources()
    assert len(sources) == len(set(sources))
    assert sources or any(experiment.models() for experiment in shipped.experiments.values())
    assert shipped.corpora()
    assert {"coherence", "coreference", "importance", "intruders", "mixing", "tendencies"} & set(shipped.experiments)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"studies": ["demmo"]}, r"there is no study 'demmo'; known: own"),
        ({"studies": "demo"}, r"studies: 'demo' should be a list; write \[demo\]"),
        ({"study": "demo"}, r"config: unknown key 'study'; did you mean 'studies'\?"),
        ({"resamples": "many"}, r"resamples: 'many' should be a whole number"),
        ({"registry_folders": ["nowhere"]}, r"there is no folder 'nowhere'"),
        ({"study_folders": ["nowhere"]}, r"there is no folder 'nowhere'"),
        ({"stage_versions": {"trian": 2}}, r"config: stage_versions: unknown stage 'trian'; did you mean 'train'\?"),
        (
            {"stage_versions": {"criticise": 2}},
            r"unknown stage 'criticise'; known are extract, .*, coherence, .*topics",
        ),
        ({"stage_versions": {"topics": 0}}, r"stage_versions.topics: 0 should be at least 1"),
        ({"stage_versions": {"train": "two"}}, r"stage_versions.train: 'two' should be a whole number"),
        ({"experiment_packages": ["nobody.wrote.this"]}, r"experiment_packages: nobody.wrote.this: no module 'nobody'"),
        ({"experiment_packages": ["textcritic.experiments.topics"]}, r"there is a kind 'topics' already; rename it"),
    ],
)
def test_config_faults(folder, config, message):
    with pytest.raises(TextcriticError, match=message) as refused:
        project(folder, **config)
    assert "\n" not in str(refused.value)


def test_every_stage_and_every_kind_has_a_version(folder):
    for name in (*STAGES, *KINDS):
        raised = project(folder, stage_versions={name: 3})
        assert raised.stage(name) == 3
        plain = project(folder)
        assert all(raised.stage(other) == plain.stage(other) for other in (*STAGES, *KINDS) if other != name)


def test_every_stage_of_the_rules_is_one():
    known = {*STAGES, *KINDS}
    named = [
        line.split('stage("')[1].split('"')[0]
        for path in (ROOT / "rules").glob("*.smk")
        for line in path.read_text().splitlines()
        if 'stage("' in line
    ]
    assert set(named) <= known
    assert set(STAGES) <= set(named)


def test_a_study_of_ones_own_stands_before_a_shipped_one_of_its_name(folder):
    write(folder / "studies/demo.yaml", study(COHERENCE))
    found = project(folder, studies=["demo"], study_folders=["studies", "config/studies"])
    assert found.studies["demo"].title == "Own"


def test_the_manifest_names_every_pinned_source():
    used = Project({"studies": ["model-criticism"]}, ROOT).describe("model-criticism")["registry"]
    gpt2 = {"gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"}
    assert set(used["hub"]) == gpt2 | {"gpt-neo-125m", "bert-base-cased", "f-coref"}
    europarl = {f"europarl-v7-{language}-en" for language in ("de", "es", "fr")}
    assert set(used["downloads"]) == {
        "pubmed",
        "arxiv",
        "enwiki-20211201",
        "mallet-stop-words",
        "litbank",
        "gum",
        *europarl,
    }
    used = Project({"studies": ["demo"]}, ROOT).describe("demo")["registry"]
    assert set(used["encodings"]) == {"bpe-2048", "symbols"}


def test_the_manifest_has_the_experiments_in_order_with_their_defaults(folder):
    described = project(folder).describe("own")
    assert described["name"] == "own"
    assert described["experiments"] == ["coherence"]
    (block,) = described["study"]["experiments"]
    assert block["audit"] == block["tables"] == block["figures"] == []
    assert block["sources"][0]["seeds"] == [1]
    assert described["sources"] == [
        {"corpus": "mine", "setting": "wo-title", "generator": "theirs", "decoding": "given", "seed": 1, "draw": 1}
    ]


def test_a_dump_stays_in_the_shards_in_which_it_was_extracted(folder):
    found = project(folder)
    asked = found.registries.entry("corpora", "wiki").options.shards
    assert found.dump_shards("wiki") == asked
    (folder / "results/corpora/wiki").mkdir(parents=True)
    (folder / "results/corpora/wiki/extracted.json").write_text(f'{{"shards": {asked + 5}}}')
    assert found.dump_shards("wiki") == asked + 5


def test_a_corpus_comes_with_its_bases():
    found = Project({"studies": ["demo"]}, ROOT)
    assert found.with_bases("wiki-short") == ["wiki-short", "wiki"]
    assert found.with_bases("docstrings") == ["docstrings"]


def test_reading_the_configuration_loads_nothing_heavy():
    """Snakemake does so at every start, and for every job; the environment that runs it has none of these."""
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from textcritic.plan.paths import Paths\nfrom textcritic.plan.project import Project\n"
        f"found = Project({{'studies': ['demo', 'model-criticism']}}, Path({str(ROOT)!r}))\n"
        "Paths(found), found.targets()\n"
        "for study in found.studies.values():\n"
        "    found.describe(study.name), study.sources(), study.corpora()\n"
        "    for known in study.experiments.values():\n"
        "        known.artefacts(), known.section_request(), [known.request(part) for part in (None, *known.parts)]\n"
        "print(*{name.split('.')[0] for name in sys.modules})\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"numpy", "pandas", "pyarrow", "scipy", "matplotlib", "jinja2"}
    heavy |= {"mwparserfromhell", "torch", "transformers", "tokenizers", "nltk", "sklearn"}
    assert not heavy & set(run.stdout.split())


def test_a_version_that_the_command_line_gives_as_text_is_a_number():
    """Inside a mapping, Snakemake's `--config` leaves numbers as text."""
    given = Project({"studies": ["demo"], "stage_versions": {"report": "2"}}, ROOT)
    assert (given.stage("report"), given.stage("train")) == (2, 1)
    with pytest.raises(TextcriticError, match=r"stage_versions.report: 'two' should be a whole number"):
        Project({"studies": ["demo"], "stage_versions": {"report": "two"}}, ROOT)
    with pytest.raises(TextcriticError, match="'repport' is neither a stage nor a kind of experiment"):
        given.stage("repport")


@pytest.mark.parametrize(
    ("kind", "tables", "message"),
    [
        ("train", ("words",), "'train' is the name of a stage"),
        ("words", ("table1",), "'table1' is a number of a paper's"),
        ("Words", ("words",), "a name is lower-case letters"),
    ],
)
def test_names_of_a_kind_from_outside_do_not_collide(tmp_path, monkeypatch, kind, tables, message):
    package = tmp_path / f"kind_called_{kind}"  # stays imported: no other test may use the name
    package.mkdir()
    body = f"    kind, tables = {kind!r}, {tables!r}\n    check = files = lambda *_: None\n"
    plan = f"from textcritic.plan.experiment import Experiment\n\n\nclass Words(Experiment):\n{body}"
    for module, text in {"plan": plan, "tables": "", "figures": "", "section": ""}.items():
        (package / f"{module}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(TextcriticError, match=message):
        Project({"studies": ["demo"], "experiment_packages": [package.name]}, ROOT, tmp_path)


def test_a_file_of_samples_that_is_gone_is_named_where_its_samples_are_there(folder, monkeypatch):
    """Snakemake would go on with the samples of the file that the entry named before."""
    monkeypatch.chdir(folder)
    registries = project(folder).registries
    source = Source("mine", "wo-title", "theirs", "given", 1)
    check_file(source, registries, "sources")
    samples = folder / f"{source.sample}.parquet"
    samples.parent.mkdir(parents=True)
    samples.touch()
    with pytest.raises(TextcriticError, match=r"^sources: theirs: path: theirs.jsonl: no such file or folder$"):
        check_file(source, registries, "sources")
    (folder / "theirs.jsonl").touch()
    check_file(source, registries, "sources")
