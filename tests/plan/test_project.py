import subprocess
import sys

import pytest
import yaml
from own_study import ROOT, own_folder, project, write
from textcritic.study_files import StudyFiles

from textcritic.errors import TextcriticError
from textcritic.plan.paths import Paths
from textcritic.plan.project import Project, Source


@pytest.fixture
def folder(tmp_path):
    """A registry and a study of one's own, beside the shipped ones."""
    return own_folder(
        tmp_path,
        study(),
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}},
    )


def study(**changes):
    block = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}
    return {"title": "Own", "critic": "transitions-demo", "sources": [{**block, **changes}]}


@pytest.mark.parametrize("name", sorted(path.stem for path in (ROOT / "config/studies").glob("*.yaml")))
def test_every_shipped_study_is_valid_and_has_sources(name):
    shipped = Project({"studies": [name]}, ROOT)
    sources = shipped.sources(name)
    assert len(sources) == len(set(sources)) > 0
    assert shipped.corpora(name)


def test_blocks_expand_to_every_combination_once(folder):
    write(
        folder / "studies/own.yaml",
        study(generators=["theirs", "ngram-3"], seeds=[1, 2], settings=["w-title", "wo-title"]),
    )
    sources = project(folder).sources("own")
    assert len(sources) == 8
    assert Source("mine", "w-title", "ngram-3", "given", 2) in sources


def test_artefact_paths_follow_from_names():
    source = Source("pubmed", "w-title", "gpt2-small", "ancestral", 3)
    assert source.under("results/samples/pubmed") == "results/samples/pubmed/w-title/gpt2-small/seed3/ancestral"
    paths = Paths(Project({"studies": ["model-criticism"]}, ROOT))
    assert paths.corpus("pubmed") == [f"results/raw/unpacked/pubmed/{name}.txt" for name in ("train", "val", "test")]
    assert paths.pretrained("generators", "gpt2-small") == "results/raw/hub/gpt2"
    assert paths.pretrained("generators", "gpt2-demo") == []
    assert paths.length_tokenizer("pubmed") == "results/raw/hub/gpt2"
    assert paths.length_tokenizer("docstrings") == []
    assert len(paths.shards("p", "ancestral")) == 10


def test_samples_from_a_file_have_no_perplexity(folder):
    files = StudyFiles(Paths(project(folder)), "own")
    (source,) = files.description()["sources"]
    assert source["perplexity"] is None
    assert source["training"] is None
    assert "results/corpora/mine/validation.parquet" in files.inputs()


def test_a_studys_description_has_labels_and_decodings_and_no_place(folder):
    shipped = Project({"studies": ["model-criticism", "demo"]}, ROOT, folder)
    files = StudyFiles(Paths(shipped), "model-criticism")
    description = files.description()
    labels = {source["label"] for source in description["sources"]}
    assert labels == {"GPT-2 small (LM1)", "GPT-Neo 125M (LM2)", "GPT-2 medium", "GPT-2 large", "GPT-2 XL"}
    assert description["decodings"]["as-released"]["top_k"] == 50
    assert set(description["decodings"]) == {"ancestral", "as-released"}
    assert str(ROOT) not in str(description)
    assert files.published() == str(ROOT / "config/published/model-criticism.csv")
    at_home = Paths(Project({"studies": ["model-criticism"]}, ROOT, ROOT))
    assert StudyFiles(at_home, "model-criticism").published() == "config/published/model-criticism.csv"
    assert StudyFiles(Paths(shipped), "demo").published() == []


def test_labels_and_resources_are_no_part_of_what_reruns(folder):
    plain = project(folder).spec("generators", "ngram-3")
    registry = yaml.safe_load((ROOT / "config/registry/generators.yaml").read_text())
    write(
        folder / "registry/generators.yaml",
        {
            "theirs": {"kind": "file", "path": "theirs.jsonl"},
            "renamed": {**registry["ngram-3"], "label": "other", "mem_mb": 9000, "runtime": "9h"},
            "changed": {**registry["ngram-3"], "order": 4},
        },
    )
    assert project(folder).spec("generators", "renamed") == plain
    assert project(folder).spec("generators", "changed") != plain


def test_a_part_of_an_entry_changes_only_with_its_keys(folder):
    before = project(folder).spec("corpora", "mine", "extractor", "options")
    write(
        folder / "registry/corpora.yaml",
        {"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}, "sections": {"minimum": 2}}},
    )
    assert project(folder).spec("corpora", "mine", "extractor", "options") == before


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"studies": ["demmo"]}, r"there is no study 'demmo'; known: own"),
        ({"studies": []}, r"studies"),
        ({"study": "demo"}, r"config: unknown key 'study'; did you mean 'studies'\?"),
        ({"resamples": "many"}, r"resamples: 'many' should be of type integer"),
        ({"registry_folders": ["nowhere"]}, r"there is no folder 'nowhere'"),
        ({"stage_versions": {"trian": 2}}, r"stage_versions: unknown key 'trian'; did you mean 'train'\?"),
    ],
)
def test_config_faults(folder, config, message):
    with pytest.raises(TextcriticError, match=message):
        project(folder, **config)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"generators": ["gpt2-demoo"]}, r"generators.yaml has no entry 'gpt2-demoo'; did you mean 'gpt2-demo'\?"),
        ({"corpora": ["wikipedia"]}, r"corpora.yaml has no entry 'wikipedia'"),
        ({"settings": ["with-title"]}, r"own.yaml: sources.0.settings.0: 'with-title' is not one of w-title, wo-title"),
        ({"seeds": ["one"]}, r"sources.0.seeds.0: 'one' should be of type integer"),
    ],
)
def test_study_faults(folder, changes, message):
    write(folder / "studies/own.yaml", study(**changes))
    with pytest.raises(TextcriticError, match=message):
        project(folder)


