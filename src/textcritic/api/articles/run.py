"""The command `textcritic criticise` on texts and articles: files in, tables and a report out."""

import gc
import os
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from textcritic.api.articles.configure import OWN, STUDY, Wanted, write_configuration
from textcritic.api.articles.decide import Compared, checked, say
from textcritic.api.crossed import how_of
from textcritic.api.options import CriticiseOptions
from textcritic.api.own import folder_of, metrics_of
from textcritic.errors import TextcriticError
from textcritic.experiments.metrics.files import Measured, MetricsFiles, RealText
from textcritic.experiments.metrics.plan import FROM_MEMORY
from textcritic.plan.project import Project
from textcritic.plan.spec import load_yaml
from textcritic.runlog import stages
from textcritic.workflow import alone, run_workflow, workflow_folder
from textcritic.workflow.calibrate import speed_of_a_core
from textcritic.workflow.demo import Cost

if TYPE_CHECKING:
    from textcritic.api.articles.jobs.job import Crossing

# Seconds of one core of the reference machine (`workflow.calibrate`), in this process.
SECONDS, SECONDS_A_SAMPLE, SECONDS_A_MILLION_WORDS, LONGEST_CHAIN = 9.0, 5.0, 60.0, 9.0
THRESHOLDS = " (thresholds: --minimum-title-count, --minimum-sections)"


def criticise(compared: Compared, options: CriticiseOptions) -> Path:
    """Compare the articles of some files with those of a reference; each file is a source.

    Checks every file, writes the configuration of the study into the folder, and makes it: in this process, or by the
    workflow, where there are models, titles are inferred, or it is asked for. Results of an earlier run that still fit
    are not made again. Decisions are reported on stderr.

    Args:
        compared: the files.
        options: see `CriticiseOptions`.

    Returns:
        The folder of the study's results, with report.html.

    Raises:
        TextcriticError: a fault of a file, named with its line; no title where an option needs one; the output folder
            has other files where the configuration goes; or a step failed, as stderr says.
    """
    wanted, _ = checked(compared, options)
    folder = compared.folder
    with _configured(folder, wanted) as lock:
        if _needs_workflow(wanted, options):
            _measure_here(folder, lock, options)
            run_workflow(folder, lock, *_arguments(folder, options), advice=THRESHOLDS)
        else:
            _make_here(folder, wanted, options)
    return folder / "results/studies" / STUDY


def jobs_of(compared: Compared, options: CriticiseOptions) -> str:
    """What `criticise` would do, and how long it takes; of the workflow the jobs by rule, on stderr.

    Only the configuration is written.

    Args:
        compared: as of `criticise`.
        options: likewise.

    Raises:
        TextcriticError: as `criticise`.
    """
    wanted, words = checked(compared, options)
    folder = compared.folder
    with _configured(folder, wanted) as lock:
        if not _needs_workflow(wanted, options):
            measures = ", ".join([*wanted.measures, *(name.rpartition(":")[2] for name in wanted.metrics)])
            return f"nothing was run: `textcritic criticise` would measure {measures}; {_time(folder, wanted, words)}"
        run_workflow(folder, lock, *_arguments(folder, options), "--dry-run")
    return f"nothing was run: above are the jobs that `textcritic criticise` would run; {_time(folder, wanted, words)}"


def _needs_workflow(wanted: Wanted, options: CriticiseOptions) -> bool:
    """Whether jobs train a model, or the workflow is asked for."""
    return options.workflow or bool(wanted.models) or (wanted.titled and not wanted.given)


