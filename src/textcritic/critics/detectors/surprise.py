"""A detector without training: how little the text before a sentence helps a language model to expect it.

The score of a sentence is its log-probability alone minus that after all sentences before it: minus their pointwise
mutual information. The sentences before it make a sentence that belongs there more probable, an intruder less so.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import torch
from torch import nn
from torch.nn.functional import cross_entropy

from textcritic.corpora.intruders.documents import Document
from textcritic.critics.detectors.scorer import Scorer
from textcritic.errors import TextcriticError
from textcritic.generators.ngram.model import load as load_ngram
from textcritic.generators.ngram.words import END_ID, Words
from textcritic.latents.titles.sections import sorted_batches
from textcritic.plan.entries import Generator, Ngram
from textcritic.plan.entries.detectors import Surprise as Settings
from textcritic.runlog import Progress
from textcritic.training.hardware import autocast, device
from textcritic.training.load import load_causal, load_tokenizer

TOKENS_AT_ONCE = 8192


class SentenceModel(ABC):
    """A language model that says how probable sentences are."""

    @abstractmethod
    def log_probs(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """Of each sentence of each document.

        Returns:
            of each document float64 [sentences, 3]: log-probability alone and after the sentences before it, in nats,
            and tokens. Both are of the same tokens, those that the sentence has in its document, behind the start of an
            article.
        """


class Surprise(Scorer):
    """Scores by a language model.

    Args:
        model: the language model.
        per: `token`, nats a token of the sentence; `total`, nats.
    """

    def __init__(self, model: SentenceModel, per: str) -> None:
        self.model, self.per = model, per

    def scores(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """See `Scorer.scores`; 0 for the opening sentence, because nothing comes before it."""
        scored = []
        for document, (alone, after, tokens) in zip(
            documents, (values.T for values in self.model.log_probs(documents, what)), strict=True
        ):
            with np.errstate(invalid="ignore"):
                difference = alone - after
            if not np.isfinite(difference).all():
                raise TextcriticError(
                    f"{document.id}: a sentence has probability 0; use a language model with smoothing"
                )
            scored.append(difference / tokens if self.per == "token" else difference)
        return scored


class CausalSentences(SentenceModel):
    """A causal transformer.

    A sentence is read after as many tokens before it as the model has positions for; one that is longer than these is
    scored by its first tokens.

    Args:
        folder: of the model, with its tokenizer.

    Raises:
        TextcriticError: there is none, or its tokenizer has no end of text.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.tokenizer = load_tokenizer(folder)
        self.device = device()
        model: nn.Module = load_causal({"folder": str(folder)}, self.tokenizer)
        self.model = model.to(self.device)
        self.positions: int = getattr(self.model.config, "max_position_embeddings", 0) or 2**31
        self.end = self.tokenizer.eos_token_id
        if self.end is None:
            raise TextcriticError(f"{folder}: its tokenizer has no end of text, behind which articles begin")

    def log_probs(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """See `SentenceModel.log_probs`."""
        parts = [part for document in documents for part in self._parts(document)]
        scored = self._nll([part for part, _ in parts], what)
        rows = [-nll[len(nll) - own :].sum() for nll, (_, own) in zip(scored, parts, strict=True)]
        sentences = np.cumsum([len(document.sentences) for document in documents])[:-1]
        table = np.column_stack([rows[0::2], rows[1::2], [own for _, own in parts[0::2]]])
        return np.split(table, sentences)

    def _parts(self, document: Document) -> list[tuple[np.ndarray, int]]:
        """Of each sentence two texts, alone and with what is before it, and how many of their tokens are its own."""
        tokens, bounds = self._sentences(document)
        parts = []
        for start, stop in pairwise(bounds):
            stop = min(stop, start + self.positions - 1)
            first = max(0, stop - self.positions + 1)
            alone, before = tokens[start:stop], tokens[first:stop]
            parts += [(np.concatenate([[self.end], text]), len(alone)) for text in (alone, before)]
        return parts

    def _sentences(self, document: Document) -> tuple[np.ndarray, list[int]]:
        """Tokens of a document, and where each sentence begins; a token is of the sentence of its last character."""
        text = " ".join(document.sentences)
        encoded = self.tokenizer(
            text, add_special_tokens=False, split_special_tokens=True, return_offsets_mapping=True, verbose=False
        )
        ends = np.cumsum([len(sentence) + 1 for sentence in document.sentences]) - 1
        of_tokens = np.searchsorted(ends, np.array(encoded["offset_mapping"], np.int64)[:, 1])
        bounds = np.searchsorted(of_tokens, np.arange(len(ends) + 1)).tolist()
        if min(np.diff(bounds)) < 1:
            raise TextcriticError(f"{document.id}: a sentence has no token")
        return np.array(encoded["input_ids"], np.int64), bounds

    @torch.inference_mode()
    def _nll(self, texts: Sequence[np.ndarray], what: str) -> list[np.ndarray]:
        """Nats of each token but the first of each text."""
        result: list[np.ndarray] = [np.empty(0)] * len(texts)
        lengths = np.array([len(text) for text in texts])
        progress = Progress(what, len(texts), "texts") if what else None
        for rows in sorted_batches(lengths, len(lengths), TOKENS_AT_ONCE):
            ids = np.zeros((len(rows), lengths[rows].max()), np.int64)
            for place, row in enumerate(rows):
                ids[place, : lengths[row]] = texts[row]  # what follows is read after it, and has no effect
            batch = torch.from_numpy(ids).to(self.device)
            with autocast(self.device, "fp32"):
                logits = self.model(input_ids=batch[:, :-1], use_cache=False).logits
            nll = cross_entropy(logits.float().transpose(1, 2), batch[:, 1:], reduction="none").double().cpu().numpy()
            for place, row in enumerate(rows):
                result[row] = nll[place, : lengths[row] - 1]
            if progress:
                progress.advance(len(rows))
        return result


class NgramSentences(SentenceModel):
    """An n-gram model; alone or not, a sentence differs in the first words only.

    Args:
        folder: of the model; one with smoothing, as others give most sentences probability 0.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.model = load_ngram(folder)

    def log_probs(self, documents: Sequence[Document], what: str = "") -> list[np.ndarray]:
        """See `SentenceModel.log_probs`."""
        words = [[sentence.split() for sentence in document.sentences] for document in documents]
        together = self._nll([[word for sentence in sentences for word in sentence] for sentences in words])
        alone = self._nll([sentence for sentences in words for sentence in sentences])
        result, first = [], 0
        for sentences, nll in zip(words, together, strict=True):
            lengths = [len(sentence) for sentence in sentences]
            after = [part.sum() for part in np.split(nll, np.cumsum(lengths)[:-1])]
            own = [part.sum() for part in alone[first : first + len(sentences)]]
            result.append(np.column_stack([-np.array(own), -np.array(after), lengths]))
            first += len(sentences)
        return result

    def _nll(self, texts: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """Nats of each word of each text, without its end."""
        number = self.model.vocabulary.number
        ids = np.array([n for text in texts for n in (*map(number, text), END_ID)], np.int64)
        lengths = np.array([len(text) + 1 for text in texts], np.int64)
        nll = self.model.nll(Words(ids, np.zeros(len(ids), np.uint8), lengths))
        return [part[:-1] for part in np.split(nll, np.cumsum(lengths)[:-1])]


def surprise_of(settings: Settings, generator: Generator, folder: str | os.PathLike[str]) -> Surprise:
    """The scorer of a detector.

    Args:
        settings: of its model.
        generator: the entry of the language model, of kind causal or ngram.
        folder: of that.
    """
    sentences = NgramSentences if isinstance(generator, Ngram) else CausalSentences
    return Surprise(sentences(folder), settings.per)
