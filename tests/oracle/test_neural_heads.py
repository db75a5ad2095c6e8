"""Scores of F-coref and LingMess against the papers' formulae span by span, and the authors' package's entities."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_coreference import DOCUMENTS

from textcritic.latents.resolvers.neural_heads import (
    BLOCK,
    PRONOUNS,
    STOP_WORDS,
    FCorefHeads,
    Heads,
    LingMessHeads,
    Spans,
    Words,
    categories,
)
from textcritic.latents.resolvers.neural_model import PieceMaker, load_coreference
from textcritic.rehearsal.coreference import HEAD, save_checkpoint

REFERENCE = Path(__file__).parents[1] / "data/fastcoref_clusters.json"
WIDTH, LONGEST, SHARE = 12, 5, 0.4
SENTENCE = "<s> He saw the old MAN and the man saw him ; his old old man , the the it , and her </s>"


@pytest.mark.parametrize("architecture", ["f-coref", "lingmess"])
def test_entities_are_those_of_the_authors_package(architecture, tmp_path):
    """fastcoref 2.1.6 on transformers 4.36.2 read the same checkpoint and the same words, one document at a time."""
    save_checkpoint(tmp_path, architecture)
    model, maker = load_coreference(tmp_path, architecture), PieceMaker(tmp_path, 10_000)
    expected = json.loads(REFERENCE.read_text(encoding="utf-8"))[architecture]
    documents = [words[: case["words"]] for words, case in zip(DOCUMENTS, expected, strict=True)]
    found = model.clusters(maker.cut(documents))
    assert [sorted(sorted(map(list, cluster)) for cluster in one) for one in found] == [c["clusters"] for c in expected]
    assert max(map(len, found)) >= 3


@pytest.mark.parametrize("kind", [FCorefHeads, LingMessHeads])
@pytest.mark.parametrize("pieces", [1, 2, 7, 40])
def test_links_are_those_of_a_loop_over_all_spans(kind, pieces):
    heads, written = made(kind), some_words(pieces, seed=pieces)
    vectors = torch.randn(1, pieces, WIDTH, generator=torch.Generator().manual_seed(pieces))
    spans, linked = heads.antecedents(vectors, torch.tensor([pieces]), words_of(written))
    expected_spans, expected_links = by_loops(heads, vectors[0], written)
    assert list(zip(spans.starts[0].tolist(), spans.ends[0].tolist(), strict=True)) == expected_spans
    assert linked[0].tolist() == expected_links
    if pieces == 40:
        assert any(link >= 0 for link in expected_links)
        assert any(link < 0 for link in expected_links)


def test_scores_of_spans_across_blocks():
    heads, pieces = made(FCorefHeads), 2 * BLOCK + 3
    vectors = torch.randn(2, pieces, WIDTH, generator=torch.Generator().manual_seed(1))
    scores = heads.span_scores(vectors)
    for start in (0, BLOCK - 2, BLOCK, 2 * BLOCK - 3, pieces - LONGEST):
        for width in range(LONGEST):
            wanted = span_score(heads, vectors[1], start, start + width)
            assert scores[1, start, width].item() == pytest.approx(wanted, rel=1e-5, abs=1e-5)


def test_links_of_many_spans_are_found_in_blocks(monkeypatch):
    heads, vectors = made(FCorefHeads), torch.randn(2, 60, WIDTH, generator=torch.Generator().manual_seed(4))
    lengths = torch.tensor([60, 41])
    whole = heads.antecedents(vectors, lengths, None)[1]
    monkeypatch.setattr("textcritic.latents.resolvers.neural_heads.ROWS", 7)
    assert torch.equal(heads.antecedents(vectors, lengths, None)[1], whole)
    assert whole.max() > 14


@pytest.mark.parametrize("kind", [FCorefHeads, LingMessHeads])
def test_padding_has_no_part_in_a_document(kind):
    """The authors' package lets spans of padding compete; here a document has one result, whatever stands beside it."""
    heads, sizes = made(kind), [30, 9, 2]
    vectors = torch.randn(3, 30, WIDTH, generator=torch.Generator().manual_seed(2)) * 3
    words = [words_of(some_words(size, seed=size)) for size in sizes]
    filled = Words(*(pad([getattr(one, name)[0] for one in words], 30) for name in Words._fields))
    spans, linked = heads.antecedents(vectors, torch.tensor(sizes), filled)
    for number, (size, own) in enumerate(zip(sizes, words, strict=True)):
        alone, links = heads.antecedents(vectors[number : number + 1, :size], torch.tensor([size]), own)
        count = alone.starts.shape[1]
        assert spans.valid[number].tolist() == [True] * count + [False] * (spans.valid.shape[1] - count)
        assert torch.equal(spans.starts[number, :count], alone.starts[0])
        assert torch.equal(spans.ends[number, :count], alone.ends[0])
        assert linked[number].tolist() == links[0].tolist() + [-1] * (spans.valid.shape[1] - count)


