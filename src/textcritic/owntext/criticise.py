"""The command `textcritic criticise`: two or more files of articles in, the coherence table and a report out."""

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from textcritic.errors import TextcriticError
from textcritic.owntext.configure import STUDY, Wanted, corpus_template, write_configuration
from textcritic.owntext.files import Outline, outlines
from textcritic.plan.project import Project
from textcritic.plan.spec import load_yaml
from textcritic.report.show import show_study
from textcritic.workflow import alone, run_workflow, workflow_folder

TitlesMode = Literal["given", "inferred"]
# A title is rare if it has fewer than one section in so many articles; the limit is at most that of the registry.
ARTICLES_PER_TITLE = 50
THRESHOLDS = " (thresholds: --minimum-title-count, --minimum-sections)"


def criticise(
    reference: str | os.PathLike[str],
    samples: Sequence[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    titles: TitlesMode | None = None,
    minimum_title_count: int | None = None,
    minimum_sections: int | None = None,
    cores: int | None = None,
) -> str:
    """Compare the articles of some files with those of a reference; each file is a source.

    Checks every file, writes the configuration of the study into `output`, and runs the workflow on it; results of an
    earlier run that still fit are not made again. Decisions are reported on stderr.

    Args:
        reference: real articles (`corpora.given_articles`); the critic is fitted on part of them.
        samples: files of articles to compare, the same format; titles may be left out.
        output: folder for configuration and results.
        titles: whether the titles of samples are given or inferred; None: given, if every section has one.
        minimum_title_count: see the corpora registry; None: that of the entry `my-articles`, or a fiftieth of the
            number of articles (at least 2) if that is less.
        minimum_sections: fewest sections of an article of the reference; None: that of the entry `my-articles`.
        cores: CPU cores; None: all.

    Returns:
        The table, and the path of the report.

    Raises:
        TextcriticError: a fault of a file, named with its line; no title where one is needed; the output folder has
            other files where the configuration goes; or a step of the workflow failed, as stderr says.
    """
    folder = Path(output).expanduser().resolve()
    real, *drawn = outlines([reference, *samples], corpus_template()["titles"])
    _check_reference(real)
    mode = _mode(drawn, titles)
    wanted = Wanted(
        reference=real.path,
        samples=tuple(outline.path for outline in drawn),
        given=mode == "given",
        minimum_title_count=_title_count(real, minimum_title_count),
        minimum_sections=minimum_sections,
        command=shlex.join(_command(real, drawn, folder, titles, minimum_title_count, minimum_sections)),
    )
    with alone(folder) as lock:
        for kept in write_configuration(folder, wanted):
            _say(f"{kept}: kept as you edited it; remove it to have it written anew")
        Project(load_yaml(folder / "config.yaml"), workflow_folder(), folder)  # one clear line before anything runs
        _say(f"results go to {folder}")
        options = ["--configfile", str(folder / "config.yaml"), *(["--cores", str(cores)] if cores else [])]
        run_workflow(folder, lock, *options, advice=THRESHOLDS)
    return show_study(folder / "results/studies" / STUDY)


def _check_reference(real: Outline) -> None:
    if not real.titled:
        raise TextcriticError(
            f"{real.path}: no article has a title on every section; the critic is fitted on titles, so give every"
            ' section of the reference one: {"title": ..., "text": ...}'
        )
    if real.titled < real.articles:
        _say(f"{real.path.name}: {real.articles - real.titled:,} of {real.articles:,} articles lack a title: left out")


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


def _command(
    real: Outline,
    drawn: Sequence[Outline],
    folder: Path,
    titles: str | None,
    title_count: int | None,
    sections: int | None,
) -> list[str]:
    """The command line that makes the study again, from any folder."""
    options: dict[str, Any] = {"titles": titles, "minimum-title-count": title_count, "minimum-sections": sections}
    words = [str(part) for name, value in options.items() if value is not None for part in (f"--{name}", value)]
    files = [str(outline.path) for outline in (real, *drawn)]
    script = Path(sys.executable).with_name("textcritic")  # with `make` it is not on the PATH
    return [str(script) if script.is_file() else script.name, "criticise", *files, "--output", str(folder), *words]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
