"""What a study was made from: configuration, versions, revision, and its files with their sizes and digests."""

import json
import platform
import subprocess
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

import textcritic
from textcritic.digests import sha256
from textcritic.errors import TextcriticError
from textcritic.files import write_json
from textcritic.measures.numbers import plural
from textcritic.measures.phrases import seeds_in_words
from textcritic.runlog import versions
from textcritic.values import JsonObject

PACKAGES = (
    "torch", "transformers", "tokenizers", "numpy", "scipy", "pandas", "pyarrow", "matplotlib", "scikit-learn",
    "nltk", "jinja2", "snakemake",
)  # fmt: skip


def make_manifest(
    description: JsonObject,
    artefacts: Iterable[str | Path],
    out_path: str | Path,
    commands: Iterable[str] = (),
    repository: str | Path | None = None,
) -> JsonObject:
    """Write manifest.json.

    Args:
        description: the study's configuration with all registry entries that it uses (`Project.describe`).
        artefacts: files that the study was made from or consists of; each is listed with its size and SHA-256.
        out_path: the JSON file to write.
        commands: what a person types to make the study again.
        repository: folder whose git revision is recorded, if it is a checkout and git is installed.

    Returns:
        What was written: `study`, `experiments` (names in order), `created` (UTC), `textcritic`, `python`, `platform`,
        `packages`, `revision` ({"commit", "changed"} or None), `seeds`, `commands`, `configuration`, `artefacts`.

    Raises:
        TextcriticError: an artefact is not there.
    """
    manifest = {
        "study": description["name"],
        "experiments": list(description["experiments"]),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "textcritic": textcritic.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": versions(*PACKAGES),
        "revision": git_revision(repository) if repository is not None else None,
        "seeds": sorted({int(source["seed"]) for source in description["sources"]}),
        "commands": list(commands),
        "configuration": dict(description),
        "artefacts": [_artefact(Path(path)) for path in sorted({str(path) for path in artefacts})],
    }
    write_json(out_path, manifest)
    return manifest


def provenance(manifest: JsonObject) -> JsonObject:
    """The content of a manifest, for the template of the report.

    Args:
        manifest: as `make_manifest` returns it.
    """
    revision = manifest.get("revision")
    facts = [("Made", f"{manifest['created']} by textcritic {manifest['textcritic']}")]
    if revision:
        facts.append(("Revision", revision["commit"] + (", with uncommitted changes" if revision["changed"] else "")))
    facts += [
        ("Python", f"{manifest['python']}, {manifest['platform']}"),
        ("Seeds", seeds_in_words(manifest["seeds"])),
        ("Artefacts", f"{plural(len(manifest['artefacts']), 'file')}, with sizes and SHA-256 in manifest.json"),
    ]
    configuration = manifest.get("configuration")
    return {
        "provenance": facts,
        "packages": manifest["packages"],
        "commands": manifest["commands"],
        "configuration": json.dumps(configuration, indent=2, ensure_ascii=False) if configuration else "",
    }


def git_revision(folder: str | Path) -> JsonObject | None:
    """The commit of a checkout and whether files differ from it; None where there is no git or no commit.

    Also None for a folder inside somebody else's checkout, e.g. of an environment where textcritic is installed.
    """
    try:
        if not Path(_git(folder, "rev-parse", "--show-toplevel").removesuffix("\n")).samefile(folder):
            return None
        commit = _git(folder, "rev-parse", "HEAD")
        return {"commit": commit.strip(), "changed": bool(_git(folder, "status", "--porcelain").strip())}
    except (OSError, subprocess.CalledProcessError):
        return None


def _git(folder: str | Path, *arguments: str) -> str:
    done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def _artefact(path: Path) -> JsonObject:
    try:
        return {"path": str(path), "bytes": path.stat().st_size, "sha256": sha256(path)}
    except OSError as error:
        raise TextcriticError(f"{path}: cannot be read for the manifest: {error.strerror or error}") from error
