"""The graph of jobs of a study, a target or a file, as Snakemake builds it: nothing is run, nothing is written."""

import logging
import os
import re
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from textcritic.errors import TextcriticError, first_line
from textcritic.place import workflow_folder
from textcritic.plan.project import Project
from textcritic.workflow.dag import Dag

Parsed = TypeVar("Parsed")


@dataclass(frozen=True, slots=True)
class Graph:
    """A plan as Snakemake has it.

    Args:
        dag: of Snakemake.
        project: the configuration that its rules read.
        local: names of rules whose jobs run where Snakemake does, and are not submitted.
        lines: what Snakemake says when it starts.
    """

    dag: Dag
    project: Project
    local: frozenset[str]
    lines: tuple[str, ...]


@contextmanager
def graph_of(
    targets: Sequence[str], studies: Sequence[str], options: Sequence[str] = (), folder: Path | None = None
) -> Iterator[Graph]:
    """Build the graph of what Snakemake would do; inside the block the working directory is `folder`.

    Args:
        targets: names of targets, or files; none: all that is configured.
        studies: to configure; none: those of the configuration.
        options: of Snakemake, e.g. `--profile NAME` or `--configfile FILE`.
        folder: the working directory; None: the present one.

    Raises:
        TextcriticError: the configuration has a fault, or nothing makes a target.
    """
    from snakemake.api import SnakemakeApi  # here: it takes a second
    from snakemake.cli import parse_args, parse_config
    from snakemake.settings import types as settings

    asked = [*options, "--config", f"studies={list(studies)!r}"] if studies else list(options)
    home = workflow_folder()
    command = ["--snakefile", home / "Snakefile", "--workflow-profile", "none", "--directory", folder or Path.cwd()]
    _, args = _parsed(parse_args, [*map(str, command), *asked])
    before = Path.cwd()
    quiet = settings.OutputSettings(dryrun=True, quiet=frozenset(settings.Quietness.all()))
    try:
        with SnakemakeApi(quiet) as api:
            logging.getLogger("snakemake.logging").disabled = True
            workflow_api = api.workflow(
                settings.ResourceSettings(
                    cores=1,
                    nodes=args.jobs,
                    resources=args.resources,
                    overwrite_resource_scopes=args.set_resource_scopes,
                    overwrite_resources=args.set_resources,
                    overwrite_threads=args.set_threads,
                    default_resources=args.default_resources,
                ),
                config_settings=settings.ConfigSettings(
                    config=parse_config(args.config),
                    configfiles=[_found(Path(path)) for path in args.configfile or ()],
                    config_args=args.config,
                ),
                snakefile=home / "Snakefile",
                workdir=args.directory,
            )
            dag_settings = settings.DAGSettings(
                targets=set(targets), rerun_triggers=args.rerun_triggers, force_incomplete=True
            )
            with redirect_stderr(StringIO()):  # the lines at the start are in `Graph.lines`
                workflow_api.dag(dag_settings)
                graph = _built(workflow_api._workflow, args, settings)  # Snakemake has no public way to it
            yield graph
    except TextcriticError:
        raise
    except Exception as error:
        if not type(error).__module__.startswith("snakemake"):
            raise
        raise TextcriticError(_in_a_line(error)) from error
    finally:
        logging.getLogger("snakemake.logging").disabled = False
        os.chdir(before)


def _built(workflow: Any, args: Namespace, settings: ModuleType) -> Graph:
    from snakemake.scheduling.greedy import SchedulerSettings  # noqa: F401  it registers settings that the graph needs
    from snakemake_interface_executor_plugins.registry import ExecutorPluginRegistry

    workflow._executor_plugin = ExecutorPluginRegistry().get_plugin("dryrun")
    workflow.execution_settings = settings.ExecutionSettings(lock=False)
    workflow.remote_execution_settings = settings.RemoteExecutionSettings()
    workflow.scheduling_settings = settings.SchedulingSettings()
    workflow.group_settings = settings.GroupSettings(
        overwrite_groups=args.groups, group_components=args.group_components
    )
    workflow._prepare_dag(forceall=False, ignore_incomplete=False, lock_warn_only=True, nolock=True)
    workflow._build_dag()
    workflow.async_run(workflow.dag.postprocess(update_needrun=False, check_initial=True))
    local = frozenset(rule.name for rule in workflow.rules if rule.norun or rule.name in workflow._localrules)
    project: Project = workflow.globals["project"]
    return Graph(workflow.dag, project, local, tuple(project.said_at_start()))


def _found(path: Path) -> Path:
    """A configuration file, or the package's own of that name, which its profile names."""
    own = workflow_folder() / path
    if not path.is_file() and not own.is_file():
        raise TextcriticError(f"{path}: no such file")
    return path if path.is_file() else own


def _parsed(parse: Callable[[list[str]], Parsed], arguments: list[str]) -> Parsed:
    try:
        with redirect_stderr(StringIO()):  # it says which profile it reads
            return parse(arguments)
    except SystemExit as error:
        raise TextcriticError("snakemake does not know an option of the profile; is its plugin installed?") from error
    except Exception as error:
        raise TextcriticError(_in_a_line(error)) from error


def _in_a_line(error: BaseException) -> str:
    """What Snakemake's error says, without where in the Snakefile it was raised."""
    text = " ".join(str(error).split()) or type(error).__name__
    missing = re.search(r"No rule to produce (\S+)", text)
    if missing:
        return f"there is no target, and no rule makes a file, {missing[1]!r}; `snakemake --list` names targets"
    return first_line(error) if len(text) > 600 else text
