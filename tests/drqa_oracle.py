"""DrQA's retriever (Chen et al. 2017), written plainly from its description, a document and a term at a time."""

import unicodedata
from collections import Counter
from collections.abc import Sequence

import numpy as np
from sklearn.utils import murmurhash3_32

from textcritic.corpora.intruders.terms import STOP_WORDS


def tokens_of(text: str) -> list[str]:
    """Runs of letters, digits and marks; any other character alone, unless it is white space or a control character."""
    tokens, run = [], ""
    for letter in unicodedata.normalize("NFD", text) + " ":
        kind = unicodedata.category(letter)[0]
        if kind in "LNM":
            run += letter
            continue
        tokens += [run] if run else []
        tokens += [letter] if kind not in "ZC" else []
        run = ""
    return tokens


def counts_of(text: str) -> Counter[int]:
    """How often the text has the terms of each bucket."""
    words = [token.lower() for token in tokens_of(text)]
    grams = [words[start : start + size] for size in (1, 2) for start in range(len(words) - size + 1)]
    return Counter(murmurhash3_32(" ".join(gram), positive=True) % 2**24 for gram in grams if all(map(counted, gram)))


def counted(word: str) -> bool:
    """Whether a word is neither a stop word nor punctuation."""
    return word not in STOP_WORDS and not all(unicodedata.category(letter)[0] == "P" for letter in word)


def scores_of(texts: Sequence[str], queries: Sequence[str]) -> np.ndarray:
    """Scores [queries, texts]."""
    counts = [counts_of(text) for text in texts]
    having = Counter(bucket for count in counts for bucket in count)
    total = len(texts)

    def weights(count: Counter[int]) -> dict[int, float]:
        idf = {bucket: max(np.log((total - having[bucket] + 0.5) / (having[bucket] + 0.5)), 0) for bucket in count}
        return {bucket: np.log1p(number) * idf[bucket] for bucket, number in count.items()}

    documents = [weights(count) for count in counts]
    scores = np.zeros((len(queries), total))
    for row, query in enumerate(queries):
        for bucket, weight in weights(counts_of(query)).items():
            for column, document in enumerate(documents):
                scores[row, column] += weight * document.get(bucket, 0.0)
    return scores
