"""Perplexity against one forward pass per token, against closed forms, and its bootstrap interval against theory."""

import json

import numpy as np
import pytest
import torch
from bootstrap_oracle import studentised

from textcritic.corpora import read_articles
from textcritic.errors import TextcriticError
from textcritic.generators.encode import encode_split, load_encoded
from textcritic.generators.perplexity import Windowing, perplexity
from textcritic.generators.summary import summarise
from textcritic.training.load import load_causal, load_tokenizer

CONTEXT = 24
MODEL = {
    "model_type": "gpt2",
    "n_layer": 2,
    "n_embd": 16,
    "n_head": 2,
    "n_positions": CONTEXT,
    "initializer_range": 0.4,
}


@pytest.fixture(scope="module")
def saved(tiny_encoding, tmp_path_factory):
    """A random model with pronounced predictions, and its folder."""
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    folder = tmp_path_factory.mktemp("perplexity") / "model"
    model = load_causal({"config": MODEL}, tokenizer, seed=8)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return model, folder


@torch.no_grad()
def nats(model, history, token):
    """-log P(token | history) from one forward pass over the history alone."""
    return -model(torch.tensor([history])).logits[0, -1].double().log_softmax(-1)[token].item()


def expected(model, tokens, predicted):
    """Total nats when every predicted position sees the tokens of its window before it."""
    return {at: nats(model, tokens[start:at], tokens[at]) for start, at in predicted}


def check(found, nll, kinds):
    for part, chosen in (("all", list(nll)), ("body", [at for at in nll if kinds[at] == 2])):
        total = sum(nll[at] for at in chosen)
        assert found[part]["tokens"] == len(chosen)
        assert found[part]["nll"] == pytest.approx(total, rel=1e-5)
        assert found[part]["ppl"] == pytest.approx(np.exp(total / len(chosen)), rel=1e-5)
        low, high = found[part]["ci95"]
        assert (low, high) == (None, None) if found["documents"] < 20 else low < found[part]["ppl"] < high


