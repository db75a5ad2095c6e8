"""Orders of section types that people call incoherent, with the critic's probability of each (paper, Table 18)."""

import math
from collections import Counter

import numpy as np
import pandas as pd

from textcritic.critics import TransitionCritic
from textcritic.experiments.people.files import PeopleFiles
from textcritic.experiments.people.read import collected
from textcritic.measures.material import Material
from textcritic.measures.published import Published

MOST = 30
"""Orders of our own answers; the paper prints 30."""
BETWEEN = " > "
RANK = "rank"
COLUMNS = ("corpus", "order", "published_rank", "incoherent", "answers", "incoherent_percent", "probability", "unknown")
WHOLE = ("published_rank", "incoherent", "answers")
TEXT = ("order", "unknown")


def order_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """Orders of section types: the published ones in their order, then the commonest of our own answers.

    Columns: corpus; `order`, types with ` > ` between them; `published_rank`; `answers`, how many of our answers gave
    this order, and how many of them called it `incoherent`, also as `incoherent_percent`; `probability` of the whole
    order under the critic; `unknown`, the first type that the critic does not know (the order has no probability then).
    """
    answers, rows = material.get(collected), []
    for real in material.files.data:
        critic = TransitionCritic.load(real.critic)
        judged = [one for one in answers.judged if one.source.corpus == real.corpus]
        given = Counter(BETWEEN.join(one.titles) for one in judged)
        bad = Counter(BETWEEN.join(one.titles) for one in judged if not one.coherent)
        ranks = published_orders(material.published, real.corpus)
        own = [order for order, _ in sorted(bad.items(), key=lambda item: (-item[1], item[0]))[:MOST]]
        for order in [*ranks, *(order for order in own if order not in ranks)]:
            row: dict[str, object] = {"corpus": real.corpus, "order": order, "published_rank": ranks.get(order)}
            if judged:
                row |= {"incoherent": bad[order], "answers": given[order]}
                row["incoherent_percent"] = 100 * bad[order] / given[order] if given[order] else np.nan
            probability, unknown = probability_of(order.split(BETWEEN), critic)
            rows.append(row | {"probability": probability, "unknown": unknown})
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.astype({"incoherent_percent": float, "probability": float} | dict.fromkeys(WHOLE, "Int64"))


def published_orders(published: Published, corpus: str) -> dict[str, int]:
    """The published rank of each order of a corpus, in the order of the ranks."""
    place = [*published.keys, "metric"]
    cells = [(dict(zip(place, cell, strict=True)), rank) for cell, rank in published.values.items()]
    ranks = {
        about["order"]: int(rank) for about, rank in cells if about["metric"] == RANK and about["corpus"] == corpus
    }
    return dict(sorted(ranks.items(), key=lambda item: item[1]))


def probability_of(titles: list[str], critic: TransitionCritic) -> tuple[float | None, str]:
    """The probability of a chain of titles from begin to end, and the first title that the critic does not know."""
    places = {title: n for n, title in enumerate(critic.titles)}
    unknown = next((title for title in titles if title not in places), "")
    if unknown:
        return None, unknown
    states = [places[title] for title in titles]
    rows, columns = [0, *(state + 1 for state in states)], [*states, len(critic.titles)]
    return math.exp(float(critic.log_probs[rows, columns].sum())), ""
