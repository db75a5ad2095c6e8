"""Power of the tests of tendencies: what the faults do to documents, exactly; the tests are those of the tables."""

import numpy as np
import pytest
from tendency_oracle import OPTIONS, counted, made_up

from textcritic.critics.tendencies.calibration import Population
from textcritic.critics.tendencies.counts import LENGTH
from textcritic.critics.tendencies.distances import Pair, distances
from textcritic.critics.tendencies.estimates import Options
from textcritic.critics.tendencies.power import (
    FAULTS,
    cut_short,
    p_values,
    redrawn,
    shuffled,
    tendency_power,
    tokens_of,
)
from textcritic.critics.tendencies.verdicts import TENDENCIES
from textcritic.errors import TextcriticError
from textcritic.inference import PowerOptions

MEASURING = Options(ranks=40, resamples=39, least=4)
DOCUMENTS = [["a", "b", "c", "a", "b"], ["d", "e"], ["a", "f", "g", "h"]]


def test_faults_do_what_they_say():
    rng = np.random.default_rng(1)
    assert cut_short(DOCUMENTS, rng) == [["a", "b", "c"], ["d"], ["a", "f"]]
    for changed in (shuffled(DOCUMENTS, rng), redrawn(DOCUMENTS, rng)):
        assert [len(tokens) for tokens in changed] == [5, 2, 4]
    assert [sorted(tokens) for tokens in shuffled(DOCUMENTS, rng)] == [sorted(tokens) for tokens in DOCUMENTS]
    of_many = [token for tokens in redrawn(DOCUMENTS * 500, rng) for token in tokens]
    # "a" is 3 of 11 tokens: 5,500 draws are within four standard deviations of 1,500.
    assert abs(of_many.count("a") - 1500) < 4 * np.sqrt(5500 * 3 / 11 * 8 / 11)


def test_documents_are_those_that_were_asked_for():
    texts = made_up(30, 3)
    population = Population(texts, OPTIONS)
    chosen = np.array([4, 17, 2, 29])
    drawn = population.draw(chosen)
    lengths = [len(texts[place].split()) for place in chosen]
    assert drawn.column(LENGTH).tolist() == lengths
    # Groups are of one document here, and words are counted in that of their document.
    assert np.asarray(drawn.matrix.sum(axis=1)).ravel()[drawn.group].tolist() == lengths


def test_tokens_are_cut_as_they_are_counted():
    texts = made_up(10, 4)
    assert tokens_of(texts, OPTIONS) == [text.split() for text in texts]


def test_the_tests_are_those_of_the_tables():
    pair = Pair(counted(made_up(60, 1)), counted(made_up(60, 2)))
    found, table = p_values(pair, MEASURING), distances(pair, MEASURING)[0]
    assert found == {name: table[name].p for name in found}
    assert set(found) == {tendency.distance for tendency in TENDENCIES}


def test_short_documents_are_noticed_by_their_length_and_no_fault_is_not():
    options = PowerOptions(shares=(1.0,), articles=(40,), repetitions=20)
    texts = made_up(120, 5)
    rows = tendency_power(texts, OPTIONS, MEASURING, options).to_pandas().set_index(["kind", "share"])
    assert set(rows["documents"]) == {sum(len(text.split()) > 1 for text in texts)}
    assert rows.loc[("cut: length_ks", 1.0), "detected"] >= 0.8
    # Words in another order leave every length as it is.
    for name in ("length_ks", "stopwords_ks", "symbols_ks", "heaps", "rank", "unigram_max"):
        plain, other = (rows.loc[(f"shuffled: {name}", share), "detected"] for share in (0.0, 1.0))
        assert plain == other
    without = rows.xs(0.0, level="share")
    assert len({tuple(without.loc[f"{fault}: length_ks", ["detected", "low", "high"]]) for fault in FAULTS}) == 1


def test_too_few_documents_have_no_rows_and_no_repetitions_are_refused():
    assert tendency_power(made_up(10, 6), OPTIONS, MEASURING, PowerOptions(shares=(1.0,), articles=(6,))).num_rows == 0
    with pytest.raises(TextcriticError, match="repetitions"):
        tendency_power(made_up(10, 6), OPTIONS, MEASURING, PowerOptions(shares=(1.0,), articles=(4,), repetitions=0))
