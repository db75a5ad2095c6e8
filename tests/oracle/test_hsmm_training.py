"""The training of the hidden semi-Markov model: each of its steps against enumeration, and a known process refitted."""

from itertools import chain, pairwise, product

import numpy as np
import pytest
import torch
from hsmm_posterior import viterbi
from scipy import sparse
from scipy.stats import chi2_contingency
from tiny_hsmm import enumerate_all, flat, hsmm_entry, lattice_of, paths, random_model, row_numbers
from tiny_process import model_of

from textcritic.generators.hsmm import HSMM, Counts, Lattice, Lexicon, draw, expected_counts, log_marginal
from textcritic.generators.hsmm.em import EVENT_PRIOR, MOST_SPARE, estimate, once_share
from textcritic.generators.hsmm.initial import (
    class_bigrams,
    class_log_likelihood,
    exchanged,
    find_classes,
    g_test,
    initial_model,
    with_single_tokens,
)
from textcritic.generators.hsmm.measure import measure_hsmm
from textcritic.generators.hsmm.multigram import PART, PART_LEAST, Segments, Windows, compounds, find_segments
from textcritic.generators.hsmm.text import OWN, Text, exact_lattices, log_likelihood, sparse_lattices
from textcritic.generators.hsmm.train import train_hsmm
from textcritic.generators.symbols import make_symbol_tokenizer
from textcritic.generators.train import Encoded
from textcritic.training.load import load_tokenizer
from textcritic.training.loop import Run

SEQUENCES = [[0, 1, 2, 1, 0, 0], [2], [1, 1, 1, 0], [0, 0, 2, 2, 1], [2, 1], [1, 2, 0, 1, 2, 2]]
CLOSE = {"rtol": 1e-9, "atol": 1e-9}
CPU = torch.device("cpu")


def text_of(sequences) -> Text:
    return Text(*flat(sequences))


# Expectation maximisation


@pytest.mark.parametrize("end", [False, True])
@pytest.mark.parametrize(("seed", "holes"), [(0, False), (1, True), (2, False), (3, True)])
def test_the_likelihood_never_falls(seed, holes, end):
    """Text of one random model, EM from another, and without smoothing."""
    source, model = random_model(seed, sharpness=1.5), random_model(seed + 50, states=4, holes=holes)
    text = Text(*(lambda drawn: (drawn.tokens, drawn.offsets))(draw(source, range(60), seed, max_tokens=25)))
    lattice = next(exact_lattices(text, model.lexicon, model.states, CPU))
    values = []
    for _ in range(25):
        counts = expected_counts(model, lattice, end)
        values.append(float(counts.log_marginal[lattice.parsable].sum()))
        model = estimate(counts, model.lexicon, np.zeros(3, int), prior=0, spare=0.0)
    assert lattice.parsable.sum() > 20
    assert values[-1] > values[0] + 10
    rises = np.diff(values)
    assert rises.min() >= -1e-9 * abs(values[-1]), rises


def test_the_m_step_is_the_relative_frequency_under_the_enumerated_posterior():
    model = random_model(4)
    exact = [enumerate_all(model, sequence, False) for sequence in SEQUENCES]
    total = {name: sum(one[name] for one in exact) for name in ("emission", "transition", "initial", "end")}
    counts = expected_counts(model, lattice_of(model, SEQUENCES))
    new = estimate(counts, model.lexicon, np.zeros(3, int), prior=0, spare=0.0)
    np.testing.assert_allclose(new.emission, total["emission"] / total["emission"].sum(axis=0), **CLOSE)
    proceed = total["transition"].sum(axis=1)
    np.testing.assert_allclose(new.transition, total["transition"] / proceed[:, None], **CLOSE)
    np.testing.assert_allclose(new.initial, total["initial"] / len(SEQUENCES), **CLOSE)
    np.testing.assert_allclose(new.end, total["end"] / (total["end"] + proceed), **CLOSE)


# Smoothing


def counts_of(emission, transition=None) -> Counts:
    emission = torch.as_tensor(emission, dtype=torch.float64)
    states = emission.shape[1]
    transition = torch.ones(states, states).double() if transition is None else torch.as_tensor(transition).double()
    one = torch.ones(states, dtype=torch.float64)
    return Counts(emission, transition, one, one.clone(), transition.sum(dim=1), one[:0])


