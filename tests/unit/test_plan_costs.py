"""What a plan adds up: the longest chain, operations of transformers, sums, and which measurements count."""

import json
from itertools import product

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode
from transformers import BertConfig, BertModel, GPT2Config, GPT2LMHeadModel

from textcritic.digests import write_records
from textcritic.errors import TextcriticError
from textcritic.host import cpu_name, params_digest
from textcritic.plan.costs import measured
from textcritic.plan.costs.cards import CARDS, card_named
from textcritic.plan.costs.measured import FILE, Node, measured_cost, node_of
from textcritic.plan.costs.models import KNOWN, of_config
from textcritic.plan.costs.planned import Plan, Planned, longest_chain, rows_of
from textcritic.plan.costs.stages import MEASURED, MODEL, RUNTIME, Cost
from textcritic.plan.costs.table import table_of

GPT2 = {"model_type": "gpt2", "n_layer": 3, "n_head": 2, "n_embd": 16, "n_positions": 24}
BERT = {
    "model_type": "bert",
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "hidden_size": 12,
    "intermediate_size": 20,
    "max_position_embeddings": 32,
}
PARAMS = [("spec", '{"steps": 3}'), ("version", 1)]
SPENT = {"seconds": 30.0, "cpu_seconds": 50.0, "cpu": "Chip 9", "params": params_digest(PARAMS)}


def every_chain(before, node):
    return [[*chain, node] for one in before[node] for chain in every_chain(before, one)] or [[node]]


def test_the_longest_chain_is_that_of_all_chains():
    generator = np.random.default_rng(1)
    for nodes in range(1, 9):
        edges = generator.random((nodes, nodes)) < 0.4
        before = {a: [b for b in range(a) if edges[a, b]] for a in range(nodes)}
        seconds = {node: float(generator.integers(1, 100)) for node in range(nodes)}
        chains = [chain for node in before for chain in every_chain(before, node)]
        chain = longest_chain(before, seconds)
        assert chain in chains
        assert sum(seconds[node] for node in chain) == max(sum(seconds[one] for one in other) for other in chains)
    assert longest_chain({}, {}) == []


@pytest.mark.parametrize("length", [1, 7, 24])
def test_operations_of_gpt2_are_those_that_torch_counts(length):
    config = GPT2Config(**GPT2, vocab_size=50)
    model = GPT2LMHeadModel._from_config(config, attn_implementation="eager")
    ours = of_config(GPT2, 50)
    assert ours.parameters == sum(weight.numel() for weight in model.parameters())
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        model(torch.zeros(2, length, dtype=torch.long))
    assert ours.forward(length) * 2 * length == counted.get_total_flops()


def test_operations_of_bert_are_those_that_torch_counts():
    model = BertModel._from_config(BertConfig(**BERT, vocab_size=40), attn_implementation="eager")
    ours = of_config(BERT, 40)
    assert ours.parameters == sum(weight.numel() for weight in model.parameters())
    with FlopCounterMode(display=False) as counted, torch.no_grad():
        model(torch.zeros(1, 9, dtype=torch.long))
    pooler = 2 * BERT["hidden_size"] ** 2
    assert ours.forward(9) * 9 + pooler == counted.get_total_flops()


def test_known_checkpoints_have_their_published_sizes():
    published = {"gpt2": 124_439_808, "gpt2-xl": 1_557_611_200, "bert-base-cased": 108_310_272}
    assert {name: KNOWN[name].parameters for name in published} == published


def job(rule, seconds, gpus=0, basis=MODEL, submission="1", memory=1000):
    cost = Cost(seconds, seconds * gpus, seconds, basis)
    return Planned(rule, f"results/{rule}/x", cost, memory, 1e6, submission)


