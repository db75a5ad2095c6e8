"""A rehearsal: a whole study, from download to report, on small stand-ins, in a separate folder."""

import os
import resource
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import yaml

from textcritic.errors import TextcriticError
from textcritic.files import read_json, write_json, write_text
from textcritic.host import SINGLE_THREAD
from textcritic.place import workflow_folder
from textcritic.plan.project import Project, load_configuration
from textcritic.plan.registries import find_folder
from textcritic.plan.spec import laid_over
from textcritic.rehearsal.brought import put_nltk
from textcritic.rehearsal.mirror import Mirror, serving
from textcritic.rehearsal.rules import RAN, RECORDS, write_rules
from textcritic.rehearsal.small import small_values, smoke_study
from textcritic.rehearsal.stand_ins import StandIns
from textcritic.report.rehearsed import MARK, WORD
from textcritic.values import JsonObject
from textcritic.workflow.run import alone, run_workflow

SMOKE, FULL = "smoke", "full"
SIZES = (SMOKE, FULL)
FOLDERS = ("registry_folders", "study_folders")
CONFIG: Mapping[str, object] = {"resamples": 50, "report_articles": 3}
# Corpora that no study of a paper has, for rules that none of its corpora needs: for data sets of the hub, and for a
# filter of intruders. The values are laid over their entries.
ALSO: Mapping[str, JsonObject] = {
    "model-criticism": {"scientific-papers-pubmed-titles": {}},
    "document-coherence": {
        "cnn-intruders": {
            "options": {"intruders": {"filter": {"detector": "bag-alone", "corpus": "wikipedia-intruders"}}}
        }
    },
}


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The study that is rehearsed, and how.

    Attributes:
        study: its name.
        output: the folder for all files; None: `rehearsal/STUDY`.
        size: `smoke`, one entry of each kind in each list, so that every rule runs, or `full`, the study unchanged.
        gpus: whether jobs ask for the GPUs that their entries ask for.
        configfile: the configuration that the study is made with; None: the default one.
        arguments: further ones for Snakemake.
    """

    study: str
    output: Path | None = None
    size: str = SMOKE
    gpus: bool = True
    configfile: Path | None = None
    arguments: Sequence[str] = ()


def rehearse(what: Rehearsal) -> str:
    """Run a rehearsal; the results of an earlier one in the folder are kept.

    Returns:
        A summary in words.

    Raises:
        TextcriticError: no such study, a folder with real results or with another rehearsal, a download without a
            stand-in, or a job that failed.
    """
    config = {**load_configuration(what.configfile), "studies": [what.study]}
    here = (what.output or Path("rehearsal") / what.study).resolve()
    real = Project(config, workflow_folder())
    with alone(here) as lock:
        mark = _marked(here, what)
        also = ALSO.get(what.study, {})
        changed = _changed(here, what, real)
        every = small_values(real.registries, real.registries.entries, what.gpus)
        study = Project({**config, **changed, "registry": every}, workflow_folder()).studies[what.study]
        uses = [*study.uses(), *(("corpora", name) for name in also)]
        stand_ins = StandIns(real.registries, uses, here / "stand-ins")
        stand_ins.put(here)
        put_nltk(here / "stand-ins/nltk_data")
        handler = type("Served", (Mirror,), {"files": stand_ins.files(), "repositories": stand_ins.repositories()})
        with serving(handler, mark.get("port", 0)) as port:
            write_json(here / MARK, {**mark, "port": port})
            small = small_values(real.registries, stand_ins.used, what.gpus)
            overlay = laid_over(laid_over(small, stand_ins.overlay(port)), {"corpora": also})
            _configure(here, {**config, **changed}, overlay)
            os.environ |= _environment(here, port)
            began, before = time.monotonic(), _cpu_seconds()
            targets = ["all", *(f"corpora/{name}" for name in also)]
            options = ("--configfile", str(here / "config.yaml"), *_profiles(what.arguments))
            run_workflow(here, lock, *options, targets=targets, module="textcritic.rehearsal.forks")
    seconds, cpu = time.monotonic() - began, _cpu_seconds() - before
    if not any((here / RECORDS).glob("*")):
        return "nothing was run: above are the jobs of the rehearsal"
    ran = write_rules(here)
    return (
        f"{WORD} of {what.study} ({what.size}) done in {seconds:.0f} s, {cpu:.0f} CPU-seconds here; {len(ran)} rules"
        f" ran, see {here / RAN}. The report: {here / 'results/studies' / what.study / 'report.html'}"
    )


def _marked(here: Path, what: Rehearsal) -> JsonObject:
    """The content of the mark in the folder; it is written before anything else there."""
    mark = here / MARK
    wanted = {"study": what.study, "size": what.size}
    if not mark.is_file():
        if (here / "results").exists():
            raise TextcriticError(
                f"{here}: there are results here, which a rehearsal must not touch; use another --output"
            )
        write_json(mark, wanted)
    present = dict(read_json(mark, "delete the folder"))
    if any(present.get(key) != value for key, value in wanted.items()):
        raise TextcriticError(
            f"{here}: here is the rehearsal of {present.get('study')} ({present.get('size')}); use another --output, or"
            " delete the folder"
        )
    return present


def _changed(here: Path, what: Rehearsal, real: Project) -> JsonObject:
    """Keys of the configuration: whole names of folders; of a smoke rehearsal its own study, and no figure as .pdf."""
    places = (Path.cwd(), workflow_folder())
    folders = {key: [str(find_folder(name, places)) for name in getattr(real.config, key)] for key in FOLDERS}
    if what.size != SMOKE:
        return folders
    write_text(here / f"studies/{what.study}.yaml", _yaml(smoke_study(real, what.study)))
    return folders | {"study_folders": [str(here / "studies")], "pdf_figures": False}


def _configure(here: Path, config: JsonObject, overlay: JsonObject) -> None:
    """Write config.yaml."""
    registry = laid_over(config.get("registry", {}), overlay)
    names = ",".join(dict.fromkeys(name for entries in registry.values() for name in entries))
    changed = {**config, **CONFIG, "registry": registry, "accept": names}  # nothing here is worth keeping
    write_text(here / "config.yaml", _yaml(changed))


def _yaml(value: object) -> str:
    text: str = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=100)
    return text


def _environment(here: Path, port: int) -> dict[str, str]:
    """The mirror as the hub, and stand-ins for data of NLTK that are not installed."""
    installed = os.environ.get("NLTK_DATA")
    nltk = os.pathsep.join(filter(None, [installed, str(here / "stand-ins/nltk_data")]))
    return SINGLE_THREAD | {
        "HF_ENDPOINT": f"http://127.0.0.1:{port}",
        "HF_HUB_OFFLINE": "0",  # read once for all jobs, which are forked; those that download need it
        "HF_HOME": str(here / "stand-ins/home"),
        "NLTK_DATA": nltk,
        "no_proxy": "127.0.0.1",
    }


def _profiles(arguments: Sequence[str]) -> list[str]:
    """Snakemake's arguments, in which the name of a profile of this workflow is its folder."""
    folder = workflow_folder() / "profiles"
    return [str(folder / word) if before == "--profile" and (folder / word).is_dir() else word
            for before, word in zip(["", *arguments], arguments, strict=False)]  # fmt: skip


def _cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
