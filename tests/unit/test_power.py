"""How often a test notices a fault that was put into real text: the loop that all kinds share, and their faults."""

import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix
from scipy.stats import binom

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics import TransitionCritic
from textcritic.critics.chain_power import chain_power, reordered, shuffled, swapped
from textcritic.critics.ctm.model import CTM
from textcritic.critics.ctm.power import PowerFiles, measure_topic_power, with_foreign_words
from textcritic.critics.power import POWER_SCHEMA
from textcritic.critics.scoring import score_chains
from textcritic.errors import TextcriticError
from textcritic.files import read_table
from textcritic.inference import PowerDraws, PowerOptions, permutation_test, power_rows, ratio_of_sums, with_ones
from textcritic.inference.power import MOST, RESAMPLES
from textcritic.latents.bags import Vocabulary

LEVEL = 49 / (RESAMPLES + 1)  # p below 0.05 with 999 splits: at most 49 of 1000 ranks


def rows_of(plain, faulty, **options):
    return list(power_rows(np.asarray(plain), np.asarray(faulty), PowerOptions(**options)))


def test_by_hand():
    """Documents that are 0 each, and 1 each with the fault: without it p is 1, with it in all four of a side 1/35."""
    plain, faulty = with_ones(np.zeros(8)), with_ones(np.ones(8))[None]
    rows = rows_of(plain, faulty, shares=(1.0,), articles=(4, 5), repetitions=7)
    assert [(row["share"], row["articles"], row["detected"]) for row in rows] == [(0.0, 4, 0.0), (1.0, 4, 1.0)]
    assert permutation_test(plain[:4], faulty[0, :4], ratio_of_sums).p == pytest.approx(2 / 70)
    assert all(row["documents"] == 8 and row["repetitions"] == 7 for row in rows)
    assert rows[0]["low"] == 0.0
    assert rows[0]["high"] == pytest.approx(1 - 0.025 ** (1 / 7))  # Clopper and Pearson


def test_the_level_and_more_power_with_more_faults_and_more_documents():
    rng = np.random.default_rng(1)
    plain = with_ones(rng.normal(size=3000))
    faulty = np.stack([plain + np.array([1.0, 0.0])] * 2)
    rows = rows_of(plain, faulty, shares=(0.2, 0.5, 1.0), articles=(20, 60), repetitions=400)
    detected = {(row["share"], row["articles"]): row["detected"] for row in rows}
    for size in (20, 60):
        assert binom.ppf(0.0005, 400, LEVEL) <= 400 * detected[0.0, size] <= binom.ppf(0.9995, 400, LEVEL)
        curve = [detected[share, size] for share in (0.0, 0.2, 0.5, 1.0)]
        assert curve == sorted(curve)
    assert detected[0.5, 60] > detected[0.5, 20] + 0.2


def test_both_sides_have_other_documents():
    draws = PowerDraws.of(10, 5, 3, 4, np.random.default_rng(0))
    assert all(len({*kept, *changed}) == 10 for kept, changed in zip(draws.kept, draws.changed, strict=True))
    assert set(np.ravel(draws.version)) <= set(range(4))


def test_what_is_tried():
    options = PowerOptions(shares=(0.5, 0.1), articles=(30, 10))
    assert options.tried() == [0.0, 0.1, 0.5]
    assert options.sizes(59) == [10]
    rng = np.random.default_rng(0)
    assert len(set(options.some(1000, rng))) == MOST * 30
    assert list(options.some(7, rng)) == list(range(7))
    assert PowerOptions(shares=(), articles=(5,)).tried() == []
    with pytest.raises(TextcriticError, match="0 repetitions; give at least 1"):
        PowerOptions(shares=(0.5,), articles=(5,), repetitions=0).sizes(100)
    with pytest.raises(TextcriticError, match=r"6 documents on each side .* at most half of them"):
        PowerDraws.of(10, 6, 3, 1, rng)


def test_sections_out_of_order():
    """Two neighbours change places, or all sections do; none goes to another document."""
    lengths, rng = np.array([3, 1, 0, 4]), np.random.default_rng(5)
    chains = pa.array([["a", "b", "c"], ["d"], [], ["e", "f", "g", "h"]])
    seen = set()
    for _ in range(200):
        one, two, three, four = reordered(chains, swapped(lengths, rng)).to_pylist()
        assert (two, three) == (["d"], [])
        assert one in (["b", "a", "c"], ["a", "c", "b"])
        assert sorted(four) == ["e", "f", "g", "h"]
        assert sum(now != before for now, before in zip(four, "efgh", strict=True)) == 2
        seen.add("".join(four))
    assert seen == {"fegh", "egfh", "efhg"}
    orders = [reordered(chains, shuffled(lengths, rng)).to_pylist() for _ in range(600)]
    assert all([sorted(chain) for chain in order] == chains.to_pylist() for order in orders)
    counts = np.unique(["".join(order[0]) for order in orders], return_counts=True)[1]
    assert len(counts) == 6
    assert counts.min() > 60  # of 100 expected


@pytest.fixture(scope="module")
def ordered():
    """A critic of four titles that mostly come in order, and scores of 120 such documents."""
    rng = np.random.default_rng(3)
    chains = [[title for title in "abcd" if rng.random() < 0.8] or ["a"] for _ in range(420)]
    critic = TransitionCritic.fit(chains[:300], grid=(0.1,))
    return critic, score_chains(critic, [str(n) for n in range(120)], chains[300:])


