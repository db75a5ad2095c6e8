"""Configuration and input functions; their logic is in src/textcritic/plan."""

import sys
from pathlib import Path

from snakemake.exceptions import WorkflowError

# A checkout needs no installation. This folder is that of rules, also where another workflow uses this one as a module.
sys.path.insert(0, str(Path(str(workflow.current_basedir)).parent / "src"))

from textcritic.plan.paths import Paths
from textcritic.plan.project import Project
from textcritic.workflow import stored, workflow_folder
from textcritic.workflow.refusals import refused, settled

ROOT, STORED = workflow_folder(), stored(workflow.inputfile)  # with a storage, the files of a study are all there

project = settled(lambda: Project(config, ROOT, leave_out=not STORED, begun=not workflow.is_main_process))
registries = project.registries
paths = Paths(project)
stage = project.stage  # the version of a stage or a kind of experiment: raise it in the config and it is rerun


wildcard_constraints:
    corpus=registries.names("corpora"),
    encoding=registries.names("encodings"),
    setting="w-title|wo-title",
    generator=registries.names("generators"),
    decoding=registries.names("decodings"),
    # Those that are trained; where titles are given there is nothing to train.
    classifier=registries.names("classifiers", kind=["transformer"]),
    given=registries.names("classifiers", kind=["given"]),
    critic=registries.names("critics"),
    resolver=registries.names("resolvers"),
    annotation=registries.names("annotations"),
    proposal=registries.names("proposals"),
    model=registries.names("hub"),
    download=registries.names("downloads"),
    dataset=registries.names("datasets"),
    member="[^/]+",
    study="|".join(project.studies) or "(?!)",
    experiment="|".join({name for study in project.studies.values() for name in study.names()}) or "(?!)",
    seed=r"\d+",
    draw=r"\d+",
    shard=r"\d+(-(of-)?\d+)?",  # one, one of so many, or from one to another
    shards=r"\d+",
    samples=r"\d+",
    temperature=r"\d+(\.\d+)?",


SPLITS = ["train", "validation", "test"]
# Names of corpora: sequences of a known process, sentences with translations, and text.
PROCESSES = registries.names("corpora", extractor=["process"])
SENTENCES = ["parallel", "catalogues", "languages"]
PARALLEL = registries.names("corpora", extractor=SENTENCES)
TEXTS = registries.names("corpora", others=True, extractor=["process", *SENTENCES])
STRUCTURED = ["trees", "mentions", "links"]
# Encodings of processes, of parallel corpora, and of text.
SYMBOLS = registries.names("encodings", reads=["symbols"])
SUBWORDS = registries.names("encodings", reads=["subwords"])
WORDS = registries.names("encodings", reads=["text", "words"])
MODEL = "results/generators/{corpus}/{setting}/{generator}/seed{seed}"
SAMPLE = "samples/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}"
DRAWN = "results/samples/{corpus}/{setting}/{generator}/seed{seed}/{decoding}/draw{draw}"


def of(kind, wildcard, key):
    """A resource or thread count read from the registry entry that a wildcard names."""
    return lambda w: registries.resource(kind, w[wildcard], key)


def memory(kind, wildcard):
    """The megabytes of such an entry, more for a job that is submitted again."""
    return lambda w, attempt: registries.memory(kind, w[wildcard], attempt)


def at_most(most, kind, wildcard, key):
    """The same for a job that more would not speed up."""
    return lambda w: min(most, registries.resource(kind, w[wildcard], key))


def side_by_side(kind, wildcard):
    """The threads of a job that runs beside others like it, where there are others."""
    cores = workflow.resource_settings.cores if workflow.is_main_process else None
    jobs = project.trained_side_by_side()
    return lambda w: registries.threads_side_by_side(kind, w[wildcard], cores, jobs)


def one_gpu(kind, wildcard):
    """For a job that a second GPU would not speed up: one GPU, if the entry asks for any."""
    return at_most(1, kind, wildcard, "gpu")


def spec(kind, wildcard, *keys):
    """The canonical string of the registry entry that a wildcard names, as a rule's parameter."""
    return lambda w: registries.spec(kind, w[wildcard], *keys)


def pretrained(kind, wildcard):
    """The folder of pretrained files that an entry starts from, if any."""
    return lambda w: paths.pretrained(kind, w[wildcard])


def experiment(w):
    """The experiment that a job's wildcards name."""
    return project.studies[w.study].experiment(w.experiment, w.get("part"))


def numbered(w):
    """The numbered table or figure that a job's wildcards name; None for the standing ones."""
    return None if w.get("part") == "figures" else w.get("part")


def told(request):
    """The params that tell a job what to make and from which files: texts that `request` gives for its wildcards."""
    return {name: lambda w, name=name: request(w)[name] for name in ("job", "labels", "settings", "files")}


def made_of(w):
    """Every file that a numbered part, or the standing tables and figures, are made of, and no other."""
    return at_hand(experiment(w).paths(numbered(w)))


def shown(path, caption, patterns=(), **labels):
    """An output that `snakemake --report` shows, under its study and experiment."""
    place = {"category": "{study}", "subcategory": "{experiment}" if "{experiment}" in path else None}
    return report(path, f"{ROOT}/workflow/report/{caption}.rst", labels=labels, patterns=list(patterns), **place)


def in_formats(*tables):
    """Tables in every format; people read the HTML."""
    paths = [f"results/studies/{{study}}/{{experiment}}/tables/{table}" for table in tables]
    read = [shown(f"{path}.html", "table", table=Path(path).name) for path in paths]
    return read + [f"{path}.{suffix}" for path in paths for suffix in ("csv", "tex")]


def standing(kind):
    """The standing tables of a kind in every format."""
    return in_formats(*project.kind(kind).tables)


def dump_shards(suffix):
    """The files of all shards of a dump."""
    of = project.dump_shards
    return lambda w: [f"results/corpora/{w.corpus}/shards/{n}-of-{of(w.corpus)}.{suffix}" for n in range(of(w.corpus))]
