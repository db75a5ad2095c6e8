"""Models in the files of Blei's ctm-c, as critics: the same numbers, by both definitions; wrong files are one line."""

import numpy as np
import pyarrow as pa
import pytest
from ctm_oracle import draw_documents, random_critic

from textcritic.critics.ctm import infer
from textcritic.critics.ctm.job import FitFiles, train_topics
from textcritic.critics.ctm.model import CTM, NEVER, load_critics
from textcritic.critics.ctm.released import read_released
from textcritic.critics.ctm.scoring import latent_nll
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.latents.bags import Counts, write_counts
from textcritic.plan.entries import Ctm

TOPICS, WORDS = 4, 30


@pytest.fixture(scope="module")
def critic():
    made = random_critic(3, TOPICS, WORDS, sharpness=1.5)
    log_topics = made.log_topics.copy()
    log_topics[2, 5] = -2000.0  # a word that a topic never emits
    log_topics -= np.log(np.exp(log_topics).sum(1, keepdims=True))
    return CTM(np.maximum(log_topics, np.log(NEVER)), made.mean, made.covariance)


def as_ctm_c_writes(folder, critic):
    """One number a line, row after row, as gsl_matrix_fprintf writes with the format %f; log 0 is -1000."""
    folder.mkdir(exist_ok=True)
    log_topics = np.where(critic.log_topics <= np.log(NEVER), -1000, critic.log_topics)
    arrays = {"mu": critic.mean, "cov": critic.covariance, "inv-cov": critic.precision, "log-beta": log_topics}
    for name, array in arrays.items():
        lines = "".join(f"{value:f}\n" for value in np.ravel(array))
        (folder / f"final-{name}.dat").write_text(lines, "ascii")
    (folder / "final-param.txt").write_text(f"num_topics {TOPICS}\nnum_terms {WORDS}\n", "ascii")
    return folder


@pytest.fixture
def folder(tmp_path, critic):
    return as_ctm_c_writes(tmp_path / "ctm-c", critic)


@pytest.fixture(scope="module")
def counts(critic):
    return draw_documents(critic, [0, 3, 30, 80, 80], 1).counts


def test_it_is_the_same_model_to_six_decimals(folder, critic):
    read = read_released(folder)
    np.testing.assert_allclose(read.mean, critic.mean, atol=1e-6)
    np.testing.assert_allclose(read.covariance, critic.covariance, atol=1e-6)
    np.testing.assert_allclose(np.exp(read.log_topics), np.exp(critic.log_topics), atol=2e-6)
    np.testing.assert_allclose(np.exp(read.log_topics).sum(1), 1, rtol=1e-12)


def test_both_definitions_of_latent_nll_are_those_of_the_files(folder, counts):
    """As released: -log N(lambda | mu, precision), by `final-inv-cov.dat`; the paper's: its mean over the posterior."""
    read = read_released(folder)
    found = infer(read, counts[1:])
    mean = np.loadtxt(folder / "final-mu.dat")
    precision = np.loadtxt(folder / "final-inv-cov.dat").reshape(TOPICS - 1, TOPICS - 1)
    away = found.means - mean
    released = 0.5 * np.einsum("dk,kl,dl->d", away, precision, away)
    released += 0.5 * (TOPICS - 1) * np.log(2 * np.pi) - 0.5 * np.linalg.slogdet(precision)[1]
    expected, at_mean = latent_nll(read, found.means, found.variances)
    np.testing.assert_allclose(at_mean, released, rtol=1e-4)
    rng = np.random.default_rng(1)
    drawn = rng.standard_normal((40_000, *found.means.shape)) * np.sqrt(found.variances) + away
    quadratic = np.einsum("ndk,kl,ndl->nd", drawn, precision, drawn)
    by_chance = 4 * 0.5 * quadratic.std(0) / np.sqrt(len(drawn))
    over_posterior = released + 0.5 * (quadratic.mean(0) - np.einsum("dk,kl,dl->d", away, precision, away))
    assert (np.abs(expected - over_posterior) < by_chance + 1e-3).all()
    assert (expected - at_mean > 3 * by_chance).all()


