"""Beam sampling and the best of several draws against the same algorithms, one text at a time and without a cache."""

import numpy as np
import pytest
import torch
from tiny_causal import configs, tiny_model

from textcritic.errors import TextcriticError
from textcritic.generators.article_model import ArticleModel
from textcritic.generators.beams import FIRST_STEPS, Beams
from textcritic.generators.drawing import BLOCK, draw, draw_scored, log_probs_of
from textcritic.generators.sample import draw_articles
from textcritic.generators.uniforms import UNIFORMS_AT_ONCE, Uniforms
from textcritic.plan.entries import Decoding

END, WINDOW, VOCABULARY = 0, 24, 40
# XGLM, whose positions are sinusoids, is not sampled from here.
CONFIGS = {name: config for name, config in configs(VOCABULARY, WINDOW, END).items() if name != "xglm"}


def model_of(name):
    """Random weights, so large that distributions are not flat and texts end after 1 to 60 tokens."""
    model = tiny_model(CONFIGS[name], seed=1, std=0.3)
    with torch.no_grad():
        if name != "llama":
            towards = -0.3 if name == "gpt2" else 0.3
            model.transformer.ln_f.bias += towards * model.get_output_embeddings().weight[END]
    return model


def log_probs_after(model, context):
    with torch.no_grad():
        return torch.log_softmax(model(torch.tensor([context])).logits[0, -1].double(), -1).numpy()


def stream(seed, article):
    return np.random.Generator(np.random.Philox(np.random.SeedSequence((seed, article))))


def beam_sampled(source, decoding, seed, article):
    """The paper's text, one hypothesis at a time; none is dropped but by the k most probable."""
    random, k = stream(seed, article), decoding.beam
    window, stride = source.window(), decoding.stride_in(source.window())
    beginning, hypotheses, begin = source.beginning(article).tolist(), [((), 0.0)], 0
    for step in range(decoding.max_tokens):
        if len(beginning) + step - begin >= window:
            begin += stride
        numbers, found = random.random((k, k)), {}
        for own, (text, score) in zip(numbers, hypotheses, strict=False):
            if text[-1:] == (END,):
                found[text] = score
                continue
            log_probs = log_probs_after(source.model, [*beginning, *text][begin:])
            cumulative = np.cumsum(np.exp(log_probs))
            for symbol in np.searchsorted(cumulative, own * cumulative[-1], side="right").tolist():
                found[*text, symbol] = score + log_probs[symbol]
        hypotheses = sorted(found.items(), key=lambda each: -each[1])[:k]
        if hypotheses[0][0][-1] == END:
            break
    text = list(hypotheses[0][0])
    return beginning[len(source.prompt) :] + text, "end" if text[-1] == END else "length"


@pytest.mark.parametrize(
    ("beam", "prompt", "given", "stride"), [(2, [END], 0, None), (4, [END, 5, END], 0, None), (3, [END], 4, 3)]
)
@pytest.mark.parametrize("name", CONFIGS)
def test_beams_with_a_cache_are_those_without(name, beam, prompt, given, stride):
    openings = np.arange(2 * given).reshape(2, given) + 7 if given else None
    source = ArticleModel(model_of(name), prompt, END, openings=openings)
    decoding = Decoding(method="beam-sampling", beam=beam, max_tokens=36, batch_size=4, stride=stride)
    found = {index: (ids, finish) for index, ids, finish in draw_articles(source, decoding, 3, range(6))}
    assert found == {article: beam_sampled(source, decoding, 3, article) for article in range(6)}
    assert len({str(text) for text in found.values()}) > 3


def test_those_texts_end_or_are_cut_and_outgrow_the_window():
    lengths, finishes = [], set()
    for name in CONFIGS:
        source = ArticleModel(model_of(name), [END], END)
        scheme = Decoding(method="beam-sampling", beam=2, max_tokens=36, batch_size=9)
        for _, ids, finish in draw_articles(source, scheme, 3, range(6)):
            lengths.append(len(ids))
            finishes.add(finish)
    assert min(lengths) < 8
    assert max(lengths) == 36 > WINDOW
    assert finishes == {"end", "length"}


