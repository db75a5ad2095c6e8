import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy.stats import chisquare

from textcritic.corpora import ARTICLE_SCHEMA, Article, Process, Section, read_articles, write_process_corpus
from textcritic.corpora.articles import ROWS_PER_GROUP
from textcritic.corpora.synthetic.process import InverseCdf
from textcritic.corpora.synthetic.process_corpus import process_statistics
from textcritic.errors import TextcriticError
from textcritic.plan.entries import Corpus
from textcritic.plan.entries.extraction import ProcessOptions
from textcritic.plan.spec import SCHEMAS, load_yaml

RECIPE = ProcessOptions(states=5, steps=4, subsequences=30, shortest=2, longest=4, letters=6)
TINY = Process(
    subsequences=("a", "b", "ab"),
    owner=np.array([0, 1, 1]),
    emission=np.array([1.0, 0.25, 0.75]),
    transition=np.array([[0.5, 0.5], [0.0, 1.0]]),
    steps=3,
    letters="ab",
)


@pytest.fixture(scope="module")
def process():
    return Process.draw(RECIPE)


def files(folder: Path) -> dict[str, Path]:
    parquet = {split: folder / f"{split}.parquet" for split in ("train", "validation", "test")}
    return {**parquet, "process": folder / "process.npz", "statistics": folder / "statistics.json"}


def test_a_drawn_process_is_what_its_recipe_says(process):
    assert len(set(process.subsequences)) == 30
    assert {len(letters) + 1 for letters in process.subsequences} == {2, 3, 4}
    assert process.lengths.tolist() == [len(letters) + 1 for letters in process.subsequences]
    assert process.letters == "abcdef"
    assert set("".join(process.subsequences)) <= set("abcdef")
    assert set(process.owner) == set(range(5))
    assert np.allclose(process.transition.sum(axis=1), 1, atol=1e-15)
    assert np.allclose(np.bincount(process.owner, process.emission), 1, atol=1e-15)
    assert (process.initial == process.transition[0]).all()
    assert process.state_of[process.subsequences[7]] == process.owner[7]


def test_as_many_subsequences_as_there_are_can_be_drawn():
    process = Process.draw(ProcessOptions(states=2, steps=1, subsequences=14, shortest=2, longest=4, letters=2))
    assert sorted(process.subsequences, key=lambda s: (len(s), s))[:6] == ["a", "b", "aa", "ab", "ba", "bb"]


def test_the_seed_decides_everything(process, tmp_path):
    for name, recipe in (("one", RECIPE), ("same", RECIPE), ("other", RECIPE.changed(seed=5))):
        (tmp_path / name).mkdir()
        write_process_corpus(recipe.changed(train=9, validation=3, test=4), files(tmp_path / name))
    for one, same, other in zip(*(files(tmp_path / name).values() for name in ("one", "same", "other")), strict=True):
        assert one.read_bytes() == same.read_bytes() != other.read_bytes()


def test_what_is_saved_is_loaded(process, tmp_path):
    process.save(tmp_path / "p.npz")
    loaded = Process.load(tmp_path / "p.npz")
    assert (loaded.subsequences, loaded.steps, loaded.letters) == (process.subsequences, 4, "abcdef")
    for key in ("owner", "emission", "transition"):
        assert getattr(loaded, key).dtype == getattr(process, key).dtype
        assert (getattr(loaded, key) == getattr(process, key)).all()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"shortest": 3, "longest": 2}, "longest: 2 is too few; at least 3, the shortest"),
        ({"subsequences": 4}, "subsequences: 4 is too few; at least 5, one for each state"),
        ({"subsequences": 259}, "subsequences: 259 are more than the 258 that differ, of 2 to 4 tokens and 6 letters"),
    ],
)
def test_recipes_that_cannot_be_are_refused(changes, message):
    with pytest.raises(TextcriticError, match="process: " + message):
        Process.draw(RECIPE.changed(**changes))


