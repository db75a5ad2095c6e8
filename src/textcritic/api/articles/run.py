"""The command `textcritic criticise`: two or more files of articles in, tables and a report out."""

import os
import shlex
import sys
import sysconfig
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from textcritic.api.articles.configure import (
    OWN,
    STUDY,
    Wanted,
    corpus_template,
    labels_of,
    recorded_commits,
    write_configuration,
)
from textcritic.api.articles.files import Outline, outlines
from textcritic.api.articles.models import OPENING, Drawing, models_of
from textcritic.api.options import ArticleOptions
from textcritic.api.own import folder_of, metrics_of
from textcritic.errors import TextcriticError
from textcritic.experiments.metrics.files import Measured, MetricsFiles, RealText
from textcritic.experiments.metrics.plan import FROM_MEMORY
from textcritic.plan.project import Project
from textcritic.plan.spec import load_yaml
from textcritic.workflow import alone, run_workflow, workflow_folder
from textcritic.workflow.calibrate import speed_of_a_core
from textcritic.workflow.demo import Cost

TitlesMode = Literal["given", "inferred"]
# A title is rare if it has fewer than one section in so many articles; the limit is at most that of the registry.
ARTICLES_PER_TITLE = 50
# Seconds of one core of the reference machine (`workflow.calibrate`), fitted to four runs (docs/results.md), of which
# they say 13, 15, 21 and 24 s where the clock said 11, 15, 23 and 22.
SECONDS, SECONDS_A_SAMPLE, SECONDS_A_MILLION_WORDS, LONGEST_CHAIN = 14.0, 6.0, 17.0, 13.0
MAX_TOKENS = 20_000  # of an article that is drawn, as in the decoding `ancestral`
# The share of a sample's articles that need a title on every section, for titles to be given; the others are left out.
MOSTLY_TITLED = 0.9
THRESHOLDS = " (thresholds: --minimum-title-count, --minimum-sections)"


def criticise(
    reference: str | os.PathLike[str],
    samples: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: ArticleOptions,
    labels: Sequence[str] | None = None,
) -> Path:
    """Compare the articles of some files with those of a reference; each file is a source.

    Checks every file, writes the configuration of the study into `output`, and runs the workflow on it; results of an
    earlier run that still fit are not made again. Decisions are reported on stderr.

    Args:
        reference: real articles (`corpora.given_articles`); the critic is fitted on part of them. Without titles the
            statistical tendencies of their text alone are compared, and no critic is fitted.
        samples: files of articles to compare, the same format; titles may be left out.
        output: folder for configuration and results.
        options: see `ArticleOptions`.
        labels: what the report calls each file of samples; None: its name.

    Returns:
        The folder of the study's results, with report.html.

    Raises:
        TextcriticError: a fault of a file, named with its line; no title where an option needs one; the output folder
            has other files where the configuration goes; or a step of the workflow failed, as stderr says.
    """
    folder, wanted, _ = _checked(reference, samples, output, options, labels)
    with _configured(folder, wanted) as lock:
        _measure_here(folder, lock, options)
        run_workflow(folder, lock, *_arguments(folder, options), advice=THRESHOLDS)
    return folder / "results/studies" / STUDY


def jobs_of(
    reference: str | os.PathLike[str],
    samples: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: ArticleOptions,
) -> str:
    """What `criticise` would do: jobs by rule, on stderr, and how long they take. Only the configuration is written.

    Args:
        reference: as of `criticise`.
        samples: likewise.
        output: likewise.
        options: likewise.

    Raises:
        TextcriticError: as `criticise`.
    """
    folder, wanted, words = _checked(reference, samples, output, options)
    with _configured(folder, wanted) as lock:
        run_workflow(folder, lock, *_arguments(folder, options), "--dry-run")
    return f"nothing was run: above are the jobs that `textcritic criticise` would run; {_time(folder, wanted, words)}"


def _measure_here(folder: Path, lock: int, options: ArticleOptions) -> None:
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
        unread = rejected.get(source.articles)
        for name, place in zip(files.metrics, source.measured, strict=True):
            if name in here:
                score_own(here[name], folder / source.articles, folder / place, unread and folder / unread)


