"""What the tables say, computed anew from the files of posteriors."""

from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.spatial.distance import cdist

from experiments.mixing.tiny import BROKEN, EMPTY, LANGUAGES, UNREAD
from textcritic.corpora import iter_articles
from textcritic.errors import TextcriticError
from textcritic.experiments.mixing.read import Compared, Source
from textcritic.experiments.mixing.rows import (
    language_rows,
    mixing_rows,
    pair_rows,
    word_rows,
)
from textcritic.experiments.mixing.sheets import words_sheet
from textcritic.measures.material import Material
from textcritic.measures.published import read_published


@pytest.fixture(scope="module")
def table(compared, files, names):
    return mixing_rows(Material(files, names=names))


def one(table, generator, decoding, seed=1):
    found = table[(table["generator"] == generator) & (table["decoding"] == decoding)]
    return found[found["seed"].isna() | (found["seed"] == seed)].iloc[0]


def sample(files, generator, decoding, seed=1):
    return next(s for s in files.samples if (s.generator, s.decoding, s.seed) == (generator, decoding, seed))


def arrays(source):
    with np.load(source.posteriors) as loaded:
        return {name: loaded[name] for name in loaded.files}


@pytest.mark.parametrize("generator", ["translator", "writer"])
def test_each_statistic_is_that_of_the_posteriors(table, files, generator):
    row, found = one(table, generator, "drawn"), arrays(sample(files, generator, "drawn"))
    counts, draws = found["counts"].astype(float), found["draws"].astype(float)
    outside = sum(own.sum() - max(own) for own in counts)
    assert row["mixed"] == pytest.approx(100 * outside / counts.sum(), rel=1e-12)
    assert row["divided"] == np.mean([max(own) < 0.9 for own in found["mean"]])
    every = draws.reshape(-1, 3)
    assert row["corners"] == pytest.approx(np.mean([max(draw) >= 0.9 for draw in every]))
    entropies = [-sum(p * np.log(p) for p in draw if p > 0) for draw in every]
    assert row["entropy"] == pytest.approx(np.mean(entropies), rel=1e-9)
    scores = [s for s in pq.read_table(sample(files, generator, "drawn").scores).to_pylist() if not s["rejected"]]
    assert row["latent_nll"] == pytest.approx(np.mean([s["nll"] for s in scores]))
    assert row["documents"] == len(scores) == len(found["ids"]) == 40 - EMPTY
    assert row["words_per_sentence"] == found["tokens"].mean()
    for name in ("mixed", "divided", "corners", "entropy", "latent_nll"):
        assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]


def test_what_could_not_be_scored_is_counted_by_reason(table):
    row = one(table, "writer", "drawn")
    assert row["rejected"] == EMPTY + UNREAD
    assert row["rejected_share"] == (EMPTY + UNREAD) / (40 + UNREAD)
    assert f"empty: {UNREAD}" in row["rejected_by_reason"]
    broken = one(table, BROKEN, "drawn")
    assert (broken["documents"], broken["rejected"]) == (0, 40 + UNREAD)
    assert broken[["mixed", "distance", "mixed_p", "entropy"]].isna().all()
    assert broken["mixed_why"] == broken["distance_why"] == f"no sentence could be scored (empty: {40 + UNREAD})"
    assert row["mixed_why"] == ""


def test_samples_of_two_languages_in_a_sentence_mix_more(table):
    real = table[table["source"] == "data"].iloc[0]
    assert one(table, "writer", "drawn")["mixed"] > one(table, "refiner", "refined-2")["mixed"] > real["mixed"]
    assert one(table, "writer", "drawn")["mixed_p"] < 0.05
    assert one(table, "writer", "drawn")["distance_p"] < 0.05
    assert one(table, "translator", "drawn")["mixed_p"] > 0.05
    assert real[["mixed_p", "distance", "iterations"]].isna().all()


def test_the_energy_distance_is_of_translations_of_the_same_sentences(table, files):
    found, real = arrays(sample(files, "writer", "drawn")), arrays(files.data[0])
    of_real = {name: place for place, name in enumerate(real["ids"])}
    english = {a.id: int(a.title.split()[1]) for a in iter_articles(sample(files, "writer", "drawn").articles)}
    sentences = [english[name] for name in found["ids"]]
    # The n-th sentence of test takes the n-th language in turn, in the order of the file.
    twins = [of_real[f"{n:06d}-{LANGUAGES[n % 3]}"] for n in sentences]
    x, y = found["mean"], real["mean"][twins]
    distance = 2 * cdist(x, y).mean() - cdist(x, x).mean() - cdist(y, y).mean()
    row = one(table, "writer", "drawn")
    assert row["distance_measured"] == pytest.approx(distance, rel=1e-9)
    assert row["distance_low"] < row["distance"] < row["distance_measured"]


def test_iterations_are_of_decodings_that_search(table):
    assert one(table, "refiner", "refined-2")["iterations"] == 2
    assert one(table, "refiner", "refined-0")["iterations"] == 0
    assert np.isnan(float(one(table, "writer", "drawn").fillna({"iterations": np.nan})["iterations"]))


def test_seeds_are_summed_up(table, files):
    rows = table[(table["generator"] == "writer") & (table["decoding"] == "drawn")]
    assert rows["seeds"].tolist() == [2, 2]
    assert rows["seeds_mean"].iloc[0] == pytest.approx(rows["mixed"].mean())
    assert rows["seeds_sd"].iloc[0] == pytest.approx(rows["mixed"].std(ddof=1))


