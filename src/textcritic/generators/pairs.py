"""Sentences and translations as tokens: byte-pair encoding inside words, and the encoded pairs of a split."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from textcritic.batches import batched
from textcritic.corpora.articles import Article, iter_articles
from textcritic.corpora.layout import END
from textcritic.corpora.parallel.corpus import sentence_number
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, whole_folder, write_arrays
from textcritic.training.load import PADDING, load_tokenizer

UNKNOWN = "[UNK]"
SPECIAL_TOKENS = (END, PADDING, UNKNOWN)
END_OF_WORD = "</w>"
BATCH = 4096
SPLIT = "an encoded split of a parallel corpus, with source, target, their offsets and sentence"


def make_subword_tokenizer(
    articles_path: str | os.PathLike[str], out_dir: str | os.PathLike[str], vocabulary: int
) -> None:
    """Learn byte-pair encoding inside words on sentences and translations together, and save the tokenizer.

    Source: Sennrich et al. 2016, section 3.2, jointly for all languages (`joint BPE` there). White space separates
    words; a token that ends a word carries `</w>`, so that decoding gives the words back. Every sentence counts as
    often as it has translations. A character that does not occur becomes `[UNK]`. The same text gives the same file.

    Args:
        articles_path: train split of a parallel corpus.
        out_dir: folder to write, whole or not at all; transformers loads it.
        vocabulary: entries, the special tokens `<|endoftext|>` (end), `[PAD]` and `[UNK]` included; fewer are made
            when the text holds fewer pairs.

    Raises:
        TextcriticError: the characters of the text do not fit into the vocabulary, or a fault of the file.
    """
    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN, end_of_word_suffix=END_OF_WORD))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.decoder = decoders.BPEDecoder(suffix=END_OF_WORD)
    ends = sorted({word[-1] for text in _texts(articles_path) for word in text.split()})
    trainer = trainers.BpeTrainer(
        vocab_size=vocabulary,
        # The trainer would number the last characters of words at random, and so choose among pairs of one frequency.
        special_tokens=[*SPECIAL_TOKENS, *(f"{end}{END_OF_WORD}" for end in ends)],
        end_of_word_suffix=END_OF_WORD,
        show_progress=False,
    )
    tokenizer.train_from_iterator(_texts(articles_path), trainer)
    tokenizer = _without_added(tokenizer, len(SPECIAL_TOKENS))
    if tokenizer.get_vocab_size() > vocabulary:
        raise TextcriticError(
            f"{articles_path}: has so many different characters that at least {tokenizer.get_vocab_size()} entries are"
            f" needed; raise subwords.vocabulary, which is {vocabulary}"
        )
    fast = PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        bos_token=END,
        eos_token=END,
        pad_token=PADDING,
        unk_token=UNKNOWN,
        clean_up_tokenization_spaces=False,
    )
    with whole_folder(out_dir) as folder:
        fast.save_pretrained(folder)


def _texts(articles_path: str | os.PathLike[str]) -> Iterator[str]:
    return (text for article in iter_articles(articles_path) for text in sides_of(article))


def _without_added(tokenizer: Tokenizer, kept: int) -> Tokenizer:
    """A tokenizer without added tokens but the first: the others are only entries of its vocabulary."""
    described = json.loads(tokenizer.to_str())
    described["added_tokens"] = described["added_tokens"][:kept]
    return Tokenizer.from_str(json.dumps(described))


Side = tuple[np.ndarray, np.ndarray]
"""Tokens int32 of some texts, one after the other, and the number of tokens of each, int64."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Encoded sentences and translations of a split, a pair for each translation, without special tokens.

    Attributes:
        source: int32 [source tokens], the English sentences, one after the other.
        source_offsets: int64 [pairs + 1], where each begins, the end of the last one behind them.
        target: int32 [target tokens], the translations.
        target_offsets: int64 [pairs + 1].
        sentence: int64 [pairs], the number of the sentence in the corpus.
    """

    source: np.ndarray
    source_offsets: np.ndarray
    target: np.ndarray
    target_offsets: np.ndarray
    sentence: np.ndarray

    def __len__(self) -> int:
        return len(self.sentence)

    def pair(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """The tokens of a sentence and of its translation."""
        (a, b), (c, d) = self.source_offsets[index : index + 2], self.target_offsets[index : index + 2]
        return self.source[a:b], self.target[c:d]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write an .npz file, whole or not at all."""
        write_arrays(path, {name: getattr(self, name) for name in self.__dataclass_fields__})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Pairs":
        """Read what `save` wrote.

        Raises:
            TextcriticError: the file is missing, damaged, or its arrays do not belong together.
        """
        otherwise = f"is not {SPLIT}; delete it and rerun the encoding"
        with arrays_of(path, otherwise) as arrays:
            pairs = cls(**{name: arrays[name] for name in cls.__dataclass_fields__})
        for tokens, offsets in ((pairs.source, pairs.source_offsets), (pairs.target, pairs.target_offsets)):
            whole = tokens.dtype == np.int32 and offsets.dtype == np.int64 and offsets.shape == (len(pairs) + 1,)
            if not whole or offsets[0] != 0 or offsets[-1] != len(tokens) or (np.diff(offsets) < 0).any():
                raise TextcriticError(f"{path}: {otherwise}")
        return pairs