def _time(folder: Path, wanted: Wanted, words: int) -> str:
    """How long the jobs take, by a calibration of one second."""
    cores = len(os.sched_getaffinity(0))
    seconds_of_one = SECONDS + SECONDS_A_SAMPLE * len(wanted.labels) + SECONDS_A_MILLION_WORDS * words / 1e6
    cost = Cost(seconds_of_one, LONGEST_CHAIN)
    seconds = round(cost.seconds(cores, speed_of_a_core(cores)))
    most = "at most " if (folder / "results").is_dir() else ""  # an earlier run may have done part of it
    more = ["one or two minutes for the classifier of titles"] if wanted.titled and not wanted.given else []
    more += ["what the models take to train and to write, which is not known beforehand"] if wanted.models else []
    return " and ".join([f"{most}about {seconds} s (CPU cores: {cores}; by a calibration of one second)", *more])


def _arguments(folder: Path, options: ArticleOptions) -> list[str]:
    """Of Snakemake."""
    return ["--configfile", str(folder / "config.yaml"), *(["--cores", str(options.cores)] if options.cores else [])]


@contextmanager
def _configured(folder: Path, wanted: Wanted) -> Iterator[int]:
    """Write the configuration of a study, and hold the lock of its folder, which is yielded."""
    with alone(folder) as lock:
        for kept in write_configuration(folder, wanted):
            _say(f"{kept}: kept as you edited it; remove it to have it written anew")
        Project(load_yaml(folder / "config.yaml"), workflow_folder(), folder)  # one clear line before anything runs
        _say(f"results go to {folder}")
        yield lock


def _checked(
    reference: str | os.PathLike[str],
    samples: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    options: ArticleOptions,
    labels: Sequence[str] | None = None,
) -> tuple[Path, Wanted, int]:
    """The folder, what is compared and how, and the words of all files; see `criticise`."""
    folder = Path(output).expanduser().resolve()
    real, *drawn = outlines([reference, *samples], corpus_template()["titles"])
    titled = _titled(real, options)
    given = titled and _given(drawn, options)
    for outline in drawn:
        if copied := outline.copies_of(real):
            _say(
                f"warning: {copied:,} of {outline.articles:,} articles of {outline.path.name} are copies of articles in"
                f" {real.path.name}, from which the critic learns: they look better than they are"
            )
    own = {metric: folder_of(metric) for metric in metrics_of(options.metrics)}
    wanted = Wanted(
        reference=real.path,
        samples=tuple(outline.path for outline in drawn),
        labels=tuple(labels or labels_of([outline.path for outline in drawn])),
        given=given,
        minimum_title_count=_title_count(real, options.minimum_title_count) if titled else 1,
        minimum_sections=options.minimum_sections,
        command=shlex.join(_command(real, drawn, folder, options)),
        models=tuple(models_of(options.models, recorded_commits(folder))),
        drawing=_drawing(real, options, titled and (given or bool(options.fine_tune))) if options.models else None,
        titled=titled,
        metrics=tuple(metric.name if place else f"{FROM_MEMORY}:{metric.key}" for metric, place in own.items()),
        metric_folders=tuple(dict.fromkeys(str(place) for place in own.values() if place)),
    )
    return folder, wanted, sum(outline.words for outline in (real, *drawn))


def _titled(real: Outline, options: ArticleOptions) -> bool:
    """Whether articles of the reference have titles; reported on stderr where all or some have none.

    Raises:
        TextcriticError: none has, and an option is about titles.
    """
    if not real.titled:
        bare = f"{real.path}: no article has a title on every section"
        about = {"--titles": options.titles, "--minimum-title-count": options.minimum_title_count}
        if asked := [
            name for name, value in (about | {"--minimum-sections": options.minimum_sections}).items() if value
        ]:
            raise TextcriticError(
                f"{bare}, which {' and '.join(asked)} would need; give every section of the reference one:"
                ' {"title": ..., "text": ...}'
            )
        _say(
            f"{bare}, so that statistical tendencies of the text alone are compared; with titles in the reference,"
            ' {"title": ..., "text": ...}, the order of sections is judged too'
        )
    elif real.titled < real.articles:
        _say(f"{real.path.name}: {real.articles - real.titled:,} of {real.articles:,} articles lack a title: left out")
    return bool(real.titled)


