"""The annotators: how far they agree, also with the classifier, how they change, and who may click at random."""

from collections.abc import Callable, Hashable, Iterable, Sequence

import numpy as np
import pandas as pd

from textcritic.experiments.people.files import PeopleFiles
from textcritic.experiments.people.read import Judged, collected, crossed
from textcritic.inference.agreement import Agreement, Answer, answer_counts, gwet_ac1, krippendorff_alpha
from textcritic.inference.crossed import Crossed, Share, area, share, share_difference
from textcritic.measures.material import Material
from textcritic.plan.sources import KEYS, RUN
from textcritic.values import Row

EVERYTHING = "all"
AGREEMENT = ("corpus", "about", "measure", "value", "ci_low", "ci_high", "items", "why")
LABELS = (
    "label", "sections", "as_classifier", "ci_low", "ci_high", "sections_with_title", "as_title", "title_low",
    "title_high",
)  # fmt: skip
ANNOTATORS = (
    "annotator", "answers", "coherent_percent", "minutes", "minutes_first_half", "minutes_second_half",
    "coherent_first_half", "coherent_second_half", "attention_passed", "attention", "as_classifier", "by_chance",
    "p_labels", "drift", "drift_low", "drift_high", "flagged",
)  # fmt: skip
ARTICLES = ("corpus", "score", "answers", "systems", "area", "ci_low", "ci_high", "p_value", "of_these", "why")
LEAST_SECTIONS = 20
SHUFFLES = 2000
QUICK = 0.1


def agreement_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """Krippendorff's alpha and Gwet's AC1 of the verdicts (all, and by source) and of the section types.

    Columns: corpus, `about`, `measure`, `value` with its 95% interval over items, `items` with two answers, `why`
    value or interval is missing.
    """
    answers, files = material.get(collected), material.files
    titles = tuple(dict.fromkeys(title for header in answers.headers for title in header.titles))
    rows = []
    for real in files.data:
        of_corpus = [one for one in answers.judged if one.source.corpus == real.corpus]
        if not of_corpus:
            continue
        verdicts = [(f"verdicts, {material.start(source)['label']}", answers.of(source)) for source in files.of(real)]
        for about, judged in [("verdicts, all", of_corpus), *verdicts]:
            if judged:
                rows += agreement_of(
                    real.corpus, about, [(j.annotator, j.article, j.coherent) for j in judged], (True, False)
                )
        types = [(j.annotator, (j.article, n), title) for j in of_corpus for n, title in enumerate(j.titles)]
        rows += agreement_of(real.corpus, "section types, all", types, titles)
    return pd.DataFrame(rows, columns=list(AGREEMENT))


def label_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """People's section types against the classifier's, and against the titles that articles have.

    Columns: the keys, `label`, `sections` that people labelled, `as_classifier`, the percentage whose type is the
    classifier's, with its 95% interval; the same for `sections_with_title`: `as_title`, `title_low`, `title_high`.
    """
    answers, rows = material.get(collected), []
    for real in material.files.data:
        for source in material.files.of(real):
            judged = answers.of(source)
            if not judged:
                continue
            row = material.start(source)
            equal = _equal(judged, lambda one: one.inferred)
            row |= {"sections": len(equal.values), **_percent(share(equal), "as_classifier", "ci_low", "ci_high")}
            titled = [one for one in judged if one.gold is not None]
            row["sections_with_title"] = sum(len(one.titles) for one in titled)
            if titled:
                own = share(_equal(titled, lambda one: one.gold or ()))
                row |= _percent(own, "as_title", "title_low", "title_high")
            rows.append(row)
    return pd.DataFrame(rows).reindex(columns=[*KEYS, *LABELS]).astype(dict.fromkeys(RUN, "Int64"))


