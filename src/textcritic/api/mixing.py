"""`textcritic.mixing`: how much texts mix topics, such as languages, compared with real ones, under an LDA model."""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from scipy.sparse import csr_matrix

from textcritic.api.declare import takes
from textcritic.api.documents import Given, languages_of, texts_of
from textcritic.api.options import MixingOptions
from textcritic.api.scored import ByLabel, as_share, facts_of_groups, resampling
from textcritic.api.sets import held_out_of, labelled
from textcritic.corpora.words import SPACES
from textcritic.critics.lda import LDA, Posteriors, agreement, infer, mixing_columns, topic_languages
from textcritic.critics.lda.convergence import Convergence
from textcritic.critics.lda.fit import Fit, fit_lda
from textcritic.critics.lda.scoring import UNKNOWN
from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.rows import CORNERS, DISTANCE, DIVIDED, ENTROPY, MIXED_TOPICS, NLL, PERCENT
from textcritic.inference import Interval, Number, unit_of, with_ones
from textcritic.inference.bootstrap import TOO_FEW
from textcritic.latents.bags import build_vocabulary, count_words, over_words, read_ldac
from textcritic.measures.measure import Measure, Scored
from textcritic.measures.memory import REAL, rows_in_memory, scores_in_memory
from textcritic.measures.numbers import missing
from textcritic.plan.entries import Lda
from textcritic.plan.entries.critics import LdaVocabulary
from textcritic.values import JsonObject, Row

