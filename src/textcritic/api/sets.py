"""The sets that a function compares: samples by label, and the real documents that are held out."""

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from textcritic.api.documents import Given
from textcritic.api.options import HELD_OUT, CoreferenceOptions, CriticiseOptions, MixingOptions
from textcritic.corpora.splits import random_parts
from textcritic.errors import TextcriticError
from textcritic.measures.memory import REAL


def labelled(samples: Given, argument: str = "samples") -> Iterator[tuple[str, str, Given]]:
    """Label, name for errors, and documents of each sample.

    Args:
        samples: documents in any form; a dict of them by label; or a list of `Path`s, whose labels are their names.
        argument: the name of the argument in errors; also the label of a sample without a label.

    Raises:
        TextcriticError: no sample is given, a label is not possible, or a file is given twice.
    """
    for label, name, sample in _labelled(samples, argument):
        if not isinstance(label, str) or not label:
            raise TextcriticError(f"{name}: the label of a sample is a string that is not empty")
        if label == REAL:
            raise TextcriticError(f"{name}: {REAL!r} is what the reference is called; choose another label")
        yield label, name, sample


def _labelled(samples: Given, argument: str) -> Iterator[tuple[object, str, Given]]:
    """Label, name for errors, and documents of each sample."""
    from textcritic.api.articles.configure import labels_of

    if isinstance(samples, Mapping):
        if not samples:
            raise TextcriticError(f"{argument}: there is none; give {{label: documents}}")
        _whole_paths([sample for sample in samples.values() if isinstance(sample, str | os.PathLike)])
        yield from ((label, f"{argument}[{label!r}]", sample) for label, sample in samples.items())
        return
    paths = [samples] if isinstance(samples, str | os.PathLike) else samples
    if isinstance(paths, Sequence) and paths and (paths[0] is samples or _are_paths(paths)):
        yield from zip(labels_of(_whole_paths(paths)), [argument] * len(paths), paths, strict=True)
        return
    yield argument, argument, samples


def _whole_paths(paths: Sequence[str | os.PathLike[str]]) -> list[Path]:
    """The paths from the root; none may be there twice."""
    whole = [Path(path).expanduser().absolute() for path in paths]
    if twice := next((path for path, times in Counter(whole).items() if times > 1), None):
        raise TextcriticError(f"{twice}: the same file twice; name each file of samples once")
    return whole


def _are_paths(items: Sequence[object]) -> bool:
    return all(isinstance(item, os.PathLike) for item in items)


def held_out_of(
    groups: Sequence[str | None],
    options: CriticiseOptions | MixingOptions | CoreferenceOptions,
    name: str,
) -> set[int]:
    """The documents of the set `name` that are held out, drawn at random in whole groups: at least one, and not all.

    Args:
        groups: the group of each document.
        options: have the share and the seed.
        name: the name of the set in errors.

    Raises:
        TextcriticError: there are fewer than two documents, or most of them are one group.
    """
    documents = len(groups)
    if documents < 2:
        raise TextcriticError(
            f"{name}: {documents} document{'s' * (documents != 1)}; one part is for fitting and the other for"
            " comparison, so give two or more"
        )
    number = min(documents - 1, max(1, round((options.held_out or HELD_OUT) * documents)))
    kept, rest = random_parts(documents, [number], options.seed, groups)
    if not len(kept) or not len(rest):
        raise TextcriticError(
            f"{name}: documents of a group stay together, and no group is small enough to hold out about {number:,}"
            f" of {documents:,}; give more groups, or other real documents as `test`"
        )
    return set(kept.tolist())
