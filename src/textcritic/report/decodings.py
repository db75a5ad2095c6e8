"""The differences between two ways of drawing samples, in words."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from textcritic.errors import TextcriticError
from textcritic.measures.labels import decoding_name
from textcritic.measures.numbers import count, percent, plural
from textcritic.plan.sources import SAMPLE
from textcritic.values import Row

# The number of articles and of jobs does not change how one article is drawn.
QUANTITIES = {"articles", "shards", "batch_size"}
TERMS = {
    "top_k": "from {}",
    "top_p": "from the likeliest tokens that hold {} of the probability",
    "stride": "a full context window drops {} at a time",
    "max_tokens": "at most {} tokens an article",
}


def decoding_difference(entry: Row, base: Row) -> str:
    """All differences between two decodings: `from the 50 likeliest tokens (not all tokens); ...`.

    Args:
        entry: an entry of the decodings registry with all its defaults.
        base: the one it is compared with.
    """
    keys = [key for key in dict.fromkeys((*base, *entry)) if key not in QUANTITIES and entry.get(key) != base.get(key)]
    words = [
        f"{TERMS.get(key, key + ' {}').format(_value(key, entry.get(key)))} (not {_value(key, base.get(key))})"
        for key in keys
    ]
    return "; ".join(words) or "no other than in the number of articles"


def stride_remarks(rows: pd.DataFrame, decodings: Mapping[str, Row]) -> list[str]:
    """How samples differ from the paper's text past the context window, for samples with a published Latent PPL.

    A decoding is named only if the samples have several strides.

    Args:
        rows: as `rows.coherence_rows` makes them.
        decodings: the registry entry of each decoding of the samples, with all its defaults.

    Raises:
        TextcriticError: a decoding is not described.
    """
    with_published = rows[rows["published"].notna() & (rows["source"] == SAMPLE)]
    strides = {}
    for name in with_published["decoding"].unique():
        if name not in decodings:
            raise TextcriticError(f"study: decodings: {name!r} is missing; a table says how samples were drawn")
        strides[name] = decodings[name]["stride"]
    remarks = []
    for name, stride in strides.items():
        if stride != 1:
            which = f" of the decoding “{decoding_name(name)}”" if len(set(strides.values())) > 1 else ""
            does = TERMS["stride"].format(_value("stride", stride))
            remarks.append(f"In our samples{which}, {does}; in the paper, it drops one token at a time.")
    return list(dict.fromkeys(remarks))


def _value(key: str, value: Any) -> str:
    match key:
        case "top_k":
            return f"the {value} likeliest tokens" if value else "all tokens"
        case "top_p":
            return percent(value)
        case "stride":
            return "half of itself" if value is None else plural(value, "token")
        case "max_tokens":
            return count(value)
        case _:
            return str(value)