TOP_WORDS = 20
MEASURES = (MIXED_TOPICS, DIVIDED, CORNERS, ENTROPY, NLL, DISTANCE)
NO_WORD = "no text has a word of the texts of the fit"
# Sweeps between two optimisations of alpha and before the first: so it comes to rest in a fifth of the sweeps that it
# takes with the defaults of `Lda`, which are the paper's.
OPTIMISE_EVERY, BURN_IN = 10, 50
Places = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What is measured of one set of texts.

    Attributes:
        statistics: `mixed`, `divided`, `corners` and `entropy` of `critics.lda.mixing_columns`, shares as shares of 1;
            and `latent_nll`, the mean of a text in nats.
        reasons: why these have no interval or no test; "" if they have both.
        topic_shares: [K], share of all words in each topic; empty where nothing could be scored.
        n: texts scored.
        rejected: texts without a word that occurs in the real texts that the model is fitted on.
        tokens: how many tokens of the scored texts are counted.
        tokens_unknown: how many of their tokens are not counted, because the model does not know the word.
        energy_measured: energy distance of the posterior means from those of real texts, not corrected; 0 for real
            texts, None if it cannot be computed.
    """

    statistics: Mapping[str, Number]
    reasons: Mapping[str, str]
    topic_shares: tuple[float, ...]
    n: int
    rejected: int
    tokens: int
    tokens_unknown: int
    energy_measured: float | None

    def described(self) -> JsonObject:
        """As JSON has it."""
        counts = {name: getattr(self, name) for name in ("n", "rejected", "tokens", "tokens_unknown")}
        numbers = {name: _described(one.value, one, self.reasons[name]) for name, one in self.statistics.items()}
        return {**numbers, "topic_shares": list(self.topic_shares), **counts}


@dataclass(frozen=True, repr=False, kw_only=True)
class MixingResult(ByLabel[Source]):
    """What `mixing` gives; `scores` has the share of words outside the main topic, and the energy distance, corrected.

    `by_label` has the result of each sample. If there is only one sample, `samples` is its result, and
    `energy_measured` its energy distance.

    Attributes:
        real: the result for the real texts that were held out.
        critic: the model.
        top_words: the likeliest words of each topic; None if it is not known which words the ids mean.
        languages: the language of each topic; None if the real texts have no languages.
        right: how well the topics agree with the languages (`critics.lda.agreement`), on the held-out real texts.
        fitted_on: how many real texts the model was fitted on.
        seconds: how long the fit took.
        log_prob: nats per token, `log p(words, topics)` of the state that was kept.
        convergence: whether the chains of the fit converged; if they did not, `warnings` say so.
        paired: whether both tests exchanged texts within pairs.
    """

    real: Source
    critic: LDA
    top_words: Sequence[Sequence[str]] | None
    languages: tuple[str, ...] | None
    right: Mapping[str, Interval] | None
    fitted_on: int
    seconds: float
    log_prob: float
    convergence: Convergence
    paired: bool

    @property
    def samples(self) -> Source:
        """The measures of the sample, if there is only one; raises as `ByLabel.only`."""
        return self._only("samples")

    def to_json(self) -> str:
        """The object that `textcritic mixing` prints: of one sample; of several, by label under `samples`."""
        agreements = self.right or {}
        right = {name: _described(one.estimate, one, one.reason) for name, one in agreements.items()} or None
        topics = [self._topic(k) for k in range(self.critic.num_topics)]
        each = {label: {"samples": one.described(), **self._comparison(label)} for label, one in self.by_label.items()}
        several = {label: {**one.pop("samples"), **one} for label, one in each.items()} if len(each) > 1 else {}
        fit = {"documents": self.fitted_on, "seconds": self.seconds, "log_prob": self.log_prob}
        value = {
            "real": self.real.described(),
            **({"samples": several} if several else next(iter(each.values()))),
            "topics": topics,
            "agreement": right,
            "fit": fit | self.convergence.record(),
        }
        return json.dumps(value, allow_nan=False, ensure_ascii=False)

    def _topic(self, k: int) -> JsonObject:
        language = self.languages[k] or None if self.languages else None
        words = self.top_words[k] if self.top_words else None
        return {"language": language, "alpha": float(self.critic.alpha[k]), "words": words}

    def _comparison(self, label: str) -> JsonObject:
        """How a sample compares with real texts, as JSON has it."""
        energy = self[label]["energy"]
        tested = _described(self.by_label[label].energy_measured, energy.number, energy.because or TOO_FEW)
        tested |= {"corrected": energy.value, "p": energy.p, "paired": self.paired}
        return {"mixed_p": self[label]["mixed"].p, "energy_distance": tested}


@takes(MixingOptions)
def mixing(real: Given, samples: Given, *, options: MixingOptions) -> MixingResult:
    """Fit LDA on part of some real texts, and say how much the others and samples mix its topics.

    Where real texts are in as many languages as there are topics, each in one, topics become languages, and what is
    measured is code-mixing (model criticism paper, appendix C). Tokens are split at white space, and all of them count.
    The command `textcritic mixing` prints the same numbers.

    Args:
        real: texts in any form that `documents_of` takes, which may have a `language` each; or a file in the format
            LDA-C (.dat, .ldac).
        samples: likewise, LDA-C if `real` is; or a dict of such sets by label, or a list of `Path`s.
        options: see below.

    Raises:
        TextcriticError: bad input, in one line that names the argument and the item.
    """
    sets = {REAL: _read(real, "real", options)}
    sets |= {label: _read(given, name, options, sets[REAL].words) for label, name, given in labelled(samples)}
    first = sets[REAL]
    for one in sets.values():
        if isinstance(first.texts, csr_matrix) != isinstance(one.texts, csr_matrix):
            raise TextcriticError(f"{one.name}: both sets must be text, or both LDA-C; {first.name} is the other")
        if options.paired and len(one) != len(first):
            raise TextcriticError(
                f"{one.name}: {len(one)} texts, and {first.name} has {len(first)}; pairs need as many of both"
            )
        if options.paired and one.numbers != first.numbers:
            raise TextcriticError(
                f"{one.name}: other texts are left out than of {first.name}, so pairs are lost; mend them"
            )
    kept = np.zeros(len(first), dtype=bool)
    kept[list(held_out_of(first.groups, options, first.name))] = True
    held_out = np.flatnonzero(kept)
    rows = {label: np.arange(len(one)) for label, one in sets.items()}
    rows = dict.fromkeys(sets, held_out) if options.paired else rows | {REAL: held_out}
    train, *counts = _counted([(first, np.flatnonzero(~kept)), *((sets[k], rows[k]) for k in sets)], options.lowercase)
    fit = _fit(train.matrix, options, first.name)
    counted = dict(zip(sets, counts, strict=True))
    scored = {
        label: _infer(fit.critic, counted[label], options, [one.groups[row] for row in rows[label]])
        for label, one in sets.items()
    }
    _require_real(scored[REAL], first.name, options.paired)
    names = {label: one.name if label == REAL else label for label, one in sets.items()}
    languages = [first.languages[row] for row in held_out[scored[REAL].known]] if first.languages else None
    return _result(fit, counted, scored, names, languages, options)


@dataclass(frozen=True, slots=True, eq=False)
class _Set:
    """Texts as they were given: tokens, or counts in the format LDA-C; their groups; languages, where all have one."""

    name: str
    texts: list[list[str]] | csr_matrix
    groups: list[str | None]
    languages: Sequence[str] | None = None
    numbers: Sequence[int] = ()
    words: str = SPACES

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


def _read(given: Given, name: str, options: MixingOptions, real: str | None = None) -> _Set:
    groups: list[str | None] = []
    documents = texts_of(given, name, options.reading).cut_by(options.words, real).noting(groups)
    if documents.counted:
        counts = read_ldac(documents.file)
        return _Set(documents.name, counts, [None] * counts.shape[0])
    given_records = list(documents.records())
    values = [record.value for record in given_records]
    numbers = [record.number + (record.unit == "item") for record in given_records]  # items count from 0
    return _Set(
        documents.name, list(documents.tokens()), groups, languages_of(values, documents.name), numbers, documents.words
    )


def _counted(parts: Sequence[tuple[_Set, Places]], lowercase: bool) -> list[_Counts]:
    """Some texts of each set as counts over the words of those of the first, which are the real texts of the fit."""
    real, train = parts[0]
    if isinstance(real.texts, csr_matrix):
        known = np.unique(real.texts[train].indices)
        if not len(known):
            raise TextcriticError(
                f"{real.name}: the texts that the model is fitted on have no words; give texts with words"
            )
        return [_chosen_words(one.texts, rows, known) for one, rows in parts]
    texts = [real.texts[row] for row in train]
    vocabulary, _ = build_vocabulary(texts, LdaVocabulary(lowercase=lowercase), real.name)
    found = []
    for one, rows in parts:
        some = [one.texts[row] for row in rows]
        matrix = count_words(some, vocabulary)
        found.append(_Counts(matrix, sum(map(len, some)) - int(matrix.sum()), vocabulary.words))
    return found


def _chosen_words(matrix: csr_matrix, rows: Places, known: npt.NDArray[np.int32]) -> _Counts:
    every = csr_matrix(matrix[rows])
    chosen = over_words(known, every)
    return _Counts(chosen, int(every.sum() - chosen.sum()), None)


def _fit(matrix: csr_matrix, options: MixingOptions, name: str) -> Fit:
    try:
        return fit_lda(matrix, _entry(options), workers=options.workers or os.cpu_count() or 1)
    except TextcriticError as error:
        raise TextcriticError(f"{name}: {error}") from error


def _entry(options: MixingOptions) -> Lda:
    given = {name: getattr(options, name) for name in ("topics", "starts", "seed", "iterations", "draws")}
    return Lda.read({"kind": "lda", "optimise_every": OPTIMISE_EVERY, "burn_in": BURN_IN, **given}, "mixing")


def _infer(critic: LDA, counts: _Counts, options: MixingOptions, groups: Sequence[str | None]) -> _Scored:
    posterior = infer(critic, counts.matrix, _entry(options))
    known = posterior.tokens > 0
    ids = pa.array([str(row) for row in range(len(known))])
    of_known = [group for group, there in zip(groups, known, strict=True) if there]
    return _Scored(Posteriors.of(ids, posterior), posterior.nll[known], known, of_known)


def _require_real(real: _Scored, name: str, paired: bool) -> None:
    """Refuse real texts that nothing can be compared with; a sample without usable text is an empty row."""
    if real.known.sum() < 2:
        raise TextcriticError(
            f"{name}: {real.known.sum()} of {len(real.known)} texts to compare have a word of the texts of the fit; two"
            " or more must have one, so give more texts"
        )
    if not paired and unit_of(real.groups, len(real.groups)).max(initial=0) < 1:
        raise TextcriticError(f"{name}: all texts are of one group; the energy test needs two groups at least")


def _what_it_says(scored: _Scored, pairs: tuple[Places, Places] | None) -> Scored:
    """What one set says, as `experiments.mixing.rows` reads it."""
    data = {**mixing_columns(scored.posteriors), NLL.value: with_ones(scored.nll)}
    lost = int((~scored.known).sum())
    reasons = {UNKNOWN: lost} if lost else {}
    means = {"means": scored.posteriors.mean, "pairs": pairs}
    because = {} if scored.known.any() else {measure.why: NO_WORD for measure in MEASURES}
    return Scored({**data, **means}, int(scored.known.sum()), reasons, because, scored.groups)


def _source(row: Row, scored: _Scored, counts: _Counts, is_real: bool) -> Source:
    """What is printed of one set; `row` is that of `rows_in_memory`."""
    totals, (*measures, _) = scored.posteriors.counts.sum(axis=0, dtype=np.float64), MEASURES
    measured = row.get("distance_measured")
    return Source(
        statistics={measure.value: _number(row, measure) for measure in measures},
        reasons={m.value: "" if missing(row.get(m.why)) else str(row[m.why]) for m in measures},
        topic_shares=tuple((totals / totals.sum()).tolist()) if totals.any() else (),
        n=int(scored.known.sum()),
        rejected=int((~scored.known).sum()),
        tokens=int(counts.matrix.sum()),
        tokens_unknown=counts.unknown,
        energy_measured=0.0 if is_real else None if missing(measured) else float(measured or 0.0),
    )


def _number(row: Row, measure: Measure) -> Number:
    """The value and interval of a row, shares as shares of 1."""
    cells = (row[column] for column in (measure.value, measure.low, measure.high))
    numbers = (None if missing(cell) else float(cell) for cell in cells)
    value, low, high = (as_share(number) if measure.whole == PERCENT else number for number in numbers)
    return Number(value, low, high)


def _result(
    fit: Fit,
    counted: Mapping[str, _Counts],
    scored: Mapping[str, _Scored],
    names: Mapping[str, str],
    languages: Sequence[str] | None,
    options: MixingOptions,
) -> MixingResult:
    """The results for all sets; `names` are for errors, `languages` those of the real texts that were scored."""
    real, read = scored[REAL], {}
    for label, one in scored.items():
        pairs = _pairs((real, one)) if options.paired and one is not real else None
        read[label] = _what_it_says(one, pairs)
    rows = rows_in_memory(read, MEASURES, resampling(options), names[REAL])
    sources = {
        label: _source(row, scored[label], counted[label], label == REAL)
        for label, row in zip(scored, rows.to_dict("records"), strict=True)
    }
    of_topics = right = None
    if languages:
        of_topics = topic_languages(real.posteriors, languages)
        right = agreement(real.posteriors, languages, options.resamples, options.seed, real.groups)
    words = counted[REAL].words
    return MixingResult(
        title=f"Mixing of {options.topics} topics, compared with real texts",
        scores=scores_in_memory(rows, (MIXED_TOPICS, DISTANCE)),
        facts=(*_facts(fit, options), *facts_of_groups({label: one.groups for label, one in read.items()})),
        warnings=() if fit.convergence.converged else (fit.convergence.words,),
        real=sources.pop(REAL),
        by_label=sources,
        critic=fit.critic,
        top_words=None if words is None else fit.critic.top_words(words, TOP_WORDS),
        languages=of_topics,
        right=right,
        fitted_on=fit.documents,
        seconds=fit.seconds,
        log_prob=fit.log_probs[fit.kept][-1],
        convergence=fit.convergence,
        paired=options.paired,
    )


def _pairs(scored: Sequence[_Scored]) -> tuple[Places, Places]:
    """The places, in samples and in real texts, of the pairs in which both texts have words."""
    both = scored[0].known & scored[1].known
    of_real, of_samples = (np.flatnonzero(both[one.known]) for one in scored)
    return of_samples, of_real


def _described(value: float | None, ends: Number | Interval, reason: str) -> JsonObject:
    """A number with its interval, or why there is none, as JSON has it."""
    return {"value": value, "ci95": [ends.low, ends.high], "ci95_reason": None if ends.low is not None else reason}


def _facts(fit: Fit, options: MixingOptions) -> tuple[tuple[str, str], ...]:
    size = f"fitted on {fit.documents:,} real texts of {fit.critic.num_words:,} different words by Gibbs sampling"
    kept = f"the most probable of {options.starts} chains, seed {options.seed}"
    exchange = ", by exchange within pairs" if options.paired else ""
    return (
        ("Critic", f"latent Dirichlet allocation of {options.topics} topics, {size}; {kept}"),
        ("Convergence", fit.convergence.words),
        ("Interval", f"95%, studentised bootstrap over texts, {options.resamples:,} resamples"),
        ("p-value", f"permutation test against held-out real texts{exchange}"),
    )
