"""Log weights of a model of two states for each token, whose p(x) can be added up."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
import torch

from textcritic.corpora.structured.texts import Structured, write_structured
from textcritic.errors import TextcriticError
from textcritic.files import arrays_of, write_json
from textcritic.generators.latent import kinds, resume, weigh
from textcritic.generators.latent.model import CONFIG, LatentModel, Proposal
from textcritic.generators.latent.vocabulary import Vocabulary
from textcritic.generators.latent.weigh import Draws, Weighed, weigh_best, weigh_exact
from textcritic.inference.importance import LogWeights, beam_perplexity
from textcritic.plan.entries.encodings import NoOptions

WORDS = ("<unk>", "a", "b", "c")
TEXTS = [Structured("one", ("a", "b", "a")), Structured("two", ("c",)), Structured("three", ("b", "b", "c", "a"))]
EMISSION = torch.tensor([[0.1, 0.6, 0.2, 0.1], [0.1, 0.1, 0.3, 0.5]], dtype=torch.float64)
STATES = torch.tensor([0.7, 0.3], dtype=torch.float64)
FIRST = torch.tensor([0.2, -0.4, 0.9, 0.0], dtype=torch.float64)  # logits of state 1, by word


class Built:
    """Nothing of it is trained."""

    form = NoOptions

    def __init__(self, settings, vocabulary):
        super().__init__(settings, vocabulary)
        self.weight = torch.nn.Parameter(torch.zeros(1))

    def losses(self, texts):
        raise NotImplementedError


class Toy(Built, LatentModel):
    """z_t is one of two states, drawn alone for each token; x_t depends on it."""

    kind = "toy"

    def sample(self, count, longest, generator):
        raise NotImplementedError

    def states_of(self, text):
        return torch.zeros(1, len(text.tokens), dtype=torch.int64)

    def log_joint(self, text, states):
        words = self.vocabulary.encode(text.tokens)
        return (STATES[states].log() + EMISSION[states, words].log()).sum(1)


class ToyProposal(Built, Proposal):
    """Each state by a logit of its word, divided by the temperature."""

    kind = "toy-proposal"

    def shares(self, text, temperature):
        first = torch.sigmoid(FIRST[self.vocabulary.encode(text.tokens)] / temperature)
        return torch.stack([1 - first, first], 1)

    def draw(self, text, count, temperature, generator):
        shares = self.shares(text, temperature)
        states = (torch.rand(count, len(shares), generator=generator, dtype=torch.float64) < shares[:, 1]).long()
        return states, self.log_q(text, states, temperature)

    def log_q(self, text, states, temperature):
        return self.shares(text, temperature).log()[torch.arange(states.shape[1]), states].sum(1)

    def best(self, text, count):
        every = torch.tensor(list(itertools.product((0, 1), repeat=len(text.tokens))))
        return every[self.log_q(text, every, 1.0).argsort(descending=True)[:count]]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.setattr(kinds, "learner_of", lambda kind: {"toy": Toy, "toy-proposal": ToyProposal}[kind])
    write_structured(tmp_path / "test.parquet", TEXTS, "made up")
    for kind in (Toy, ToyProposal):
        (tmp_path / kind.kind).mkdir()
        kind.build(NoOptions(), Vocabulary(WORDS)).save(tmp_path / kind.kind)
    return Weighed(texts=tmp_path / "test.parquet", model=tmp_path / "toy", proposal=tmp_path / "toy-proposal")


def exact(text):
    words = Vocabulary(WORDS).encode(text.tokens)
    return float((STATES @ EMISSION[:, words]).log().sum())


def test_weights_estimate_what_can_be_added_up(files, tmp_path):
    weights = weigh.weigh(files, Draws(20_000, 1.3, 1), tmp_path / "w.npz", threads=1)
    assert weights.ids == ("one", "two", "three")
    assert weights.tokens.tolist() == [3, 1, 4]
    for row, text in enumerate(TEXTS):
        ratios = np.exp(weights.log_weights[row] - exact(text))
        assert abs(ratios.mean() - 1) < 4 * ratios.std() / np.sqrt(len(ratios)) < 0.05
    read = LogWeights.read(tmp_path / "w.npz")
    assert np.array_equal(read.log_p - read.log_q, weights.log_weights)


def test_draws_depend_on_seed_text_temperature_and_shard_alone(files, tmp_path):
    first = Draws(50, 1.0, 1)
    base = weigh.weigh(files, first, tmp_path / "a.npz").log_weights
    assert np.array_equal(weigh.weigh(files, first, tmp_path / "b.npz").log_weights, base)
    for other in (replace(first, seed=2), replace(first, shard=1), replace(first, temperature=1.001)):
        found = weigh.weigh(files, other, tmp_path / "c.npz").log_weights
        assert not np.isclose(found, base).all(axis=1).any()
    # Shards 1 and 2 in one job are what two jobs draw.
    parts = [weigh.weigh(files, replace(first, shard=shard), tmp_path / f"{shard}.npz") for shard in (1, 2)]
    both = weigh.weigh(files, replace(first, shard=1, shards=2), tmp_path / "1-2.npz")
    assert np.array_equal(both.log_weights, parts[0].joined(parts[1:]).log_weights)
    write_structured(tmp_path / "fewer.parquet", TEXTS[:2], "made up")
    fewer = weigh.weigh(replace(files, texts=tmp_path / "fewer.parquet"), first, tmp_path / "d.npz")
    assert np.array_equal(fewer.log_weights, base[:2])


def test_a_killed_job_goes_on_where_it_was(files, tmp_path, monkeypatch):
    draws, out = Draws(30, 1.0, 1), tmp_path / "w.npz"
    whole = weigh.weigh(files, draws, tmp_path / "whole.npz").log_weights
    monkeypatch.setattr(resume, "SAVE_SECONDS", -1.0)
    done, drawn_weights = [], weigh.drawn_weights

    def killed(model, proposal, text, draws, row):
        if row == 2 and not done.count(2):
            done.append(2)
            raise KeyboardInterrupt
        done.append(row)
        return drawn_weights(model, proposal, text, draws, row)

    monkeypatch.setattr(weigh, "drawn_weights", killed)
    with pytest.raises(KeyboardInterrupt):
        weigh.weigh(files, draws, out)
    assert not out.exists()
    assert np.array_equal(weigh.weigh(files, draws, out).log_weights, whole)
    assert done == [0, 1, 2, 2]
    assert not out.with_suffix(".partial.npz").exists()


@pytest.mark.parametrize("spoilt", ["other draws", "damaged"])
def test_what_another_job_left_is_not_used(files, tmp_path, monkeypatch, spoilt):
    out = tmp_path / "w.npz"
    monkeypatch.setattr(resume, "SAVE_SECONDS", -1.0)
    with monkeypatch.context() as patched:
        patched.setattr(LogWeights, "save", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            weigh.weigh(files, Draws(30, 1.0, 2), out)
    partial = out.with_suffix(".partial.npz")
    assert partial.exists()
    if spoilt == "damaged":
        partial.write_bytes(b"half a file")
    expected = weigh.weigh(files, Draws(30, 1.0, 1), tmp_path / "whole.npz").log_weights
    assert np.array_equal(weigh.weigh(files, Draws(30, 1.0, 1), out).log_weights, expected)


def test_likeliest_states_are_a_bound_and_fill_up_with_nothing(files, tmp_path):
    bounds = {}
    for count in (1, 4, 20):
        weigh_best(files, count, tmp_path / "beam.npz")
        with arrays_of(tmp_path / "beam.npz", "damaged") as arrays:
            log_p, tokens = arrays["log_p"], arrays["tokens"]
        assert log_p.shape == (3, count)
        bounds[count] = beam_perplexity(log_p, tokens)
    truth = np.exp(-sum(map(exact, TEXTS)) / 8)
    assert np.isfinite(log_p).sum(axis=1).tolist() == [8, 2, 16]
    assert bounds[1] > bounds[4] > bounds[20] == pytest.approx(truth, rel=1e-12)


def test_a_model_without_states_is_exact(files, tmp_path):
    weights = weigh_exact(replace(files, proposal=None), tmp_path / "exact.npz")
    assert weights.log_weights.shape == (3, 1)
    with pytest.raises(TextcriticError, match="no proposal to draw states from"):
        weigh.weigh(replace(files, proposal=None), Draws(3, 1.0, 1), tmp_path / "w.npz")


def test_what_does_not_belong_is_refused(files, tmp_path):
    with pytest.raises(TextcriticError, match="toy-proposal: has a toy-proposal, which is no LatentModel"):
        weigh.weigh(replace(files, model=files.proposal), Draws(3, 1.0, 1), tmp_path / "w.npz")
    write_structured(tmp_path / "none.parquet", [], "made up")
    with pytest.raises(TextcriticError, match=r"none.parquet: has no texts to weigh"):
        weigh.weigh(replace(files, texts=tmp_path / "none.parquet"), Draws(3, 1.0, 1), tmp_path / "w.npz")


def test_kinds_are_known_by_name(tmp_path):
    from textcritic.generators.latent.lstm import LSTM

    assert kinds.learner_of("lstm") is LSTM
    assert all(kinds.learner_of(kind).kind == kind for kind in kinds.MODELS | kinds.PROPOSALS)
    write_json(tmp_path / CONFIG, {"kind": "lstmm"})
    with pytest.raises(TextcriticError, match="kind: 'lstmm' is not one of rnng"):
        kinds.load_model(tmp_path)