def test_pairs_compare_first_seeds_the_one_that_mixes_more_first(compared, files, names, table):
    rows = pair_rows(Material(files, names=names))
    assert len(rows) == 6  # of four samples that could be scored
    assert (rows["difference"] >= 0).all()
    assert rows["difference"].is_monotonic_decreasing
    first = rows.iloc[0]
    assert (first["more"], first["less"]) == ("non-autoregressive transformer, drawn", "transformer, drawn")
    expected = one(table, "writer", "drawn")["mixed"] - one(table, "translator", "drawn")["mixed"]
    assert first["difference"] == pytest.approx(expected)
    assert first["p_value"] < 0.05


def test_topics_are_called_like_their_languages(compared, files, names):
    rows = language_rows(Material(files, names=names))
    real = rows[rows["source"] == "data"]
    assert set(real["language"]) == set(LANGUAGES)
    assert (real["right_words"] > 0.9).all()
    assert (real["right_sentences"] == 1).all()
    assert real["share_of_sentences"].sum() == pytest.approx(1)
    for row in real.to_dict("records"):
        found = arrays(files.data[0])
        into = np.array([name.endswith(row["language"]) for name in found["ids"]])
        counts = found["counts"][into].astype(float)
        assert row["right_words"] == pytest.approx(counts[:, row["topic"] - 1].sum() / counts.sum(), rel=1e-6)
    samples = rows[rows["source"] == "sample"]
    assert samples["right_words"].isna().all()
    assert set(samples["seed"]) == {1}


def test_shares_of_each_language_are_of_words_and_of_sentences(compared, files, names):
    rows = language_rows(Material(files, names=names))
    for source in files.shown(files.data[0]):
        shown = rows[(rows["generator"] == source.keys["generator"]) & (rows["decoding"] == source.keys["decoding"])]
        assert shown["topic"].tolist() == [1, 2, 3]
        counts = arrays(source)["counts"].astype(float)
        if not len(counts):
            assert shown[["share_of_words", "share_of_sentences"]].isna().all(axis=None)
            continue
        main = [list(own).index(max(own)) for own in counts]
        assert shown["share_of_words"].tolist() == pytest.approx([own.sum() / counts.sum() for own in counts.T])
        assert shown["share_of_sentences"].tolist() == [main.count(topic) / len(main) for topic in range(3)]


def test_the_words_of_a_topic_are_of_its_language(files, names):
    rows = word_rows(Material(files, names=names))
    for row in rows.to_dict("records"):
        words = row["words"].split()
        assert len(words) == 7
        assert sum(word.startswith(row["language"]) for word in words) >= 6
    assert rows["share"].sum() == pytest.approx(1)


def test_posteriors_of_other_articles_are_refused(files):
    writer, translator = sample(files, "writer", "drawn"), sample(files, "translator", "drawn")
    with pytest.raises(TextcriticError, match=r"posteriors\.npz: 'writer-000000' is not in .*articles\.parquet"):
        Source.of(replace(writer, articles=translator.articles))


def test_real_text_without_a_score_is_refused(files, tmp_path):
    real = files.data[0]
    none = sample(files, BROKEN, "drawn")
    with pytest.raises(TextcriticError, match=r"scores\.parquet: no sentence could be scored \(empty"):
        Compared.of(replace(real, posteriors=none.posteriors, scores=none.scores, articles=none.articles), files)


def test_sizes_of_models_stand_beside_the_published_ones(compared, files, names, tmp_path):
    published = tmp_path / "mixing.csv"
    head = "table,corpus,setting,generator,decoding,metric,value,source,note\n"
    published.write_text(f"{head},news,,writer,,parameters_millions,0.9,appendix C,\n", encoding="utf-8")
    rows = mixing_rows(Material(files, read_published(published), names))
    assert set(rows[rows["source"] == "sample"]["parameters_millions"]) == {0.918656}
    row = one(rows, "writer", "drawn")
    assert (row["published"], row["difference"]) == (0.9, pytest.approx(0.018656))
    assert np.isnan(one(rows, "translator", "drawn")["published"])


def test_published_words_of_a_language_are_next_to_ours(files, names, tmp_path):
    bare = word_rows(Material(files, names=names))
    assert (set(bare["published_words"]), bare["as_published"].isna().all()) == ({""}, True)
    language, ours = bare.loc[0, "language"], bare.loc[0, "words"].split()
    ranks = [
        f"10,news,,,,{language}: {word},{rank},p,\n" for rank, word in ((2, ours[1]), (1, "nowhere"), (3, ours[0]))
    ]
    published = tmp_path / "mixing.csv"
    published.write_text("table,corpus,setting,generator,decoding,metric,value,source,note\n" + "".join(ranks))
    rows = word_rows(Material(files, read_published(published), names))
    assert rows.loc[0, "published_words"] == f"nowhere {ours[1]} {ours[0]}"
    assert (rows.loc[0, "as_published"], set(rows.loc[1:, "published_words"])) == (2, {""})
    first = words_sheet(rows, names).body[0][-1]
    assert first.notes == (f"paper (2 of 3 are among ours): nowhere {ours[1]} {ours[0]}",)
