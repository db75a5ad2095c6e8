"""`textcritic criticise --model` as a user runs it: real articles and a model's folder in, table and report out."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from forks import forking_python
from transformers import GPT2Config, GPT2LMHeadModel

from textcritic.measures.card_file import read_card
from textcritic.training.load import load_tokenizer, train_tokenizer

sys.path.insert(0, str(Path(__file__).parents[1] / "micro"))

from recipes import write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Recipes, and a GPT-2 at random weights that ends a text after a few tokens."""
    place = tmp_path_factory.mktemp("model")
    write(place)
    texts = [section["text"] for line in (place / "recipes.jsonl").open() for section in json.loads(line)["sections"]]
    train_tokenizer(texts, place / "gpt", 400)
    tokenizer = load_tokenizer(place / "gpt")
    torch.manual_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_positions=128, n_embd=16, n_layer=2, n_head=2))
    with torch.no_grad():
        model.transformer.ln_f.bias += 40 * model.transformer.wte.weight[tokenizer.eos_token_id]
    model.save_pretrained(place / "gpt")
    return place


def test_a_model_as_it_is_goes_on_from_real_articles_and_is_judged(folder):
    files = "recipes.jsonl", "--model", "gpt", "--output", "own"
    command = [forking_python(), "-m", "textcritic.cli", "criticise", *files]
    options = ["--articles", "40", "--max-tokens", "200", "--cores", "2"]
    run = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    real, drawn = read_card(folder / "own/results/studies/own-text")["coherence"]
    assert (real.label, drawn.label) == ("real text", "gpt, as it is")
    assert 0 < drawn.n <= 40
    assert drawn.n + drawn.left_out == 40
    assert "gpt, as it is" in run.stdout
    counts = json.loads(next((folder / "own/results/samples").rglob("draw1.json")).read_text())
    assert counts["drawn"] == 40
    # The same command again makes nothing anew.
    again = subprocess.run([*command, *options], cwd=folder, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert again.stdout == run.stdout
    assert "Nothing to be done" in again.stderr