def bigram_lexicon() -> Lexicon:
    """Of two symbols: 0, 1, 00, 01, 10, 11."""
    return Lexicon(2, (np.arange(2, dtype=np.uint64), np.arange(4, dtype=np.uint64)), np.zeros(6, np.int64))


def test_goods_share_is_that_of_what_was_seen_once():
    emission = torch.tensor([[1.0, 0.0], [0.5, 0.4], [20.0, 3.0], [0.75, 0.75], [0.75, 0.76], [0.0, 0.0]])
    assert once_share(emission) == pytest.approx((1 + 0.9 + 1.5) / float(emission.sum()))
    assert once_share(emission[2:3]) == pytest.approx(1 / 23)  # as if there was one
    assert once_share(emission[:2]) == MOST_SPARE


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize(("prior", "spare"), [(0.1, None), (0.1, 0.0), (3.0, 0.25), (0.0, None)])
def test_estimated_tables_are_distributions(dtype, prior, spare):
    rng = np.random.default_rng(0)
    emission, transition = rng.gamma(0.3, 5, (6, 4)), rng.gamma(0.3, 5, (4, 4))
    transition[2] = 0  # a state that nothing follows
    counts = counts_of(emission, transition)
    counts.emission.mul_(1)
    counts = Counts(counts.emission.to(dtype), *(getattr(counts, n) for n in ("transition", "initial", "end")),
                    counts.proceed, counts.log_marginal)  # fmt: skip
    model = estimate(counts, bigram_lexicon(), np.array([5, 0]), prior, spare)
    model.validate()
    assert model.emission.dtype == dtype
    tolerance = 1e-6 if dtype == torch.float32 else 1e-14
    for table, dim in ((model.emission, 0), (model.transition, 1), (model.initial, 0)):
        np.testing.assert_allclose(table.sum(dim), 1, atol=tolerance)
    if spare == 0.25:
        # Unigrams are 5 and 0; a token that never occurs counts as one in 7.
        expected = 0.75 * emission / emission.sum(axis=0)
        expected[:2] += 0.25 * np.array([6 / 7, 1 / 7])[:, None]
        np.testing.assert_allclose(model.emission, expected, atol=tolerance)


def test_a_state_that_nothing_is_expected_of_spells():
    emission = np.ones((6, 3))
    emission[:, 1] = 0
    model = estimate(counts_of(emission), bigram_lexicon(), np.array([3, 0]), prior=0.1, spare=0.2)
    model.validate()
    np.testing.assert_allclose(model.emission[:, 1], [4 / 5, 1 / 5, 0, 0, 0, 0])


