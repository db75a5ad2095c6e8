"""Configuration and input functions: the only rule file with Python. Their logic is in src/textcritic/{project,paths}.py."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

sys.path.insert(0, str(Path(workflow.basedir) / "src"))

from textcritic.errors import TextcriticError
from textcritic.paths import Paths
from textcritic.project import Project
from textcritic.study_files import StudyFiles

try:
    project = Project(config, Path(workflow.basedir))
except TextcriticError as error:
    raise WorkflowError(str(error)) from None

paths = Paths(project)


wildcard_constraints:
    corpus=project.names("corpora"),
    encoding=project.names("encodings"),
    setting="w-title|wo-title",
    generator=project.names("generators"),
    decoding=project.names("decodings"),
    # Those that are trained; where titles are given there is nothing to train.
    classifier=project.names("classifiers", kind=["transformer"]),
    given=project.names("classifiers", kind=["given"]),
    critic=project.names("critics"),
    model=project.names("hub"),
    download=project.names("downloads"),
    member="[^/]+",
    study="|".join(project.studies),
    seed=r"\d+",
    shard=r"\d+",
    shards=r"\d+",


SPLITS = ["train", "validation", "test"]
# Corpora of sequences of a known process, and those of text.
PROCESSES = project.names("corpora", extractor=["process"])
TEXTS = project.names("corpora", others=True, extractor=["process"])
# Of those of text, the ones made from a dump of a Wikipedia, and all others.
DUMPS = project.names("corpora", extractor=["wikipedia"])
NO_DUMPS = project.names("corpora", others=True, extractor=["process", "wikipedia"])
# Encodings of processes, and of text.
SYMBOLS = project.names("encodings", tokenizer=[{"symbols": {}}])
WORDS = project.names("encodings", others=True, tokenizer=[{"symbols": {}}])
MODEL = "results/generators/{corpus}/{setting}/{generator}/seed{seed}"
SAMPLE = "samples/{setting}/{generator}/seed{seed}/{decoding}"
DRAWN = "results/samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}"


def of(kind, wildcard, key):
    """A resource or thread count read from the registry entry that a wildcard names."""
    return lambda w: project.entry(kind, w[wildcard])[key]


def at_most(most, kind, wildcard, key):
    """The same for a job that more would not speed up."""
    return lambda w: min(most, project.entry(kind, w[wildcard])[key])


def one_gpu(kind, wildcard):
    """For a job that a second GPU would not speed up: one GPU, if the entry asks for any."""
    return at_most(1, kind, wildcard, "gpu")


def spec(kind, wildcard, *keys):
    """The canonical string of the registry entry that a wildcard names, as a rule's parameter."""
    return lambda w: project.spec(kind, w[wildcard], *keys)


def stage(name):
    """The version of a stage: raise it in the config and the stage is rerun."""
    return project.config["stage_versions"][name]


def pretrained(kind, wildcard):
    """The folder of pretrained files that an entry starts from, if any."""
    return lambda w: paths.pretrained(kind, w[wildcard])


def of_studies(files):
    """The files of all configured studies."""
    return lambda w: [path for study in project.studies for path in files(study)]


def of_paper(target, file):
    """A file of the study that reproduces the model criticism paper, for a target named as the paper names it."""

    def files(w):
        if "model-criticism" not in project.studies:
            raise WorkflowError(
                f"{target} belongs to the study model-criticism, which is not configured; add"
                " --configfile config/paper.yaml, or --profile slurm"
            )
        return f"results/studies/model-criticism/{file}"

    return files


def parts_of(key):
    """The names under a key of all configured studies, for a wildcard."""
    return "|".join(sorted({part["name"] for study in project.studies.values() for part in study[key]})) or "(?!)"


def dump_shards(suffix):
    """The files of all shards of a dump."""

    def files(w):
        shards = project.dump_shards(w.corpus)
        return [f"results/corpora/{w.corpus}/shards/{shard}-of-{shards}.{suffix}" for shard in range(shards)]

    return files


def corpus_files(study):
    corpora = dict.fromkeys(project.corpora(study) + project.topic_corpora(study) + project.processes(study))
    return [f"results/corpora/{corpus}/statistics.json" for corpus in corpora]


def generator_files(study):
    return [path for s in project.every_source(study) for path in paths.perplexity(s)]


def sample_files(study):
    return [s.under(f"results/samples/{s.corpus}") + ".parquet" for s in project.every_source(study)]


def table_files(study):
    coherence = expand(f"results/studies/{study}/tables/{{table}}.csv", table=TABLES)
    files = StudyFiles(paths, study)
    return coherence + files.part_tables() + files.synthetic_tables() + files.topic_tables()


def figure_files(study):
    files = StudyFiles(paths, study)
    of_some = files.part_figures() + files.synthetic_figures() + files.topic_figures()
    return [f"results/studies/{study}/figures", *of_some]


def report_files(study):
    return [f"results/studies/{study}/report.html", f"results/studies/{study}/manifest.json", *table_files(study)]