def _given(drawn: Sequence[Outline], options: ArticleOptions) -> bool:
    """Whether titles are given; models as they are write none, so that they are inferred unless asked otherwise."""
    if options.models and not options.fine_tune and options.titles is None:
        _say(
            "titles: inferred, as models that are not fine-tuned on the reference write none (--titles given asks for"
            " them)"
        )
        return False
    return _mode(drawn, options.titles) == "given"


def _drawing(real: Outline, options: ArticleOptions, titles: bool) -> Drawing:
    """How samples are drawn from models; reported on stderr."""
    most = options.max_tokens or min(MAX_TOKENS, 2 * real.longest)
    _say(f"models: {options.articles:,} articles from each, of {most:,} tokens at most; longer ones are rejected")
    if not options.fine_tune:
        _say(
            f"models: as they are; each article goes on from the first {OPENING} tokens of a real one, and a blank line"
            " ends a section (--fine-tune EPOCHS trains them on the reference first)"
        )
    return Drawing(options.fine_tune, options.articles, most, titles, options.cores or os.cpu_count() or 1)


def _mode(drawn: Sequence[Outline], titles: TitlesMode | None) -> TitlesMode:
    """Whether titles are given or inferred; reported on stderr with the reason."""
    bare = [outline for outline in drawn if outline.untitled]
    lacking = ", ".join(f"{o.untitled:,} of {o.sections:,} sections of {o.path.name}" for o in bare)
    if titles == "given":
        if none := next((outline for outline in drawn if not outline.titled), None):
            raise TextcriticError(f"{none.path}: no article has a title on every section; --titles inferred finds them")
        _say("titles: given, as asked" + (f"; articles with an untitled section are rejected ({lacking})" * bool(bare)))
        return "given"
    if titles is None and not bare:
        _say("titles: given, every section of the samples has one; nothing is inferred")
        return "given"
    if titles is None and all(outline.titled >= MOSTLY_TITLED * outline.articles for outline in drawn):
        _say(f"titles: given; articles with an untitled section are left out ({lacking}; --titles inferred infers all)")
        return "given"
    why = "as asked" if titles else f"{lacking} have none (--titles given uses the others)"
    _say(f"titles: inferred for all samples by a classifier trained on the reference; {why}")
    return "inferred"


def _title_count(real: Outline, asked: int | None) -> int:
    usual: int = corpus_template()["sections"]["minimum_title_count"]
    count = asked or min(usual, max(2, real.articles // ARTICLES_PER_TITLE))
    why = "as asked" if asked else f"--minimum-title-count changes it; {usual} from {usual * ARTICLES_PER_TITLE} on"
    rare = f"those with a title on fewer than {count} training sections are left out"
    _say(f"{real.path.name}: {real.articles:,} articles; {rare} ({why})")
    return count


def _command(real: Outline, drawn: Sequence[Outline], folder: Path, options: ArticleOptions) -> list[str]:
    """The command line that makes the study again, from any folder."""
    names = ["titles", "minimum_title_count", "minimum_sections"]
    if options.models:
        names += ["fine_tune", "articles", "max_tokens"]
    given = {name.replace("_", "-"): getattr(options, name) for name in names}
    words = [str(part) for name, value in given.items() if value is not None for part in (f"--{name}", value)]
    for model in options.models:
        local = Path(model).expanduser().absolute()
        words += ["--model", str(local) if local.is_dir() else model]
    for metric in metrics_of(options.metrics):
        module = metric.name.partition(":")[0]
        if place := folder_of(metric):
            words += ["--metric", metric.name if "." in module else f"{place / module}.py:{metric.key}"]
    files = [str(outline.path) for outline in (real, *drawn)]
    # With `make` it is not on the PATH. Not beside `sys.executable`, which forked processes have in another place.
    script = Path(sysconfig.get_path("scripts")) / "textcritic"
    return [str(script) if script.is_file() else script.name, "criticise", *files, "--output", str(folder), *words]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