def test_a_state_without_a_subsequence_is_refused(tmp_path):
    message = r"state \d+ owns no sub-sequence \(\d+ of 256 states do\).*give more subsequences \(there are 300\)"
    with pytest.raises(TextcriticError, match=message):
        write_process_corpus(ProcessOptions(subsequences=300), files(tmp_path))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"owner": np.array([0, 0, 0])}, "state 1 owns no sub-sequence"),
        ({"owner": np.array([0, 1, 2])}, "owner: a state beyond the 2"),
        ({"owner": np.array([0, 1, -1])}, "owner: a state beyond the 2"),
        ({"owner": np.array([0, 1])}, r"owner: int64 of shape \(2,\) should be int64 of shape \(3,\)"),
        ({"owner": np.array([0.0, 1, 1])}, r"owner: float64 of shape \(3,\) should be int64"),
        ({"transition": np.ones((2, 3))}, r"transition: float64 of shape \(2, 3\) should be float64 of shape \(2, 2\)"),
        ({"transition": np.array(1.0)}, "steps: 3, states: 0; at least 1 of both"),
        (
            {"transition": np.full((2, 2), 0.4)},
            "transition: should be probabilities that sum to 1 for each state",
        ),
        (
            {"transition": np.array([[1.5, -0.5], [0, 1]])},
            "transition: should be probabilities that sum to 1 for each state",
        ),
        (
            {"transition": np.array([[0.5, 0.5], [1e-5, 1]])},
            "transition: should be probabilities that sum to 1 for each state",
        ),
        (
            {"emission": np.array([1.0, 0.25, np.nan])},
            "emission: should be probabilities that sum to 1 for each state",
        ),
        (
            {"emission": np.array([1.0, 1.25, -0.25])},
            "emission: should be probabilities that sum to 1 for each state",
        ),
        (
            {"emission": np.array([0.5, 0.25, 0.25])},
            "emission: should be probabilities that sum to 1 for each state",
        ),
        ({"subsequences": ("a", "b", "b")}, "subsequences: 'b' should occur once"),
        ({"subsequences": ("a", "b", "")}, "subsequences: '' should occur once and be made of letters"),
        ({"subsequences": ("a", "b", "a b")}, "subsequences: 'a b' should occur once and be made of letters"),
        ({"letters": "ab "}, "letters: 'ab ' should be distinct and without the delimiter"),
        ({"steps": 0}, "steps: 0, states: 2; at least 1 of both"),
    ],
)
def test_parts_that_do_not_belong_together_are_refused(changes, message, tmp_path):
    with pytest.raises(TextcriticError, match="process: " + message):
        replace(TINY, **changes)
    parts = {key: np.array(getattr(TINY, key)) for key in ("subsequences", "owner", "emission", "transition", "steps")}
    np.savez(tmp_path / "p.npz", **{**parts, "letters": np.array("ab"), **changes})
    with pytest.raises(TextcriticError, match=r"p\.npz: process: " + message):
        Process.load(tmp_path / "p.npz")


def test_probabilities_that_were_rounded_are_accepted():
    replace(TINY, transition=TINY.transition + np.array([[1e-8, -1e-8], [1e-8, 0]]))


def test_faults_of_files_are_one_clear_line(process, tmp_path):
    path = tmp_path / "p.npz"
    with pytest.raises(TextcriticError, match=r"p\.npz: no such file"):
        Process.load(path)
    process.save(path)
    whole = path.read_bytes()
    np.savez(tmp_path / "q.npz", owner=process.owner)
    np.save(tmp_path / "r.npy", process.owner)
    others = [(tmp_path / name).read_bytes() for name in ("q.npz", "r.npy")]
    for damaged in (b"", whole[:9], whole[:-50], b"nonsense" * 20, *others):
        path.write_bytes(damaged)
        with pytest.raises(TextcriticError, match=r"p\.npz: not a whole process; delete it and rerun"):
            Process.load(path)


def test_samples_follow_the_parameters():
    recipe = RECIPE.changed(states=4, steps=6)
    process = Process.draw(recipe)
    states, emitted = process.sample(20_000, seed=3)
    assert states.shape == emitted.shape == (20_000, 6)
    assert (process.owner[emitted] == states).all()
    before = np.pad(states[:, :-1], ((0, 0), (1, 0)))
    for source in range(4):
        follow = np.bincount(states[before == source], minlength=4)
        assert chisquare(follow, process.transition[source] * follow.sum()).pvalue > 0.001
        own = process.owner == source
        counts = np.bincount(emitted[states == source], minlength=30)
        assert counts[~own].sum() == 0
        assert chisquare(counts[own], process.emission[own] * counts.sum()).pvalue > 0.001
    # The first step alone, and the longest sub-sequences, which the released sampler of the HSMM never reaches.
    first = np.bincount(states[:, 0], minlength=4)
    assert chisquare(first, process.initial * first.sum()).pvalue > 0.001
    assert set(process.lengths[emitted.ravel()]) == {2, 3, 4}


def test_measured_values_approach_the_exact_ones(process):
    states, emitted = process.sample(50_000, seed=1)
    state_nll, emission_nll = process.nll(states, emitted)
    nats = (state_nll + emission_nll).sum() / process.lengths[emitted].sum()
    assert np.exp(state_nll.mean()) == pytest.approx(process.latent_ppl(), rel=0.01)
    assert np.exp(nats) == pytest.approx(process.word_ppl(), rel=0.01)


def test_a_sequence_depends_on_the_seed_and_its_number_alone(process, monkeypatch):
    states, emitted = process.sample(50, seed=3)
    monkeypatch.setattr("textcritic.corpora.synthetic.process.SEQUENCES_AT_ONCE", 7)
    fewer = process.sample(20, seed=3)
    assert (fewer[0] == states[:20]).all()
    assert (fewer[1] == emitted[:20]).all()
    assert (process.sample(20, seed=4)[0] != states[:20]).any()
    assert [part.shape for part in process.sample(0, seed=3)] == [(0, 4), (0, 4)]