def _make_here(folder: Path, wanted: Wanted, options: CriticiseOptions) -> None:
    """Make the study in this process."""
    from textcritic.api.articles.jobs.job import Configured
    from textcritic.api.articles.workshop import LOG, Workshop  # all critics

    own = metrics_of(options.metrics)
    here = {f"{FROM_MEMORY}:{metric.key}": metric for metric in own if folder_of(metric) is None}
    cores = options.workers or os.cpu_count() or 1
    with chdir(folder), _seldom_collected(), stages(folder / LOG, options.verbose) as say_stage:
        project = Project(load_yaml(folder / "config.yaml"), workflow_folder(), folder)
        try:
            configured = Configured(project, here, cores, _crossing(wanted, options))
            failed = Workshop(configured, say_stage).make_study(project.studies[STUDY])
        except TextcriticError as error:
            raise TextcriticError(f"{error}{THRESHOLDS * wanted.titled * str(error).startswith('corpus ')}") from error
    for name, why in failed.items():
        say(f"warning: {name}: not measured: {why}")


def _crossing(wanted: Wanted, options: CriticiseOptions) -> "Crossing | None":
    """How real text is judged by critics that have not seen it; None where one split is held out."""
    from textcritic.api.articles.jobs.job import Crossing

    return Crossing(how_of(options), options.splits) if wanted.crossed else None


@contextmanager
def _seldom_collected() -> Iterator[None]:
    """Collect garbage a hundred times less often: it took a tenth of the time, mostly to look at loaded packages."""
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(100 * before[0], *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()


def _measure_here(folder: Path, lock: int, options: CriticiseOptions) -> None:
    """Measure the documents of a study by functions that only this process has, as jobs could not import them."""
    own = metrics_of(options.metrics)
    here = {f"{FROM_MEMORY}:{metric.key}": metric for metric in own if folder_of(metric) is None}
    if not here:
        return
    project = Project(load_yaml(folder / "config.yaml"), workflow_folder(), folder)
    experiment = project.studies[STUDY].experiments.get(OWN)
    files = experiment.files() if experiment else None
    if not isinstance(files, MetricsFiles):
        return  # somebody took it out of the study
    from textcritic.critics.own import score_own  # pyarrow

    rejected = {sample.articles: sample.articles.with_suffix(".rejected.parquet") for sample in files.samples}
    sources: list[RealText | Measured] = [*files.data, *files.samples]
    targets = [str(path) for path in (*(source.articles for source in sources), *rejected.values())]
    run_workflow(folder, lock, *_arguments(folder, options), targets=targets, advice=THRESHOLDS)
    for source in sources:
        unread, train = rejected.get(source.articles), f"results/corpora/{source.corpus}/train.parquet"
        for name, place in zip(files.metrics, source.measured, strict=True):
            if name in here:
                score_own(
                    here[name], folder / source.articles, folder / place, unread and folder / unread, folder / train
                )


def _time(folder: Path, wanted: Wanted, words: int) -> str:
    """How long the jobs take, by a calibration of one second."""
    cores = len(os.sched_getaffinity(0))
    seconds_of_one = SECONDS + SECONDS_A_SAMPLE * len(wanted.samples) + SECONDS_A_MILLION_WORDS * words / 1e6
    cost = Cost(seconds_of_one, LONGEST_CHAIN)
    seconds = round(cost.seconds(cores, speed_of_a_core(cores)))
    most = "at most " if (folder / "results").is_dir() else ""  # an earlier run may have done part of it
    more = ["one or two minutes for the classifier of titles"] if wanted.titled and not wanted.given else []
    more += ["what the models take to train and to write, which is not known beforehand"] if wanted.models else []
    return " and ".join([f"{most}about {seconds} s (CPU cores: {cores}; by a calibration of one second)", *more])


def _arguments(folder: Path, options: CriticiseOptions) -> list[str]:
    """Of Snakemake."""
    return ["--configfile", str(folder / "config.yaml"), *(["--cores", str(options.cores)] if options.cores else [])]


@contextmanager
def _configured(folder: Path, wanted: Wanted) -> Iterator[int]:
    """Write the configuration of a study, and hold the lock of its folder, which is yielded."""
    with alone(folder) as lock:
        for kept in write_configuration(folder, wanted):
            say(f"{kept}: kept as you edited it; remove it to have it written again")
        Project(load_yaml(folder / "config.yaml"), workflow_folder(), folder)  # one clear line before anything runs
        say(f"results go to {folder}")
        yield lock
