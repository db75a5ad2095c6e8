"""The command `textcritic plan`: what a study, a target or a file costs, before anything runs."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from textcritic.errors import TextcriticError
from textcritic.place import workflow_folder
from textcritic.plan.costs import disk
from textcritic.plan.costs.cards import USUAL, Card, card_named
from textcritic.plan.costs.measured import Node, measured_cost, node_of
from textcritic.plan.costs.planned import Plan, Planned, longest_chain, rows_of
from textcritic.plan.costs.sizes import Sizes
from textcritic.plan.costs.stages import RUNTIME, Cost, cost_of
from textcritic.plan.costs.units import Job
from textcritic.workflow.again import made_again
from textcritic.workflow.dag import Dag, SnakemakeJob
from textcritic.workflow.graph import Graph, graph_of
from textcritic.workflow.run import locked

log = logging.getLogger("textcritic")


def plan_of(
    words: Sequence[str],
    options: Sequence[str] = (),
    folder: Path | None = None,
    card: str | None = None,
    other_node: bool = False,
) -> Plan:
    """The plan of studies, targets or files, in a folder that may have some of them already.

    Args:
        words: names of studies, or targets and files; none: all that is configured.
        options: of Snakemake, e.g. `--profile NAME`.
        folder: the working directory; None: the present one.
        card: a kind of GPU; None: that of the calibration, else an A100.
        other_node: whether a calibration of another machine counts.

    Raises:
        TextcriticError: the study cannot be planned, or nothing makes what is asked for.
    """
    here = folder or Path.cwd()
    node = node_of(here, other_node)
    kind = _card(card, node)
    studies, targets = _sorted_words(words, here)
    with graph_of(targets, studies, options, here) as graph:
        return _planned(graph, node, kind)


def _card(name: str | None, node: Node) -> Card:
    card = card_named(name or node.card or USUAL)
    if node.operations and (name is None or card == card_named(node.card)):
        return replace(card, share=node.operations / card.peak, source=node.source)
    return card


def _sorted_words(words: Sequence[str], here: Path) -> tuple[list[str], list[str]]:
    """Studies to configure, and targets; the target of a study that has its whole name brings the study along."""
    places = [workflow_folder() / "config/studies", here / "config/studies", here / "studies"]
    names = {path.stem for place in places for path in place.glob("*.yaml")}
    studies = [word for word in words if word in names]
    targets = [word for word in words if word not in names]
    for name in sorted(names, key=len, reverse=True):
        full = f"{name.replace('-', '_')}_"
        brought = any(word.startswith(full) or f"results/studies/{name}/" in word for word in targets)
        if brought and not any(other.startswith(name) for other in studies):
            studies.append(name)
    return studies, targets


def _planned(graph: Graph, node: Node, card: Card) -> Plan:
    dag = graph.dag
    sizes = Sizes(graph.project.registries, graph.project.here)
    waiting = [job for job in dag.needrun_jobs() if not job.rule.norun and _does(job)]
    planned = {job: _job(job, graph, sizes, node, card) for job in waiting}
    needed = set(waiting)
    before = {job: _nearest(dag, job, needed) for job in waiting}
    chain = longest_chain(before, {job: one.cost.wall_seconds for job, one in planned.items()})
    guessed = sorted({one.name.split("/")[2] for one in planned.values() if one.guessed and "/" in one.name})
    notes = [f"size of a corpus guessed, as it is not built yet: {', '.join(guessed)}"] if guessed else []
    if locked(graph.project.here):
        notes.append("another run is at work here: what it has not finished counts as not there")
    return Plan(
        rows=rows_of(planned.values()),
        submissions=len({one.submission for one in planned.values()} - {None}),
        chain=[(planned[job].rule, planned[job].name, planned[job].cost.wall_seconds) for job in chain],
        there=sum(job not in needed and not job.rule.norun and _does(job) for job in dag.jobs),
        again=made_again(dag),
        left_out=graph.lines,
        card=f"{card.name}, {card.peak * card.share / 1e12:.0f} TFLOP/s ({card.source})",
        node=f"{node.cpu}: {node.source}",
        notes=notes,
    )


def _does(job: SnakemakeJob) -> bool:
    """Whether a job does any work: the job of a target does not."""
    return bool(job.output)


def _nearest(dag: Dag, job: SnakemakeJob, needed: set[SnakemakeJob]) -> list[SnakemakeJob]:
    return [other for other in dag.dependencies[job] if other in needed]


def _job(job: SnakemakeJob, graph: Graph, sizes: Sizes, node: Node, card: Card) -> Planned:
    wildcards = {name: str(value) for name, value in job.wildcards_dict.items()}
    about = Job(job.rule.name, wildcards, graph.project.registries, sizes)
    gpus, threads = _number(job, "gpu"), int(job.threads)
    outputs = [str(path) for path in job.output]
    cost = measured_cost(job.rule.name, outputs, job.params.items(), node, gpus) or _modelled(
        about, threads, gpus, node, card
    )
    audit = f", {wildcards['decoding']}" if about.decoding.get("stride") == 1 else ""
    return Planned(
        job.rule.name + audit,
        outputs[0],
        cost or _declared(job, threads, gpus),
        _number(job, "mem_mb"),
        disk.kept(about),
        _submission(job, graph),
        about.guessed,
    )


def _modelled(about: Job, threads: int, gpus: int, node: Node, card: Card) -> Cost | None:
    try:
        return cost_of(about, threads, gpus, card, node.core_factor)
    except (TextcriticError, LookupError, TypeError, ValueError) as error:  # an entry of a user's own kind
        log.debug("%s: not in the model of costs: %r", about.rule, error)
        return None


def _declared(job: SnakemakeJob, threads: int, gpus: int) -> Cost:
    """A rule that is not in the table takes what it declares."""
    seconds = 60.0 * (_number(job, "runtime") or 60)
    return Cost(seconds * threads, seconds * gpus, seconds, RUNTIME)


def _number(job: SnakemakeJob, resource: str) -> int:
    value = job.resources.get(resource)
    return int(value) if isinstance(value, int | float) else 0


def _submission(job: SnakemakeJob, graph: Graph) -> str | None:
    """How a job is submitted: jobs of one group together, local ones not at all."""
    if job.rule.name in graph.local and job.group is None:
        return None
    group = graph.dag._group.get(job)  # Snakemake tells it to its scheduler alone
    return f"group {group.jobid}" if group is not None else f"job {job.jobid}"