def test_the_transition_prior_is_spread_as_states_follow_any_state():
    transition = np.array([[6.0, 2.0], [0.0, 0.0]])
    model = estimate(counts_of(np.ones((6, 2)), transition), bigram_lexicon(), np.ones(2, int), prior=0.5)
    follows = (transition.sum(axis=0) + EVENT_PRIOR) / (8 + 2 * EVENT_PRIOR)
    expected = transition + 0.5 * 2 * follows
    np.testing.assert_allclose(model.transition, expected / expected.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(model.transition[1], follows)
    np.testing.assert_allclose(model.end, [(1 + EVENT_PRIOR) / (9 + 2 * EVENT_PRIOR), 1.5 / 2])


# Segments


def multigram(seed, holes):
    """Text of very different lengths, and a model with one state over the n-grams of it."""
    rng = np.random.default_rng(seed)
    sequences = [rng.integers(0, 3, length).tolist() for length in [1, 2, 3, 30, 7, *rng.integers(1, 12, 40)]]
    text = text_of(sequences)
    lexicon = Lexicon.count(text.tokens, text.offsets, 3, 4)
    if holes:
        lexicon = lexicon.select(rng.random(len(lexicon)) < 0.5)
    weights = rng.gamma(0.5, 1, len(lexicon)) + 1e-9
    emission, one = torch.from_numpy(weights / weights.sum())[:, None], torch.ones(1, dtype=torch.float64)
    return text, HSMM(lexicon, emission, one[:, None], one, one / 2), torch.from_numpy(np.log(weights / weights.sum()))


@pytest.mark.parametrize(("seed", "holes"), [(0, False), (1, True), (2, True)])
def test_windows_are_a_model_with_one_state(seed, holes):
    text, model, log_weights = multigram(seed, holes)
    lattice = Lattice.build(model.lexicon.rows(text.tokens, text.offsets), text.offsets)
    assert bool(lattice.parsable.all()) != holes
    (windows,) = Windows.batches(model.lexicon, text, "cpu")
    expected = expected_counts(model, lattice).emission[:, 0]
    np.testing.assert_allclose(windows.occurrences(log_weights), expected, **CLOSE)
    rows, number = windows.likeliest(log_weights)
    best = viterbi(model, lattice)
    np.testing.assert_array_equal(rows, best.rows)
    np.testing.assert_array_equal(number, np.diff(best.offsets))


def test_windows_of_sequences_that_cannot_be_cut():
    lexicon = Lexicon(2, (np.zeros(0, np.uint64), np.arange(4, dtype=np.uint64)), np.ones(4, np.int64))
    (windows,) = Windows.batches(lexicon, text_of([[0], [1, 1, 1]]), "cpu")
    assert windows.occurrences(torch.zeros(4, dtype=torch.float64)).tolist() == [0, 0, 0, 0]
    rows, number = windows.likeliest(torch.zeros(4, dtype=torch.float64))
    assert (rows.tolist(), number.tolist()) == ([], [0, 0])


def test_compounds_of_a_hand_made_lexicon():
    """Of the symbols 0, 1, 2: rows by their n-grams, with weights."""
    weights = {
        (0,): PART_LEAST,
        (1,): 100.0,
        (2,): PART_LEAST / 2,
        (0, 1): 10 * PART_LEAST,  # 0 + 1
        (1, 0): PART_LEAST / PART + 1,  # 1 + 0, but 0 is too rare beside it
        (1, 1): 100 / PART,  # 1 + 1
        (1, 2): 1.0,  # 1 + 2, but 2 is rare
        (0, 1, 1): 20.0,  # 0 + 11 and 01 + 1
        (2, 0, 1): 20.0,  # 2 is rare, and 20 is no row
    }
    codes = [sorted(sum(s * 3**i for i, s in enumerate(g[::-1])) for g in weights if len(g) == n) for n in (1, 2, 3)]
    lexicon = Lexicon(3, tuple(np.array(c, np.uint64) for c in codes), np.zeros(len(weights), np.int64))
    rows = row_numbers(lexicon)
    values = np.zeros(len(weights))
    for gram, weight in weights.items():
        values[rows[gram]] = weight
    found = compounds(lexicon, values)
    assert {gram for gram in weights if found[rows[gram]]} == {(0, 1), (1, 1), (0, 1, 1)}


def test_segments_do_not_depend_on_threads_or_batches():
    """More sequences than a batch holds, of three segments: 0, 12 and 2."""
    rng = np.random.default_rng(0)
    pieces = [[0], [1, 2], [2]]
    sequences = [list(chain.from_iterable(pieces[i] for i in rng.choice(3, rng.integers(1, 5)))) for _ in range(1500)]
    text = text_of(sequences)
    lexicon, found = Lexicon.count(text.tokens, text.offsets, 3, 2), []
    for threads in (1, 2):
        torch.set_num_threads(threads)
        found.append(find_segments(lexicon, text))
    torch.set_num_threads(1)
    for one, two in zip(*(vars(segments).values() for segments in found), strict=True):
        if isinstance(one, Lexicon):
            np.testing.assert_array_equal(one.counts, two.counts)
        else:
            np.testing.assert_array_equal(one, two)
    segments = found[0]
    assert len(segments.offsets) == len(text) + 1
    assert row_numbers(segments.lexicon).keys() == {(0,), (2,), (1, 2)}
    cut = np.split(segments.types, segments.offsets[1:-1])
    tokens, lengths = segments.lexicon.segments(segments.types)
    np.testing.assert_array_equal(tokens[np.arange(2) < lengths[:, None]], text.tokens)
    assert [len(types) for types in cut[:5]] == [sum(t != 1 for t in sequence) for sequence in sequences[:5]]


# Classes


@pytest.mark.parametrize("seed", range(3))
def test_g_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    table = rng.poisson(rng.gamma(0.5, 8, (5, 7))).astype(float)
    table[:, 3] = 0
    table[0, :2] = [9, 4]  # no row without counts
    statistic, freedom = g_test(table)
    for i, j in product(range(5), repeat=2):
        pair = table[[i, j]]
        expected = chi2_contingency(pair[:, pair.sum(axis=0) > 0], correction=False, lambda_="log-likelihood")
        assert statistic[i, j] == pytest.approx(expected.statistic, abs=1e-9)
        assert freedom[i, j] == expected.dof


def class_chain(seed, classes, kinds, length):
    """Types of one long sequence of a chain of classes, each with its own kinds, and the kinds' classes."""
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.full(classes, 0.3), classes) * 0.8 + 0.2 / classes
    state, types = 0, []
    for _ in range(length):
        state = rng.choice(classes, p=transition[state])
        types.append(rng.integers(kinds) * classes + state)
    return np.array(types), np.arange(classes * kinds) % classes


