"""Generators of kind fairseq in the workflow: what they are trained on. tests/e2e/test_mixing.py trains some."""

import pytest
import yaml
from plan import jobs, planned, snakemake

WIDTHS = {f"{side}_{part}": 16 for side in ("encoder", "decoder") for part in ("embed_dim", "ffn_embed_dim")}
SMALL = {
    **WIDTHS,
    **{f"{side}_layers": 1 for side in ("encoder", "decoder")},
    **{f"{side}_attention_heads": 2 for side in ("encoder", "decoder")},
}
TRAINING = {"max_tokens": 400, "learning_rate": 1e-2, "steps": 4, "evaluate_every": 2, "accumulation": 2}
ENTRIES = {
    "corpora": {"tiny": {"extractor": "languages", "options": {"languages": {"sentences": 60, "vocabulary": 40}}}},
    "encodings": {"parts": {"tokenizer": {"subwords": {"vocabulary": 150}}}},
    "generators": {
        name: {
            "kind": "fairseq",
            "encoding": encoding,
            "architecture": architecture,
            "options": options,
            "training": TRAINING,
        }
        for name, encoding, architecture, options in (
            ("at-once", "parts", "nonautoregressive_transformer", SMALL),
            ("of-text", "bpe-2048", "lstm_lm", {}),
        )
    },
}


@pytest.fixture
def config(tmp_path):
    (tmp_path / "registry").mkdir()
    for registry, content in ENTRIES.items():
        (tmp_path / f"registry/{registry}.yaml").write_text(yaml.safe_dump(content))
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump({"studies": [], "registry_folders": ["config/registry", "registry"]}))
    return path


def target(corpus, generator):
    return f"results/generators/{corpus}/wo-title/{generator}/seed1/perplexity.json"


def test_a_translator_needs_pairs_and_a_language_model_token_streams(tmp_path, config):
    for corpus, generator, encoded in (
        ("tiny", "at-once", {"encode_parallel", "make_subwords", "build_parallel"}),
        ("docstrings", "of-text", {"encode_corpus", "make_tokenizer", "build_corpus"}),
    ):
        run = snakemake(tmp_path, "--dry-run", target(corpus, generator), "--configfile", str(config))
        assert run.returncode == 0, run.stderr + run.stdout
        made = jobs(run.stdout)
        assert made["train_fairseq"] == made["measure_fairseq"] == 1
        assert encoded <= set(made)
        assert {w["generator"] for rule, w, _ in planned(run.stdout) if rule == "train_fairseq"} == {generator}
