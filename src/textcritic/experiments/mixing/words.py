"""What the numbers of mixed languages say, in words, and what the terms mean."""

import pandas as pd

from textcritic.experiments.mixing.curves import refined
from textcritic.inference import ALPHA
from textcritic.measures.names import Names
from textcritic.measures.numbers import listed, number, p_value, percent
from textcritic.plan.sources import DATA
from textcritic.report.section import Finding


def mixing_findings(rows: pd.DataFrame, pairs: pd.DataFrame, languages: pd.DataFrame, names: Names) -> list[Finding]:
    """Whether the topics are languages, and which samples mix more than others and than real translations.

    Args:
        rows: as `rows.mixing_rows` makes them.
        pairs: as `rows.pair_rows` makes them.
        languages: as `rows.language_rows` makes them.
        names: of the sources.
    """
    findings = []
    corpora = rows["corpus"].nunique()
    generators = {names.source(row, corpus=False, seed=False): row["generator"] for row in rows.to_dict("records")}
    for corpus, table in rows.groupby("corpus", sort=False):
        where = f" ({corpus})" if corpora > 1 else ""
        if says := _topics(languages[(languages["corpus"] == corpus) & (languages["source"] == DATA)]):
            findings.append(Finding(f"Topics{where}", says))
        for pair in pairs[pairs["corpus"] == corpus].to_dict("records"):
            # Two decodings of one generator are compared under "Refinement" instead.
            if generators[pair["more"]] != generators[pair["less"]] and pair["p_value"] < ALPHA:
                says = (
                    f"{pair['more'][0].upper()}{pair['more'][1:]} mixes more than {pair['less']}: "
                    f"{number(pair['difference'])} points more of its words are of another language "
                    f"({p_value(pair['p_value'])})."
                )
                findings.append(Finding(f"Two samples{where}", says))
        findings += [Finding(f"Refinement{where}", says) for says in _refinement(table, names)]
    return findings


def _topics(rows: pd.DataFrame) -> str:
    with_language = rows[rows["right_words"].notna()]
    if with_language.empty:
        return ""
    each = [f"{row['language']} {percent(row['right_words'])}" for row in with_language.to_dict("records")]
    return f"Each topic is a language. Words of real translations in the right topic: {listed(each)}."


def _refinement(rows: pd.DataFrame, names: Names) -> list[str]:
    sentences = []
    for _, curve in refined(rows).groupby("generator", sort=False):
        first, last = curve.iloc[0], curve.iloc[-1]
        label = names.source(first.to_dict(), corpus=False, decoding=False, seed=False)
        sentences.append(
            f"{label[0].upper()}{label[1:]}: {number(first['mixed'])}% of the words are of another language after "
            f"{int(first['iterations'])} passes of refinement, {number(last['mixed'])}% after "
            f"{int(last['iterations'])}."
        )
    return sentences
