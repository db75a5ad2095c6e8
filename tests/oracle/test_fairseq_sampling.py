"""Draws and searches of fairseq's models against fairseq's own generators, enumeration and exact probabilities."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
import torch
from scipy.stats import chisquare
from tiny_fairseq import AT_ONCE, LANGUAGE_MODELS, TRANSLATORS, built, sentences

from textcritic.generators.drawing import truncate
from textcritic.generators.fairseq.at_once import draw_at_once, likeliest_at_once, log_length
from textcritic.generators.fairseq.sample import draw_texts, sample_beams
from textcritic.generators.fairseq.search import search_texts
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.fairseq.steps import Steps, padded, prepare
from textcritic.plan.entries import Decoding

pytestmark = pytest.mark.skipif(not installed(), reason="run make fairseq")

END, PAD = 2, 1
ALL = TRANSLATORS | LANGUAGE_MODELS


def sources_for(model, number):
    """Sentences for a translator, the longest first, as fairseq's LSTM needs them; None for a language model."""
    found = sentences(number, len(model.dictionary), model.autoregressive)
    return sorted(found, key=len, reverse=True) if model.translates else None


def teacher_forced(model, source, symbols):
    """Log probabilities of every next symbol after each of `symbols`, without <pad> [symbols + 1, vocabulary]."""
    previous = torch.tensor([[END, *symbols]])
    with torch.no_grad():
        if source is None:
            output = model.module(previous)
        else:
            tokens = torch.from_numpy(source)[None]
            output = model.module(tokens, torch.tensor([len(source)]), previous)
        log_probs = model.module.get_normalized_probs(output, log_probs=True, sample=None)[0]
    log_probs[:, PAD] = -torch.inf
    return log_probs.double()


@pytest.mark.parametrize("name", ALL)
def test_step_by_step_as_at_once(name):
    """With sources of several lengths, with rows that go and rows that change places within a text's copies."""
    model = built(ALL[name])
    sources = sources_for(model, 4)
    rng = np.random.default_rng(5)
    prepared = built(ALL[name])
    prepare(prepared, "fp32", name)
    on = next(prepared.module.parameters()).device
    with torch.no_grad():
        steps = Steps(prepared, sources, 4, copies=2)
    text = np.repeat(np.arange(4), 2)
    symbols = torch.full((8, 1), END)
    for step in range(8):
        with torch.no_grad():
            found = steps.log_probs(symbols.to(on)).cpu().double()
        for row in range(len(text)):
            source = None if sources is None else sources[text[row]]
            expected = teacher_forced(model, source, symbols[row, 1:].tolist())[-1]
            torch.testing.assert_close(found[row], expected, atol=2e-5, rtol=1e-4)
        order = [1, 0, 2, 2, 5, 4] if step == 2 else ([0, 1, 3, 2] if step == 5 else list(range(len(text))))
        with torch.no_grad():
            steps.reorder(torch.tensor(order, device=on))
        text = text[order]
        symbols = torch.cat([symbols[order], torch.from_numpy(rng.integers(4, 30, (len(text), 1)))], dim=1)


@pytest.mark.parametrize("beam", [1, 2, 5])
@pytest.mark.parametrize("name", ALL)
def test_beam_search_finds_what_fairseqs_own_finds(name, beam):
    from fairseq.sequence_generator import SequenceGenerator

    model, number = built(ALL[name]), 6
    sources = sources_for(model, number)
    longest = 12
    ours = dict(search_texts(model, sources, range(number), beam, longest, rows=4))
    tokens, lengths = padded(sources or [np.array([END])] * number, PAD, torch.device("cpu"))
    theirs = SequenceGenerator([built(ALL[name]).module], model.dictionary, beam, max_len_b=longest - 1)
    expected = theirs.generate([], {"net_input": {"src_tokens": tokens, "src_lengths": lengths}})
    assert sorted(ours) == list(range(number))
    for index in range(number):
        assert [found.symbols.tolist() for found in ours[index]] == [
            each["tokens"].tolist() for each in expected[index]
        ]
        assert [found.score for found in ours[index]] == pytest.approx(
            [float(each["score"]) for each in expected[index]], abs=1e-5
        )


@pytest.mark.parametrize("name", ["transformer", "lstm_lm"])
def test_a_beam_that_holds_everything_ranks_every_text(name):
    model = built(ALL[name], words=2)
    source = sources_for(model, 1)
    others = [0, 3, 4, 5]  # <s>, <unk> and two words
    longest = 3
    scores = {}
    for length in range(1, longest):
        for words in product(others, repeat=length):
            log_probs = teacher_forced(model, None if source is None else source[0], words)
            text = (*words, END)
            scores[text] = float(log_probs[range(len(text)), text].sum()) / len(text)
    ((_, found),) = search_texts(model, source, [0], len(scores), longest)
    assert len(found) == len(scores) == 4 + 16
    ranked = sorted(scores, key=scores.__getitem__, reverse=True)
    assert [tuple(each.symbols.tolist()) for each in found] == ranked
    assert [each.score for each in found] == pytest.approx([scores[text] for text in ranked], abs=1e-5)


