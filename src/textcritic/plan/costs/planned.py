"""A plan: jobs by rule, what they cost, what is there already, and the longest chain of them."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from graphlib import TopologicalSorter
from typing import TypeVar

from textcritic.plan.costs.stages import Cost
from textcritic.values import JsonObject

Node = TypeVar("Node")
MARK = "arithmetic, never checked"


@dataclass(frozen=True, slots=True)
class Planned:
    """A job that would run.

    Args:
        rule: its name.
        name: one of its files, or the rule.
        cost: what it takes.
        memory_mb: that it asks for; 0 if not said.
        disk: bytes of what it writes and keeps.
        submission: what it is submitted as: of one group one; None if it is not submitted.
        guessed: whether the size of its corpus is a guess.
    """

    rule: str
    name: str
    cost: Cost
    memory_mb: int
    disk: float
    submission: str | None
    guessed: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """The jobs of a rule together; seconds of cores, cards and the longest of them; how many rest on what."""

    rule: str
    jobs: int
    submissions: int
    gpu_seconds: float
    core_seconds: float
    longest_seconds: float
    memory_mb: int
    disk: float
    bases: Mapping[str, int]


@dataclass(frozen=True)
class Plan:
    """What a study, a target or a file takes.

    Args:
        rows: by rule, the costliest first.
        submissions: jobs that a scheduler sees.
        chain: the longest chain: rule, name and seconds of each of its jobs.
        there: jobs whose results are there already.
        again: what would be made again, and why: one line a cause.
        left_out: what cannot be made: one line a cause.
        card: that GPU-hours are for.
        node: that core-hours are for, in words.
        notes: what else is to be known.
    """

    rows: Sequence[Row]
    submissions: int
    chain: Sequence[tuple[str, str, float]]
    there: int
    again: Sequence[str]
    left_out: Sequence[str]
    card: str
    node: str
    notes: Sequence[str] = field(default=())

    @property
    def jobs(self) -> int:
        """That would run."""
        return sum(row.jobs for row in self.rows)

    @property
    def gpu_seconds(self) -> float:
        """Of all cards together."""
        return sum(row.gpu_seconds for row in self.rows)

    @property
    def core_seconds(self) -> float:
        """Of all cores together."""
        return sum(row.core_seconds for row in self.rows)

    @property
    def chain_seconds(self) -> float:
        """The least time on the clock, with as many cards and cores as the jobs ask for, and no queue."""
        return sum(seconds for _, _, seconds in self.chain)

    @property
    def memory_mb(self) -> int:
        """Of the job that asks for most."""
        return max((row.memory_mb for row in self.rows), default=0)

    @property
    def disk(self) -> float:
        """Bytes of all results."""
        return sum(row.disk for row in self.rows)

    def as_json(self) -> JsonObject:
        """All of it, with sums; numbers in seconds, megabytes and bytes."""
        return {
            "jobs": self.jobs,
            "submissions": self.submissions,
            "gpu_seconds": round(self.gpu_seconds, 1),
            "gpu_basis": MARK,
            "core_seconds": round(self.core_seconds, 1),
            "disk_bytes": round(self.disk),
            "memory_mb": self.memory_mb,
            "least_seconds": round(self.chain_seconds, 1),
            "chain": [{"rule": rule, "file": name, "seconds": round(seconds, 1)} for rule, name, seconds in self.chain],
            "there": self.there,
            "made_again": list(self.again),
            "left_out": list(self.left_out),
            "card": self.card,
            "node": self.node,
            "notes": list(self.notes),
            "rules": [asdict(row) for row in self.rows],
        }


def rows_of(jobs: Iterable[Planned]) -> list[Row]:
    """Jobs by rule, those first that take most, a GPU-second counting before core-seconds."""
    by_rule: dict[str, list[Planned]] = defaultdict(list)
    for job in jobs:
        by_rule[job.rule].append(job)
    rows = [
        Row(
            rule,
            len(of),
            len({job.submission for job in of} - {None}),
            sum(job.cost.gpu_seconds for job in of),
            sum(job.cost.core_seconds for job in of),
            max(job.cost.wall_seconds for job in of),
            max(job.memory_mb for job in of),
            sum(job.disk for job in of),
            dict(Counter(job.cost.basis for job in of)),
        )
        for rule, of in by_rule.items()
    ]
    return sorted(rows, key=lambda row: (-row.gpu_seconds, -row.core_seconds, row.rule))


def longest_chain(before: Mapping[Node, Iterable[Node]], seconds: Mapping[Node, float]) -> list[Node]:
    """The chain of nodes, each after one that it waits for, whose seconds add up to most.

    Args:
        before: of each node, those that it waits for; one that is in no `before` stands for nothing.
        seconds: of each node; others take none.
    """
    best: dict[Node, float] = {}
    last: dict[Node, Node | None] = {}
    for node in TopologicalSorter(before).static_order():
        previous = max(before.get(node, ()), key=lambda one: best[one], default=None)
        last[node] = previous
        best[node] = seconds.get(node, 0.0) + (best[previous] if previous is not None else 0.0)
    chain: list[Node] = []
    at: Node | None = max(best, key=lambda one: best[one], default=None)
    while at is not None:
        chain.append(at)
        at = last[at]
    return chain[::-1]


def counted(rows: Iterable[Row], basis: str) -> int:
    """Jobs whose cost rests on this."""
    return sum(row.bases.get(basis, 0) for row in rows)
