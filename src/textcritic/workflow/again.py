"""Files that exist and that a run will make again, and why: reported before the first job starts."""

import json
from ast import literal_eval
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress

from textcritic.digests import code_version, record_of
from textcritic.workflow.dag import Changes, Dag, Reason, SnakemakeJob

MOST_NAMED = 3  # files or keys in one line


def made_again(dag: Dag) -> list[str]:
    """Lines for the user, one for each rule and cause; none where everything is made for the first time.

    Args:
        dag: of Snakemake, with the reason of each job.
    """
    causes: Counter[tuple[str, str]] = Counter()
    following, kept = Counter[str](), 0
    waiting = set(dag.needrun_jobs())
    for job in dag.jobs:
        there = [str(path) for path in job.output if dag.workflow.async_run(path.exists())]
        if job not in waiting:
            kept += any(_by_other_code(path) for path in there)
        elif there:
            cause = _cause(job, dag.reason(job))
            causes[job.rule.name, cause] += 1 if cause else 0
            following[job.rule.name] += 0 if cause else 1
    lines = [f"made again: {rule} ({_jobs(n)}): {cause}" for (rule, cause), n in sorted(causes.items()) if n]
    if following := +following:
        lines.append(f"made again because of these: {_jobs(following.total())} of {_listed(sorted(following))}")
    if kept:
        lines.append(
            f"kept, though other code of textcritic made it: what {_jobs(kept)} wrote; see `textcritic verify`"
        )
    return lines


def _cause(job: SnakemakeJob, reason: Reason) -> str:
    """Why a job is run, in words; nothing if it only runs because another job runs."""
    if reason.forced:
        return "you asked for it (-R, -F, -f), or its last run did not end"
    if reason.params_changed:
        return "; ".join(_changes(job, reason.params_changed)) or "its parameters changed"
    if reason.input_changed:
        return "it is made of other files than before"
    if reason.software_stack_changed:
        return "its environment file changed"
    if newer := sorted(map(str, reason.updated_input - reason.updated_input_run)):
        return f"newer than what was made from it: {_listed(newer)}"
    if missing := sorted(map(str, reason.missing_output)):
        return f"a part of it is missing: {_listed(missing)}"
    return ""


def _changes(job: SnakemakeJob, change: Changes) -> Iterator[str]:
    """What changed in a job's parameters; Snakemake gives the values that are only old or only new, without names."""
    old, new = ([_value(text) for text in sorted(texts)] for texts in (change.only_old, change.only_new))
    for name, value in sorted(job.params.items()):
        if name == "version" and value in new:
            before = [one for one in old if isinstance(one, int)]
            yield f"the version of its stage is {value}" + f", and was {before[0]}" * (len(before) == 1)
    entries = [[one for one in values if isinstance(one, dict)] for values in (old, new)]
    for before, now in zip(*entries, strict=False):
        keys = sorted(key for key in {*before, *now} if before.get(key) != now.get(key))
        yield f"its configuration changed ({_listed(keys)})"


def _value(text: str) -> object:
    """A parameter as it was before Snakemake recorded its Python form; ours are numbers, and strings with JSON."""
    value: object = text
    with suppress(ValueError, SyntaxError):
        value = literal_eval(text)
    with suppress(ValueError):
        return json.loads(value) if isinstance(value, str) else value
    return value


def _by_other_code(path: str) -> bool:
    known = record_of(path)
    return known is not None and known[1]["code"] != code_version()


def _jobs(count: int) -> str:
    return f"{count} job" + "s" * (count != 1)


def _listed(names: Iterable[str]) -> str:
    first, more = [*names][:MOST_NAMED], len([*names]) - MOST_NAMED
    return ", ".join(first) + f" and {more} more" * (more > 0)
