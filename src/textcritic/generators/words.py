"""A vocabulary of whole words: text is split at white space, and a word outside the vocabulary is `<unk>`."""

import os
from collections import Counter
from collections.abc import Iterable

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from textcritic.corpora import END, SEPARATOR
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder
from textcritic.runlog import log

UNKNOWN = "<unk>"
LINE = "\n"
ALWAYS = (END, UNKNOWN, LINE, SEPARATOR)
"""The first entries of every vocabulary, in this order."""

# What Python's str.split takes for white space, so that the tokenizer splits where words were split when counted.
_SPACES = "".join(rf"\x{{{code:x}}}" for code in range(0x3001) if chr(code).isspace() and chr(code) != LINE)
_NEVER = "\0"  # a word that begins with it would be joined to the one before it; XML and Moses' steps have none


def make_words_tokenizer(
    texts: Iterable[str],
    out_dir: str | os.PathLike[str],
    vocabulary: int | None = None,
    minimum_count: int | None = None,
) -> None:
    r"""Count the words of texts and save a transformers tokenizer of the commonest ones.

    Words are what white space separates, and single spaces join them again. A line break is a token of its own, and the
    blank line between two sections is one too, so that articles of many sections survive; other white space does not.
    All words outside the vocabulary are the token `<unk>`, which a language model learns and draws like any other.

    Args:
        texts: the training texts; streamed. Memory holds their distinct words: some 150 bytes each.
        out_dir: folder to write, whole or not at all.
        vocabulary: how many entries the tokenizer has at most, with those of `ALWAYS`: the commonest words, and of
            equally common words those that come first by code points.
        minimum_count: instead of `vocabulary`: all words that occur at least this many times.

    Raises:
        TextcriticError: both or none of the two are given, or no word is in the vocabulary.
    """
    if (vocabulary is None) == (minimum_count is None):
        raise TextcriticError("encoding: words: give vocabulary or minimum_count, one of the two")
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(text.split())
    for word in ALWAYS:
        counts.pop(word, None)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    kept = [word for word, count in ranked if minimum_count is None or count >= minimum_count]
    if vocabulary is not None:
        kept = kept[: max(vocabulary - len(ALWAYS), 0)]
    if not kept:
        least = f"minimum_count: {minimum_count}" if vocabulary is None else f"vocabulary: {vocabulary}"
        raise TextcriticError(f"encoding: words: {least}: no word of the text is in the vocabulary")
    total, covered = counts.total(), sum(counts[word] for word in kept)
    log.info("%s of %s words, %.2f%% of the text", f"{len(kept):,}", f"{len(counts):,}", 100 * covered / total)
    with whole_folder(out_dir) as folder:
        _tokenizer([*ALWAYS, *kept]).save_pretrained(folder)


def _tokenizer(words: list[str]) -> PreTrainedTokenizerFast:
    """The tokenizer of a vocabulary; ids follow its order, from 0."""
    tokenizer = Tokenizer(models.WordLevel({word: number for number, word in enumerate(words)}, unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(rf"[{_SPACES}]+"), behavior="removed"),
            pre_tokenizers.Split(Regex("\n+"), behavior="isolated"),
        ]
    )
    # The first sets spaces between tokens; at line breaks they go again.
    tokenizer.decoder = decoders.Sequence(
        [
            decoders.WordPiece(prefix=_NEVER, cleanup=False),
            decoders.Fuse(),
            decoders.Replace(" \n", "\n"),
            decoders.Replace("\n ", "\n"),
        ]
    )
    # `<unk>` is no special token to transformers: it is drawn and decoded like a word.
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token=END, eos_token=END, clean_up_tokenization_spaces=False
    )
