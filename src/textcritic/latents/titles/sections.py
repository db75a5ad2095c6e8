"""Sections as a classifier reads them: token ids cut to a maximum, in batches of similar length."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedTokenizerFast

from textcritic.batches import batched
from textcritic.corpora import Article
from textcritic.inference import Groups

ARTICLES_AT_ONCE = 256
POOL_BATCHES = 50
# Tokens that a CPU reads at once: more at a time are not faster, and texts of different lengths would be padded.
CPU_TOKENS = 2048


@dataclass(frozen=True)
class Sections:
    """Sections of many articles, flat.

    Attributes:
        ids: documents' ids, [documents].
        gold: titles, [documents][sections].
        tokens: token ids of all sections one after the other, int32 [tokens].
        starts: where each section begins in `tokens`, int64 [sections + 1].
        groups: [documents], see `inference.Groups`.
    """

    ids: list[str]
    gold: list[list[str | None]]
    tokens: np.ndarray
    starts: np.ndarray
    groups: Groups = None

    @property
    def lengths(self) -> np.ndarray:
        """Tokens of each section, int64 [sections]."""
        return np.diff(self.starts)

    def flat_gold(self) -> list[str | None]:
        """Titles of all sections one after the other, [sections]."""
        return [title for titles in self.gold for title in titles]

    def batch(self, rows: np.ndarray, padding: int) -> dict[str, torch.Tensor]:
        """Sections `rows` [n] as padded `input_ids` and `attention_mask`, int64 [n, longest]."""
        lengths = self.lengths[rows]
        columns = np.arange(lengths.max())
        mask = columns < lengths[:, None]
        at = np.minimum(self.starts[rows][:, None] + columns, len(self.tokens) - 1)
        ids = np.where(mask, self.tokens[at], padding)
        return {
            "input_ids": torch.from_numpy(ids.astype(np.int64)),
            "attention_mask": torch.from_numpy(mask.astype(np.int64)),
        }


def encode_sections(articles: Iterable[Article], tokenizer: PreTrainedTokenizerFast, max_tokens: int) -> Sections:
    """Tokenise every section's text, special tokens added, cut to the first `max_tokens` (appendix E; facts: 512)."""
    ids: list[str] = []
    groups: list[str | None] = []
    gold: list[list[str | None]] = []
    pieces: list[np.ndarray] = []
    for chunk in batched(articles, ARTICLES_AT_ONCE):
        ids += [article.id for article in chunk]
        groups += [article.group for article in chunk]
        gold += [[section.title for section in article.sections] for article in chunk]
        texts = [section.text for article in chunk for section in article.sections]
        if texts:
            encoded = tokenizer(texts, truncation=True, max_length=max_tokens, split_special_tokens=True)["input_ids"]
            pieces += [np.array(row, np.int32) for row in encoded]
    starts = np.concatenate([[0], np.cumsum([len(piece) for piece in pieces])]).astype(np.int64)
    return Sections(ids, gold, np.concatenate([*pieces, np.empty(0, np.int32)]), starts, groups)


def shuffled_batches(lengths: np.ndarray, batch_size: int, seed: int, epoch: int) -> list[np.ndarray]:
    """One epoch's batches: a seeded permutation, sorted by length within pools of batches so that little is padding."""
    rng = np.random.default_rng((seed, epoch))
    order = rng.permutation(len(lengths))
    batches = []
    for start in range(0, len(order), POOL_BATCHES * batch_size):
        pool = order[start : start + POOL_BATCHES * batch_size]
        pool = pool[np.argsort(lengths[pool], kind="stable")]
        cut = [pool[i : i + batch_size] for i in range(0, len(pool), batch_size)]
        batches += [cut[i] for i in rng.permutation(len(cut))]
    return batches


def answered_batches(lengths: np.ndarray, batch_size: int, at: torch.device) -> Iterator[np.ndarray]:
    """All sections once, longest first, in the batches that a device answers fastest."""
    return sorted_batches(lengths, batch_size, CPU_TOKENS if at.type == "cpu" else None)


def sorted_batches(lengths: np.ndarray, batch_size: int, tokens: int | None = None) -> Iterator[np.ndarray]:
    """All sections once, longest first: if memory does not suffice, that shows at the start.

    Args:
        lengths: tokens of each section.
        batch_size: the most sections of a batch.
        tokens: the most tokens of a batch, padding with them; a longer section is a separate batch. None: any number.
    """
    order = np.argsort(-lengths, kind="stable")
    start = 0
    while start < len(order):
        fitting = batch_size if tokens is None else tokens // max(1, int(lengths[order[start]]))
        stop = start + max(1, min(batch_size, fitting))
        yield order[start:stop]
        start = stop