def test_categories_of_all_pairs_are_those_of_sets_of_words():
    written = [
        "<s>",
        "He",
        "saw",
        "the",
        "old",
        "MAN",
        "and",
        "the",
        "man",
        "saw",
        "him",
        ";",
        "his",
        "old",
        "old",
        "man",
        ",",
        "the",
        "the",
        "it",
        ",",
        "and",
        "her",
        "</s>",
    ]
    words = words_of(written)
    pairs = [(i, j) for i in range(len(written)) for j in range(i, min(i + LONGEST, len(written)))]
    starts, ends = (torch.tensor([[pair[side] for pair in pairs]]) for side in (0, 1))
    spans = Spans(starts, ends, torch.zeros_like(starts), torch.ones_like(starts, dtype=torch.bool))
    found = categories(spans, words, LONGEST)[0]
    seen = set()
    for one in range(len(pairs)):
        for other in range(len(pairs)):
            wanted = category(written, pairs[one], pairs[other])
            assert found[one, other] == wanted, (pairs[one], pairs[other])
            seen.add(wanted)
    assert seen == set(range(6))


def made(kind: type[Heads]) -> Heads:
    """Heads with random weights, such that some spans are linked and some are not."""
    torch.manual_seed(3)
    heads = kind(WIDTH, HEAD, LONGEST, SHARE, "gelu", 1e-5).requires_grad_(False)
    for parameter in heads.parameters():
        parameter.copy_(torch.randn(parameter.shape) * 0.3)
    heads.mention_start_classifier.bias.fill_(-4.0)
    return heads.eval()


def some_words(pieces: int, seed: int) -> list[str]:
    known = ["he", "his", "She", "old", "man", "the", "Anna", "and", "<s>"]
    return [str(word) for word in np.random.default_rng(seed).choice(known, pieces)]


def words_of(written: list[str]) -> Words:
    """One piece a word; <s> and </s> are marks."""
    lowered = [word.lower() for word in written]
    known = sorted(set(lowered) - STOP_WORDS)
    types = [-1 if "s>" in word else 0 if word in STOP_WORDS else 1 + known.index(word) for word in lowered]
    return Words(torch.tensor([types]), torch.tensor([[PRONOUNS.get(word, -1) for word in lowered]]))


def pad(rows: list[torch.Tensor], size: int) -> torch.Tensor:
    return torch.stack([torch.nn.functional.pad(row, (0, size - len(row)), value=-1) for row in rows])