def test_table_and_json_have_the_same_sums():
    jobs = [job("a", 7200, 2), job("a", 3600, 2, submission="2"), job("b", 30, basis=RUNTIME, submission=None)]
    jobs.append(job("c", 90, basis=MEASURED, submission="2", memory=9000))
    plan = Plan(
        rows_of(jobs), 2, [("a", "results/a/x", 7200.0)], 5, ["made again: a"], ["b: no licence"], "A100", "here"
    )
    said = json.loads(json.dumps(plan.as_json()))
    for total, part in (("jobs", "jobs"), ("gpu_seconds", "gpu_seconds"), ("core_seconds", "core_seconds")):
        assert said[total] == sum(row[part] for row in said["rules"])
    assert (said["jobs"], said["gpu_seconds"], said["core_seconds"]) == (4, 21600, 10920)
    assert (said["memory_mb"], said["disk_bytes"], said["least_seconds"], said["there"]) == (9000, 4e6, 7200, 5)
    lines = table_of(plan, 80).splitlines()
    assert lines[0] == "4 jobs in 2 submissions; 5 have been done already"
    assert lines[1].split()[:4] == ["GPU-hours", "6.0", "of", "A100:"]
    assert "arithmetic, never checked" in lines[1]
    row = next(line.split() for line in lines if line.startswith("a "))
    assert row[:5] == ["a", "2", "2", "6.0", "3.0"]
    assert next(line for line in lines if line.startswith("b ")).endswith("its runtime")
    assert next(line for line in lines if line.startswith("c ")).endswith("measured")
    assert max(map(len, lines)) <= 80


@pytest.mark.parametrize(
    ("change", "counts"),
    [
        ({}, True),
        ({"cpu": "Chip 8"}, False),
        ({"params": "other"}, False),
        ({"card": "NVIDIA A100", "gpus": 1}, False),
    ],
)
def test_a_measurement_counts_for_the_same_job_on_such_a_processor(tmp_path, monkeypatch, change, counts):
    monkeypatch.chdir(tmp_path)
    output = tmp_path / "results/scores/a.json"
    output.parent.mkdir(parents=True)
    output.write_text("{}")
    write_records("score", ["results/scores/a.json"], {}, SPENT | change)
    output.unlink()  # what it took is known all the same
    found = measured_cost("score", ["results/scores/a.json"], PARAMS, Node("Chip 9"), 0)
    assert found == (Cost(50.0, 0.0, 30.0, MEASURED) if counts else None)
    assert measured_cost("other", ["results/scores/a.json"], PARAMS, Node("Chip 9"), 0) is None


@pytest.mark.parametrize(("card", "gpus"), [*product(["NVIDIA A100", "NVIDIA H200"], [1, 2])])
def test_a_measurement_on_a_card_counts_for_such_cards_alone(tmp_path, monkeypatch, card, gpus):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results").mkdir()
    (tmp_path / "results/a.json").write_text("{}")
    write_records("train", ["results/a.json"], {}, SPENT | {"card": "NVIDIA A100", "gpus": 2})
    found = measured_cost("train", ["results/a.json"], PARAMS, Node("another", card=card), gpus)
    assert found == (Cost(50.0, 60.0, 30.0, MEASURED) if (card, gpus) == ("NVIDIA A100", 2) else None)


def test_a_calibration_of_another_machine_is_said_and_not_used(tmp_path):
    measured.calibrate(tmp_path, ("", 0.0), seconds=0.05)
    assert node_of(tmp_path).cpu == cpu_name()
    assert node_of(tmp_path).core_factor > 0
    said = json.loads((tmp_path / FILE).read_text())
    (tmp_path / FILE).write_text(json.dumps(said | {"cpu": "Chip 9", "core_factor": 3.0}))
    here = node_of(tmp_path)
    assert (here.cpu, here.core_factor) == (cpu_name(), 1.0)
    assert "another machine (Chip 9); --other-node" in here.source
    assert node_of(tmp_path, anyhow=True).core_factor == 3.0


@pytest.mark.parametrize("text", ["{", "[]", "{}", '{"cpu": "x", "core_factor": 0, "card": "", "operations": 0}'])
def test_a_broken_calibration_is_one_line(tmp_path, text):
    (tmp_path / FILE).write_text(text)
    with pytest.raises(TextcriticError, match="textcritic plan --calibrate` again"):
        node_of(tmp_path)


def test_cards_are_found_by_the_name_that_a_driver_gives():
    assert card_named("NVIDIA A100-SXM4-80GB") is CARDS["a100"]
    with pytest.raises(TextcriticError, match="--card: 'b1000' is not known"):
        card_named("b1000")
