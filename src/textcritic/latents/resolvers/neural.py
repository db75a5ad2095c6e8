"""The resolver of kind `neural`: F-coref, the fast one, and LingMess, the accurate one, on a GPU or a CPU.

Documents are read in batches of word pieces. F-coref reads a document of any length, in segments of 512 word pieces
whose spans are then linked across the whole of it; LingMess reads at most 4,096 at once, and longer documents are
rejected (the authors' package drops them silently). Singletons are not found: both models are trained on OntoNotes,
which marks an entity only if it is mentioned twice. Text is English.

In the authors' package a document's result can depend on its batch, because spans of padding compete with those of the
text. Here it does not: `neural_heads.Heads.best_spans` leaves padding out. For one document at a time both give the
same result.
"""

import os
from collections.abc import Iterable, Iterator, Sequence

import torch

from textcritic.batches import batched
from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.heads import head_word
from textcritic.latents.resolvers.language import load_language
from textcritic.latents.resolvers.mention import Mention, Resolved, Unresolved
from textcritic.latents.resolvers.neural_heads import NO_WORD
from textcritic.latents.resolvers.neural_model import Cluster, PieceMaker, Pieces, load_coreference
from textcritic.latents.resolvers.phrases import find_phrases
from textcritic.latents.resolvers.text import Words, split_words
from textcritic.runlog import log
from textcritic.training.hardware import device, free_cached_memory

WINDOW = 512  # documents that are sorted by length together
LANGUAGE = "en"


class NeuralResolver:
    """A checkpoint that resolves streams of documents.

    Args:
        folder: of the checkpoint.
        architecture: `f-coref` or `lingmess`.
        batch_tokens: word pieces of a batch, padding counted; one document may have more. Less is used after the
            memory of the GPU was too small.
        precision: of the encoder, see `training.hardware.autocast`.

    Raises:
        TextcriticError: as `load_coreference` and `PieceMaker`.
    """

    def __init__(self, folder: str | os.PathLike[str], architecture: str, batch_tokens: int, precision: str) -> None:
        self.model = load_coreference(folder, architecture).to(device())
        self.pieces = PieceMaker(folder, self.model.encoder.config.vocab_size)
        self.language = load_language(LANGUAGE)
        self.batch_tokens, self.precision = batch_tokens, precision

    def resolve(self, documents: Iterable[tuple[str, str]]) -> Iterator[Resolved | Unresolved]:
        """The mentions of (id, text) pairs, in order; `WINDOW` documents are in memory at once.

        Raises:
            TextcriticError: the memory of the GPU is too small for a single document.
        """
        for window in batched(documents, WINDOW):
            words = [split_words(text, self.language) for _, text in window]
            # The models are trained on words alone: a blank line is none.
            kept = [[number for number, word in enumerate(one.words) if word[0] != "\n"] for one in words]
            written = [[one.words[number] for number in numbers] for one, numbers in zip(words, kept, strict=True)]
            pieces = self.pieces.cut(written)
            clusters_by_document = self._clusters(pieces)
            for (name, _), one, numbers, cut, clusters in zip(
                window, words, kept, pieces, clusters_by_document, strict=True
            ):
                if self._too_long(cut):
                    yield Unresolved(name, f"{len(cut.ids):,} word pieces; the model reads {self.model.longest:,}")
                else:
                    yield self._resolved(name, one, numbers, _in_words(cut, clusters))

    def _too_long(self, pieces: Pieces) -> bool:
        return self.model.longest is not None and len(pieces.ids) > self.model.longest

    def _clusters(self, pieces: Sequence[Pieces]) -> list[list[Cluster]]:
        """The clusters of each document, [] for one that is too long; the longest ones are read first."""
        clusters_by_document: list[list[Cluster]] = [[] for _ in pieces]
        readable = [number for number, one in enumerate(pieces) if not self._too_long(one)]
        order = sorted(readable, key=lambda number: -len(pieces[number].ids))
        done = 0
        while done < len(order):
            longest = len(pieces[order[done]].ids)
            batch = order[done : done + max(self.batch_tokens // longest, 1)]
            try:
                clusters = self.model.clusters([pieces[number] for number in batch], self.precision)
            except torch.OutOfMemoryError:
                clusters = None  # the memory of the failed attempt is freed at the end of this block
            if clusters is None:
                self._use_less(len(batch), longest)
                continue
            for number, clusters_of_one in zip(batch, clusters, strict=True):
                clusters_by_document[number] = clusters_of_one
            done += len(batch)
        return clusters_by_document

    def _use_less(self, documents: int, longest: int) -> None:
        if documents == 1:
            raise TextcriticError(
                f"the GPU's memory is too small for a document of {longest:,} word pieces; use a larger GPU, or set the"
                " resolver's gpu to 0 and its mem_mb higher"
            )
        free_cached_memory()
        self.batch_tokens = documents // 2 * longest
        log.warning("out of memory: batches have %s word pieces from here on", f"{self.batch_tokens:,}")

    def _resolved(self, name: str, words: Words, kept: Sequence[int], clusters: Sequence[Cluster]) -> Resolved:
        """The clusters, spans of kept words, as mentions.

        An entity is a person if the head of a mention is one by the rules of the resolver `persons`: a name, a noun for
        people, or a personal pronoun; otherwise `Mention.person` stays None.
        """
        written = [words.words[number] for number in kept]
        spans = []  # first word, last word, head, entity
        for number, cluster in enumerate(clusters):
            for first, last in cluster:
                head = kept[head_word(written, first, last, LANGUAGE)]
                spans.append((kept[first], kept[last], head, number))
        people = {phrase.head for phrase in find_phrases(words, self.language)} if spans else set()
        persons = {number for _, _, head, number in spans if head in people}
        entities: dict[int, int] = {}
        mentions = []
        for first, last, head, number in sorted(spans, key=lambda span: (span[0], -span[1])):
            mentions.append(
                Mention(
                    start=words.spans[first][0],
                    end=words.spans[last][1],
                    head_start=words.spans[head][0],
                    head_end=words.spans[head][1],
                    entity=entities.setdefault(number, len(entities)),
                    sentence=words.sentence[head],
                    person=number in persons or None,
                )
            )
        return Resolved(name, words.text, words.sentence_spans(), tuple(mentions))


def _in_words(pieces: Pieces, clusters: Sequence[Cluster]) -> list[Cluster]:
    """Spans of word pieces as spans of words.

    A span that begins or ends at the mark of the beginning or the end is left out. One that begins or ends within a
    word is widened to the whole word; if two then have the same words, the first stays. An entity needs two spans.
    """
    seen: set[tuple[int, int]] = set()
    entities = []
    for cluster in clusters:
        spans = []
        for first, last in cluster:
            span = int(pieces.words[first]), int(pieces.words[last])
            if NO_WORD not in span and span not in seen:
                seen.add(span)
                spans.append(span)
        if len(spans) > 1:
            entities.append(spans)
    return entities
