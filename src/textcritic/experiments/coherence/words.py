"""The report's fixed words: what each number means, and what each switch of the audit is."""

import math
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd

from textcritic.report.details import DECODING
from textcritic.report.numbers import count, missing, number

SOFT, TITLES, SURE = "Soft Latent PPL", "Inferred and gold titles", "Sure"
DEFINITIONS = (
    (
        "Step",
        "One transition of a chain of section types, beginning and end included: an article of K sections has K + 1.",
    ),
    (
        "Latent PPL",
        "exp(sum of the negative log-probabilities of all steps / number of steps), pooled over all articles of a "
        "source. The next section is as hard to guess as a draw from that many equally likely ones. Lower is not "
        "always better: the aim is the value of real text.",
    ),
    ("Latent NLL", "The sum of the negative log-probabilities of an article's steps in nats, averaged over articles."),
    (
        SOFT,
        "The same with the expectation over everything the classifier thinks possible, in place of its best guess.",
    ),
    (
        "95% interval",
        "The middle 95% of the values that come out when articles are drawn anew with replacement ({resamples:,} "
        "times). It covers the choice of articles, not of the training seed.",
    ),
    (
        "p-value",
        "The share of {resamples:,} random ways to deal the articles of two sources into two piles of the same sizes "
        "that differ at least as much in log Latent PPL as the sources do. Below 0.05 we call it a difference. Each "
        "p-value stands for one comparison; with many samples, about one comparison in twenty falls below by chance.",
    ),
    (
        "Entropy and divergence",
        "Cross-entropy per step = entropy of the source's own steps + Kullback-Leibler divergence of them from the "
        "critic, both conditional on the previous section. The corrected values take out the bias of a finite sample.",
    ),
    (
        "Perplexity",
        "exp(mean negative log-probability per token of the test articles), in tokens of the generator's encoding; for "
        "n-gram models per word. Numbers per word and per token, or of two encodings, cannot be compared. All: every "
        "token or word. Body: without section titles and separators.",
    ),
    ("Unlikely step", "A step with a probability below 5% under the critic (graphs and articles) or 1% (table)."),
    (
        TITLES,
        "Inferred: the classifier's best guess from a section's text. Gold: the titles that real articles come with. "
        "Samples are compared with real text by inferred titles on both sides: both carry the classifier's faults.",
    ),
    (
        SURE,
        "Of a section: the classifier's posterior probability of the title that it inferred. It says how sure the "
        "classifier is, not how often it is right.",
    ),
    ("Rejected", "Articles without a readable chain of known section types. Their reasons are counted."),
    (
        "Published",
        "The value in the paper, shown beside ours and used in no computation; the difference is ours minus theirs.",
    ),
)

SWITCH_WORDS = {
    "smoothing": (
        "Smoothing",
        "The released code tries no smoothing and one added count, and nothing in between. Without smoothing, a single "
        "step that the training text never makes has probability 0, and the Latent PPL is infinite.",
    ),
    "normalisation": (
        "Normalisation",
        "The released code also keeps probability for a return to the beginning, which cannot happen; every possible "
        "step gets a little less.",
    ),
    "unknown titles": (
        "Unknown titles",
        "The released code leaves out the steps next to a title that the critic never saw and keeps the rest of the "
        "article; going by the paper, the whole article is rejected.",
    ),
    "titles": (
        "Source of titles",
        "Real text is scored by inferred titles in place of its own; samples by the titles that the model wrote in "
        "place of inferred ones.",
    ),
    "generated titles, unknown titles": (
        "Written titles and unknown titles",
        "Both of the last two together: where unknown titles are left out, one that nobody else uses costs nothing.",
    ),
    "posterior": (
        "Posterior",
        "The expectation over the classifier's whole posterior in place of its best guess for each section; for real "
        'text the change is against the best guesses too (column "titles").',
    ),
    "all as released": ("All as released", "Smoothing, normalisation and unknown titles as in the released code."),
    "all as in the text": ("All as in the text", "Smoothing, normalisation and unknown titles as the paper has them."),
}


# What takes their place where titles are given.
GIVEN = {
    SOFT: (SOFT, "Where titles are given there is nothing to be unsure of: it equals the Latent PPL."),
    TITLES: (
        "Given titles",
        "Sections are known by the titles that articles come with, spelt as the corpus spells its own, in real text "
        "and in samples. An article with a title that no training article has is rejected.",
    ),
}
SHOWN_REASONS = 8
MOST_LEFT_OUT = 4


