"""A study of a user's own text, made in this process: the jobs that are due, its sections, and its report."""

import hashlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from textcritic import __version__
from textcritic.api.articles.jobs import Configured, Job, job_for
from textcritic.api.articles.jobs.crossing import crossing_of, notes_of
from textcritic.api.articles.jobs.job import STAGES
from textcritic.digests import write_records
from textcritic.errors import TextcriticError, first_line
from textcritic.files import read_json, write_json
from textcritic.place import workflow_folder
from textcritic.plan.experiment import Experiment
from textcritic.plan.study import Study
from textcritic.report import make_figures, make_manifest, make_report, make_section, make_tables
from textcritic.runlog import log, taken

MADE = "results/made.json"  # what each file was made from
LOG = "results/logs/criticise.log"
NAMES = {"metrics": "own measures", "form": "form"}  # of experiments, where their kind's stage says too little


class Workshop:
    """Makes files of a study in the working directory, each with all that it needs, unless they are there.

    Args:
        configured: what jobs read of the configuration.
        say: is called with the stage of each job that is run.
    """

    def __init__(self, configured: Configured, say: Callable[[str], None]) -> None:
        self._configured, self._say = configured, say
        self._made: dict[str, str] = (
            read_json(MADE, "delete it; all is made again then") if Path(MADE).is_file() else {}
        )
        self._marks: dict[str, str] = {}
        self._faults: dict[str, TextcriticError] = {}

    def make_study(self, study: Study) -> dict[str, str]:
        """Make the report of a study, and everything that it needs.

        An experiment that fails is left out; the others are kept.

        Returns:
            Why experiments are left out, by their names.

        Raises:
            TextcriticError: every experiment that compares samples failed; the line is that of the first.
        """
        failed: dict[str, str] = {}
        for name, experiment in study.experiments.items():
            try:
                self._make_section(experiment)
            except TextcriticError as error:
                failed[name] = str(error)
            except Exception as error:  # a fault of ours, or of somebody's function, is no reason to lose the rest
                log.exception("unexpected %s: %s", type(error).__name__, first_line(error))
                failed[name] = f"unexpected {type(error).__name__}; the traceback is in {LOG}"
        sections = {name: f"{one.folder}/section.html" for name, one in study.experiments.items() if name not in failed}
        if not any(study.experiments[name].sources() for name in sections):
            raise TextcriticError(next(iter(failed.values())))
        self._make_report(study, sections, failed)
        return failed

    def _make_section(self, experiment: Experiment) -> None:
        """Make tables, figures and section of an experiment."""
        tables, figures = f"{experiment.folder}/tables", f"{experiment.folder}/figures"
        needs, request = experiment.paths(), experiment.request()
        decided_by = " ".join([json.dumps(request, sort_keys=True), self._configured.stage("report")])
        standing = experiment.table_files(*experiment.tables)
        stage = STAGES.get(experiment.kind, experiment.kind)
        crossing, found, how = crossing_of(self._configured, experiment), [], self._configured.crossing
        if crossing is not None:
            self._run(crossing)
            found = list(crossing.makes)
        paired = how is None or how.how.paired
        make = partial(make_tables, request, tables, None, found[0] if found else None, paired)
        self._run(Job(stage, [*needs, *found], standing, f"{decided_by} {paired}", make))
        if experiment.standing_figures:
            read = experiment.table_files(*experiment.figures_read) if experiment.figures_read else []
            draw = partial(make_figures, request, tables, figures, self._configured.project.config.pdf_figures)
            self._run(Job(stage, [*needs, *read], [figures], decided_by, draw))
        html, facts = (f"{experiment.folder}/section.{suffix}" for suffix in ("html", "json"))
        drawn = experiment.figure_folders()
        write = partial(make_section, experiment.section_request(), tables, drawn, html, facts)
        self._run(Job(stage, [*needs, *standing, *drawn], [html, facts], decided_by, write))

    def _make_report(self, study: Study, sections: Mapping[str, str], failed: Mapping[str, str]) -> None:
        """Write the manifest and the page, which take no time."""
        self._say("report")
        folder = f"results/studies/{study.name}"
        record = self._configured.project.describe(study.name)
        record = record | {"experiments": [name for name in record["experiments"] if name in sections]}
        if failed:
            titled = {
                NAMES.get(name, STAGES.get(study.experiments[name].kind, name)): why for name, why in failed.items()
            }
            record["study"] = record["study"] | {"not_measured": record["study"].get("not_measured", {}) | titled}
        if notes := notes_of(self._configured.crossing, sections):
            record["study"] = record["study"] | {"notes": notes}
        artefacts = [path for name in sections for path in study.experiments[name].artefacts()]
        home = workflow_folder()
        make_manifest(record, artefacts, f"{folder}/manifest.json", [record["command"]], home)
        make_report(sections, f"{folder}/manifest.json", f"{folder}/report.html")

    def _run(self, job: Job) -> str:
        """Run a job if it is due; gives the mark of what it makes."""
        parts = [__version__, job.decided_by, *map(self._mark_of, job.needs)]
        mark = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
        if not all(self._made.get(path) == mark and os.path.lexists(path) for path in job.makes):
            self._say(job.stage)
            for path in job.makes:
                self._made.pop(path, None)
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            try:
                inputs = taken(job.needs)
                job.run()
                write_records(f"criticise: {job.stage}", job.makes, inputs)
            except TextcriticError as error:
                self._faults |= dict.fromkeys(job.makes, error)
                raise
            self._made |= dict.fromkeys(job.makes, mark)
            write_json(MADE, self._made)
        self._marks |= dict.fromkeys(job.makes, mark)
        return mark

    def _mark_of(self, path: str) -> str:
        """A mark that changes when a file changes. If a job makes the file, the job is run first."""
        if path in self._faults:
            raise self._faults[path]
        if path not in self._marks:
            job = job_for(path, self._configured)
            self._marks[path] = stamp_of([path]) if job is None else self._run(job)
        return self._marks[path]


def stamp_of(paths: Sequence[str]) -> str:
    """A mark that changes when one of the user's files changes.

    Raises:
        TextcriticError: a file cannot be read.
    """
    stamps = []
    for path in paths:
        try:
            about = Path(path).stat()
        except OSError as error:
            raise TextcriticError(f"{path}: cannot be read: {error.strerror or error}") from error
        stamps.append(f"{path} {about.st_size} {about.st_mtime_ns}")
    return " ".join(stamps)