def test_lines_do_not_matter(folder, critic):
    for name, width in (("cov", TOPICS - 1), ("log-beta", WORDS)):
        path = folder / f"final-{name}.dat"
        numbers = path.read_text().split()
        rows = (" ".join(numbers[start : start + width]) for start in range(0, len(numbers), width))
        path.write_text("\n".join(rows) + "\n")
    np.testing.assert_allclose(read_released(folder).covariance, critic.covariance, atol=1e-6)


def test_the_job_reads_instead_of_fitting(folder, critic, counts, tmp_path):
    ids = pa.array([str(n) for n in range(counts.shape[0])])
    tokens = np.asarray(counts.sum(axis=1), dtype=np.int64).ravel()
    write_counts(tmp_path / "train", [Counts(ids, tokens, counts)], WORDS)
    files = FitFiles(*(tmp_path / name for name in ("train", "critic.npz", "starts.npz", "training.json", "state")))
    entry = Ctm.read({"kind": "ctm", "fitted": {"folder": str(folder), "vocabulary": "words.txt"}}, "entry")
    train_topics(files, entry)
    read, record = CTM.load(files.critic), read_json(files.training)
    np.testing.assert_array_equal(read.covariance, read_released(folder).covariance)
    assert load_critics(files.starts) == []
    assert record["bounds"] == pytest.approx([infer(read, counts[1:]).bounds.sum()], rel=1e-9)
    assert (record["documents"], record["empty"], record["read"]) == (4, 1, str(folder))
    assert (record["words"], record["tokens"]) == (WORDS, counts.sum())
    assert [record[key] for key in ("seconds", "iterations", "converged", "starts")] == [0, 0, True, []]
    write_counts(tmp_path / "train", [Counts(ids, tokens, counts[:, :-1])], WORDS - 1)
    with pytest.raises(TextcriticError, match="30 words, and its vocabulary has 29"):
        train_topics(files, entry)


def one_less(lines):
    return lines[:-1]


def a_word(lines):
    return [*lines[:2], "topic", *lines[3:]]


def not_finite(lines):
    return [lines[0], "nan", *lines[2:]]


def nothing(_):
    return []


def other(lines):
    return ["num_topics 5", *lines[1:]]


def tripled(lines):
    return [f"{3 * float(line):f}" for line in lines]


def indefinite(lines):
    return [f"{-float(line):f}" for line in lines]


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("final-mu.dat", one_less, "final-cov.dat: 9 numbers; final-mu.dat has 2, so it must have 4"),
        ("final-cov.dat", one_less, "final-cov.dat: 8 numbers; final-mu.dat has 3, so it must have 9"),
        ("final-log-beta.dat", one_less, "final-log-beta.dat: 119 numbers, which are not rows of 4 topics"),
        ("final-inv-cov.dat", one_less, "final-inv-cov.dat: 8 numbers"),
        ("final-inv-cov.dat", tripled, "not the inverse of final-cov.dat"),
        ("final-log-beta.dat", tripled, "the probabilities of topic 1 add up to 0."),
        ("final-mu.dat", a_word, "final-mu.dat:3: 'topic' is not a number"),
        ("final-cov.dat", not_finite, "final-cov.dat: number 2 is not finite"),
        ("final-mu.dat", nothing, "final-mu.dat: there is no number in it"),
        ("final-param.txt", other, "final-param.txt: num_topics is 5, but"),
    ],
)
def test_wrong_files_are_one_line(folder, name, change, message):
    path = folder / name
    path.write_text("".join(f"{line}\n" for line in change(path.read_text().splitlines())))
    with pytest.raises(TextcriticError) as caught:
        read_released(folder)
    assert message in str(caught.value)
    assert str(folder) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_covariance_that_is_none_is_one_line(folder):
    path = folder / "final-cov.dat"
    (folder / "final-inv-cov.dat").unlink()
    path.write_text("".join(f"{line}\n" for line in indefinite(path.read_text().splitlines())))
    with pytest.raises(TextcriticError, match="not positive definite"):
        read_released(folder)


@pytest.mark.parametrize("name", ["final-mu.dat", "final-cov.dat", "final-log-beta.dat"])
def test_missing_files(folder, name, tmp_path):
    (folder / name).unlink()
    with pytest.raises(TextcriticError, match=f"{name}: no such file"):
        read_released(folder)
    with pytest.raises(TextcriticError, match="not a folder"):
        read_released(tmp_path / "nowhere")
