"""The graph of jobs as Snakemake builds it: what is used of it."""

from collections.abc import Awaitable, Collection, Iterator, Mapping, Sequence, Set
from typing import Protocol


class Rule(Protocol):
    """A rule."""

    name: str
    norun: bool


class Output(Protocol):
    """A file that a job writes."""

    def exists(self) -> Awaitable[bool]:
        """Whether it is there."""


class SnakemakeJob(Protocol):
    """A job; `output` is empty of one that stands for a target."""

    rule: Rule
    output: Sequence[Output]
    params: Mapping[str, object]
    resources: Mapping[str, object]
    wildcards_dict: Mapping[str, str]
    threads: int
    group: str | None
    jobid: int


class Changes(Protocol):
    """Values of parameters that only the last run or only this one has, as text."""

    only_old: Collection[str]
    only_new: Collection[str]


class Reason(Protocol):
    """Why a job is run."""

    forced: bool
    params_changed: Changes | None
    input_changed: bool
    software_stack_changed: bool
    updated_input: Set[str]
    updated_input_run: Set[str]
    missing_output: Set[str]


class Workflow(Protocol):
    """What runs coroutines."""

    def async_run(self, coroutine: Awaitable[bool]) -> bool:
        """What it gives."""


class Dag(Protocol):
    """The graph."""

    jobs: Collection[SnakemakeJob]
    dependencies: Mapping[SnakemakeJob, Collection[SnakemakeJob]]
    workflow: Workflow
    _group: Mapping[SnakemakeJob, SnakemakeJob]

    def needrun_jobs(self) -> Iterator[SnakemakeJob]:
        """The jobs that are run."""

    def reason(self, job: SnakemakeJob) -> Reason:
        """Why one is."""
