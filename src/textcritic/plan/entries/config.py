"""The configuration and the studies."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from textcritic.plan.entries.base import Entry, key, limits
from textcritic.plan.spec import Schema


class StageVersions(Entry, extra="allow"):
    """One integer for each stage; each kind of experiment is a stage too."""

    schema_words: ClassVar[Schema] = {"additionalProperties": {"type": "integer", "minimum": 1}}
    __pydantic_extra__: dict[str, Annotated[int, limits(ge=1)]] = Field(init=False)

    extract: int = key("raw text to articles", 2)
    build: int = key("titles, filters and splits of a corpus", 1)
    encode: int = key("tokenizers and token streams", 1)
    train: int = key("generators", 1)
    perplexity: int = key("perplexity on the test split", 1)
    sample: int = key("sampling and the parsing of samples", 2)
    classify: int = key("section classifiers and what they infer", 1)
    detect: int = key("detectors of intruder sentences, and their predictions", 1)
    report: int = key("tables, figures and the report", 1)


class Config(Entry):
    """The configuration: config.yaml with what is laid over it."""

    schema_words: ClassVar[Schema] = {
        "description": "the studies to build and what is common to all of them;"
        " `--config` and `--configfile` are laid over it"
    }

    studies: list[str] = key(
        "the studies that `snakemake` builds, by the names of their files in the study folders; with none,"
        " only what is asked for by its target, e.g. a corpus, `corpora/NAME`",
    )
    registry_folders: list[str] = key(
        "folders of registry files, looked up in the working directory, then in the folder of the Snakefile; a"
        " name may be in only one of them",
        ["config/registry"],
    )
    registry: dict[str, Any] = key(
        "values laid over registry entries, as `{generators: {gpt2-small: {training: {batch_size: 4}}}}`;"
        " mappings are merged key by key, a list takes the place of a list. `config/local.yaml` in the"
        " working directory, a file of the same form, is laid over them first",
        {},
    )
    missing: Literal["leave-out", "refuse"] = key(
        "what happens where a file that you bring (a licensed corpus, a folder of a model) is not there,"
        " nor what was made of it: its rows, tables and figures are left out (`leave-out`), or nothing"
        " runs (`refuse`)",
        "leave-out",
    )
    accept: str = key(
        "names of registry entries, separated by commas, whose results may be made again because other"
        " values are laid over them than those that they were made with",
        "",
    )
    study_folders: list[str] = key(
        "folders of study files; the first that holds a study's name wins", ["config/studies"]
    )
    audits: bool = key(
        "whether samples are drawn that only the audit of an experiment reads and that take over an hour"
        " of a GPU (the key `costly_audit` of an experiment); the report says what is left out, and"
        " `snakemake audits` draws them in any case",
        False,
    )
    resamples: int = key(
        "bootstrap resamples behind the intervals of Latent PPL, and permutations behind its p-values",
        10000,
        ge=20,
        le=10000000,
    )
    report_articles: int = key("documents of each source that can be read in the report", 40, ge=1)
    pdf_figures: bool = key(
        "whether each figure is also written as PDF, in addition to the SVG that the report shows; this takes"
        " half of the time of all figures",
        True,
    )
    experiment_packages: list[str] = key(
        "kinds of experiment of your own, by the dotted names of their packages, which are in the working"
        " directory or installed; see docs/new-experiment.md",
        [],
    )
    metric_folders: list[str] = key(
        "folders with the modules of measures of your own (kind `metrics`), looked up in the working directory,"
        " then in the folder of the Snakefile; installed modules are found too",
        ["."],
    )
    stage_versions: StageVersions = key(
        "one integer for each stage; increase it if a change of code changes the results of the stage, and the"
        " stage runs again. Besides the stages below, each kind of experiment is a stage (its critic, what it"
        " infers, its scores)",
        StageVersions,
    )

    def __getitem__(self, name: str) -> Any:
        """The value of a key: kinds of experiment from outside may read the configuration as a mapping."""
        return self.plain()[name]


class AnyBlock(Entry, extra="allow"):
    """One experiment; the other keys are those of its kind."""

    kind: str = key("the kind of experiment")


class Study(Entry):
    """A title and an ordered list of experiments."""

    schema_words: ClassVar[Schema] = {
        "description": "a study; a title and an ordered list of experiments,"
        " each of a kind with keys of its own, described below"
    }

    title: str = key("heading of the report")
    summary: str = key("what is compared and why, a paragraph for the report", "")
    not_measured: dict[str, str] = key(
        "what was not measured, and why, for the first page of the report: `{mentions of people: the texts"
        " do not look English}`",
        {},
    )
    command: str | None = key(
        "what a person types to make the study again, for the report; null means Snakemake with the study's name",
        None,
    )
    published: str | None = key(
        "name of a folder of config/published, whose files {kind}.csv have the published values that are shown"
        " with ours; null means none",
        None,
    )
    experiments: list[AnyBlock] = key("what is compared, in the order of the report", min_length=1)
