"""Values laid over registry entries: what is refused, what is recorded, and results that stand with other values."""

import json

import pytest
import yaml
from own_study import own_folder, project, study

from textcritic.errors import TextcriticError
from textcritic.files import read_json

SAMPLES = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["small"], "decodings": ["ancestral"]}
SMALL = {
    "kind": "causal",
    "encoding": "gpt2",
    "init": {"hub": "gpt2"},
    "training": {"context": 8, "learning_rate": 0.1, "steps": 1, "batch_size": 8},
}
MODEL = "results/generators/mine/wo-title/small/seed1"
SAMPLE = "results/samples/mine/wo-title/small/seed1/ancestral/draw1.parquet"
OTHER = "results/samples/mine/wo-title/ngram-3/seed1/ancestral/draw1.parquet"


@pytest.fixture
def folder(tmp_path):
    """A study of one corpus and one model of one's own."""
    return own_folder(
        tmp_path,
        study({"kind": "coherence", "critic": "transitions-demo", "sources": [SAMPLES]}),
        corpora={"mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}}},
        generators={"small": SMALL},
    )


def training(**values):
    return {"generators": {"small": {"training": values}}}


def put(folder, *paths):
    for path in paths:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text("made")


def local(folder, text):
    (folder / "config").mkdir()
    (folder / "config/local.yaml").write_text(text)


def test_a_value_is_laid_over_and_the_others_stay(folder):
    laid = project(folder, registry=training(batch_size=4)).registries
    plain = project(folder).registries.entry("generators", "small").plain()
    assert laid.entry("generators", "small").plain() == {**plain, "training": {**plain["training"], "batch_size": 4}}
    assert json.loads(laid.spec("generators", "small"))["training"]["batch_size"] == 4
    assert laid.plain("generators", "small").plain() == plain


def test_the_command_line_wins_over_the_file_of_this_machine(folder):
    local(folder, yaml.safe_dump(training(batch_size=2, accumulation=4)))
    own = project(folder, registry=training(batch_size=4))
    assert own.registries.entry("generators", "small").training.batch_size == 4
    assert own.registries.entry("generators", "small").training.accumulation == 4
    (said,) = own.recipes.said()
    assert said.startswith("config/local.yaml and config: registry: generators.small: training.accumulation: 4, was 1;")
    assert "training.batch_size: 4, was 8" in said


def test_texts_of_the_command_line_are_what_the_schema_says(folder):
    """Snakemake reads a mapping of --config as texts; some keys are texts, some have several forms."""
    texts = training(batch_size="4", learning_rate="5.0e-5", precision="fp32")
    texts["generators"]["small"] |= {"label": "12", "gpu": "0"}
    texts["decodings"] = {"ancestral": {"stride": "null"}}
    registries = project(folder, registry=texts).registries
    entry = registries.entry("generators", "small").plain()
    assert (entry["label"], entry["gpu"], entry["training"]["precision"]) == ("12", 0, "fp32")
    assert (entry["training"]["batch_size"], entry["training"]["learning_rate"]) == (4, 5e-5)
    assert registries.entry("decodings", "ancestral").stride is None


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"generator": {}}, r"there is no registry 'generator'; did you mean 'generators'\?"),
        ({"generators": {"smal": {}}}, r"generators.yaml has no entry 'smal'; did you mean 'small'\?"),
        (training(batchsize=4), r"generators.small: training: unknown key 'batchsize'; did you mean 'batch_size'\?"),
        (training(learning_rate="5e-5"), r"'5e-5' should be a number; .*write the mantissa with a dot: 5.0e-5"),
        ({"generators": {"small": {"encoding": "gtp2"}}}, r"encoding: .*no entry 'gtp2'; did you mean 'gpt2'"),
        (["generators"], r"config/local.yaml: is not a mapping; write `generators: \{NAME: \{KEY: VALUE\}\}`"),
        ({"generators": ["small"]}, r"generators: is not a mapping; write `generators: \{NAME: \{KEY: VALUE\}\}`"),
    ],
)
def test_a_wrong_name_is_one_line_that_names_file_and_key(folder, values, message):
    local(folder, yaml.safe_dump(values))
    with pytest.raises(TextcriticError, match=message) as refused:
        project(folder)
    assert "config/local.yaml" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_results_of_other_values_are_said_and_need_to_be_accepted(folder):
    put(folder, f"{MODEL}/model/config.json", f"{MODEL}/checkpoints/step1", SAMPLE, OTHER)
    own = project(folder, registry=training(batch_size=4))
    said = own.recipes.said()[-1]
    assert "generators: small is another recipe" in said
    assert "training.batch_size: 4, was 8" in said
    assert said.endswith("files that would be made again: 1 in results/generators and 1 in results/samples")
    with pytest.raises(TextcriticError, match=r"add `--config accept=small` .*--directory FOLDER") as refused:
        own.recipes.begin()
    assert "\n" not in str(refused.value)
    assert not (folder / "results/overlay.json").exists()
    project(folder, registry=training(batch_size=4), accept="ngram-3, small").recipes.begin()
    # The run goes on without being accepted once more; the old values are the others now.
    project(folder, registry=training(batch_size=4)).recipes.begin()
    with pytest.raises(TextcriticError, match=r"training.batch_size: 8, was 4"):
        project(folder).recipes.begin()
    project(folder, accept="small").recipes.begin()
    assert read_json(folder / "results/overlay.json") == {}