def test_a_beam_of_one_is_ancestral_sampling():
    source = ArticleModel(model_of("gpt2"), [END], END)
    plain, one = Decoding(max_tokens=50), Decoding(method="beam-sampling", beam=2, max_tokens=50)
    object.__setattr__(one, "beam", 1)  # a registry entry is refused, see `plan.checks.decodings`
    drawn = [sorted(draw_articles(source, decoding, 5, range(30))) for decoding in (plain, one)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize(("name", "method"), [("gpt2", "best-of"), *((name, "beam-sampling") for name in CONFIGS)])
def test_a_text_does_not_depend_on_its_batch_or_shard(name, method):
    source, texts = ArticleModel(model_of(name), [END], END), {}
    for rows, indices in ((1, range(8)), (3, range(8)), (64, range(8)), (2, [7, 2, 5])):
        scheme = Decoding(method=method, beam=3, max_tokens=30, batch_size=rows)
        for index, *text in draw_articles(source, scheme, 2, indices):
            assert texts.setdefault(index, text) == text
    assert len(texts) == 8


@pytest.mark.parametrize("truncation", [{}, {"temperature": 0.8, "top_p": 0.8}])
def test_the_best_of_several_is_the_likeliest_of_ancestral_draws(truncation):
    """Draw j of text i is text 3 i + j of a plain sample; scores are of full forward passes."""
    model, openings = model_of("gpt2"), np.array([[7, 8], [9, 10]])
    temperature = truncation.get("temperature", 1)
    several = Decoding(method="best-of", beam=3, max_tokens=15, batch_size=4, **truncation)
    best = {i: (ids, finish) for i, ids, finish in draw_articles(source_of(model, openings), several, 2, range(8))}
    # Article i of a plain sample goes on from opening i, so that its openings are repeated.
    plain = source_of(model, openings[np.arange(24) // 3 % 2])
    scheme = Decoding(max_tokens=15, **truncation)
    draws = {i: (ids, finish) for i, ids, finish in draw_articles(plain, scheme, 2, range(24))}
    scores = {}
    for index, (ids, _) in draws.items():
        with torch.no_grad():
            logits = model(torch.tensor([[END, *ids]])).logits[0, :-1].double() / temperature
        log_probs = logits.log_softmax(-1)[range(len(ids)), ids]
        scores[index] = float(log_probs[2:].mean())
    for text in range(8):
        own = range(3 * text, 3 * text + 3)
        assert best[text] == draws[max(own, key=scores.__getitem__)]
    assert any(best[text] != draws[3 * text] for text in range(8))
    assert {finish for _, finish in draws.values()} == {"end", "length"}


def source_of(model, openings):
    return ArticleModel(model, [END], END, openings=openings)


@pytest.mark.parametrize("vocabulary", [3, BLOCK, 5 * BLOCK + 7])
def test_several_draws_of_a_row_are_the_inverse_of_the_cumulative_distribution(vocabulary):
    random = np.random.default_rng(4)
    logits = torch.from_numpy(random.normal(scale=3, size=(50, vocabulary)).astype(np.float32))
    logits[:, 1] = -torch.inf
    numbers = random.random((50, 7))
    numbers[0] = [0, 1 - 2**-53, 0.5, 0, 0, 0, 1 - 2**-53]
    tokens, log_probs = draw_scored(logits, numbers)
    assert torch.equal(tokens, draw(logits, numbers, Decoding()))
    expected = logits.double().log_softmax(-1).gather(1, tokens)
    torch.testing.assert_close(log_probs, expected, atol=2e-6, rtol=0)
    torch.testing.assert_close(log_probs_of(logits, tokens[:, 3]), expected[:, 3], atol=2e-6, rtol=0)


@pytest.mark.parametrize("fault", [torch.nan, torch.inf])
def test_logits_that_are_not_numbers(fault):
    logits = torch.zeros(2, 100)
    logits[1, 70] = fault
    with pytest.raises(TextcriticError, match="its logits are not numbers"):
        draw_scored(logits, np.full((2, 3), 0.5))


@pytest.mark.parametrize("count", [1, 25, UNIFORMS_AT_ONCE, UNIFORMS_AT_ONCE + 30])
def test_several_numbers_of_a_stream_are_the_next_ones(count):
    several, one = Uniforms.of(3, [4, 9]), Uniforms.of(3, [4, 9])
    expected = stream(3, 9).random(12 * count + 12)
    at = 0
    for rows in ([0, 1], [1], [1, 0]) * 4:
        found = several.several(np.array(rows), count)[rows.index(1)]
        assert found.tolist() == expected[at : at + count].tolist()
        at += count
        if rows == [1]:
            assert several.next(np.array([1])) == expected[at]
            at += 1
    assert one.next(np.array([1])) == expected[0]


def test_hypotheses_are_kept_over_more_steps_than_there_is_room_for_at_first():
    """Every second step the less probable hypothesis overtakes the other."""
    steps = FIRST_STEPS + 50
    beams, texts = Beams(2, 2, END, steps), {0: [], 1: []}
    for step in range(steps):
        rows = int(beams.alive.sum())
        symbols = np.arange(rows)[:, None] * 2 + [[1, 2]] + 10 * step
        log_probs = np.where(np.arange(rows)[:, None] % 2 == step % 2, [[-0.1, -9.0]], [[-5.0, -9.0]])
        before = {place: beams.hypotheses(place, int(beams.alive[place].sum())).tolist() for place in texts}
        row = np.zeros(beams.alive.shape, int)
        row[beams.alive] = np.arange(rows)
        origin = beams.extend(np.arange(2), symbols, log_probs)
        for place in texts:
            for rank, text in enumerate(beams.hypotheses(place, 2).tolist()):
                assert text[:-1] == before[place][origin[place, rank]]
                assert text[-1] in symbols[row[place, origin[place, rank]]]
    assert beams.done().all()
    assert not beams.ended().any()
    assert beams.length.tolist() == [steps, steps]
