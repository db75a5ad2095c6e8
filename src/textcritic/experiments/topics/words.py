"""What the numbers of a topic model say, in words."""

from collections.abc import Mapping
from typing import Any

import pandas as pd

from textcritic.experiments.topics.rows import DISTANCE
from textcritic.experiments.topics.sheets import words_per_document
from textcritic.inference import ALPHA
from textcritic.measures.labels import corpus_name
from textcritic.measures.names import Names
from textcritic.measures.numbers import number, percent, plural
from textcritic.measures.scored import reasons_over_seeds
from textcritic.plan.sources import DATA, GROUP, SAMPLE
from textcritic.report.section import Finding

LIKE = 0.05  # of the length of real documents, below which a difference in length is not mentioned
SHUFFLED = "Shuffled words"
DEFINITIONS = (
    (
        "Correlated topic model",
        "A topic is a distribution over words, a document a mixture of topics, and the mixture's coefficients are "
        "drawn from one multivariate normal distribution, whose covariances say which topics go together. It is fitted "
        "on real training text. The last topic's coefficient is 0, so that K topics have K − 1 coefficients.",
    ),
    (
        "Latent NLL of topics",
        "The negative log-density of a document's topic coefficients under that normal distribution, in nats, averaged "
        "over documents. In expectation: over the posterior of the coefficients given the document's words. At the "
        "mean: of the posterior's mean alone, as in the paper's released code, which leaves out how unsure it is. "
        "Lower than real text is not better: it means mixtures of topics that the model finds more ordinary. It "
        "depends on length too: the fewer words of the vocabulary a document has, the less they say of its topics, the "
        "nearer its coefficients stay to the commonest, and the lower is as a rule its Latent NLL. It compares sources "
        "of documents about equally long; how many words they have is beside it.",
    ),
    (
        "Covariance of topics",
        "How strong topics are together in the documents of a source. The strength of a topic in a document is the "
        "logarithm of its proportion, less the mean of these logarithms over all topics (the centred log-ratio): how "
        "far the topic stands out from the rest of the document. No topic is the measure of the others, so that their "
        "order and their numbers make no difference. Strengths of a document add up to 0; hence topics that have "
        "nothing to do with each other have a covariance a little below 0, about −1/K of their variance. The "
        "covariances are taken over documents and their posteriors: those of the posteriors' means, and the mean of "
        "how unsure the posteriors are. The paper's figures, and ours of the same numbers, show log-ratios to the last "
        "topic instead, of the posteriors' means alone: the variance of that last topic is in every entry there.",
    ),
    (
        DISTANCE.name,
        "The size of the difference of two covariance matrices as a share of the size of real text's (Frobenius "
        "norms): 0 where they are equal, 1 where they are as far apart as real text's is from nothing. What few "
        "documents add to it by chance is taken off. The interval is a bootstrap over documents, the p-value a "
        "permutation test, as elsewhere, but of a thousand resamples at most, since each takes a while.",
    ),
    (
        "Starts of the fit",
        "A topic model is found by a search that climbs from where it starts, and other starts end on other peaks. "
        "Several are made; the highest by the bound on the likelihood of the training text is the critic. Every number "
        "is computed under each of them too. The difference of a sample from real text, under the same fit, depends "
        "least on the start: its mean over the fits is the headline, with an interval that holds documents and starts. "
        "Beside other numbers stands their range over the starts.",
    ),
    (
        "Share of a topic",
        "How much of a document comes from a topic, at the mean of the posterior of its coefficients; averaged over "
        "the documents of a source.",
    ),
    (
        SHUFFLED,
        "A generator that has learnt from real text with its words shuffled knows which words there are, and nothing "
        "of which go together. It is a yardstick for how bad a sample can look.",
    ),
)


def topic_doubts(rows: pd.DataFrame, names: Names) -> list[Finding]:
    """What makes the scores of a sample doubtful: other starts of the fit, documents of another length, no document.

    Args:
        rows: as `rows.topic_rows` makes them.
        names: of the sources.
    """
    points = []
    for corpus, table in rows.groupby("corpus", sort=False):
        real = table[table["source"] == DATA].iloc[0].to_dict()
        where = f" on {corpus_name(corpus)}" if names.several_corpora else ""
        for _, group in table[table["source"] == SAMPLE].groupby(GROUP, sort=False):
            name = names.source(group.iloc[0].to_dict(), corpus=False, seed=False)
            known = group[group["latent_nll"].notna()]
            doubts = [_starts(known), _length(known, real)] if len(known) else [_lost(group)]
            points += [Finding(f"{name}{where}", doubt) for doubt in doubts if doubt]
    return points


def _starts(known: pd.DataFrame) -> str:
    """That another start of the fit puts a sample on the other side of real text."""
    low, high = known["gap_starts_low"].min(), known["gap_starts_high"].max()
    if not (known["starts"].max() > 1 and low < 0 < high):
        return ""
    return (
        f"its Latent NLL is up to {number(-low)} nats lower than real text's under one start of the fit, and up to "
        f"{number(high)} nats higher under another, so which it is depends on the start."
    )


def _length(known: pd.DataFrame, real: Mapping[str, Any]) -> str:
    """That documents are longer or shorter, where this moves the Latent NLL as it was found to be moved."""
    gap = known["latent_nll"].mean() - real["latent_nll"]
    of_sample, of_real = words_per_document(known), real["words_per_document"]
    if known["p_value"].max() >= ALPHA or abs(of_sample / of_real - 1) < LIKE or (of_sample > of_real) != (gap > 0):
        return ""
    way, higher = ("longer", "higher") if gap > 0 else ("shorter", "lower")
    return (
        f"its documents are {way} than real ones ({number(of_sample)} words of the vocabulary; real text has "
        f"{number(of_real)}), which can be part of the reason why its Latent NLL is {higher}."
    )


def _lost(group: pd.DataFrame) -> str:
    """A sample of which nothing could be scored."""
    reasons = reasons_over_seeds(group)
    total = sum(reasons.values())
    if not total:
        return "there is no document in it."
    commonest = max(reasons, key=lambda reason: reasons[reason])
    share = "all" if len(reasons) == 1 else percent(reasons[commonest] / total)
    return f"none of its {plural(total, 'document')} could be scored, {share} for the reason “{commonest}”."
