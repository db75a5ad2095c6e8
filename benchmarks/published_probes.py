"""The published probes of Shen et al. (2021): https://github.com/AiliAili/Coherence_Modelling, linguistic_probe_data.

Eight files `injected_*.txt` and eight `original_*.txt`, each with 100 lines of JSON. What their keys mean is written
nowhere; it was found by comparing them:

- `injected_*`: `replace_with` is the intruder as edited. `ctx` is the coherent document and `to_be_replaced` its
  sentence that gave way to the intruder; the intruder without its edit is in the official data only.
- `original_*`: `to_be_replaced` is a sentence of the document's own, and `replace_with` the same one as edited.
- Both files of demonstratives: `ctx` has the intruder in it, without the edit, and `to_be_replaced` does not occur.
- `label` is always 0, `sen_position` counts from 0, and `file_id` is a number here and a string in the files of votes.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

from textcritic.corpora.intruders.probes import Refused, edited
from textcritic.corpora.intruders.probes.edits import INTRUDER, OWN
from textcritic.corpora.intruders.probes.pronouns import upgrade_animacy
from textcritic.corpora.readers.jsonl import json_lines
from textcritic.errors import TextcriticError

FILES = {
    "gender_pronoun_flip": "gender",
    "animacy_pronoun_downgrade": "animacy-down",
    "animacy_pronoun_upgrade": "animacy-up",
    "past_to_future_flip": "past-to-future",
    "conjunction_flip": "conjunction",
    "singular_determiner_flip": "demonstrative",
    "to_negation": "negation",
    "number_exaggerate": "number",
}
"""Names of the published files, without `injected_` or `original_` and suffix, and the probe of each."""
_KINDS = {"injected": INTRUDER, "original": OWN}


@dataclass(frozen=True, slots=True)
class PublishedProbe:
    """One line of a published file.

    Attributes:
        probe: a key of `PROBES`.
        where: `intruder` of the injected files, `own` of the original ones.
        file_id: of the document, as a string.
        context: the document's text; what it is differs, see the module.
        replaced: the sentence that gave way.
        edited: the sentence with its edit.
        position: of the sentence, from 0 on.
        split: `train`, which five demonstratives have, else `test`.
    """

    probe: str
    where: str
    file_id: str
    context: str
    replaced: str
    edited: str
    position: int
    split: str


@dataclass(frozen=True, slots=True)
class Agreement:
    """How our edits agree with published ones.

    Attributes:
        pairs: published edits whose sentence before the edit is known.
        exact: of these, where ours gives the same sentence to the letter.
        refused: where ours gives none.
    """

    pairs: int
    exact: int
    refused: int


def read_published(path: str | os.PathLike[str]) -> list[PublishedProbe]:
    """Read a file of published probes, JSON lines whatever its suffix; its name says the probe and the kind.

    Raises:
        TextcriticError: the name is not one of the published ones, a line is not JSON, or a key is missing or of
            another type; the line is named.
    """
    probe, where = _kind_of(Path(path))
    return [_probe_of(value, f"{path}:{number}", probe, where) for number, value in json_lines(path)]


def pairs(probes: Sequence[PublishedProbe]) -> Iterator[tuple[PublishedProbe, str | None]]:
    """Each probe with its sentence before the edit; None where it is in the official file only, or cannot be found."""
    for one in probes:
        if one.where == OWN:
            yield one, one.replaced
        else:
            yield one, _unflipped(one) if one.probe == "demonstrative" else None


def agreement(probes: Sequence[PublishedProbe]) -> Agreement:
    """How often our edit of the published sentence is the published edit.

    The published animacy upgrades choose `she` for the first half of a file and `he` for the second, ours by the
    sentence: either of ours may be the same.
    """
    known = [(one, before) for one, before in pairs(probes) if before is not None]
    ours = [_ours(one.probe, before) for one, before in known]
    exact = sum(one.edited in texts for (one, _), texts in zip(known, ours, strict=True))
    return Agreement(len(known), exact, sum(not texts for texts in ours))


def _ours(probe: str, sentence: str) -> list[str]:
    if probe == "animacy-up":
        given = [upgrade_animacy(sentence, gender) for gender in ("she", "he")]
    else:
        given = [edited(probe, sentence)]
    return [text for text in given if not isinstance(text, Refused)]


def _kind_of(path: Path) -> tuple[str, str]:
    kind, _, name = path.name.partition("_")
    stem = name.removesuffix(path.suffix)
    if kind not in _KINDS or stem not in FILES:
        known = ", ".join(FILES)
        raise TextcriticError(f"{path}: its name should be injected_X.txt or original_X.txt, X one of {known}")
    return FILES[stem], _KINDS[kind]


def _probe_of(value: Any, where: str, probe: str, kind: str) -> PublishedProbe:
    if not isinstance(value, dict):
        raise TextcriticError(f"{where}: not a JSON object; give the file as published")
    context, replaced, after = (_text(value, key, where) for key in ("ctx", "to_be_replaced", "replace_with"))
    position = value.get("sen_position")
    if isinstance(position, bool) or not isinstance(position, int) or position < 1:
        raise TextcriticError(f"{where}: `sen_position` is {position!r}; it should be a whole number from 1 on")
    file_id = value.get("file_id")
    if isinstance(file_id, bool) or not isinstance(file_id, int | str) or not str(file_id):
        raise TextcriticError(f"{where}: `file_id` is {file_id!r}; it should be a number or a string")
    split = "train" if value.get("train") else "test"
    return PublishedProbe(probe, kind, str(file_id), context, replaced, after, position, split)


def _text(value: Mapping[str, Any], key: str, where: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not text.strip():
        raise TextcriticError(f"{where}: `{key}` is missing or no text; give the file as published")
    return text


def _unflipped(one: PublishedProbe) -> str | None:
    """The intruder before a flip of demonstratives: the version of the edited one that stands in the document."""
    places = [match.span() for match in re.finditer(r"\b([Tt]hese|[Tt]hose)\b", one.edited)]
    for number in range(1, len(places) + 1):
        for chosen in combinations(places, number):
            text = one.edited
            for start, end in reversed(chosen):
                word = text[start:end]
                text = text[:start] + word[0] + {"hese": "his", "hose": "hat"}[word[1:]] + text[end:]
            if text in one.context:
                return text
    return None