def test_faults_that_would_show_only_after_training(folder):
    audit = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["ngram-3"], "decodings": ["demo"]}
    write(folder / "studies/own.yaml", {**study(), "audit_sources": [audit]})
    with pytest.raises(
        TextcriticError, match=r"audit_sources: ngram-3 wo-title on mine, seed 1, is not among the sources"
    ):
        project(folder)
    write(folder / "studies/own.yaml", study(generators=["ngram-3"], decodings=["demo-top-k-50"]))
    with pytest.raises(TextcriticError, match=r"ngram-3 is an n-gram model, .* demo-top-k-50 has a temperature, top_k"):
        project(folder)
    write(folder / "studies/own.yaml", {**study(), "published": "nature"})
    with pytest.raises(TextcriticError, match=r"there is no config/published/nature.csv"):
        project(folder)
    write(folder / "studies/own.yaml", study())
    entry = {
        "kind": "causal",
        "encoding": "gpt2",
        "init": {"hub": "gpt2"},
        "training": {"context": 8, "learning_rate": 0.1},
    }
    write(folder / "registry/generators.yaml", {"theirs": {"kind": "file", "path": "t.jsonl"}, "new": entry})
    with pytest.raises(TextcriticError, match=r"generators.yaml: new: training: give steps or epochs"):
        project(folder)
    write(folder / "registry/generators.yaml", {"theirs": {"kind": "file", "path": "t.jsonl"}})
    entry = {"init": {"config": {"model_type": "bert"}}, "training": {"learning_rate": 0.1}}
    write(folder / "registry/classifiers.yaml", {"new": entry})
    with pytest.raises(TextcriticError, match=r"classifiers.yaml: new: the key 'encoding' is missing"):
        project(folder)


def test_a_registry_that_is_no_mapping_of_names_is_refused(folder):
    for value, message in ((["a"], "is not a mapping of names"), ({123: {}}, "123: a name is text")):
        write(folder / "registry/critics.yaml", value)
        with pytest.raises(TextcriticError, match=message):
            project(folder)
    (folder / "registry/critics.yaml").write_bytes(b"caf\xe9: {}")
    with pytest.raises(TextcriticError, match=r"critics.yaml: not a UTF-8 text file"):
        project(folder)


def test_what_runs_faster_or_saves_oftener_is_no_part_of_what_reruns(folder):
    shipped = Project({"studies": ["demo"]}, ROOT)
    for kind, name, change in (
        ("decodings", "demo", lambda e: e.update(batch_size=8)),
        ("generators", "gpt2-demo", lambda e: e["training"].update(checkpoint_seconds=1)),
        ("classifiers", "bert-demo", lambda e: e["training"].update(checkpoint_seconds=1)),
    ):
        before = shipped.spec(kind, name)
        change(shipped.registry[kind][name])
        assert shipped.spec(kind, name) == before
    before = shipped.spec("generators", "gpt2-demo")
    shipped.registry["generators"]["gpt2-demo"]["training"]["batch_size"] += 1
    assert shipped.spec("generators", "gpt2-demo") != before


def test_the_manifest_names_every_pinned_source(folder):
    used = Project({"studies": ["model-criticism"]}, ROOT).describe("model-criticism")["registry"]
    gpt2 = {"gpt2", "gpt2-medium", "gpt2-large", "gpt2-xl"}
    assert set(used["hub"]) == gpt2 | {"gpt-neo-125m", "bert-base-cased"}
    assert set(used["downloads"]) == {"pubmed", "arxiv", "enwiki-20211201", "mallet-stop-words"}
    used = Project({"studies": ["demo"]}, ROOT).describe("demo")["registry"]
    assert set(used["encodings"]) == {"bpe-2048", "symbols"}


def test_registry_faults(folder):
    write(folder / "registry/critics.yaml", {"new": {"kind": "transitions", "classifier": "bert"}})
    with pytest.raises(TextcriticError, match=r"critics.yaml: new: .*classifiers.yaml has no entry 'bert'"):
        project(folder)
    write(folder / "registry/critics.yaml", {"Bad_Name": {"kind": "transitions", "classifier": "bert-demo"}})
    with pytest.raises(TextcriticError, match=r"'Bad_Name': a name is lower-case"):
        project(folder)
    write(folder / "registry/critics.yaml", {"transitions-demo": {"kind": "transitions", "classifier": "bert-demo"}})
    with pytest.raises(TextcriticError, match=r"transitions-demo: the name is taken"):
        project(folder)


def test_configuring_the_workflow_loads_no_parser_and_no_framework():
    """The environment that runs Snakemake itself has neither."""
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from textcritic.plan.paths import Paths\nfrom textcritic.plan.project import Project\n"
        f"Paths(Project({{'studies': ['demo', 'model-criticism']}}, Path({str(ROOT)!r})))\n"
        "print(*{name.split('.')[0] for name in sys.modules})\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"mwparserfromhell", "torch", "transformers", "tokenizers", "nltk"} & set(run.stdout.split())
