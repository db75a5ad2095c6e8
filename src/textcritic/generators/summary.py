"""What perplexity.json holds, whatever model measured it; importing this loads no torch."""

import numpy as np

from textcritic.corpora import BODY
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.inference.importance import why_none
from textcritic.values import JsonObject


def summarise(
    nll: np.ndarray, kinds: np.ndarray, documents: np.ndarray, windows: str, seed: int = 0, unit: str = "tokens"
) -> JsonObject:
    """Perplexity over all predicted tokens and over body tokens only, as perplexity.json holds it.

    The interval takes articles as independent, as encodings do not hold their groups: where articles belong together,
    such as the chapters of a book, it is too narrow.

    Args:
        nll: nats of each predicted token [tokens]; infinite where the model gives the token no probability.
        kinds: kind of each [tokens]: 0 boundary, 1 title, 2 body.
        documents: article number of each [tokens].
        windows: in words, what each token was predicted from.
        seed: of the bootstrap over articles.
        unit: what a token is: `tokens` of the encoding, or `words`.

    Returns:
        `{"unit", "all", "body", "documents", "zero_probability_tokens", "windows"}`; "all" and "body" hold `ppl` =
        exp(nll / tokens), `nll` (total, nats), `tokens` and `ci95` (95% interval of ppl, None where there is
        none, or too few long articles for one). Infinite values are None.
    """
    _, documents = np.unique(documents, return_inverse=True)
    count = int(documents.max()) + 1
    return {
        "unit": unit,
        "all": _part(nll, documents, count, seed),
        "body": _part(nll[kinds == BODY], documents[kinds == BODY], count, seed),
        "documents": count,
        "zero_probability_tokens": int(np.isinf(nll).sum()),
        "windows": windows,
    }


def _part(nll: np.ndarray, documents: np.ndarray, count: int, seed: int) -> JsonObject:
    if not len(nll) or np.isinf(nll).any():
        return {"ppl": None, "nll": None if len(nll) else 0.0, "tokens": len(nll), "ci95": [None, None]}
    columns = np.stack([np.bincount(documents, nll, count), np.bincount(documents, minlength=count)], axis=1)
    total = float(nll.sum())
    interval = bootstrap_interval(columns, exp_ratio_of_sums, seed=seed)
    few = bool(why_none(columns[:, 1].astype(np.float64)))
    return {
        "ppl": float(np.exp(total / len(nll))),
        "nll": total,
        "tokens": len(nll),
        "ci95": [None, None] if few else [interval.low, interval.high],
    }
