"""What is recovered of known mixing, and when tests notice it."""

import numpy as np
import pytest

from textcritic.corpora.parallel.build import build_parallel
from textcritic.corpora.synthetic.languages import draw_sentences, mixed
from textcritic.critics.lda import LDA
from textcritic.critics.lda.power import (
    ALPHA,
    POWER_SCHEMA,
    SWAPS,
    PowerFiles,
    PowerOptions,
    _notices,
    _share_notices,
    _swaps,
    measure_mixing_power,
    power_of,
)
from textcritic.errors import TextcriticError
from textcritic.files import read_json, read_table
from textcritic.inference import energy_distance
from textcritic.latents.bags import vocabulary_of
from textcritic.plan.entries import Corpus, Lda
from textcritic.plan.entries.parallel import LanguageOptions

RECIPE = LanguageOptions(sentences=120, vocabulary=60)
EXACT = Lda(kind="lda", draws=1, posterior="exact")


def known(recipe=RECIPE, shared=1e-3):
    """Languages, and the critic that knows them: a topic for each, and words of no other but those that all share."""
    drawn = draw_sentences(recipe)
    words = sorted({word for spelling in drawn.spellings.values() for word in spelling.tolist()})
    phi = np.array(
        [[1.0 if word in set(own.tolist()) else shared for word in words] for own in drawn.spellings.values()]
    )
    critic = LDA(phi / phi.sum(axis=1, keepdims=True), np.full(3, 0.05))
    return drawn, critic, vocabulary_of(words, ())


def test_the_rate_is_recovered_and_large_rates_are_noticed():
    drawn, critic, vocabulary = known(RECIPE.changed(shared=0.0))
    options = PowerOptions(rates=(0.1, 0.3), sentences=(30, 100, 1000), repetitions=20)
    table = power_of(critic, vocabulary, drawn, EXACT, options)
    assert table.schema.equals(POWER_SCHEMA)
    rows = table.to_pylist()
    assert [(row["rate"], row["sentences"]) for row in rows] == [(r, n) for n in (30, 100) for r in (0.0, 0.1, 0.3)]
    for row in rows:
        assert row["recovered"] == pytest.approx(row["expected"], abs=0.01)
        assert row["recovered_low"] <= row["recovered"] <= row["recovered_high"]
        for name in ("detected", "share_detected"):
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]
    nothing, little, much = rows[3:]
    assert nothing["expected"] == 0
    assert 0.07 < little["expected"] < 0.13
    assert nothing["detected"] <= 0.25
    assert nothing["share_detected"] <= 0.25
    assert much["detected"] == much["share_detected"] == little["share_detected"] == 1


def test_what_is_expected_is_counted_by_hand():
    drawn, critic, vocabulary = known(LanguageOptions(sentences=40, vocabulary=30, shared=0.3))
    options = PowerOptions(rates=(0.4,), sentences=(40,), repetitions=1, seed=5)
    row = power_of(critic, vocabulary, drawn, EXACT, options).to_pylist()[1]
    owners = {}
    for language, spelling in drawn.spellings.items():
        for word in spelling.tolist():
            owners.setdefault(word, set()).add(language)
    shares = set()
    for language in drawn.spellings:
        outside = words = 0
        for sentence in mixed(drawn, 0.4, 5 + 2):
            tokens = sentence.translations[language].split()
            own = [min(owners[token]) for token in tokens if len(owners[token]) == 1]
            outside += len(own) - max(map(own.count, drawn.spellings))
            words += len(tokens)
        shares.add(outside / words)
    assert min(shares) - 0.1 < row["expected"] < max(shares) + 0.1
    assert row["expected"] > 0.1


def test_the_swaps_of_the_fast_test_give_the_energy_distance():
    rng = np.random.default_rng(2)
    real, other = rng.dirichlet([0.3] * 3, 7), rng.dirichlet([0.6] * 3, 7)
    swaps = _swaps(7, rng)
    assert swaps.shape == (7, SWAPS + 1)
    distances = []
    for column in swaps.T:
        kept = (column > 0)[:, None]
        distances.append(energy_distance(np.where(kept, other, real), np.where(kept, real, other)))
    extreme = sum(value >= distances[0] - 1e-12 for value in distances[1:])
    for near in (0.0, 0.5, 1.0):  # from the real points to the others
        points = (1 - near) * real + near * other
        if near == 1:
            assert _notices(real, [points], swaps)[0] == ((extreme + 1) / (SWAPS + 1) <= ALPHA)
        elif near == 0:
            assert not _notices(real, [points], swaps)[0], "the same points are not noticed"


def test_the_test_of_shares_notices_shares():
    rng = np.random.default_rng(3)
    words = np.full(50, 10.0)
    none, some = np.stack([np.zeros(50), words], axis=1), np.stack([rng.integers(0, 3, 50), words], axis=1)
    swaps = _swaps(50, rng)
    assert _share_notices(np.stack([none, some]), swaps)
    assert not _share_notices(np.stack([some, some[::-1]]), swaps)


def test_the_job_reads_the_test_split_of_these_languages(tmp_path):
    options = {"sentences": 60, "vocabulary": 40}
    entry = Corpus.read({"extractor": "languages", "options": {"languages": options}}, "an entry")
    languages = entry.options.languages
    build_parallel(entry, tmp_path)
    _, critic, vocabulary = known(languages)
    critic.save(tmp_path / "critic.npz")
    vocabulary.save(tmp_path / "vocabulary.parquet")
    names = ("test.parquet", "vocabulary.parquet", "critic.npz", "power.parquet", "power.json")
    files = PowerFiles(*(tmp_path / name for name in names))
    tried = PowerOptions(rates=(0.5,), sentences=(5,), repetitions=3)
    measure_mixing_power(files, languages, EXACT, tried)
    assert read_table(files.power).num_rows == 2
    summary = read_json(files.summary)
    assert summary["energy"].keys() == summary["share"].keys() == {"level", "noticed"}
    assert summary["documents"] == 6 * 3 * 3
    with pytest.raises(TextcriticError, match=r"test.parquet: sentence \d+ is not the sentence of this number"):
        measure_mixing_power(files, languages.changed(seed=9), EXACT, tried)


def test_what_cannot_be_tried():
    drawn, critic, vocabulary = known()
    with pytest.raises(TextcriticError, match="0 repetitions; give at least 1"):
        power_of(critic, vocabulary, drawn, EXACT, PowerOptions(repetitions=0))
    with pytest.raises(TextcriticError, match="120 sentences in the test split; the smallest test has more"):
        power_of(critic, vocabulary, drawn, EXACT, PowerOptions(sentences=(500,)))
