"""A plan as people read it."""

from collections.abc import Iterator, Sequence
from textwrap import wrap

from textcritic.plan.costs.planned import MARK, Plan, Row
from textcritic.plan.costs.stages import MEASURED, RUNTIME
from textcritic.runlog import duration

MOST_RULES = 14
NAME = 28  # characters of the name of a rule


def table_of(plan: Plan, width: int, every: bool = False) -> str:
    """Sums, the costliest rules, the longest chain, what is made again, what cannot be made.

    Args:
        plan: it.
        width: of a line, in characters.
        every: whether all rules are shown.
    """
    parts = [_sums(plan, width), _rules(plan.rows, None if every else MOST_RULES), _chain(plan, width)]
    return "\n\n".join(text for part in (*parts, _causes(plan, width)) if (text := "\n".join(part)))


def _sums(plan: Plan, width: int) -> Iterator[str]:
    if not plan.rows:
        yield f"nothing to do: all {plan.there:,} jobs have been done"
        return
    yield f"{plan.jobs:,} jobs in {plan.submissions:,} submissions; {plan.there:,} have been done already"
    largest = max(plan.rows, key=lambda row: row.memory_mb)
    gpu = f"{hours(plan.gpu_seconds)} of {plan.card}: {MARK}" if plan.gpu_seconds else "none"
    for name, value in (
        ("GPU-hours", gpu),
        ("core-hours", f"{hours(plan.core_seconds)} ({plan.node})"),
        ("disk", size(plan.disk)),
        ("largest job", f"{largest.memory_mb / 1000:.0f} GB of memory ({largest.rule})"),
        (
            "least time",
            f"{duration(plan.chain_seconds)}, a chain of {len(plan.chain)} jobs, without waiting in a queue",
        ),
    ):
        yield from wrap(value, width, initial_indent=f"  {name:12} ", subsequent_indent=" " * 15)


def _rules(rows: Sequence[Row], most: int | None) -> Iterator[str]:
    if not rows:
        return
    yield f"{'rule':{NAME}} {'jobs':>5} {'sent':>5} {'GPU-h':>7} {'core-h':>7} {'longest':>10}  from"
    for row in rows[:most]:
        yield (
            f"{row.rule[:NAME]:{NAME}} {row.jobs:5,} {row.submissions:5,} {hours(row.gpu_seconds) or '-':>7}"
            f" {hours(row.core_seconds):>7} {_short(row.longest_seconds):>10}  {_basis(row)}"
        )
    rest = rows[most:] if most else []
    if rest:
        gpu, core = (sum(getattr(row, key) for row in rest) for key in ("gpu_seconds", "core_seconds"))
        yield (
            f"{f'{len(rest)} other rules (--all)':{NAME}} {sum(row.jobs for row in rest):5,}"
            f" {'':5} {hours(gpu) or '-':>7} {hours(core):>7}"
        )


def _basis(row: Row) -> str:
    if set(row.bases) == {MEASURED}:
        return "measured"
    known = [f"{row.bases[MEASURED]} measured"] if row.bases.get(MEASURED) else []
    return ", ".join([*known, *(["its runtime"] if row.bases.get(RUNTIME) else ["model"])])


def _chain(plan: Plan, width: int) -> Iterator[str]:
    if not plan.chain:
        return
    yield "the longest chain:"
    for rule, name, seconds in plan.chain:
        line = f"{_short(seconds):>12}  {rule[:NAME]:{NAME}} {'/'.join(name.split('/')[2:])}"
        yield line if len(line) <= width else f"{line[: width - 3]}..."


def _causes(plan: Plan, width: int) -> Iterator[str]:
    for title, lines in (("made again:", plan.again), ("left out:", plan.left_out), ("note:", plan.notes)):
        if lines:
            yield title
        for line in lines:
            yield from wrap(line, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False)


def hours(seconds: float) -> str:
    """Hours in three figures or fewer; nothing for none."""
    if not seconds:
        return ""
    number = seconds / 3600
    return f"{number:,.0f}" if number >= 10 else f"{number:.1f}" if number >= 0.1 else f"{number:.3f}"


def size(number: float) -> str:
    """Bytes in words."""
    return f"{number / 1e9:,.0f} GB" if number >= 1e10 else f"{number / 1e6:,.0f} MB"


def _short(seconds: float) -> str:
    days, rest = divmod(round(seconds), 86400)
    return f"{days} d {rest // 3600} h" if days else duration(seconds)
