"""Whether the files of a study are still what its jobs wrote, and whether this code made them."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from textcritic.digests import FOLDER, FileRecord, Record, code_version, difference, digest_of, record_of, sha256
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.measures.numbers import plural
from textcritic.report.show import study_in
from textcritic.values import JsonObject

STUDIES = ("results", "studies")
TEMPORARY = "shards"  # part of the path of every output that rules call temp(): Snakemake removes these itself

MOST_JOBS = 5  # in one line


@dataclass(slots=True)
class Verified:
    """What was compared.

    Attributes:
        study: its folder.
        files: files whose bytes were compared.
        unknown: files without a recorded digest: a user's large ones, and those that older versions made.
        differences: what is wrong with a file, by its path relative to the folder that has `results`.
        jobs: jobs whose files have changed since: rules of the workflow, or stages of `criticise`.
        other_code: jobs that ran with another version of the code, by that version.
    """

    study: Path
    files: set[str] = field(default_factory=set)
    unknown: int = 0
    differences: dict[str, str] = field(default_factory=dict)
    jobs: set[str] = field(default_factory=set)
    other_code: dict[str, set[str]] = field(default_factory=dict)

    def lines(self) -> list[str]:
        """The result as lines of text, the counts last."""
        lines = [f"{path}: {what}" for path, what in sorted(self.differences.items())]
        for code, jobs in sorted(self.other_code.items()):
            first, more = sorted(jobs)[:MOST_JOBS], len(jobs) - MOST_JOBS
            named = ", ".join(first) + f" and {more} more" * (more > 0)
            lines.append(f"made by other code ({code}; this is {code_version()}): {named}")
        if rules := sorted(filter(str.isidentifier, self.jobs)):
            lines.append(f"to make them again: snakemake --cores all -R {' '.join(rules)}")
        if len(rules) < len(self.jobs):
            lines.append("to make them again: delete the files that differ, and repeat the same command `criticise`")
        if self.unknown:
            lines.append(f"{plural(self.unknown, 'file')} not compared: no digest was recorded")
        return [
            *lines,
            f"{plural(len(self.files), 'file')} compared with their digests, {len(self.differences)} differ",
        ]

    def as_json(self) -> JsonObject:
        """The same as JSON values."""
        other = {code: sorted(jobs) for code, jobs in sorted(self.other_code.items())}
        counts = {"files": len(self.files), "not_compared": self.unknown}
        return {"study": str(self.study), **counts, "differences": self.differences, "other_code": other}


def verify_study(folder: str | os.PathLike[str]) -> Verified:
    """Compare every file of a study, and every file that these were made from, with its recorded digest.

    The digests are those that jobs recorded (`digests`); for files without one, those of manifest.json. Each file is
    read in full.

    Args:
        folder: `results/studies/{study}`, or a folder with such a study and no other.

    Raises:
        TextcriticError: it is no folder of a study, it has no recorded digest, or a record is damaged.
    """
    study = study_in(Path(folder).resolve())
    if study.parts[-3:-1] != STUDIES:
        raise TextcriticError(f"{folder}: is not the folder of a study; give one like results/studies/NAME")
    root, verified = study.parents[2], Verified(study)
    listed = _listed(study)
    records = (root / FOLDER / study.relative_to(root / "results")).rglob("*.json")
    own = [str("results" / path.relative_to(root / FOLDER).with_suffix("")) for path in sorted(records)]
    if not listed and not own:
        raise TextcriticError(f"{folder}: has no manifest.json, and no job recorded a digest; build the study first")
    waiting, seen = [*own, *listed], set[str]()
    while waiting:
        path = waiting.pop()
        record = record_of(path, root)
        name = record[0] if record else path
        if name in seen:
            continue
        seen.add(name)
        if record:
            waiting += _verify_output(verified, root, *record)
        elif path in listed:
            _compare(verified, root, path, listed[path])
        elif (root / path).is_file():
            verified.unknown += 1
    return verified


def _listed(study: Path) -> dict[str, FileRecord]:
    """The artefacts of the manifest by their paths."""
    manifest = study / "manifest.json"
    if not manifest.is_file():
        return {}
    try:
        return {entry["path"]: entry for entry in read_json(manifest)["artefacts"]}
    except (KeyError, TypeError) as error:
        raise TextcriticError(f"{manifest}: has no list of `artefacts` with their paths and digests") from error


def _verify_output(verified: Verified, root: Path, output: str, record: Record) -> list[str]:
    """Compare files and inputs of an output with their digests; returns the inputs that are still to compare."""
    if TEMPORARY in Path(output).parts and not (root / output).exists():
        return [*record["inputs"]]
    if record["code"] != code_version():
        verified.other_code.setdefault(record["code"], set()).add(record["job"])
    if not record["files"] and not (root / output).exists():
        verified.differences[output] = "is gone"
    for name, entry in record["files"].items():
        if _compare(verified, root, name, entry):
            verified.jobs.add(record["job"])
    inputs = []
    for name, digest in record["inputs"].items():
        made_by = record_of(name, root)
        if made_by and digest not in (None, digest_of(made_by[1])):
            verified.differences.setdefault(output, f"was made from another version of {name}")
            verified.jobs.add(record["job"])
        if made_by or digest is None:
            inputs.append(name)
        else:
            _compare_own(verified, root, name, digest, output)
    return inputs


def _compare(verified: Verified, root: Path, name: str, entry: FileRecord) -> str:
    verified.files.add(name)
    if fault := difference(root / name, entry):
        verified.differences[name] = fault
    return fault


def _compare_own(verified: Verified, root: Path, name: str, digest: str, output: str) -> None:
    """Compare a user's own file, which no job made, with the digest that it had when an output was made from it."""
    verified.files.add(name)
    path = root / name
    if not path.is_file() or sha256(path) != digest:
        what = "was changed" if path.is_file() else "is gone"
        verified.differences.setdefault(name, f"{what} since {output} was made from it")