def likelihood(types, labels):
    """Of a sequence by the class bigram model with the likeliest tables, from the definition."""
    classes = labels[types]
    total = 0.0
    for before, after in pairwise(classes):
        total += np.log(((classes[:-1] == before) & (classes[1:] == after)).sum() / (classes[:-1] == before).sum())
    return total + sum(np.log((types == kind).sum() / (classes == labels[kind]).sum()) for kind in types)


def bigrams_of(types, number):
    ones = np.ones(len(types) - 1)
    return sparse.coo_matrix((ones, (types[:-1], types[1:])), shape=(number, number)).tocsr()


def test_the_class_likelihood_is_what_it_says():
    types, labels = class_chain(0, 2, 3, 120)
    offsets, counts = np.array([0, len(types)]), np.bincount(types, minlength=6)
    constant = sum(c * np.log(c) for c in counts if c)
    for other in (labels, np.zeros(6, int), np.array([0, 0, 1, 1, 2, 2])):
        value = class_log_likelihood(class_bigrams(types, offsets, other), np.bincount(other, counts))
        assert value + constant == pytest.approx(likelihood(types, other))


def test_bigrams_stay_inside_sequences():
    """Also where sequences without segments are first, last and in between."""
    table = class_bigrams(np.array([0, 1, 1, 0]), np.array([0, 0, 2, 2, 3, 4, 4]), np.array([0, 1]))
    assert table.tolist() == [[0, 1], [0, 0]]
    table = class_bigrams(np.array([0, 1, 1, 0]), np.array([0, 0, 4, 4]), np.array([0, 1]))
    assert table.tolist() == [[0, 1], [1, 1]]


@pytest.mark.parametrize("seed", range(4))
def test_exchange_never_lowers_the_likelihood(seed):
    """From each of the 64 assignments of 6 kinds to 2 classes; from some of them it finds the best of all."""
    types, labels = class_chain(seed, 2, 3, 400)
    offsets, counts, bigrams = np.array([0, len(types)]), np.bincount(types, minlength=6), bigrams_of(types, 6)

    def value(assigned):
        return class_log_likelihood(class_bigrams(types, offsets, assigned), np.bincount(assigned, counts))

    values, reached = [], []
    for assigned in product(range(2), repeat=6):
        found = exchanged(bigrams, counts, np.array(assigned))
        values.append(value(np.array(assigned)))
        reached.append(value(found))
    assert (np.array(reached) >= np.array(values) - 1e-9).all()
    assert max(reached) == pytest.approx(max(values))
    assert max(values) >= value(labels)


def test_exchange_gives_every_kind_a_class():
    types, labels = class_chain(1, 3, 4, 1200)
    start = np.where(np.arange(12) < 6, labels, -1)
    found = exchanged(bigrams_of(types, 13), np.bincount(types, minlength=13), np.append(start, -1))
    assert found[12] == -1  # it does not occur
    assert len(set(zip(found[:12].tolist(), labels.tolist(), strict=True))) == 3


@pytest.mark.parametrize("allowed", [4, 9, 100])
def test_classes_that_behave_alike_are_one(allowed):
    """However many there may be: no more than can be told apart, though there are 32 kinds."""
    types, labels = class_chain(3, 4, 8, 20_000)
    found = find_classes(types, np.array([0, len(types)]), 32, allowed)
    assert len(set(zip(found.tolist(), labels.tolist(), strict=True))) == 4


# Lattices


def smoothed(model: HSMM, own: int) -> HSMM:
    """The model with counts that make the first `own` single tokens segments in their own right."""
    counts = np.zeros(len(model.lexicon), np.int64)
    counts[:own] = 100
    lexicon = Lexicon(model.lexicon.vocabulary, model.lexicon.codes, counts)
    return HSMM(lexicon, model.emission, model.transition, model.initial, model.end)