@pytest.mark.parametrize("batch_size", [1, 5])
def test_every_token_but_the_first_is_predicted_from_its_window(tiny_encoding, saved, tmp_path, batch_size):
    model, folder = saved
    out = tmp_path / "perplexity.json"
    found = perplexity(folder, tiny_encoding.validation, Windowing(CONTEXT, batch_size=batch_size), out)
    assert found == json.loads(out.read_text())
    tokens, kinds = (array.tolist() for array in load_encoded(tiny_encoding.validation))
    assert (len(tokens) - 1) % CONTEXT  # so that there is a partial window
    check(found, expected(model, tokens, [((at - 1) // CONTEXT * CONTEXT, at) for at in range(1, len(tokens))]), kinds)
    assert found["documents"] == len(read_articles(tiny_encoding.articles("validation")))
    assert found["zero_probability_tokens"] == 0
    assert "windows of 24 tokens" in found["windows"]


def test_the_interval_is_over_the_documents_that_the_tokens_are_of(tiny_encoding, saved, tmp_path):
    """An article's tokens are those behind the end of text before it, its own end included."""
    model, folder = saved
    found = perplexity(folder, tiny_encoding.train, Windowing(CONTEXT), tmp_path / "p.json", seed=3)
    tokens, end = load_encoded(tiny_encoding.train)[0].tolist(), load_tokenizer(folder).eos_token_id
    sums: list[list[float]] = []
    for at in range(1, len(tokens)):
        if tokens[at - 1] == end:
            sums.append([0.0, 0])
        sums[-1][0] += nats(model, tokens[(at - 1) // CONTEXT * CONTEXT : at], tokens[at])
        sums[-1][1] += 1
    assert len(sums) == found["documents"]
    expected_ends = studentised(sums, seed=3, exponent=True)
    assert found["all"]["ci95"] == pytest.approx(expected_ends, rel=1e-4)


def test_the_released_blocks_predict_all_but_their_first_token(tiny_encoding, saved, tmp_path):
    model, folder = saved
    prefix = tmp_path / "validation"
    encode_split(tiny_encoding.articles("validation"), tiny_encoding.tokenizer, "w-title", "as_released", prefix)
    found = perplexity(folder, prefix, Windowing(CONTEXT, "as_released"), tmp_path / "p.json")
    tokens, kinds = (array.tolist() for array in load_encoded(prefix))
    whole = len(tokens) // CONTEXT * CONTEXT
    assert whole < len(tokens)
    predicted = [(at // CONTEXT * CONTEXT, at) for at in range(whole) if at % CONTEXT]
    check(found, expected(model, tokens, predicted), kinds)


def test_a_uniform_model_has_the_vocabulary_as_perplexity(tiny_encoding, tmp_path):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    model = load_causal({"config": MODEL}, tokenizer)
    for weight in model.parameters():
        torch.nn.init.zeros_(weight)
    model.save_pretrained(tmp_path / "model")
    tokenizer.save_pretrained(tmp_path / "model")
    found = perplexity(tmp_path / "model", tiny_encoding.validation, Windowing(CONTEXT), tmp_path / "p.json")
    for part in ("all", "body"):
        assert found[part]["ppl"] == pytest.approx(len(tokenizer), rel=1e-6)
        assert found[part]["ci95"] == [None, None]  # all documents have the same value


def test_the_interval_is_as_wide_as_theory_says():
    # Articles of equal length with normal mean nats: log PPL has standard error sd / sqrt(articles).
    articles, length, sd = 400, 10, 0.2
    per_article = np.random.default_rng(0).normal(3.0, sd, articles)
    nll, documents = np.repeat(per_article, length), np.repeat(np.arange(articles), length)
    low, high = np.log(summarise(nll, np.full(len(nll), 2), documents, "given")["all"]["ci95"])
    error = per_article.std() / np.sqrt(articles)
    assert (high - low) / (2 * 1.96 * error) == pytest.approx(1, abs=0.1)
    assert (high + low) / 2 == pytest.approx(per_article.mean(), abs=0.2 * error)


def test_the_interval_is_scipys_over_articles_with_the_seed_that_is_given():
    rng = np.random.default_rng(4)
    lengths = rng.integers(1, 9, 60)
    # Articles' numbers may have gaps: of some no token is predicted.
    documents, nll = np.repeat(3 * np.arange(60), lengths), rng.gamma(2.0, 1.0, lengths.sum())
    kinds = rng.integers(1, 3, lengths.sum())
    intervals = {}
    for seed in (0, 5):
        found = summarise(nll, kinds, documents, "given", seed)
        for part, chosen in (("all", np.full(len(nll), True)), ("body", kinds == 2)):
            sums = np.array(
                [
                    (nll[chosen & (documents == d)].sum(), (chosen & (documents == d)).sum())
                    for d in sorted(set(documents))
                ]
            )
            expected = studentised(sums, seed=seed, exponent=True)
            assert found[part]["ci95"] == pytest.approx(expected, rel=1e-7)
            intervals[seed, part] = found[part]["ci95"]
        assert found["documents"] == 60
    assert intervals[0, "all"] != intervals[5, "all"]
    assert summarise(nll, kinds, documents, "given") == summarise(nll, kinds, documents, "given", 0)


def test_the_seed_of_the_bootstrap_is_that_of_the_call(tiny_encoding, saved, tmp_path):
    _, folder = saved
    first, again, other = (
        perplexity(folder, tiny_encoding.train, Windowing(CONTEXT), tmp_path / "p.json", seed=seed)
        for seed in (1, 1, 2)
    )
    assert first == again
    for part in ("all", "body"):
        assert first[part]["ppl"] == other[part]["ppl"]
        assert first[part]["ci95"] != other[part]["ci95"]


def test_tokens_without_probability_make_perplexity_infinite_and_are_counted():
    nll, kinds, documents = np.array([1.0, np.inf, 2.0, 3.0]), np.array([2, 1, 2, 0]), np.array([0, 0, 1, 1])
    found = summarise(nll, kinds, documents, "given")
    assert found["all"] == {"ppl": None, "nll": None, "tokens": 4, "ci95": [None, None]}
    assert found["body"]["ppl"] == pytest.approx(np.exp(1.5))
    assert (found["zero_probability_tokens"], found["documents"]) == (1, 2)


def test_damaged_inputs_are_one_clear_line(tiny_encoding, saved, tmp_path):
    _, folder = saved
    copy = tmp_path / "model"
    copy.mkdir()
    for path in folder.iterdir():
        (copy / path.name).write_bytes(path.read_bytes())
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    out = tmp_path / "p.json"
    with pytest.raises(TextcriticError, match=r"model\.safetensors: not a whole safetensors file"):
        perplexity(copy, tiny_encoding.validation, Windowing(CONTEXT), out)
    with pytest.raises(TextcriticError, match=r"absent\.tokens\.npy: no such file"):
        perplexity(folder, tmp_path / "absent", Windowing(CONTEXT), out)
    for content, message in (([5], "1 tokens are too few to predict any"), ([5, 9000], "was not encoded with the tok")):
        np.save(tmp_path / "x.tokens.npy", np.array(content, np.int32))
        np.save(tmp_path / "x.kinds.npy", np.full(len(content), 2, np.uint8))
        with pytest.raises(TextcriticError, match=message):
            perplexity(folder, tmp_path / "x", Windowing(CONTEXT), out)
    assert not out.exists()
