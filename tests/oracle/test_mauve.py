"""MAUVE against its authors' library, closed forms and enumeration; skipped where the library is not installed."""

from itertools import combinations

import numpy as np
import pytest

from textcritic.corpora import Article, Section, write_articles
from textcritic.critics.mauve import (
    FIRST_SEED,
    GROUPED,
    Mauve,
    compare_features,
    histogram_test,
    load_library,
    mauve,
    mauve_of_histograms,
)
from textcritic.errors import TextcriticError
from textcritic.latents.features import embed_articles
from textcritic.latents.points import Features
from textcritic.plan.entries import Mauve as MauveEntry
from textcritic.plan.entries.classifiers import Embedder
from textcritic.rehearsal.checkpoints import tiny_gpt2

QUICK = MauveEntry(kind="mauve", embedder="gpt2", documents=120, seeds=2, halves=4, redo=1, iterations=20)
TEXTS = [f"the quick brown fox number {n} jumps over {'the lazy dog and ' * (n % 7)} runs" for n in range(24)]


@pytest.fixture(scope="module")
def library():
    return pytest.importorskip("mauve", reason="mauve-text is not installed: `textcritic install mauve`")


def points(seed, shift=0.0, number=120, dimensions=8):
    rng = np.random.default_rng(seed)
    return (rng.normal(shift, 1, (number, dimensions)) / np.arange(1, dimensions + 1) ** 0.75).astype(np.float32)


def features(vectors, groups=None):
    names = np.array([f"d{n:04}" for n in range(len(vectors))])
    return Features(names, vectors, np.array([""] * len(vectors) if groups is None else groups))


def test_the_first_seed_is_the_library_s_own_call(library):
    one, two = points(1), points(2, shift=0.3)
    own = library.compute_mauve(p_features=one, q_features=two, kmeans_num_redo=1, kmeans_max_iter=20)
    found = mauve(one, two, QUICK)
    assert FIRST_SEED == 25
    assert found.by_seed[0] == own.mauve
    assert found.smoothed[0] == own.mauve_star
    assert found.buckets == own.num_buckets == 12
    np.testing.assert_allclose(np.array(found.first[0]) / 120, own.p_hist, atol=1e-12)
    assert found.value == pytest.approx(np.mean(found.by_seed))
    assert found.low <= found.value <= found.high


def test_all_seeds_can_be_computed_again_from_the_histograms(library):
    found = mauve(points(3), points(4, shift=0.5), QUICK)
    np.testing.assert_allclose(mauve_of_histograms(found.first, found.second), found.by_seed, rtol=1e-9)
    smoothed = mauve_of_histograms(np.array(found.first) + 0.5, np.array(found.second) + 0.5)
    np.testing.assert_allclose(smoothed, found.smoothed, rtol=1e-9)


def test_a_set_against_itself_is_one(library):
    found = mauve(points(5), points(5), QUICK)
    assert found.value == pytest.approx(1)
    assert found.p == 1


def test_features_equal_those_of_the_library_from_the_same_texts(library, tmp_path):
    """The library reads texts itself, one at a time, with the model of the folder."""
    folder = tiny_gpt2(tmp_path / "gpt2", TEXTS)
    write_articles(
        tmp_path / "texts.parquet",
        [Article(f"{n:02}", None, (Section(None, text),), "test") for n, text in reversed(list(enumerate(TEXTS)))],
    )
    embed_articles(tmp_path / "texts.parquet", folder, tmp_path / "features.npz", Embedder(batch_size=5))
    ours = Features.load(tmp_path / "features.npz")
    assert list(ours.ids) == [f"{n:02}" for n in range(24)]
    tool = pytest.importorskip("mauve.compute_mauve")
    theirs = tool.get_features_from_input(None, None, TEXTS, str(folder), 32, -1, "p", 1)
    np.testing.assert_allclose(ours.vectors, theirs, atol=1e-5)
    assert np.ptp(ours.vectors, axis=0).min() > 0.1


@pytest.mark.parametrize("scaling", [1.0, 5.0])
def test_disjoint_histograms_have_the_area_of_their_curve(scaling):
    """Disjoint P and Q have KL(Q | R) = -log(1 - w) and KL(P | R) = -log w."""
    w = np.concatenate([[0.0], np.linspace(1e-6, 1 - 1e-6, 25), [1.0]])
    x, y = (1 - w) ** scaling, w**scaling
    area = -np.trapezoid(y, x)
    assert mauve_of_histograms([5, 5, 0], [0, 0, 9], scaling) == pytest.approx(area, rel=1e-9)


def test_mauve_of_histograms_is_symmetric_and_falls_with_distance():
    base, near, far = np.array([10, 20, 30]), np.array([12, 20, 28]), np.array([40, 15, 5])
    assert mauve_of_histograms(base, base) == pytest.approx(1)
    assert mauve_of_histograms(base, near) == pytest.approx(mauve_of_histograms(near, base))
    assert 1 > mauve_of_histograms(base, near) > mauve_of_histograms(base, far) > 0


def test_p_is_that_of_all_exchanges():
    """Eight documents in three clusters: all 70 ways to choose four of them."""
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 2])

    def counts(chosen):
        return np.bincount(labels[list(chosen)], minlength=3)

    total = counts(range(8))
    observed = mauve_of_histograms(counts(range(4)), total - counts(range(4)))
    every = [mauve_of_histograms(counts(c), total - counts(c)) for c in combinations(range(8), 4)]
    exact = np.mean(np.array(every) <= observed * (1 + 1e-9))
    assert 0.02 < exact < 0.5
    p = histogram_test(counts(range(4)), total - counts(range(4)), resamples=20_000)
    assert p == pytest.approx(exact, abs=4 * np.sqrt(exact / 20_000))


def test_equal_numbers_are_taken_and_always_the_same(library):
    one, two = features(points(6, number=150)), features(points(7, number=130))
    first, again = compare_features(one, two, QUICK), compare_features(one, two, QUICK)
    assert (first.by_seed, first.low, first.p) == (again.by_seed, again.low, again.p)
    assert first.documents == sum(first.first[0]) == sum(first.second[0]) == 120


def test_documents_that_belong_together_have_a_value_alone(library, tmp_path):
    found = compare_features(features(points(8)), features(points(9), ["book"] * 60 + [""] * 60), QUICK)
    assert found.value > 0
    assert (found.low, found.high, found.p, found.reason) == (None, None, None, GROUPED)
    found.save(tmp_path / "score.json")
    assert vars(Mauve.load(tmp_path / "score.json")) == vars(found)


def test_a_source_with_too_few_documents_has_a_reason():
    found = compare_features(features(points(8)), features(points(9, number=50)), QUICK)
    assert found.value is None
    assert found.reason == "50 documents, and 120 of each are compared"


def test_what_cannot_be_computed_well_is_refused():
    with pytest.raises(TextcriticError, match="40 buckets"):
        mauve(points(1), points(2), QUICK.changed(buckets=40))


def test_features_of_two_models_are_refused():
    with pytest.raises(TextcriticError, match="embed both by one model"):
        compare_features(features(points(1)), features(points(2, dimensions=9)), QUICK)


def test_without_the_library_one_line_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "mauve", None)
    with pytest.raises(TextcriticError, match="textcritic install mauve"):
        load_library()