def definitions(resamples: int, titles_given: bool = False) -> list[tuple[str, str]]:
    """Terms and what they mean."""
    known = [(term, words) for term, words in DEFINITIONS if not (titles_given and term == SURE)]
    pairs = [GIVEN.get(term, (term, words)) if titles_given else (term, words) for term, words in known]
    return [(term, words.format(resamples=resamples)) for term, words in pairs]


def commonest_reasons(reasons: str) -> str:
    """The first of `reason: n; ...`, as there may be one for each title that real text never has."""
    parts = reasons.split("; ")
    more = len(parts) - SHOWN_REASONS
    return reasons if more <= 1 else "; ".join([*parts[:SHOWN_REASONS], f"and {more} more reasons"])


def corpus_note(statistics: Mapping[str, Any]) -> str:
    """A corpus' unit of length, and what was left out of it, with the commonest reasons.

    Args:
        statistics: the corpus' statistics.json.
    """
    unit = "words" if statistics.get("length_unit") == "words" else f"tokens of {statistics.get('length_unit')}"
    stages = {"when the text was read": "skipped", "when the corpus was built": "rejected"}
    parts = [f"{_left_out(found)} {when}" for when, key in stages.items() if (found := statistics.get(key))]
    left_out = f" Left out: {', and '.join(parts)}." if parts else ""
    return f"{statistics['corpus']}: section lengths in {unit}.{left_out}"


def _left_out(reasons: Mapping[str, int]) -> str:
    ranked = sorted(reasons.items(), key=lambda pair: -pair[1])
    words = [f"{reason}: {count(n)}" for reason, n in ranked[:MOST_LEFT_OUT]]
    more = sum(n for _, n in ranked[MOST_LEFT_OUT:])
    return f"{count(sum(reasons.values()))} ({'; '.join([*words, *[f'others: {count(more)}'] * bool(more)])})"


def switches(rows: pd.DataFrame) -> list[dict[str, str]]:
    """Each switch of the audit in plain words, with what it does to the numbers of this study.

    Args:
        rows: as `details.audit_rows` makes them.
    """
    found = []
    for switch in switch_names(rows):
        part = rows[rows["switch"] == switch]
        name, words = SWITCH_WORDS.get(switch) or _of_decoding(switch, part)
        found.append({"name": name, "words": words, "effect": _effect(part)})
    return found


def switch_names(rows: pd.DataFrame) -> list[str]:
    """The switches of an audit in the order to show them: the decodings last, without the default."""
    present = rows["switch"].unique().tolist()
    return [s for s in SWITCH_WORDS if s in present] + [s for s in present if s.startswith(DECODING)]


def _of_decoding(switch: str, rows: pd.DataFrame) -> tuple[str, str]:
    differences = ", or ".join(rows["setting_of_switch"].unique())
    return switch.capitalize(), f"Samples are drawn another way: {differences}."


def _effect(rows: pd.DataFrame) -> str:
    infinite = sum(math.isinf(value) for value in rows["latent_ppl"])
    changes = [float(value) for value in rows["change_percent"] if not missing(value)]
    parts = []
    what = "it changes the others" if infinite else "it changes the Latent PPL"
    if infinite:
        parts.append(f"{infinite} of {len(rows)} values {'is' if infinite == 1 else 'are'} infinite")
    if changes:
        low, high = min(changes), max(changes)
        if max(abs(low), abs(high)) < 0.05:
            parts.append("it leaves the others as they are" if infinite else "it changes nothing that can be seen")
        elif len(changes) == 1 or high - low < 0.05:
            parts.append(f"{what} by {_signed(low)}")
        else:
            parts.append(f"{what} by {_signed(low)} to {_signed(high)}")
    return f"Here {' and '.join(parts)}." if parts else ""


def _signed(value: float) -> str:
    return "0%" if abs(value) < 0.05 else f"{'+' if value > 0 else ''}{number(value, 2)}%"


def seeds_in_words(seeds: Iterable[Any]) -> str:
    """Seeds as a list."""
    return ", ".join(str(seed) for seed in sorted(set(seeds)))