@pytest.mark.parametrize("own", [0, 1, 3])
def test_sparse_lattices_leave_out_what_is_spelled(own):
    """log p without is log p with, plus log(1 - the probability that anything is spelled), sequence by sequence."""
    model = smoothed(random_model(6), own)
    unigrams = np.full(3, round(100 / OWN) - 1)
    exact = log_marginal(model, lattice_of(model, SEQUENCES))
    for sequence, value in zip(SEQUENCES, exact.tolist(), strict=True):
        text, total, spelled = text_of([sequence]), 0.0, 0.0
        for segments, _, probability in paths(model, sequence, end=False):
            total += probability
            spelled += probability * any(own <= row < 3 for _, _, row in segments)
        left = 1 - spelled / total
        found = log_likelihood(model, sparse_lattices(text, model.lexicon, unigrams))
        assert found == pytest.approx(value + (np.log(left) if left > 1e-12 else 0), abs=1e-9)
    many = log_likelihood(model, sparse_lattices(text_of(SEQUENCES * 70), model.lexicon, unigrams))
    alone = [log_likelihood(model, sparse_lattices(text_of([s]), model.lexicon, unigrams)) for s in SEQUENCES]
    assert many == pytest.approx(70 * sum(alone))
    assert sum(alone) <= float(exact.sum()) + 1e-9
    assert (sum(alone) == pytest.approx(float(exact.sum()))) == (own == 3)


def test_a_hidden_markov_model_is_a_special_case():
    """Where all segments are single tokens, they are not taken for spelling."""
    rng = np.random.default_rng(5)
    text = text_of([rng.integers(0, 4, 12).tolist() for _ in range(200)])
    model = initial_model(
        find_segments(Lexicon.count(text.tokens, text.offsets, 4, 1), text), text.tokens, hsmm_entry(3), 0
    )
    unigrams = np.bincount(text.tokens)
    np.testing.assert_array_equal(model.lexicon.counts, unigrams)
    exact = log_likelihood(model, exact_lattices(text, model.lexicon, 3, CPU))
    assert log_likelihood(model, sparse_lattices(text, model.lexicon, unigrams)) == pytest.approx(exact)


@pytest.mark.parametrize(("states", "longest"), [(3, 6), (1 << 21, 6)])
def test_exact_lattices_hold_every_sequence_in_order(states, longest):
    """Also where a batch holds one or two sequences."""
    model = random_model(3)
    text = text_of(SEQUENCES)
    lattices = list(exact_lattices(text, model.lexicon, states, CPU))
    assert len(lattices) == (1 if states == 3 else len(SEQUENCES))
    values = torch.cat([log_marginal(model, lattice) for lattice in lattices])
    np.testing.assert_allclose(values, log_marginal(model, lattice_of(model, SEQUENCES)), **CLOSE)
    assert log_likelihood(model, lattices) == pytest.approx(float(values.sum()))


# The model that training begins with


def test_the_initial_model_counts_what_the_cut_says():
    """Two sequences and one that could not be cut; kinds 01 and 2 are one class, 1 the other."""
    lexicon = Lexicon(3, (np.array([1, 2], np.uint64), np.array([1], np.uint64)), np.array([30, 10, 20]))
    types = np.array([2, 0, 1, 0, 2, 0] * 10 + [0])
    offsets = np.concatenate([[0, 0], np.arange(1, 11) * 6, [61]])
    tokens = np.array([0, 1, 1, 2, 1, 0, 1, 1] * 10 + [1])
    segments = Segments(Lexicon(3, lexicon.codes, np.bincount(types)), types, offsets)
    model = initial_model(segments, tokens, hsmm_entry(2, longest=2), seed=0)
    model.validate()
    assert model.states == 2
    assert list(row_numbers(model.lexicon)) == [(0,), (1,), (2,), (0, 1)]
    np.testing.assert_array_equal(model.lexicon.counts, [0, 31, 10, 20])
    other = int(model.emission[1].argmax())  # the class of 1
    emission = model.emission[:, [1 - other, other]].double().numpy()
    assert emission[3, 0] == pytest.approx(2 / 3, abs=0.02)
    assert emission[2, 0] == pytest.approx(1 / 3, abs=0.02)
    assert emission[1, 1] == pytest.approx(1, abs=0.02)
    # Of 11 sequences, 10 begin with the first class; all end with the other one.
    assert float(model.initial[1 - other]) == pytest.approx((10 + EVENT_PRIOR) / (11 + 2 * EVENT_PRIOR))
    ends = (np.array([0, 11]) + EVENT_PRIOR) / (np.array([30, 31]) + 2 * EVENT_PRIOR)
    np.testing.assert_allclose(model.end[[1 - other, other]], ends, rtol=1e-6)
    assert float(model.transition[1 - other, other]) > 0.98
    assert float(model.transition[other, 1 - other]) > 0.98


