"""`textcritic.mixing`: how much texts mix topics, such as languages, beside real ones, under an LDA model."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_matrix

from textcritic.api.declare import takes
from textcritic.api.documents import Given, languages_of, texts_of
from textcritic.api.options import MixingOptions
from textcritic.api.results import Result
from textcritic.api.scored import as_share, facts_of_groups, resampling
from textcritic.api.sets import held_out_of
from textcritic.critics.lda import (
    LDA,
    FitOptions,
    PosteriorOptions,
    Posteriors,
    agreement,
    infer,
    mixing_columns,
    topic_languages,
)
from textcritic.critics.lda.convergence import Convergence
from textcritic.critics.lda.fit import Fit, fit_lda
from textcritic.critics.lda.scoring import UNKNOWN
from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.rows import CORNERS, DISTANCE, DIVIDED, ENTROPY, MIXED_TOPICS, NLL, PERCENT
from textcritic.inference import Interval, Number, unit_of, with_ones
from textcritic.latents.bags import VocabularyOptions, build_vocabulary, count_words, over_words, read_ldac
from textcritic.measures.measure import Measure, Scored
from textcritic.measures.memory import REAL, rows_in_memory, scores_in_memory
from textcritic.measures.numbers import missing

TOP_WORDS = 20
# Sweeps between two optimisations of alpha and before the first: so it comes to rest in a fifth of the sweeps that it
# takes with the defaults of `FitOptions`, which are the paper's.
OPTIMISE_EVERY, BURN_IN = 10, 50
SAMPLES = "samples"
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What is measured of one set of texts.

    Attributes:
        statistics: `mixed`, `divided`, `corners` and `entropy` of `critics.lda.mixing_columns`, shares as shares of 1;
            and `latent_nll`, the mean of a text in nats.
        topic_shares: [K], share of all words in each topic.
        n: texts scored.
        rejected: texts without a word that the real texts of the fit have.
        tokens: of the texts scored, that are counted.
        tokens_unknown: other tokens, which are not.
    """

    statistics: Mapping[str, Number]
    topic_shares: tuple[float, ...]
    n: int
    rejected: int
    tokens: int
    tokens_unknown: int

    def described(self) -> dict[str, Any]:
        """As JSON has it."""
        counts = {name: getattr(self, name) for name in ("n", "rejected", "tokens", "tokens_unknown")}
        numbers = {name: _described(one.value, one.low, one.high) for name, one in self.statistics.items()}
        return {**numbers, "topic_shares": list(self.topic_shares), **counts}


@dataclass(frozen=True, repr=False, kw_only=True)
class MixingResult(Result):
    """What `mixing` gives; `scores` has the share of words outside the main topic, and the energy distance, corrected.

    Attributes:
        real: of the real texts that were held out.
        samples: of the samples.
        energy_measured: energy distance of the posterior means of both, not corrected.
        critic: the model, and `top_words` of each topic; None where the words of the ids are not known.
        languages: of each topic, where the real texts have languages.
        right: how well the topics agree with these (`critics.lda.agreement`), of the held-out real texts.
        fitted_on: real texts of the fit.
        seconds: that it took.
        log_prob: nats a token, `log p(words, topics)` of the state that was kept.
        convergence: whether the chains of the fit had come to rest; `warnings` say it where they had not.
        paired: whether both tests exchanged texts within pairs.
    """

    real: Source
    samples: Source
    energy_measured: float
    critic: LDA
    top_words: Sequence[Sequence[str]] | None
    languages: tuple[str, ...] | None
    right: Mapping[str, Interval] | None
    fitted_on: int
    seconds: float
    log_prob: float
    convergence: Convergence
    paired: bool

    def to_json(self) -> str:
        """The object that `textcritic mixing` prints."""
        right = None
        if self.right is not None:
            right = {name: _described(one.estimate, one.low, one.high) for name, one in self.right.items()}
        topics = [
            {
                "language": self.languages[k] or None if self.languages else None,
                "alpha": float(self.critic.alpha[k]),
                "words": self.top_words[k] if self.top_words else None,
            }
            for k in range(self.critic.num_topics)
        ]
        energy = self[SAMPLES]["energy"]
        value = {
            "real": self.real.described(),
            "samples": self.samples.described(),
            "mixed_p": self[SAMPLES]["mixed"].p,
            "energy_distance": {
                "value": self.energy_measured,
                "corrected": energy.value,
                "ci95": [energy.low, energy.high],
                "p": energy.p,
                "paired": self.paired,
            },
            "topics": topics,
            "agreement": right,
            "fit": {
                "documents": self.fitted_on,
                "seconds": self.seconds,
                "log_prob": self.log_prob,
                **self.convergence.record(),
            },
        }
        return json.dumps(value, allow_nan=False, ensure_ascii=False)