def annotator_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """One row for each annotator, and one for all: pace and verdicts in two halves of the items, and doubts.

    Columns: `annotator` (the last row is `all`), `answers`, `coherent_percent`, median `minutes` an article, both also
    for the first and the second half of an annotator's own items; `attention_passed` of `attention` texts that say what
    to answer; `as_classifier`, percent of section types that are the classifier's, `by_chance`, the same percentage
    with the annotator's own types in random order, and its p-value `p_labels`; for all together `drift`, the share
    called coherent in second halves minus that in first halves, in points, with its 95% interval; `flagged`, why the
    answers may be given at random. Nobody is left out because of it.
    """
    answers = material.get(collected)
    names = list(dict.fromkeys([*(one.annotator for one in answers.judged), *answers.attention]))
    typical = median_seconds(one.seconds for one in answers.judged)
    rows = []
    for name in names:
        own = sorted((one for one in answers.judged if one.annotator == name), key=lambda one: one.order)
        rows.append(_annotator(name, own, answers.attention.get(name, ()), typical))
    if answers.judged:
        every = _halves(answers.judged)
        moved = drift(answers.judged)
        of_all = {} if moved is None else _percent(moved, "drift", "drift_low", "drift_high")
        rows.append({"annotator": EVERYTHING, "answers": len(answers.judged), **every, **of_all, "flagged": ""})
    table = pd.DataFrame(rows).reindex(columns=list(ANNOTATORS))
    return table.astype({column: float for column in ANNOTATORS if column not in ("annotator", "flagged")})


def drift(judged: Sequence[Judged]) -> Share | None:
    """The share called coherent in the second half of each annotator's items minus the share in the first half."""
    first, second = _in_halves(judged)
    return share_difference(crossed(second), crossed(first)) if first and second else None


def article_rows(material: Material[PeopleFiles]) -> pd.DataFrame:
    """Whether an article's score predicts what people say of it, within systems.

    Columns: corpus; `score`; `answers` on articles that have it; `systems`; `area` under the ROC curve (1/2: chance;
    above: people call articles of high NLL incoherent), with its 95% interval and p-value; `of_these`; `why` there is
    no interval.
    """
    answers, files = material.get(collected), material.files
    rows = []
    for real in files.data:
        judged = [one for one in answers.judged if one.source.corpus == real.corpus]
        for name in dict.fromkeys(name for one in judged for name in one.scores):
            kept = [one for one in judged if not np.isnan(one.scores.get(name, np.nan))]
            systems = [id(one.source) for one in kept]
            roc = area([one.scores[name] for one in kept], crossed(kept), systems) if kept else None
            row: dict[str, object] = {"corpus": real.corpus, "score": name, "answers": len(kept)}
            row["systems"] = len(set(systems))
            if roc is None:
                row["why"] = "no system has both verdicts"
            else:
                ends = {"area": roc.value, "ci_low": roc.low, "ci_high": roc.high}
                row |= {key: None if end is None else 0.5 + end for key, end in ends.items()}
                row |= {"p_value": roc.p, "of_these": roc.of_these, "why": roc.reason}
            rows.append(row)
    return pd.DataFrame(rows).reindex(columns=list(ARTICLES))


def random_clicks(judged: Sequence[Judged]) -> tuple[float, float, float] | None:
    """Share of section types that are the classifier's, the share by chance, and p; None for fewer than 20 sections.

    p: the share of random permutations of the annotator's own types that agree with the classifier as often.
    """
    chosen = np.array([title for one in judged for title in one.titles])
    inferred = np.array([title for one in judged for title in one.inferred])
    if len(chosen) < LEAST_SECTIONS:
        return None
    rng, equal = np.random.default_rng(1), float((chosen == inferred).mean())
    permuted = np.array([(rng.permutation(chosen) == inferred).mean() for _ in range(SHUFFLES)])
    return equal, float(permuted.mean()), float((1 + (permuted >= equal).sum()) / (1 + SHUFFLES))


