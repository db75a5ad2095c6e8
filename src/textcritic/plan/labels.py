"""What entries of the registries are called where people read of them: by their `label`, or by what they are."""

from collections import Counter
from collections.abc import Iterable

from textcritic.errors import TextcriticError
from textcritic.plan.checks.decodings import GIVEN, LIKELIEST
from textcritic.plan.entries import Decoding
from textcritic.plan.registries import Registries

SHOWN = ("corpora", "decodings", "resolvers")
"""Registries whose entries tables and figures name. Other labels, such as those of generators, are in their files."""


def labels_of(names: Iterable[tuple[str, str]], registries: Registries) -> dict[str, dict[str, str]]:
    """The labels of entries by registry and name; without those that are their names.

    Args:
        names: (registry, entry); those of registries that nothing names are left out.
        registries: what they refer to.

    Raises:
        TextcriticError: two of one registry have the same label.
    """
    made: dict[str, dict[str, str]] = {}
    for registry, name in sorted(set(names)):
        if registry in SHOWN:
            made.setdefault(registry, {})[name] = entry_label(registry, name, registries)
    for registry, labels in made.items():
        _told_apart(registry, labels, registries)
    different = {registry: {n: label for n, label in labels.items() if n != label} for registry, labels in made.items()}
    return {registry: labels for registry, labels in different.items() if labels}


def entry_label(registry: str, name: str, registries: Registries) -> str:
    """The label of an entry; without one, what a decoding does, and of all others the name, its hyphens blanks."""
    entry = registries.entry(registry, name)
    if label := getattr(entry, "label", None):
        return str(label)
    return decoding_label(entry) if isinstance(entry, Decoding) else name.replace("-", " ")


def decoding_label(entry: Decoding) -> str:
    """What a decoding does, in a few words: `sampled, top-k 50`, `beam search of 5`, `likeliest, refined 4 times`."""
    words = [_method(entry)]
    words += [f"temperature {entry.temperature:g}"] * (entry.temperature != 1)
    words += [f"top-k {entry.top_k}"] * bool(entry.top_k)
    words += [f"nucleus {entry.top_p:g}"] * (entry.top_p != 1)
    words += [f"from {entry.opening} given tokens on"] * bool(entry.opening)
    words += ["length given"] * (entry.stop == GIVEN)
    times = entry.iterations
    words += [f"refined {'once' if times == 1 else f'{times} times'}"] * bool(times)
    return ", ".join(words)


def _method(entry: Decoding) -> str:
    match entry.method, entry.beam:
        case (method, 1) if method == LIKELIEST:
            return "likeliest"
        case (method, beam) if method == LIKELIEST:
            return f"beam search of {beam}"
        case ("beam-sampling", beam):
            return f"beam sampling of {beam}"
        case ("best-of", beam):
            return f"best of {beam}"
        case _:
            return "sampled"


def _told_apart(registry: str, labels: dict[str, str], registries: Registries) -> None:
    """Entries without a label of their own get their names behind it where two would be called the same."""
    own = {name for name in labels if getattr(registries.entry(registry, name), "label", None)}
    for name, label in tuple(labels.items()):
        twins = [other for other, same in labels.items() if same == label and other != name and other in own]
        if name in own and twins:
            raise TextcriticError(
                f"{registries.where(registry, name)}: has the same label as {twins[0]}, {label!r}; give one another"
            )
    counts = Counter(labels.values())
    for name, label in tuple(labels.items()):
        if counts[label] > 1 and name not in own:
            labels[name] = f"{label} ({name})"
