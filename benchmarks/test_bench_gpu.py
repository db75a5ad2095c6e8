"""Training and sampling of a GPT-2 small on one GPU, against the card's peak and against transformers' own `generate`.

    pytest benchmarks/test_bench_gpu.py -s

Reads nothing but the docstrings of installed packages. Without a GPU only `tiny` runs, the same code on the CPU: its
figures mean nothing.
"""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from textcritic.corpora import render, write_articles
from textcritic.corpora.readers.docstrings import extract_docstrings
from textcritic.generators.article_model import ArticleModel
from textcritic.generators.encode import encode_split
from textcritic.generators.sample import draw_articles, on_device
from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries import Decoding
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.training.hardware import device
from textcritic.training.load import load_causal, load_tokenizer, train_tokenizer
from textcritic.training.loop import Run

NO_END = -1  # all articles have the full length


class Size(NamedTuple):
    """A model, how long it is trained, and how much it draws."""

    packages: list[str]
    vocabulary: int  # of the tokenizer
    config: dict[str, Any]
    steps: int
    batches: list[int]  # blocks a training step; 8 is the paper's
    rows: list[int]  # articles side by side
    slow_tokens: int  # drawn with one `generate` each


GPT2 = {"model_type": "gpt2", "resid_pdrop": 0.0, "embd_pdrop": 0.0, "attn_pdrop": 0.0}
GPT2["activation_function"] = "gelu_pytorch_tanh"  # what the project loads GPT-2's gelu_new as
SIZES = {
    "tiny": Size(
        ["numpy"],
        300,
        {**GPT2, "n_embd": 32, "n_layer": 2, "n_head": 2, "n_positions": 64},
        steps=4,
        batches=[2],
        rows=[4],
        slow_tokens=2,
    ),
    "gpt2-small": Size(
        ["numpy", "scipy", "pandas", "sklearn", "networkx", "matplotlib"],
        8192,
        {**GPT2, "vocab_size": 50_257, "n_embd": 768, "n_layer": 12, "n_head": 12, "n_positions": 1024},
        steps=300,
        batches=[8, 32],
        rows=[64, 256],
        slow_tokens=16,
    ),
}


class Prepared(NamedTuple):
    """A size, and the encoded docstrings in a folder of their own."""

    size: Size
    folder: Path


@pytest.fixture(scope="module", params=list(SIZES))
def prepared(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    if request.param != "tiny" and not torch.cuda.is_available():
        pytest.skip("needs a GPU with CUDA")
    size, folder = SIZES[request.param], tmp_path_factory.mktemp(request.param)
    articles = list(extract_docstrings(size.packages))
    splits = {"train": articles[len(articles) // 20 :], "validation": articles[: len(articles) // 20]}
    train_tokenizer((render(article, "w-title") for article in articles), folder / "tokenizer", size.vocabulary)
    for split, chosen in splits.items():
        write_articles(folder / f"{split}.parquet", chosen)
        encode_split(folder / f"{split}.parquet", folder / "tokenizer", "w-title", "single", folder / split)
    return Prepared(size, folder)


def test_training(prepared):
    size, folder = prepared
    for batch in size.batches:
        training = Training(
            context=size.config["n_positions"],
            learning_rate=6e-4,
            batch_size=batch,
            steps=size.steps,
            evaluate_blocks=batch,
            precision="auto",
        )
        report = train_causal(
            Encoded(folder / "train", folder / "validation", folder / "tokenizer"),
            {"config": size.config},
            training,
            0,
            Run(
                folder / f"batch{batch}" / "model", folder / f"batch{batch}" / "training.json", checkpoint_seconds=3600
            ),
        )
        share = "no known peak" if report["mfu"] is None else f"{report['mfu']:.1%} of the card's bf16 peak"
        print(
            f"\ntraining, {report['parameters'] / 1e6:.1f} M parameters, batch {batch} on {report['device']}: "
            f"{report['tokens_per_second']:,.0f} tokens/s, {share}"
        )


def test_sampling(prepared):
    size, window = prepared.size, prepared.size.config["n_positions"]
    tokenizer = load_tokenizer(prepared.folder / "tokenizer")
    for precision in ("fp32", "bf16"):
        model = on_device(load_causal({"config": size.config}, tokenizer), precision)
        theirs = load_causal({"config": size.config}, tokenizer).to(device())
        theirs = theirs.to(torch.bfloat16) if precision == "bf16" else theirs
        for rows in size.rows:
            print(f"\nsampling, {precision}, {rows} articles side by side, tokens/s:")
            within = window - 1
            ours = seconds(partial(drawn, model, rows, within), warm_up=partial(drawn, model, rows, 8))
            beyond = seconds(partial(drawn, model, rows, 2 * window)) - ours
            compare("inside the window", rows * within / ours, rows * within / generate(theirs, rows, 1, within))
            for side, way in ((rows, "a token a `generate`"), (1, "the same, one article at a time")):
                slow = sum(generate(theirs, side, window - 1, 1, False) for _ in range(size.slow_tokens))
                compare(f"past it, {way}", rows * (window + 1) / beyond, side * size.slow_tokens / slow)


def compare(what: str, ours: float, theirs: float) -> None:
    print(f"  {what}: ours {ours:,.0f}, transformers' {theirs:,.0f}, ratio {ours / theirs:.2f}")


def drawn(model: Any, rows: int, tokens: int) -> None:
    decoding = Decoding(max_tokens=tokens, batch_size=rows)
    lengths = [len(ids) for _, ids, _ in draw_articles(ArticleModel(model, [0], NO_END), decoding, 0, range(rows))]
    assert lengths == [tokens] * rows


def generate(model: Any, rows: int, length: int, tokens: int, use_cache: bool = True) -> float:
    """Seconds that transformers' own sampling takes for `tokens` more after contexts [rows, length]."""
    context = torch.ones((rows, length), dtype=torch.long, device=model.device)
    keys = {"do_sample": True, "top_k": 0, "pad_token_id": 0, "eos_token_id": None, "use_cache": use_cache}

    def run(new: int = tokens) -> None:
        found = model.generate(context, attention_mask=torch.ones_like(context), max_new_tokens=new, **keys)
        assert found.shape == (rows, length + new)

    return seconds(run, warm_up=lambda: run(1))


def seconds(work: Callable[[], object], warm_up: Callable[[], object] | None = None) -> float:
    """Wall time until the GPU is done."""
    if warm_up:
        warm_up()
    settle()
    started = time.perf_counter()
    work()
    settle()
    return time.perf_counter() - started


def settle() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()