def test_single_tokens_are_added_once():
    lexicon = Lexicon(4, (np.array([1, 3], np.uint64), np.array([2, 9], np.uint64)), np.array([5, 6, 7, 8]))
    added, place = with_single_tokens(lexicon)
    assert [codes.tolist() for codes in added.codes] == [[0, 1, 2, 3], [2, 9]]
    assert place.tolist() == [1, 3, 4, 5]
    assert added.counts.tolist() == [0, 5, 0, 6, 7, 8]


# Perplexity


def test_measured_perplexity_is_the_enumerated_one(tmp_path):
    """Also where a sequence has no segmentation."""
    make_symbol_tokenizer(tmp_path / "model" / "tokenizer", "ab")
    tokenizer = load_tokenizer(tmp_path / "model" / "tokenizer")
    end = tokenizer.eos_token_id
    assert end == 3
    for name, model in (("whole", random_model(1)), ("holes", random_model(1, holes=True))):
        model.save(tmp_path / name)
        tokenizer.save_pretrained(tmp_path / name)
        stream = sum(([*sequence, end] for sequence in SEQUENCES), [end])
        np.save(tmp_path / "test.tokens.npy", np.array(stream, np.int32))
        np.save(tmp_path / "test.kinds.npy", np.where(np.array(stream) == end, 0, 2).astype(np.uint8))
        report = measure_hsmm(tmp_path / name, tmp_path / "test", tmp_path / "perplexity.json", threads=1)
        totals = {
            "body": -sum(enumerate_all(model, sequence, False)["log_marginal"] for sequence in SEQUENCES),
            "all": -sum(enumerate_all(model, sequence, True)["log_marginal"] for sequence in SEQUENCES),
        }
        tokens = {"body": 24, "all": 24 + len(SEQUENCES)}
        for part, total in totals.items():
            assert report[part]["tokens"] == tokens[part]
            assert report[part]["nll"] == (pytest.approx(total, rel=1e-9) if np.isfinite(total) else None)
            if np.isfinite(total):
                assert report[part]["ppl"] == pytest.approx(np.exp(total / tokens[part]))
        missing = [s for s in SEQUENCES if not np.isfinite(enumerate_all(model, s, False)["log_marginal"])]
        assert bool(missing) == (name == "holes")
        assert report["zero_probability_tokens"] == sum(len(sequence) + 1 for sequence in missing)


def test_the_perplexity_of_a_process_by_its_own_model(small_process, tmp_path):
    """Its sub-sequences tell where they end and whose they are, so one path has all the probability."""
    process = small_process.process
    model_of(process, end=0.25).save(tmp_path / "model")
    load_tokenizer(small_process.tokenizer).save_pretrained(tmp_path / "model")
    report = measure_hsmm(tmp_path / "model", small_process.prefix("test"), tmp_path / "perplexity.json", threads=1)
    number = {letters: i for i, letters in enumerate(process.subsequences)}
    emitted = np.array([[number[letters[:-1]] for letters in one] for one in small_process.segments("test")])
    exact = sum(nats.sum() for nats in process.nll(process.owner[emitted], emitted))
    assert report["body"]["nll"] == pytest.approx(exact, rel=1e-12)
    ends = len(emitted) * ((process.steps - 1) * np.log(0.75) + np.log(0.25))
    assert report["all"]["nll"] == pytest.approx(exact - ends, rel=1e-12)
    assert report["body"]["tokens"] == process.lengths[emitted].sum()


# A known process


