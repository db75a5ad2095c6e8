"""Does the interval over trainings hold what another training gives? Measured on 200 real trainings of one recipe.

A training is a small transformer on sequences of states of a process of 64 states, known exactly; a seed decides its
first weights and its batches. Its number is the Latent PPL of what it writes, under the true process. The mean over all
trainings is the truth, and subsets of 2, 3, 5 and 10 of them are what a study has.

    python benchmarks/calibration_trainings.py              # the table, from benchmarks/data/trainings.csv
    python benchmarks/calibration_trainings.py --train 200  # train them again first: 6 CPU minutes
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import GPT2Config, GPT2LMHeadModel

from textcritic.corpora import Process
from textcritic.inference import (
    linearised,
    over_trainings,
    ratio_of_sums,
    recipes_p,
)
from textcritic.plan.entries.extraction import ProcessOptions

DATA = Path(__file__).with_name("data") / "trainings.csv"
RECIPE = ProcessOptions(states=64, steps=20, subsequences=400, shortest=3, longest=5, letters=26)
SEQUENCES, BATCH, STEPS, DRAWS, DOCUMENTS = 2000, 32, 150, 2, 1000
SUBSETS, SIZES = 4000, (2, 3, 5, 10)
BEGIN = RECIPE.states


def train(process: Process, sequences: torch.Tensor, seed: int) -> GPT2LMHeadModel:
    """A transformer that has seen the sequences a little more than twice."""
    torch.manual_seed(seed)
    sizes = {"n_layer": 1, "n_head": 2, "n_embd": 32, "n_positions": RECIPE.steps + 1, "vocab_size": BEGIN + 1}
    tokens = {"bos_token_id": BEGIN, "eos_token_id": BEGIN}
    model = GPT2LMHeadModel(GPT2Config(**sizes, **tokens, resid_pdrop=0.0, embd_pdrop=0.0, attn_pdrop=0.0))
    optimiser = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, STEPS)
    for _ in range(STEPS):
        batch = sequences[torch.randint(len(sequences), (BATCH,))]
        loss = model(batch, labels=batch).loss
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    return model.eval()


@torch.inference_mode()
def draw(model: GPT2LMHeadModel, seed: int) -> np.ndarray:
    """States of sequences that a model writes: [DOCUMENTS, steps]."""
    generator = torch.Generator().manual_seed(seed)
    states = torch.full((DOCUMENTS, 1), BEGIN)
    for _ in range(RECIPE.steps):
        logits = model(states).logits[:, -1, :BEGIN]
        states = torch.cat([states, torch.multinomial(logits.softmax(dim=-1), 1, generator=generator)], dim=1)
    return states[:, 1:].numpy()


def trainings(number: int) -> pd.DataFrame:
    """A row for each training and draw: its Latent PPL, and the standard error of its logarithm over documents."""
    process = Process.draw(RECIPE)
    states, _ = process.sample(SEQUENCES, seed=1)
    sequences = torch.tensor(np.pad(states, ((0, 0), (1, 0)), constant_values=BEGIN))
    rows = []
    for seed in range(1, number + 1):
        model = train(process, sequences, seed)
        for number_of_draw in range(1, DRAWS + 1):
            written = draw(model, DRAWS * seed + number_of_draw)
            nll, _ = process.nll(written, np.zeros_like(written))
            columns = np.column_stack([nll.sum(axis=1), np.full(DOCUMENTS, RECIPE.steps)])
            value, error = linearised(columns, ratio_of_sums)
            rows.append({"training": seed, "draw": number_of_draw, "latent_ppl": np.exp(value), "error": error})
    return pd.DataFrame(rows)


def table(rows: pd.DataFrame) -> str:
    """How often intervals of subsets hold the mean over all trainings, in Markdown."""
    values = rows.loc[rows["draw"] == 1, "latent_ppl"].to_numpy()
    errors = rows.loc[rows["draw"] == 1, "error"].to_numpy()
    truth = float(np.log(values).mean())
    rng = np.random.default_rng(1)
    heads = ("trainings", "Student's t", "bootstrap of the trainings", "documents of one", "p < 0.05, one recipe")
    lines = [f"| {' | '.join(heads)} |", "|---|---|---|---|---|"]
    off = np.abs(np.log(values) - truth) < 1.959964 * errors
    for size in SIZES:
        subsets = [rng.choice(len(values), 2 * size, replace=False) for _ in range(SUBSETS)]
        student, bootstrap, rejected = [], [], []
        for subset in subsets:
            one, two = values[subset[:size]], values[subset[size:]]
            recipe = over_trainings(one.tolist(), by_ratio=True)
            student.append(np.log(recipe.low) <= truth <= np.log(recipe.high))
            means = np.log(one)[rng.integers(0, size, (500, size))].mean(axis=1)
            low, high = np.quantile(means, [0.025, 0.975])
            bootstrap.append(low <= truth <= high)
            rejected.append(recipes_p(one.tolist(), two.tolist(), by_ratio=True) < 0.05)
        shares = (f"{100 * np.mean(found):.1f}%" for found in (student, bootstrap, off, rejected))
        lines.append(f"| {size} | {' | '.join(shares)} |")
    return "\n".join(lines)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Coverage of intervals over trainings.")
    parser.add_argument("--train", type=int, metavar="N", help="train N models first")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.train:
        DATA.parent.mkdir(exist_ok=True)
        trainings(arguments.train).round({"latent_ppl": 3, "error": 5}).to_csv(DATA, index=False)
    print(table(pd.read_csv(DATA)))
