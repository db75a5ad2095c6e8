"""How many digits bf16 moves: nats per token, and the Latent PPL of what is drawn, beside the same in fp32.

    python benchmarks/bf16_audit.py FOLDER [ARTICLES]

FOLDER is where the micro study's GPT-2 was trained with titles (`results/generators/recipes/w-title/gpt2-micro`). Two
ways: torch's autocast, and the weights in bf16 with the output layer in fp32, which is how articles are drawn. Nats
per token also of a GPT-2 of the size of the paper's smallest with random weights, on random tokens.
"""

import copy
import sys
import tempfile
from pathlib import Path

import numpy as np
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from textcritic.corpora import gold_chains, iter_articles
from textcritic.critics import TransitionCritic
from textcritic.critics.scoring import score_chains
from textcritic.generators.collect import Limit, SampleFiles, collect_samples
from textcritic.generators.encode import load_encoded, windows
from textcritic.generators.perplexity import iter_nll
from textcritic.generators.sample import Shard, on_device, sample_articles
from textcritic.inference import bootstrap_interval, exp_ratio_of_sums
from textcritic.plan.entries import Decoding
from textcritic.training.hardware import autocast
from textcritic.training.load import load_causal, load_tokenizer

CPU = torch.device("cpu")


def nats(model, tokens: np.ndarray, spans: np.ndarray) -> dict[str, np.ndarray]:
    """Nats of each token by way of computing."""
    ways = {"fp32": (model, "fp32"), "autocast": (model, "bf16"), "weights": (None, "fp32")}
    found = {}
    for way, (of, precision) in ways.items():
        of = of or on_device(copy.deepcopy(model), "bf16")
        parts = [nll for _, nll in iter_nll(of, tokens, spans, 1, autocast(CPU, precision))]
        found[way] = np.concatenate(parts)
    return found


def said(name: str, found: dict[str, np.ndarray]) -> None:
    """Print means, and how far single tokens move."""
    plain = found["fp32"]
    for way, values in found.items():
        moved = np.abs(values - plain)
        print(
            f"{name}, {way}: {values.mean():.6f} nats a token of {len(values):,};"
            f" mean {values.mean() - plain.mean():+.2e},"
            f" a token by {moved.mean():.1e} in the mean, {moved.max():.1e} at most"
        )


def main(folder: Path, articles: int) -> None:
    """Print everything."""
    results = folder / "results"
    model_dir = results / "generators/recipes/w-title/gpt2-micro/seed1/model"
    tokenizer = load_tokenizer(model_dir)
    model = load_causal({"folder": str(model_dir)}, tokenizer)
    context = model.config.n_positions
    (prefix,) = (path.parent for path in results.glob("encodings/recipes/*/w-title/test.tokens.npy"))
    tokens, kinds = load_encoded(prefix / "test")
    said("trained", nats(model, tokens, windows(tokens, kinds, tokenizer.eos_token_id, context, "packed")))
    torch.manual_seed(1)
    small = GPT2LMHeadModel(GPT2Config(initializer_range=0.06)).eval()
    random = np.random.default_rng(1).integers(0, 50257, 2049)
    said("GPT-2 small's shape", nats(small, random, np.array([[0, 1024, 1024], [1024, 1024, 1024]])))
    critic = TransitionCritic.fit(gold_chains(results / "corpora/recipes/train.parquet"))
    with tempfile.TemporaryDirectory() as place:
        texts = {}
        for precision in ("fp32", "bf16"):
            path = Path(place) / precision
            decoding = Decoding(max_tokens=200, top_k=50, stride=1, batch_size=64, precision=precision)
            sample_articles(model_dir, decoding, "single", Shard(1, 0, articles, path / "s.parquet"))
            files = SampleFiles(path / "kept.parquet", path / "rejected.parquet", path / "counts.json")
            collect_samples([path / "s.parquet"], "w-title", Limit(200), "gpt2", files)
            texts[precision] = {article.id: article.sections for article in iter_articles(files.sample)}
            chains = {key: [section.title for section in sections] for key, sections in texts[precision].items()}
            scores = score_chains(critic, list(chains), list(chains.values())).to_pandas().dropna(subset="nll")
            sums = scores[["nll", "steps"]].to_numpy(float)
            ppl = exp_ratio_of_sums(sums.sum(axis=0))
            interval = bootstrap_interval(sums, exp_ratio_of_sums, 10_000)
            print(
                f"{precision}: Latent PPL {ppl:.4f} [{interval.low:.4f}, {interval.high:.4f}], {len(scores)} articles"
            )
        same = sum(texts["bf16"].get(key) == sections for key, sections in texts["fp32"].items())
        print(f"{same} articles are the same in both")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500)