def test_power_of_the_order_of_sections(ordered):
    critic, scores = ordered
    table = chain_power(critic, scores, PowerOptions(shares=(0.2, 0.6), articles=(15, 61, 40), repetitions=60))
    assert table.schema == POWER_SCHEMA
    detected = {(row["kind"], row["articles"], row["share"]): row["detected"] for row in table.to_pylist()}
    assert {size for _, size, _ in detected} == {15, 40}  # 61 on each side are more than there are
    for kind in ("swapped", "shuffled"):
        assert detected[kind, 40, 0.0] < 0.2
        assert detected[kind, 40, 0.0] < detected[kind, 40, 0.2] < detected[kind, 40, 0.6]
        assert detected[kind, 40, 0.6] > 0.9


def test_no_power_where_there_is_nothing_to_try_or_a_step_is_impossible(ordered):
    critic, scores = ordered
    assert len(chain_power(critic, scores, PowerOptions(shares=(), articles=(5,)))) == 0
    assert len(chain_power(critic, scores, PowerOptions(shares=(0.5,), articles=(500,)))) == 0
    strict = TransitionCritic.fit([list("abcd")], grid=(0.0,))
    whole = score_chains(strict, ["x"] * 20, [list("abcd")] * 20)
    assert len(chain_power(strict, whole, PowerOptions(shares=(0.5,), articles=(5,), repetitions=20))) == 0


def test_titles_that_the_critic_skips_cost_nothing(ordered):
    """With `as_released`, a document that no known step is left of has 0 steps, not a missing value."""
    critic = TransitionCritic.fit([list("abcd")] * 5, mode="as_released", grid=(1.0,))
    chains = [["?", "a"], ["a", "?"], list("abcd"), list("abd")] * 10
    scores = score_chains(critic, [str(n) for n in range(40)], chains)
    table = chain_power(critic, scores, PowerOptions(shares=(1.0,), articles=(20,), repetitions=20))
    assert np.isfinite(table["detected"].to_numpy()).all()


def test_half_of_the_words_are_those_of_another_document():
    rng = np.random.default_rng(2)
    counts = csr_matrix(np.array([[6, 2, 0, 0, 0], [0, 0, 9, 0, 0], [0, 0, 0, 1, 1]]))
    others = set()
    for _ in range(60):
        mixed = with_foreign_words(counts, rng).toarray()
        assert list(mixed.sum(axis=1)) == [8, 9, 2]
        assert [mixed[0, :2].sum(), mixed[1, 2], mixed[2, 3:].sum()] == [4, 5, 1]  # of nine words, five stay
        assert (mixed[0, :2] <= [6, 2]).all()
        assert (mixed > 0)[0, 2:].any()
        others.add(bool(mixed[0, 2]))
        assert not (mixed[0, 2] and mixed[0, 3:].any())  # they come from one document
    assert others == {False, True}


@pytest.fixture(scope="module")
def topics(tmp_path_factory):
    """Documents of one topic each, of two, and the critic that they are drawn from."""
    folder, rng = tmp_path_factory.mktemp("power"), np.random.default_rng(4)
    words = [f"w{n}" for n in range(20)]
    Vocabulary(tuple(words), np.ones(20, np.int64), np.ones(20, np.int64)).save(folder / "vocabulary.parquet")
    beta = np.full((3, 20), 0.002)
    beta[0, :7] = beta[1, 7:14] = beta[2, 14:] = 1
    beta /= beta.sum(axis=1, keepdims=True)
    CTM(np.log(beta), np.zeros(2), np.array([[20.0, 0.0], [0.0, 20.0]])).save(folder / "critic.npz")
    articles = []
    for n in range(90):
        eta = np.append(rng.normal(size=2) * np.sqrt(20), 0.0)
        mixture = np.exp(eta - eta.max()) @ beta
        text = " ".join(rng.choice(words, 40, p=mixture / mixture.sum())) if n else "w1"
        articles.append(Article(f"{n}", None, (Section(None, text),), "made up"))
    write_articles(folder / "test.parquet", articles)
    return folder


def measured(folder, **options):
    files = PowerFiles(
        *(folder / name for name in ("test.parquet", "vocabulary.parquet", "critic.npz", "power.parquet"))
    )
    measure_topic_power(files, PowerOptions(**options))
    return read_table(files.power)


def test_power_of_topics(topics):
    """Documents of one topic that get words of another are less usual; one of a single word cannot be halved."""
    table = measured(topics, shares=(0.3, 1.0), articles=(44, 45), repetitions=60)
    assert table.schema == POWER_SCHEMA
    rows = table.to_pylist()
    assert [(row["articles"], row["share"], row["documents"]) for row in rows] == [(44, s, 89) for s in (0.0, 0.3, 1.0)]
    detected = [row["detected"] for row in rows]
    assert detected[0] < 0.2
    assert detected == sorted(detected)
    assert detected[2] > 0.9
    assert measured(topics, shares=(0.3, 1.0), articles=(44, 45), repetitions=60).equals(table)


def test_no_power_of_topics_of_few_documents(topics):
    assert len(measured(topics, shares=(1.0,), articles=(50,), repetitions=20)) == 0
    assert len(measured(topics, shares=(), articles=(5,), repetitions=20)) == 0


def test_a_critic_of_other_words_is_refused(topics, tmp_path):
    other = CTM(np.log(np.full((2, 3), 1 / 3)), np.zeros(1), np.eye(1))
    other.save(tmp_path / "critic.npz")
    files = PowerFiles(topics / "test.parquet", topics / "vocabulary.parquet", tmp_path / "critic.npz", tmp_path / "p")
    with pytest.raises(TextcriticError, match=r"the critic knows 3 words, but .* has 20; delete both"):
        measure_topic_power(files, PowerOptions(shares=(1.0,), articles=(5,)))
