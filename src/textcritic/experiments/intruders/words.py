"""Findings about intruder sentences, in words."""

from collections.abc import Sequence

import pandas as pd

from textcritic.experiments.intruders.names import MAJORITY, PEOPLE, IntruderNames, probe_name
from textcritic.experiments.intruders.rows import CROSS, IN
from textcritic.inference import ALPHA
from textcritic.measures.labels import corpus_name
from textcritic.measures.numbers import decimals, missing, plural
from textcritic.report.section import Finding


def findings(rows: pd.DataFrame, names: IntruderNames) -> list[Finding]:
    """For each corpus: the best detector, whether it beats “all coherent” and people, and its F1 across corpora."""
    points = []
    for corpus, table in rows.groupby("corpus", sort=False):
        where = f" on {corpus_name(corpus)}" if rows["corpus"].nunique() > 1 else ""
        judged = table[~table["detector"].isin([PEOPLE, MAJORITY])]
        own = judged[judged["domain"] == IN]
        if own.empty:
            continue
        best = own.loc[own["f1"].fillna(-1).idxmax()]
        points.append(Finding(f"Best detector{where}", _best(best, names)))
        if not missing(best["people_documents"]):
            points.append(Finding(f"People{where}", _beside_people(best, names)))
        chance = [row for row in own.to_dict("records") if _is_chance(row)]
        if chance:
            points.append(Finding(f"No better than chance{where}", _chance(chance, names)))
        elsewhere = judged[(judged["domain"] == CROSS) & (judged["detector"] == best["detector"])]
        for row in elsewhere.drop_duplicates("trained").to_dict("records"):
            points.append(Finding(f"Another corpus{where}", _elsewhere(best, row, names)))
    return points


def probe_findings(rows: pd.DataFrame, names: IntruderNames) -> list[Finding]:
    """For people, and each detector on documents of its training corpus: which edits are noticed."""
    points = []
    table = rows[(rows["where"] == "intruder") & rows["difference"].notna()]
    for (corpus, trained, _), group in table.groupby(["corpus", "trained", "detector"], sort=False):
        if trained not in (corpus, "") or not group[["base_f1", "edited_f1"]].to_numpy().any():
            continue
        some = group[(group["p_difference"] < ALPHA) & (group["difference"] > 0)]
        name = names.detector(group.iloc[0].to_dict(), trained=False)
        who = f"{name} on {corpus_name(corpus)}" if table["corpus"].nunique() > 1 else name
        edits = ", ".join(probe_name(probe) for probe in some["probe"])
        words = f"the intruder is found better after {len(some)} of {plural(len(group), 'edit')}: {edits}"
        points.append(Finding(who, f"{who}: {words if len(some) else 'no edit makes the intruder easier to find'}."))
    return points


def lines(rows: pd.DataFrame, names: IntruderNames) -> list[str]:
    """The lines that `textcritic show` prints, one for each detector."""
    return [
        f"{corpus_name(row['corpus'])}: {names.detector(row)}: "
        f"accuracy {_number(row['accuracy'])}, F1 {_number(row['f1'])}"
        for row in rows.to_dict("records")
    ]


def _best(row: pd.Series, names: IntruderNames) -> str:
    accuracy, f1 = _number(row["accuracy"]), _number(row["f1"])
    silence = 100 * (1 - row["incoherent"] / row["documents"])
    says = f"{names.detector(row)} finds most intruders: F1 is {f1}, and it judges {accuracy}% of the documents right."
    if not row["f1"] > 0:
        return f"No detector finds an intruder; calling every document coherent is right for {_number(silence)}%."
    if not missing(row["p_majority"]) and row["p_majority"] < ALPHA and row["accuracy"] > silence:
        return f"{says} Calling every document coherent would be right for {_number(silence)}%, which is less."
    return f"{says} Calling every document coherent is just as good or better: it is right for {_number(silence)}%."


def _beside_people(row: pd.Series, names: IntruderNames) -> str:
    who = names.detector(row)
    numbers = f"F1 is {_number(row['own_f1'])} for {who} and {_number(row['people_f1'])} for people"
    differ = not missing(row["p_people_f1"]) and row["p_people_f1"] < ALPHA
    better = "the detector is better" if row["own_f1"] > row["people_f1"] else "people are better"
    return f"On the same documents, {numbers}: {better if differ else 'no difference was found'}."


def _is_chance(row: dict[str, object]) -> bool:
    low, high = row["auc_low"], row["auc_high"]
    return not missing(low) and float(str(low)) <= 0.5 <= float(str(high))


def _chance(rows: Sequence[dict[str, object]], names: IntruderNames) -> str:
    labels = "; ".join(names.detector(row) for row in rows)
    return f"These detectors do not separate intruders from other sentences (AUC 0.5 is in the interval): {labels}."


def _elsewhere(best: pd.Series, row: dict[str, object], names: IntruderNames) -> str:
    label = names.detector(row, trained=False)
    return (
        f"Trained on {row['trained']}, {label} reaches an F1 of {_number(row['f1'])} on the same documents; trained on "
        f"documents of their own kind it reaches {_number(best['f1'])}."
    )


def _number(value: object) -> str:
    return "not known" if missing(value) else decimals(float(str(value)), 1)