@pytest.mark.parametrize("decoding", [{}, {"temperature": 0.7, "top_k": 3}])
@pytest.mark.parametrize("name", ["transformer", "adaptive transformer_lm", "fconv_lm"])
def test_texts_are_drawn_with_their_probabilities(name, decoding):
    words = 22 if "adaptive" in name else 2
    model, draws = built(ALL[name], words), 3000
    source = sources_for(model, 1)
    scheme = Decoding(max_tokens=2, batch_size=500, **decoding)
    drawn = Counter(tuple(symbols) for _, symbols, _ in draw_texts(model, source, range(draws), scheme, seed=3))
    probabilities = {}
    given = None if source is None else source[0]
    first = torch.softmax(truncate(teacher_forced(model, given, [])[-1:], scheme), -1)[0].tolist()
    for symbol, probability in enumerate(first):
        if symbol == END or not probability:
            probabilities[symbol,] = probability
            continue
        second = torch.softmax(truncate(teacher_forced(model, given, [symbol])[-1:], scheme), -1)[0].tolist()
        probabilities |= {(symbol, last): probability * each for last, each in enumerate(second)}
    assert sum(probabilities.values()) == pytest.approx(1)
    assert all(probabilities[text] > 0 for text in drawn)
    assert fits(drawn, probabilities, draws)


def fits(drawn, probabilities, draws):
    """Whether counts go with probabilities, by a chi-square test in which rare outcomes are one."""
    usual = [text for text, probability in probabilities.items() if probability * draws >= 8]
    observed = [drawn[text] for text in usual]
    expected = [probabilities[text] * draws for text in usual]
    observed, expected = [*observed, draws - sum(observed)], [*expected, draws - sum(expected)]
    if expected[-1] < 5:
        observed[-2:], expected[-2:] = [sum(observed[-2:])], [sum(expected[-2:])]
    return chisquare(observed, expected).pvalue > 1e-3


