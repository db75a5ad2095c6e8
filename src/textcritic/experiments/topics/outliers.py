"""The documents whose topics the critic finds least probable, in long format (paper, Table 14)."""

import pandas as pd

from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.scoring import STRONGEST, Column, Projected, outliers, topic_shares
from textcritic.experiments.topics.files import TopicsFiles
from textcritic.experiments.topics.read import read_posteriors, read_topic_scores
from textcritic.experiments.topics.rows import of_topics
from textcritic.files import read_table
from textcritic.latents.bags import Vocabulary
from textcritic.measures.material import Material
from textcritic.measures.numbers import listed
from textcritic.plan.sources import KEYS, RUN
from textcritic.values import Row

MOST = 5  # of a source
STRONG = [tuple(f"{name}_{n}" for name in ("topic", "share", "usual_share")) for n in range(1, STRONGEST + 1)]
TOPICS, SHARES = [topic for topic, *_ in STRONG], [share for _, *shares in STRONG for share in shares]
COLUMNS = ("label", "rank", "article", "nll", "nll_at_mean", "words", *(c for three in STRONG for c in three), "text")


def outlier_rows(material: Material[TopicsFiles], column: Column = "nll") -> pd.DataFrame:
    """The documents of real text, and of the first seed of every sample, with the highest NLL (paper, Table 14).

    Columns: the keys, `label`, `rank` (from 1 in each source), `article`, `nll` (in expectation), `nll_at_mean`,
    `words` (in the vocabulary); the topics that exceed their share in real text most, `topic_1` (from 1), `share_1`,
    `usual_share_1` (in real text), and so on, empty if there are fewer; `text` (an excerpt).

    Args:
        material: the files and names of the experiment.
        column: the NLL by which documents are ranked.
    """
    topics = material.files
    rows: list[Row] = []
    for fitted in topics.data:
        critic, vocabulary = CTM.load(fitted.critic), Vocabulary.load(fitted.vocabulary)
        usual = topic_shares(read_posteriors(fitted)[0])
        for source in topics.shown(fitted):
            scores, posteriors = read_topic_scores(source), read_table(source.posteriors)
            projected = Projected(posteriors, scores, source.articles)
            unusual = outliers(critic, vocabulary, projected, usual, MOST, column)
            for rank, document in enumerate(unusual, start=1):
                row = {**material.start(source), "rank": rank, "article": document["id"]}
                row |= {key: document[key] for key in ("nll", "nll_at_mean", "words")}
                for columns, strong in zip(STRONG, document["topics"], strict=False):
                    row |= zip(columns, (strong["topic"] + 1, strong["share"], strong["usual_share"]), strict=True)
                rows.append(row | {"text": document["excerpt"]})
    types = dict.fromkeys([*RUN, *TOPICS], "Int64") | dict.fromkeys(SHARES, "float64")
    return pd.DataFrame(rows, columns=[*KEYS, *COLUMNS]).astype(types)


def published_examples(material: Material[TopicsFiles]) -> list[str]:
    """A remark on the Latent NLL of the paper's own examples; none if its critic has another number of topics."""
    topics, examples = material.files, []
    for fitted in topics.data:
        start = f"outlier_nll_at_mean: {of_topics(CTM.load(fitted.critic))}"
        for source in topics.shown(fitted):
            printed = material.published.of_source(source.keys)
            values = [f"{value:,.2f}" for metric, value in printed.items() if metric.startswith(start)]
            if values:
                examples.append(f"of {material.names.source(source.keys, seed=False)}, {listed(values)}")
    words = "; ".join(examples)
    return (
        [f"The published examples, at the mean: {words}. The paper does not say how it chose them."] if examples else []
    )