def test_what_has_no_probability_is_never_drawn_whatever_the_uniform():
    probabilities = np.array([0, 1, 0, 1, 0, 0, 0.25, 0.75, 0, 0])
    rows = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2, 2])
    draw = InverseCdf(probabilities, rows)
    uniforms = np.array([0, 0.2, 0.25, 0.9, np.nextafter(1, 0)])
    assert [draw(np.full(5, row), uniforms).tolist() for row in range(3)] == [[1] * 5, [3] * 5, [6, 6, 7, 7, 7]]
    process = replace(TINY, transition=np.array([[0.0, 1.0], [1.0, 0.0]]), emission=np.array([1.0, 0.0, 1.0]))
    states, emitted = process.sample(4, seed=1)
    assert states.tolist() == [[1, 0, 1]] * 4
    assert emitted.tolist() == [[2, 0, 2]] * 4
    assert process.latent_ppl() == 1
    assert process.nll(states, emitted)[0].tolist() == [[0, 0, 0]] * 4


def test_the_corpus_is_the_sample_split_by_position(process, tmp_path):
    counts = {"train": ROWS_PER_GROUP + 10, "validation": 3, "test": 5}
    write_process_corpus(RECIPE.changed(**counts), files(tmp_path))
    states, emitted = process.sample(sum(counts.values()), RECIPE.seed)
    first = 0
    for split, count in counts.items():
        expected = [
            Article(
                f"{split}-{number}",
                None,
                tuple(Section(str(s), process.subsequences[e]) for s, e in zip(states[row], emitted[row], strict=True)),
                "process",
            )
            for number, row in enumerate(range(first, first + count))
        ]
        assert read_articles(files(tmp_path)[split]) == expected
        assert pq.read_schema(files(tmp_path)[split]).equals(ARTICLE_SCHEMA)
        first += count
    assert Process.load(tmp_path / "process.npz").subsequences == process.subsequences


def test_statistics_are_counts_of_the_articles(tmp_path):
    counts = {"train": 4, "validation": 3, "test": 9}
    written = write_process_corpus(RECIPE.changed(**counts), files(tmp_path))
    assert json.loads((tmp_path / "statistics.json").read_text()) == written
    process = Process.load(tmp_path / "process.npz")
    articles = {split: read_articles(files(tmp_path)[split]) for split in counts}
    lengths = {
        split: [sum(len(s.text) + 1 for s in article.sections) for article in members]
        for split, members in articles.items()
    }
    every = [length for of_split in lengths.values() for length in of_split]
    seen = {section.text for article in articles["train"] for section in article.sections}
    new = [s.text for article in articles["test"] for s in article.sections if s.text not in seen]
    log_prob = 0.0
    for article in articles["test"]:
        before = 0
        for section in article.sections:
            log_prob += np.log(process.transition[before, int(section.title)])
            before = int(section.title)
    assert written["articles"] == counts
    assert written["tokens"] == {split: sum(of_split) for split, of_split in lengths.items()}
    assert written["sequence_tokens"] == {"mean": np.mean(every), "shortest": min(every), "longest": max(every)}
    assert (written["states"], written["steps"], written["subsequences"]) == (5, 4, 30)
    assert written["train_subsequences"] == len(seen)
    assert new
    assert written["unseen_in_test"] == {"types": len(set(new)), "occurrences": len(new)}
    assert written["latent_ppl"]["test"] == pytest.approx(np.exp(-log_prob / 36), rel=1e-12)
    assert written["latent_ppl"]["exact"] == process.latent_ppl()
    assert written["word_ppl"]["exact"] == process.word_ppl()
    for part in (written["latent_ppl"], written["word_ppl"]):
        assert part["n"] == 9
        assert part["ci95"] == [None, None]  # of nine sequences
    assert written["recipe"] == {key: value for key, value in RECIPE.plain().items() if key not in counts}


def test_intervals_hold_the_exact_values_at_a_usual_size(process):
    states, emitted = process.sample(3000, seed=8)
    parts = {split: (states[part], emitted[part]) for split, part in zip(("train", "test"), (..., ...), strict=True)}
    found = process_statistics(process, parts)
    for part in (found["latent_ppl"], found["word_ppl"]):
        assert part["ci95"][0] < part["exact"] < part["ci95"][1]
    assert found["unseen_in_test"] == {"types": 0, "occurrences": 0}


def test_the_registry_has_the_papers_process_and_a_small_one():
    entries = load_yaml(SCHEMAS.parent / "registry" / "corpora.yaml")
    recipe, small = (Corpus.read(entries[name], "x").options.process for name in ("process", "process-demo"))
    assert recipe == ProcessOptions()
    assert (recipe.train, recipe.validation, recipe.test) == (51_200, 6_400, 6_400)
    assert small.states < recipe.states
    assert small.train + small.validation + small.test < 20_000
    assert Process.draw(small).latent_ppl() > 1