def _annotator(name: str, own: Sequence[Judged], attention: Sequence[bool], typical: float) -> Row:
    row: dict[str, object] = {"annotator": name, "answers": len(own), **(_halves(own) if own else {})}
    row |= {"attention_passed": sum(attention), "attention": len(attention)}
    doubts = []
    if (labels := random_clicks(own)) is not None:
        row |= {"as_classifier": 100 * labels[0], "by_chance": 100 * labels[1], "p_labels": labels[2]}
        if labels[2] > 0.05:
            doubts.append("section types agree with the classifier no more than by chance")
    return row | {"flagged": doubts_of(median_seconds(one.seconds for one in own), attention, typical, doubts)}


def doubts_of(seconds: float, attention: Sequence[bool], typical: float, others: Sequence[str] = ()) -> str:
    """Why the answers of an annotator may be given at random, in words; "" if there is no sign of it.

    Args:
        seconds: the median of the annotator's answers; NaN if none is known.
        attention: for each text that says what to answer, whether the answer followed it.
        typical: median seconds of all annotators.
        others: doubts that a task adds.
    """
    doubts = []
    if not all(attention):
        doubts.append(f"missed {len(attention) - sum(attention)} of {len(attention)} attention texts")
    doubts += others
    if seconds < QUICK * typical:
        doubts.append("takes less than a tenth of the usual time")
    return "; ".join(doubts)


def median_seconds(seconds: Iterable[float]) -> float:
    """The median of the values that are not NaN; NaN if there is none."""
    recorded = [value for value in seconds if not np.isnan(value)]
    return float(np.median(recorded)) if recorded else np.nan


def _halves(judged: Sequence[Judged]) -> dict[str, float]:
    row = {"coherent_percent": _coherent(judged), "minutes": _minutes(judged)}
    for half, part in zip(("first", "second"), _in_halves(judged), strict=True):
        row |= {f"minutes_{half}_half": _minutes(part), f"coherent_{half}_half": _coherent(part)}
    return row


def _in_halves(judged: Sequence[Judged]) -> tuple[list[Judged], list[Judged]]:
    """The first and the second half of each annotator's items, in their order."""
    first, second = [], []
    for name in dict.fromkeys(one.annotator for one in judged):
        own = sorted((one for one in judged if one.annotator == name), key=lambda one: one.order)
        first += own[: len(own) // 2]
        second += own[(len(own) + 1) // 2 :]
    return first, second


def _coherent(judged: Sequence[Judged]) -> float:
    return 100 * float(np.mean([one.coherent for one in judged])) if judged else np.nan


def _minutes(judged: Sequence[Judged]) -> float:
    return median_seconds(one.seconds for one in judged) / 60


def _equal(judged: Sequence[Judged], titles: Callable[[Judged], Sequence[str]]) -> Crossed:
    """For each section that people labelled, whether its type equals the one in `titles`."""
    pairs = [(one, a == b) for one in judged for a, b in zip(one.titles, titles(one), strict=True)]
    who, what = [one.annotator for one, _ in pairs], [one.article for one, _ in pairs]
    return Crossed(np.array([equal for _, equal in pairs], dtype=np.float64), who, what)


def _percent(share: Share, value: str, low: str, high: str) -> dict[str, float | None]:
    ends = {value: share.value, low: share.low, high: share.high}
    return {key: None if end is None else 100 * end for key, end in ends.items()}


def agreement_of(corpus: str, about: str, answers: Sequence[Answer], categories: Sequence[Hashable]) -> list[Row]:
    """Rows of `agreement_rows`: alpha and AC1 of (annotator, item, answer), each answer one of the categories."""
    counts = answer_counts(answers, categories)
    measures = {"Krippendorff’s alpha": krippendorff_alpha(counts), "Gwet’s AC1": gwet_ac1(counts)}
    return [{"corpus": corpus, "about": about, "measure": name, **_columns(value)} for name, value in measures.items()]


def _columns(agreement: Agreement) -> Row:
    ends = {"value": agreement.value, "ci_low": agreement.low, "ci_high": agreement.high}
    return ends | {"items": agreement.items, "why": agreement.reason}