def beams_by_enumeration(model, source, beam, longest):
    """The probability of each outcome of beam sampling, (symbols, ended), over all that can be drawn."""
    usual = [symbol for symbol in range(len(model.dictionary)) if symbol != PAD]
    after, mass = {}, {}
    states, outcomes = Counter({(((), 0.0),): 1.0}), Counter()
    for step in range(longest):
        reached = Counter()
        for hypotheses, probability in states.items():
            alive = [each for each in hypotheses if each[0][-1:] != (END,)]
            ended = [each for each in hypotheses if each[0][-1:] == (END,)]
            for words, _ in alive:
                after.setdefault(words, teacher_forced(model, source, words)[-1].tolist())
                mass[words] = np.exp(after[words]).sum()  # of all but <pad>
            for drawn in product(usual, repeat=beam * len(alive)):
                extended, chance = dict(ended), probability
                for place, symbol in enumerate(drawn):
                    words, score = alive[place // beam]
                    log_prob = after[words][symbol]
                    chance *= np.exp(log_prob) / mass[words]
                    extended[*words, symbol] = score + log_prob
                best = sorted(extended.items(), key=lambda each: -each[1])[:beam]
                whole = best[0][0][-1] == END
                if whole or step == longest - 1:
                    outcomes[best[0][0], whole] += chance
                else:
                    reached[tuple(best)] += chance
        states = reached
    return outcomes


@pytest.mark.parametrize(("name", "rows"), [("learned positions", 700), ("lstm_lm", 3000)])
def test_beam_sampling_against_all_that_can_be_drawn(name, rows):
    model, draws = built(ALL[name], words=1), 3000
    source = sources_for(model, 1)
    scheme = Decoding(method="beam-sampling", beam=2, max_tokens=3, batch_size=rows)
    found = Counter((tuple(text), ended) for _, text, ended in sample_beams(model, source, range(draws), scheme, 3))
    expected = beams_by_enumeration(model, None if source is None else source[0], 2, 3)
    assert sum(expected.values()) == pytest.approx(1)
    assert len(found) > 5
    assert set(found) <= set(expected)
    assert fits(found, expected, draws)


@pytest.mark.parametrize("name", ["transformer", "fconv_lm"])
def test_a_beam_does_not_depend_on_its_batch(name):
    model = built(ALL[name])
    sources = sentences(7, len(model.dictionary)) if model.translates else None
    texts = {}
    for rows, indices in ((1, range(20)), (6, range(20)), (4, [19, 3, 11])):
        scheme = Decoding(method="beam-sampling", beam=4, max_tokens=15, batch_size=rows)
        for index, *text in sample_beams(model, sources, indices, scheme, seed=3):
            assert texts.setdefault(index, text) == text
    assert len(texts) == 20
    assert len({str(text) for text in texts.values()}) > 2


@pytest.mark.parametrize("name", ["transformer", "lstm_lm"])
def test_a_text_does_not_depend_on_its_batch(name):
    model = built(ALL[name])
    sources = sentences(7, len(model.dictionary)) if model.translates else None
    texts = {}
    for rows, indices in ((1, range(20)), (6, range(20)), (20, range(20)), (4, [19, 3, 11])):
        scheme = Decoding(max_tokens=15, batch_size=rows)
        for index, *text in draw_texts(model, sources, indices, scheme, seed=3):
            assert texts.setdefault(index, text) == text
    assert len(texts) == 20
    assert len({str(text) for text in texts.values()}) > 6


def few_lengths(model, sources):
    """Let the model predict lengths of up to 4 for the first source."""
    with torch.no_grad():
        encoded = model.module.encoder(*padded(sources[:1], PAD, torch.device("cpu")))["encoder_out"][0]
        mean = encoded.mean(dim=0)[0]
        weight = model.module.decoder.embed_length.weight
        weight[:5] = torch.randn(5, len(mean), generator=torch.Generator().manual_seed(2)) * 0.3
        weight[5:] = -20 * mean / mean.square().sum()
    return torch.log_softmax(mean @ model.module.decoder.embed_length.weight.T, -1).exp().tolist()


def given_length(model, source, length, scheme):
    """Probabilities of each symbol in each place between the ends of a text [length - 2, vocabulary]."""
    masked = torch.tensor([[0, *[3] * (length - 2), END]])
    with torch.no_grad():
        encoded = model.module.encoder(torch.from_numpy(source)[None], torch.tensor([len(source)]))
        logits = model.module.decoder(normalize=False, prev_output_tokens=masked, encoder_out=encoded)[0].double()
    logits[:, PAD] = -torch.inf
    return torch.softmax(truncate(logits, scheme), -1)[1:-1].tolist()


@pytest.mark.parametrize("decoding", [{}, {"temperature": 0.7, "top_p": 0.9}])
def test_length_then_every_symbol_on_its_own(decoding):
    """The whole joint distribution of lengths and symbols."""
    model, draws = built(AT_ONCE["nonautoregressive_transformer"], words=1), 6000
    sources = sentences(2, len(model.dictionary), autoregressive=False)
    of_length = few_lengths(model, sources)
    scheme = Decoding(batch_size=700, **decoding)
    # Every other text translates the first sentence.
    found = list(draw_at_once(model, sources, range(0, 2 * draws, 2), scheme, seed=4))
    drawn = Counter(tuple(symbols.tolist()) for _, symbols in found)
    lengths = {2: sum(of_length[:3]), 3: of_length[3], 4: of_length[4]}
    assert sum(lengths.values()) > 0.999
    probabilities = Counter()
    for length, probability in lengths.items():
        places = given_length(model, sources[0], length, scheme)
        for text in product(range(len(model.dictionary)), repeat=length - 2):
            probabilities[0, *text, END] = probability * np.prod(
                [place[symbol] for place, symbol in zip(places, text, strict=True)]
            )
    assert fits(Counter(dict.fromkeys(lengths, 0)) + Counter(map(len, drawn.elements())), lengths, draws)
    assert fits(drawn, probabilities, draws)
    assert min(probabilities[text] for text in drawn if len(text) <= 4) > 0


@pytest.mark.parametrize("name", AT_ONCE)
def test_the_likeliest_length_is_the_one_that_fairseq_takes(name):
    model = built(AT_ONCE[name])
    sources = sentences(8, len(model.dictionary), autoregressive=False)
    tokens, lengths = padded(sources, PAD, torch.device("cpu"))
    with torch.no_grad():
        encoded = model.module.forward_encoder([tokens, lengths])
        expected = model.module.initialize_output_tokens(encoded, tokens).output_tokens.ne(PAD).sum(1)
        log_probs, of_class = log_length(model, encoded)
    likeliest = of_class.gather(1, log_probs.argmax(1, keepdim=True))[:, 0].clamp(max=int(expected.max()))
    assert torch.equal(likeliest, expected.clamp(max=int(model.module.decoder.max_positions())))
    assert torch.allclose(log_probs.exp().sum(1), torch.ones(len(sources)))


@pytest.mark.parametrize("iterations", [0, 1, 3])
@pytest.mark.parametrize("name", AT_ONCE)
def test_refinement_makes_what_fairseqs_own_makes(name, iterations):
    from fairseq.iterative_refinement_generator import IterativeRefinementGenerator

    model = built(AT_ONCE[name])
    sources = sentences(6, len(model.dictionary), autoregressive=False)
    tokens, lengths = padded(sources, PAD, torch.device("cpu"), left=False)
    theirs = IterativeRefinementGenerator(model.dictionary, max_iter=iterations, adaptive=False)
    expected = theirs.generate([model.module], {"net_input": {"src_tokens": tokens, "src_lengths": lengths}})
    scheme = Decoding(method="likeliest", iterations=iterations, batch_size=4)
    found = {index: symbols.tolist() for index, symbols in likeliest_at_once(model, sources, range(6), scheme)}
    assert found == {index: each[0]["tokens"].tolist() for index, each in enumerate(expected)}
    assert len({tuple(symbols) for symbols in found.values()}) > 1