def encode_pairs(articles_path: str | os.PathLike[str], tokenizer_dir: str | os.PathLike[str]) -> Pairs:
    """Encode a split of a parallel corpus, in its order.

    Args:
        articles_path: Parquet file of a split.
        tokenizer_dir: tokenizer folder.

    Raises:
        TextcriticError: the file has no articles, an article is not a translation, a side without tokens, or a fault
            of the files.
    """
    tokenizer = load_tokenizer(tokenizer_dir)
    encoded = _encoded(iter_articles(articles_path), tokenizer, articles_path)
    batches = list(encoded)
    if not batches:
        raise TextcriticError(f"{articles_path}: holds no articles")
    source, target, sentence = zip(*batches, strict=True)
    return Pairs(*_joined(source), *_joined(target), np.concatenate(sentence))


def sides_of(article: Article) -> tuple[str, str]:
    """The English sentence and the translation of an article of a parallel corpus.

    Raises:
        TextcriticError: the article has no title, or not exactly one section.
    """
    if article.title is None or len(article.sections) != 1:
        raise TextcriticError(f"article '{article.id}': is no translation, which has a title and one section")
    return article.title, article.sections[0].text


def _encoded(
    articles: Iterator[Article], tokenizer: PreTrainedTokenizerFast, path: str | os.PathLike[str]
) -> Iterator[tuple[Side, Side, np.ndarray]]:
    for batch in batched(articles, BATCH):
        texts = list(chain.from_iterable(map(sides_of, batch)))
        ids = tokenizer(
            texts, add_special_tokens=False, split_special_tokens=True, return_attention_mask=False, verbose=False
        )["input_ids"]
        for article, source, target in zip(batch, ids[::2], ids[1::2], strict=True):
            if not source or not target:
                raise TextcriticError(f"{path}: article '{article.id}' has a side without tokens")
        sentences = np.array([sentence_number(article.id) for article in batch], np.int64)
        yield _side(ids[::2]), _side(ids[1::2]), sentences


def _side(ids: list[list[int]]) -> Side:
    tokens = np.fromiter(chain.from_iterable(ids), np.int32)
    return tokens, np.array(list(map(len, ids)), np.int64)


def _joined(sides: Sequence[Side]) -> tuple[np.ndarray, np.ndarray]:
    """The tokens of all batches, and their offsets."""
    lengths = np.concatenate([lengths for _, lengths in sides])
    return np.concatenate([tokens for tokens, _ in sides]), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