@pytest.fixture(scope="module")
def refitted(small_process, tmp_path_factory):
    folder = tmp_path_factory.mktemp("refitted")
    entry = hsmm_entry(9, longest=5, iterations=5, tolerance=0.0)
    encoded = Encoded(small_process.prefix("train"), small_process.prefix("validation"), small_process.tokenizer)
    report = train_hsmm(encoded, entry, 1, Run(folder / "model", folder / "training.json", threads=1))
    return report, HSMM.load(folder / "model"), folder / "model"


@pytest.fixture(scope="module")
def matched(small_process, refitted):
    """The process's state of each of the model's, and what share of its segments are that state's, [K] both."""
    _, model, _ = refitted
    tokens, lengths = model.lexicon.segments(np.arange(len(model.lexicon)))
    tokenizer = load_tokenizer(small_process.tokenizer)
    share = np.zeros((model.states, len(small_process.process.transition) + 1))
    for row, (gram, length) in enumerate(zip(tokens, lengths, strict=True)):
        letters = tokenizer.decode(gram[:length])
        owner = small_process.process.state_of.get(letters[:-1], -1) if letters.endswith(" ") else -1
        share[:, owner] += model.emission[row].double().numpy()
    return share[:, :-1].argmax(axis=1), share[:, :-1].max(axis=1)


def test_a_known_process_is_recovered(small_process, refitted, matched):
    _, model, _ = refitted
    process, (state, share) = small_process.process, matched
    assert sorted(state) == list(range(6))  # as many states as there are, though 9 were allowed
    assert share.min() > 0.98
    counts = np.zeros((6, 6))
    for segments in small_process.segments("train"):
        states = [process.state_of[letters[:-1]] for letters in segments]
        np.add.at(counts, (states[:-1], states[1:]), 1)
    size = counts.sum(axis=1, keepdims=True)
    found = np.zeros((6, 6))
    found[np.ix_(state, state)] = model.transition.double().numpy()
    distance = np.abs(found - process.transition).sum(axis=1) / 2
    # What a count of the true states would be off: three standard errors of each entry. Besides, one segment in fifty
    # may be taken for another state's, at either end of a transition.
    error = np.sqrt(process.transition * (1 - process.transition) / size)
    assert (distance < 3 * error.sum(axis=1) / 2 + 2 * (1 - share.min())).all()
    # Far closer than the states are to each other.
    apart = np.abs(process.transition[:, None] - process.transition).sum(axis=2) / 2
    assert distance.max() < 0.1 < np.sort(apart, axis=None)[6]


def test_the_segments_of_a_known_process_are_recovered(small_process, refitted, matched):
    _, model, _ = refitted
    text, process = small_process.text("test"), small_process.process
    best = viterbi(model, Lattice.build(model.lexicon.rows(text.tokens, text.offsets), text.offsets))
    delimiter = small_process.end - 1
    after = np.flatnonzero(text.tokens == delimiter) + 1
    stops = best.stops + np.repeat(text.offsets[:-1], np.diff(best.offsets))
    assert len(np.setxor1d(stops, after)) <= 2e-3 * len(after)
    true = [process.state_of[letters[:-1]] for segments in small_process.segments("test") for letters in segments]
    at = np.searchsorted(stops, after)
    assert np.mean(matched[0][best.states[at]] == true) > 0.998


def test_the_likelihood_of_a_known_process_is_reached(small_process, refitted, matched):
    """On what can be read off test: log p(x) of the fitted model against log p(x, states) of the process."""
    _, model, _ = refitted
    process, text = small_process.process, small_process.text("test")
    number = {letters: i for i, letters in enumerate(process.subsequences)}
    emitted = np.array([[number[letters[:-1]] for letters in one] for one in small_process.segments("test")])
    exact = -sum(nats.sum(axis=1) for nats in process.nll(process.owner[emitted], emitted))
    trained = {letters for one in small_process.segments("train") for letters in one}
    known = np.array([all(process.subsequences[i] + " " in trained for i in one) for one in emitted])
    assert known.mean() > 0.9
    (lattice,) = exact_lattices(text, model.lexicon, model.states, CPU)
    excess = (exact - log_marginal(model, lattice).numpy())[known].sum() / emitted[known].size
    # A parameter that was estimated from n segments costs 1 / (2 n) nats a segment on average (Akaike); and a segment
    # in a state that emits others' too costs the logarithm of what is left for its own.
    parameters = len(process.subsequences) + process.transition.size
    n = 10 * len(small_process.text("train"))
    assert abs(excess) < 3 * parameters / (2 * n) - np.log(matched[1].min())