def test_results_of_what_names_an_entry_count_and_those_of_others_do_not(folder):
    put(folder, SAMPLE, OTHER)
    with pytest.raises(TextcriticError, match="again: 1 in results/samples;"):
        project(folder, registry={"hub": {"gpt2": {"revision": "0" * 40}}}).recipes.begin()
    project(folder, registry={"hub": {"gpt2-large": {"revision": "0" * 40}}}).recipes.begin()


def test_which_files_count_as_made_of_an_entry(folder):
    """A file called by its name does, those of studies and logs do not; names of raw files count below results/raw."""
    put(
        folder,
        "results/corpora/mine.json",
        "results/logs/mine.log",
        "results/studies/own/mine.json",
        "results/raw/x/mine",
    )
    values = {"corpora": {"mine": {"options": {"paths": ["theirs.jsonl"]}}}}
    with pytest.raises(TextcriticError, match="again: 1 in results/corpora;") as refused:
        project(folder, registry=values).recipes.begin()
    assert "accept=mine`" in str(refused.value)
    pin = {"repository": "some/model", "revision": "1" * 40}
    (folder / "registry/hub.yaml").write_text(yaml.safe_dump({"theirs": pin}))
    put(folder, "results/classifiers/theirs/model", "results/raw/hub/theirs/config.json")
    with pytest.raises(TextcriticError, match="again: 1 in results/raw;"):
        project(folder, registry={"hub": {"theirs": {"revision": "0" * 40}}}).recipes.begin()


def test_an_entry_that_is_no_more_says_nothing_and_a_name_of_two_registries_is_accepted_once(folder):
    put(folder, SAMPLE, "results/encodings/mine/small/tokenizer")
    (folder / "results/overlay.json").write_text(json.dumps({"generators.gone": {}}))
    assert project(folder).recipes.others() == []
    (folder / "registry/encodings.yaml").write_text('{"small": {"tokenizer": {"hub": "gpt2"}}}')
    values = training(batch_size=4) | {"encodings": {"small": {"boundary": "as_released"}}}
    with pytest.raises(TextcriticError, match=r"generators: small .*add `--config accept=small`"):
        project(folder, registry=values).recipes.begin()


def test_what_changes_no_result_needs_nothing(folder):
    put(folder, SAMPLE)
    own = project(folder, registry={"generators": {"small": {"threads": 3, "label": "Small"}}})
    own.recipes.begin()
    assert not (folder / "results/overlay.json").exists()
    assert "threads: 3" in own.recipes.said()[0]
    assert own.describe("own") == project(folder).describe("own")


def test_the_manifest_says_what_was_laid_over_what_the_study_uses(folder):
    registry = training(batch_size=4) | {"decodings": {"demo": {"temperature": 2}}}
    assert project(folder, registry=registry).describe("own")["overlay"] == {
        "generators.small": "training.batch_size: 4, was 8"
    }


def test_a_job_refuses_values_that_its_run_did_not_start_with(folder):
    project(folder, registry=training(batch_size=4)).recipes.begin()
    project(folder, registry=training(batch_size=4)).recipes.check()
    with pytest.raises(TextcriticError, match=r"small has changed since this run started .*: 2, was 4\); start it"):
        project(folder, registry=training(batch_size=2)).recipes.check()