def category(written: list[str], one: tuple[int, int], other: tuple[int, int]) -> int:
    """The categories of LingMess, in plain sets."""
    sets, groups = [], []
    for first, last in (one, other):
        words = {word.lower() for word in written[first : last + 1] if "s>" not in word}
        groups.append(PRONOUNS.get(next(iter(words)), -1) if len(words) == 1 else -1)
        sets.append(words - STOP_WORDS)
    if min(groups) >= 0:
        return 0 if groups[0] == groups[1] else 1
    if max(groups) >= 0:
        return 2
    if sets[0] == sets[1]:
        return 3
    return 4 if sets[0] <= sets[1] or sets[1] <= sets[0] else 5


def layer(made: torch.nn.Module, vector: torch.Tensor) -> torch.Tensor:
    """LayerNorm(GELU(W x + b)), written out."""
    hidden = torch.nn.functional.gelu(made.dense.weight @ vector + made.dense.bias)
    centred = (hidden - hidden.mean()) / torch.sqrt(hidden.var(unbiased=False) + 1e-5)
    return made.layer_norm.weight * centred + made.layer_norm.bias


def span_score(heads: Heads, vectors: torch.Tensor, first: int, last: int) -> float:
    """The score of a span by Kirstain et al. 2021."""
    start, end = layer(heads.start_mention_mlp, vectors[first]), layer(heads.end_mention_mlp, vectors[last])
    alone = heads.mention_start_classifier.weight[0] @ start + heads.mention_end_classifier.weight[0] @ end
    joint = (heads.mention_s2e_classifier.weight @ start + heads.mention_s2e_classifier.bias) @ end
    return float(alone + joint + heads.mention_start_classifier.bias[0] + heads.mention_end_classifier.bias[0])


def pair_score(heads: Heads, vectors: torch.Tensor, one: tuple[int, int], other: tuple[int, int], kind: int) -> float:
    """The sum of the four bilinear forms; of LingMess, for the expert of the category and the one for all."""
    if isinstance(heads, FCorefHeads):
        forms = {pair: getattr(heads, f"antecedent_{pair}_classifier") for pair in ("s2s", "s2e", "e2s", "e2e")}
        made = {pair: (form.weight.T, form.bias) for pair, form in forms.items()}
        return four_forms(made, *(
            (layer(heads.start_coref_mlp, vectors[span[0]]), layer(heads.end_coref_mlp, vectors[span[1]]))
            for span in (one, other)
        ))  # fmt: skip
    total = 0.0
    for expert in (kind, 6):
        part = slice(expert * HEAD, (expert + 1) * HEAD)
        made = {
            pair: (
                getattr(heads, f"antecedent_{pair}_all_weights")[expert],
                getattr(heads, f"antecedent_{pair}_all_biases")[expert],
            )
            for pair in ("s2s", "s2e", "e2s", "e2e")
        }
        total += four_forms(made, *(
            (
                layer(heads.coref_start_all_mlps, vectors[span[0]])[part],
                layer(heads.coref_end_all_mlps, vectors[span[1]])[part],
            )
            for span in (one, other)
        ))  # fmt: skip
    return total


def four_forms(made, one, other) -> float:
    """sum of (x' W + b) y over x = start or end of the one, y = start or end of the other."""
    side = {"s": 0, "e": 1}
    return sum(float((one[side[p[0]]] @ weight + bias) @ other[side[p[2]]]) for p, (weight, bias) in made.items())


def by_loops(heads: Heads, vectors: torch.Tensor, written: list[str]) -> tuple[list[tuple[int, int]], list[int]]:
    pieces = len(vectors)
    scores = {
        (i, j): span_score(heads, vectors, i, j) for i in range(pieces) for j in range(i, min(i + LONGEST, pieces))
    }
    kept = sorted(sorted(scores, key=scores.__getitem__, reverse=True)[: int(pieces * SHARE)])
    links = []
    for number, span in enumerate(kept):
        best, link = 0.0, -1
        for earlier in range(number):
            other = kept[earlier]
            score = scores[span] + scores[other]
            score += pair_score(heads, vectors, span, other, category(written, span, other))
            if score > best:
                best, link = score, earlier
        links.append(link)
    return kept, links
