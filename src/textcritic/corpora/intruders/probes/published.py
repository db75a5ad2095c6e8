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
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any

from textcritic.corpora.intruders.documents import Document
from textcritic.corpora.intruders.probes import Refused, edited
from textcritic.corpora.intruders.probes.edits import INTRUDER, OWN, Edited, base_of, with_sentence
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

Splitter = Callable[[str], list[str]]
"""Cuts a text into its sentences, in order."""

NO_SENTENCE = "the sentence does not occur in its document"
NO_UNEDITED = "the intruder without its edit is in the official file only"
NO_CUT = "the text around the sentence cannot be cut into as many sentences as its position says"
NOT_OFFICIAL = "the official file has no document with this id and position"


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


@dataclass(slots=True)
class PublishedDocuments:
    """What could be made of published probes: edited documents, their bases where these are known, and counts.

    Attributes:
        rows: bases first, one for each document and kind of edit; then the edited documents.
        skipped: {reason: lines that gave no document}.
        lacking: {reason: edited documents without a base}.
        unchanged: lines whose edited sentence is the same as before; they are kept.
    """

    rows: list[Edited] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    lacking: Counter[str] = field(default_factory=Counter)
    unchanged: int = 0


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


def published_documents(
    probes: Sequence[PublishedProbe], split: Splitter, official: Mapping[str, Document] | None = None
) -> PublishedDocuments:
    """Documents of published probes, to be judged by detectors; given the official documents, also those unedited.

    The named sentence is one sentence, whatever a splitter thinks of it; only the text before and behind it is cut.
    Where that gives more sentences than the position says, the shortest neighbours are joined; documents with fewer
    are left out and counted.

    Args:
        probes: of one or more files.
        split: cuts a text into sentences.
        official: documents of the official file, by id; their sentences are taken as they are.
    """
    made = PublishedDocuments()
    bases: dict[str, Edited] = {}
    rows: list[Edited] = []
    for one in probes:
        made.unchanged += one.replaced == one.edited
        found = _from_official(one, official) if official is not None else _from_context(one, split)
        if isinstance(found, str):
            made.skipped[found] += 1
            continue
        base, before = found
        after = with_sentence(base, one.position, one.edited, one.probe)
        rows.append(Edited(after, base.id, one.probe, one.where, one.position, before, one.edited))
        if before is None:
            made.lacking[NO_UNEDITED] += 1
        else:
            bases.setdefault(base.id, base_of(base))
    made.rows = [*bases.values(), *rows]
    return made


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


def _from_official(one: PublishedProbe, official: Mapping[str, Document]) -> tuple[Document, str | None] | str:
    document = official.get(one.file_id)
    if document is None or one.position >= len(document.sentences):
        return NOT_OFFICIAL
    if one.where == INTRUDER:
        return (document, document.sentences[one.position]) if document.intruder == one.position else NOT_OFFICIAL
    sentences = (*document.sentences[: one.position], one.replaced, *document.sentences[one.position + 1 :])
    return Document(_own_id(one), sentences, group=document.group, title=document.title), one.replaced


def _from_context(one: PublishedProbe, split: Splitter) -> tuple[Document, str | None] | str:
    """The document with the sentence to edit, and that sentence before the edit; None where it is not known."""
    flipped = one.probe == "demonstrative"
    before = (_unflipped(one) if one.where == INTRUDER else None) if flipped else one.replaced
    if before is None or before not in one.context:
        return NO_SENTENCE
    sentences = _cut(one.context, before, one.position, split)
    if sentences is None:
        return NO_CUT
    if one.where == OWN:
        return Document(_own_id(one), sentences), before
    base = Document(one.file_id, sentences, intruder=one.position, replaced=one.replaced)
    return base, before if flipped else None


def _own_id(one: PublishedProbe) -> str:
    """Id of a coherent document; its sentences depend on which one is known, so the position belongs to it."""
    return f"{one.file_id}#{OWN}-{one.position}"


def _cut(context: str, sentence: str, position: int, split: Splitter) -> tuple[str, ...] | None:
    """The sentences of a text in which one is known; if it occurs twice, the place that fits its position."""
    for match in re.finditer(re.escape(sentence), context):
        before, behind = split(context[: match.start()]), split(context[match.end() :])
        before = _joined(before, position)
        if len(before) == position:
            return (*before, sentence, *behind)
    return None


def _joined(sentences: Sequence[str], number: int) -> list[str]:
    """So many sentences, by joining the two neighbours that are shortest together, again and again."""
    sentences = list(sentences)
    while len(sentences) > number >= 1:
        place = min(range(len(sentences) - 1), key=lambda n: len(sentences[n]) + len(sentences[n + 1]))
        sentences[place : place + 2] = [f"{sentences[place]} {sentences[place + 1]}"]
    return sentences


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
