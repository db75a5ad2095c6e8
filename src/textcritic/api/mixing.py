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

from textcritic.api.criticise import held_out_of
from textcritic.api.declare import takes
from textcritic.api.documents import Given, languages_of, texts_of
from textcritic.api.options import MixingOptions
from textcritic.api.results import REAL, Result, Score
from textcritic.api.scored import facts_of_groups
from textcritic.critics.lda import (
    LDA,
    FitOptions,
    PosteriorOptions,
    Posteriors,
    agreement,
    infer,
    mixing_columns,
    mixing_statistics,
    topic_languages,
)
from textcritic.critics.lda.convergence import Convergence
from textcritic.critics.lda.fit import Fit, fit_lda
from textcritic.critics.lda.scoring import UNKNOWN
from textcritic.errors import TextcriticError
from textcritic.inference import (
    EnergyTest,
    Interval,
    bootstrap_interval,
    energy_test,
    one_of_each,
    paired_permutation_test,
    ratio_of_sums,
    two_sample_test,
    unit_sums,
    with_ones,
)
from textcritic.latents.bags import VocabularyOptions, build_vocabulary, count_words, over_words, read_ldac

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
        statistics: those of `critics.lda.mixing_statistics`, and `latent_nll`, the mean of a text in nats.
        topic_shares: [K], share of all words in each topic.
        n: texts scored.
        rejected: texts without a word that the real texts of the fit have.
        tokens: of the texts scored, that are counted.
        tokens_unknown: other tokens, which are not.
    """

    statistics: Mapping[str, Interval]
    topic_shares: tuple[float, ...]
    n: int
    rejected: int
    tokens: int
    tokens_unknown: int

    def described(self) -> dict[str, Any]:
        """As JSON has it."""
        counts = {name: getattr(self, name) for name in ("n", "rejected", "tokens", "tokens_unknown")}
        return {**_with_intervals(self.statistics), "topic_shares": list(self.topic_shares), **counts}


@dataclass(frozen=True, repr=False, kw_only=True)
class MixingResult(Result):
    """What `mixing` gives; `scores` has the share of words outside the main topic, and the energy distance, corrected.

    Attributes:
        real: of the real texts that were held out.
        samples: of the samples.
        energy: test of the posterior means of both.
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
    energy: EnergyTest
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
        right = None if self.right is None else _with_intervals(self.right)
        topics = [
            {
                "language": self.languages[k] or None if self.languages else None,
                "alpha": float(self.critic.alpha[k]),
                "words": self.top_words[k] if self.top_words else None,
            }
            for k in range(self.critic.num_topics)
        ]
        test = self.energy
        value = {
            "real": self.real.described(),
            "samples": self.samples.described(),
            "mixed_p": self[SAMPLES]["mixed"].p,
            "energy_distance": {
                "value": test.distance,
                "corrected": test.corrected,
                "ci95": [test.low, test.high],
                "p": test.p,
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


def _source(scored: _Scored, counts: _Counts, options: MixingOptions) -> Source:
    statistics = mixing_statistics(scored.posteriors, options.resamples, options.seed, scored.groups)
    units = unit_sums(with_ones(scored.nll), scored.groups)
    nll = bootstrap_interval(units, ratio_of_sums, options.resamples, seed=options.seed)
    totals = scored.posteriors.counts.sum(axis=0, dtype=np.float64)
    return Source(
        statistics={**statistics, "latent_nll": nll},
        topic_shares=tuple((totals / totals.sum()).tolist()),
        n=int(scored.known.sum()),
        rejected=int((~scored.known).sum()),
        tokens=int(counts.matrix.sum()),
        tokens_unknown=counts.unknown,
    )


def _result(
    fit: Fit,
    counted: Sequence[_Counts],
    scored: Sequence[_Scored],
    real: _Set,
    yardstick: Places,
    options: MixingOptions,
) -> MixingResult:
    of_real, of_samples = (_source(one, counts, options) for one, counts in zip(scored, counted[1:], strict=True))
    points = _points(scored, options.paired)
    if len(points[0]) < 2:
        raise TextcriticError(f"{real.name}: no two pairs of which both texts have a word that the model has")
    energy = energy_test(points[1], points[0], options.paired, options.resamples, seed=options.seed)
    groups = scored[1].groups, scored[0].groups
    p = _mixed_p(scored, options)
    languages = right = None
    if real.languages:
        known = [real.languages[row] for row in yardstick[scored[0].known]]
        languages = topic_languages(scored[0].posteriors, known)
        right = agreement(scored[0].posteriors, known, options.resamples, options.seed, scored[0].groups)
    scores = [_score(REAL, of_real, None), _score(SAMPLES, of_samples, p)]
    values = (energy.corrected, energy.low, energy.high, energy.p, len(points[1]), of_samples.rejected)
    scores.append(Score(SAMPLES, "energy", *values, _reasons(of_samples)))
    return MixingResult(
        title=f"Mixing of {options.topics} topics, beside real texts",
        scores=tuple(scores),
        facts=(*_facts(fit, options), *facts_of_groups({REAL: groups[1], SAMPLES: groups[0]})),
        warnings=() if fit.convergence.converged else (fit.convergence.words,),
        real=of_real,
        samples=of_samples,
        energy=energy,
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


def _mixed_p(scored: Sequence[_Scored], options: MixingOptions) -> float | None:
    """Of the share of words of another topic; of pairs by swaps within pairs, those of a group at once."""
    outside = [mixing_columns(one.posteriors)["mixed"] for one in scored]
    if not options.paired:
        groups = scored[1].groups, scored[0].groups
        return two_sample_test(outside[1], outside[0], ratio_of_sums, groups, options.resamples, options.seed).p
    both = scored[0].known & scored[1].known
    of_pairs = [group for group, there in zip(scored[0].groups, both[scored[0].known], strict=True) if there]
    pairs = [unit_sums(values[both[one.known]], of_pairs) for values, one in zip(outside, scored, strict=True)]
    return paired_permutation_test(pairs[1], pairs[0], ratio_of_sums, options.resamples, options.seed).p


def _points(scored: Sequence[_Scored], paired: bool) -> list[npt.NDArray[np.float64]]:
    """Posterior means for the energy test, which takes texts as independent: of each group one text, at random.

    Of pairs, one of each group of real texts; both texts of a pair have words.
    """
    if not paired:
        return [one.posteriors.mean[one_of_each(one.groups, len(one.groups))] for one in scored]
    both = scored[0].known & scored[1].known
    groups = [group for group, there in zip(scored[0].groups, both[scored[0].known], strict=True) if there]
    rows = one_of_each(groups, len(groups))
    return [one.posteriors.mean[both[one.known]][rows] for one in scored]


def _score(label: str, source: Source, p: float | None) -> Score:
    mixed = source.statistics["mixed"]
    values = (mixed.estimate, mixed.low, mixed.high, p, source.n, source.rejected)
    return Score(label, "mixed", *values, _reasons(source))


def _with_intervals(numbers: Mapping[str, Interval]) -> dict[str, Any]:
    return {name: {"value": one.estimate, "ci95": [one.low, one.high]} for name, one in numbers.items()}


def _reasons(source: Source) -> dict[str, int]:
    return {UNKNOWN: source.rejected} if source.rejected else {}


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