@takes(MixingOptions)
def mixing(real: Given, samples: Given, *, options: MixingOptions) -> MixingResult:
    """Fit LDA on part of some real texts, and say how much the others and samples mix its topics.

    Where real texts are in as many languages as there are topics, each in one, topics become languages, and what is
    measured is code-mixing (model criticism paper, appendix C). Tokens are split at white space, and all of them count.
    What is computed is what the command `textcritic mixing` prints.

    Args:
        real: texts in any form that `documents_of` takes, which may have a `language` each; or a file in the format
            LDA-C (.dat, .ldac).
        samples: likewise; LDA-C if `real` is.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    first, second = (_read(given, name) for given, name in ((real, "real"), (samples, SAMPLES)))
    if isinstance(first.texts, csr_matrix) != isinstance(second.texts, csr_matrix):
        raise TextcriticError(f"{second.name}: both sets must be text, or both LDA-C; {first.name} is the other")
    number = len(first)
    if options.paired and len(second) != number:
        raise TextcriticError(
            f"{second.name}: {len(second)} texts, and {first.name} has {number}; pairs need as many of both"
        )
    kept = np.zeros(number, dtype=bool)
    kept[list(held_out_of(first.groups, options, first.name))] = True
    yardstick = np.flatnonzero(kept)
    compared = yardstick if options.paired else np.arange(len(second))
    counted = _counted(first, second, np.flatnonzero(~kept), (yardstick, compared), options.lowercase)
    fit = _fit(counted[0].matrix, options, first.name)
    scored = [
        _infer(fit.critic, one, options, set_.name, [set_.groups[row] for row in rows])
        for one, set_, rows in zip(counted[1:], (first, second), (yardstick, compared), strict=True)
    ]
    return _result(fit, counted, scored, first, yardstick, options)


@dataclass(frozen=True, slots=True, eq=False)
class _Set:
    """Texts as they were given: tokens, or counts in the format LDA-C; their groups; languages, where all have one."""

    name: str
    texts: list[list[str]] | csr_matrix
    groups: list[str | None]
    languages: Sequence[str] | None = None

    def __len__(self) -> int:
        return self.texts.shape[0] if isinstance(self.texts, csr_matrix) else len(self.texts)


@dataclass(frozen=True, slots=True, eq=False)
class _Counts:
    """Counts over the words of the fit, the tokens that are left out, and the words where they are known."""

    matrix: csr_matrix
    unknown: int
    words: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class _Scored:
    """Posteriors of the texts with words, their Latent NLL, and which texts these are; groups of those with words."""

    posteriors: Posteriors
    nll: npt.NDArray[np.float64]
    known: npt.NDArray[np.bool_]
    groups: list[str | None]


def _read(given: Given, name: str) -> _Set:
    groups: list[str | None] = []
    documents = texts_of(given, name).noting(groups)
    if documents.counted:
        counts = read_ldac(documents.file)
        return _Set(documents.name, counts, [None] * counts.shape[0])
    values = [record.value for record in documents.records()]
    return _Set(documents.name, list(documents.tokens()), groups, languages_of(values, documents.name))


def _counted(
    real: _Set, samples: _Set, train: Places, compared: tuple[Places, Places], lowercase: bool
) -> tuple[_Counts, _Counts, _Counts]:
    """The real texts of the fit, those held out, and the samples, as counts over the words of the first."""
    if isinstance(real.texts, csr_matrix):
        first, second = real.texts, samples.texts
        known = np.unique(first[train].indices)
        if not len(known):
            raise TextcriticError(f"{real.name}: the texts to fit on have no word")
        parts = [(first, train), (first, compared[0]), (second, compared[1])]
        return tuple(_chosen_words(matrix, rows, known) for matrix, rows in parts)  # type: ignore[return-value]
    texts = [[real.texts[row] for row in train], [real.texts[row] for row in compared[0]]]
    texts.append([samples.texts[row] for row in compared[1]])
    options = VocabularyOptions(lowercase=lowercase, maximum_share=1.0, minimum_count=1, placeholders=())
    vocabulary, _ = build_vocabulary(texts[0], options, real.name)
    found = []
    for some in texts:
        matrix = count_words(some, vocabulary)
        found.append(_Counts(matrix, sum(map(len, some)) - int(matrix.sum()), vocabulary.words))
    return found[0], found[1], found[2]


def _chosen_words(matrix: csr_matrix, rows: Places, known: npt.NDArray[np.int32]) -> _Counts:
    every = csr_matrix(matrix[rows])
    chosen = over_words(known, every)
    return _Counts(chosen, int(every.sum() - chosen.sum()), None)


def _fit(matrix: csr_matrix, options: MixingOptions, name: str) -> Fit:
    sweeps = {"optimise_every": OPTIMISE_EVERY, "burn_in": BURN_IN, "iterations": options.iterations}
    chosen = FitOptions(options.topics, starts=options.starts, seed=options.seed, **sweeps)
    try:
        return fit_lda(matrix, chosen, workers=options.workers or os.cpu_count() or 1)
    except TextcriticError as error:
        raise TextcriticError(f"{name}: {error}") from error


def _infer(critic: LDA, counts: _Counts, options: MixingOptions, name: str, groups: Sequence[str | None]) -> _Scored:
    posterior = infer(critic, counts.matrix, PosteriorOptions(draws=options.draws, seed=options.seed))
    known = posterior.tokens > 0
    if known.sum() < 2:
        raise TextcriticError(
            f"{name}: {known.sum()} of {len(known)} texts to compare have a word of the texts of the fit; two or more"
            " must have one, so give more texts"
        )
    ids = pa.array([str(row) for row in range(len(known))])
    of_known = [group for group, there in zip(groups, known, strict=True) if there]
    return _Scored(Posteriors.of(ids, posterior), posterior.nll[known], known, of_known)


def _what_it_says(scored: _Scored, pairs: tuple[Places, Places] | None) -> Scored:
    """What one set says, as `experiments.mixing.rows` reads it."""
    data = {**mixing_columns(scored.posteriors), NLL.value: with_ones(scored.nll)}
    lost = int((~scored.known).sum())
    reasons = {UNKNOWN: lost} if lost else {}
    means = {"means": scored.posteriors.mean, "pairs": pairs}
    return Scored({**data, **means}, int(scored.known.sum()), reasons, groups=scored.groups)


def _source(row: Mapping[str, Any], scored: _Scored, counts: _Counts) -> Source:
    """What is printed of one set; `row` is that of `rows_in_memory`."""
    totals = scored.posteriors.counts.sum(axis=0, dtype=np.float64)
    return Source(
        statistics={one.value: _number(row, one) for one in (MIXED_TOPICS, DIVIDED, CORNERS, ENTROPY, NLL)},
        topic_shares=tuple((totals / totals.sum()).tolist()),
        n=int(scored.known.sum()),
        rejected=int((~scored.known).sum()),
        tokens=int(counts.matrix.sum()),
        tokens_unknown=counts.unknown,
    )


def _number(row: Mapping[str, Any], measure: Measure) -> Number:
    """The value and interval of a row, shares as shares of 1."""
    found = (row[column] for column in (measure.value, measure.low, measure.high))
    value, *ends = (None if missing(number) else float(number) for number in found)
    return Number(*(as_share(number) if measure.whole == PERCENT else number for number in (value, *ends)))


def _result(
    fit: Fit,
    counted: Sequence[_Counts],
    scored: Sequence[_Scored],
    real: _Set,
    yardstick: Places,
    options: MixingOptions,
) -> MixingResult:
    pairs = _pairs(scored) if options.paired else None
    if pairs is not None and len(pairs[0]) < 2:
        raise TextcriticError(f"{real.name}: no two pairs of which both texts have a word that the model has")
    for one, name in zip(scored, (real.name, SAMPLES), strict=True):
        if pairs is None and unit_of(one.groups, len(one.groups)).max(initial=0) < 1:
            raise TextcriticError(f"{name}: all texts are of one group; the energy test needs two groups at least")
    read = {REAL: _what_it_says(scored[0], None), SAMPLES: _what_it_says(scored[1], pairs)}
    measures = (MIXED_TOPICS, DIVIDED, CORNERS, ENTROPY, NLL, DISTANCE)
    rows = rows_in_memory(read, measures, resampling(options), real.name)
    of_real, of_samples = (
        _source(row, one, counts) for row, one, counts in zip(rows.to_dict("records"), scored, counted[1:], strict=True)
    )
    languages = right = None
    if real.languages:
        known = [real.languages[row] for row in yardstick[scored[0].known]]
        languages = topic_languages(scored[0].posteriors, known)
        right = agreement(scored[0].posteriors, known, options.resamples, options.seed, scored[0].groups)
    return MixingResult(
        title=f"Mixing of {options.topics} topics, beside real texts",
        scores=scores_in_memory(rows, (MIXED_TOPICS, DISTANCE)),
        facts=(*_facts(fit, options), *facts_of_groups({label: one.groups for label, one in read.items()})),
        warnings=() if fit.convergence.converged else (fit.convergence.words,),
        real=of_real,
        samples=of_samples,
        energy_measured=float(rows["distance_measured"].iloc[1]),
        critic=fit.critic,
        top_words=None if counted[0].words is None else fit.critic.top_words(counted[0].words, TOP_WORDS),
        languages=languages,
        right=right,
        fitted_on=fit.documents,
        seconds=fit.seconds,
        log_prob=fit.log_probs[fit.kept][-1],
        convergence=fit.convergence,
        paired=options.paired,
    )


def _pairs(scored: Sequence[_Scored]) -> tuple[Places, Places]:
    """The places, in samples and in real texts, of the pairs of which both texts have words."""
    both = scored[0].known & scored[1].known
    of_real, of_samples = (np.flatnonzero(both[one.known]) for one in scored)
    return of_samples, of_real


def _described(value: float | None, low: float | None, high: float | None) -> dict[str, Any]:
    """A number with its interval, as JSON has it."""
    return {"value": value, "ci95": [low, high]}


def _facts(fit: Fit, options: MixingOptions) -> tuple[tuple[str, str], ...]:
    return (
        (
            "Critic",
            f"latent Dirichlet allocation of {options.topics} topics, fitted on {fit.documents:,} real texts of "
            f"{fit.critic.num_words:,} different words by Gibbs sampling; the most probable of {options.starts} "
            f"chains, seed {options.seed}",
        ),
        ("Convergence", fit.convergence.words),
        ("Interval", f"95%, studentised bootstrap over texts, {options.resamples:,} resamples"),
        (
            "p-value",
            "permutation test against held-out real texts" + (", by exchange within pairs" if options.paired else ""),
        ),
    )
