"""Parallel corpora in the workflow: what they are made from, and one that is built and encoded."""

import yaml
from plan import jobs, planned, snakemake
from snake import snakemake as run_snakemake

from textcritic.corpora import read_articles
from textcritic.generators.pairs import Pairs
from textcritic.training.load import load_tokenizer


def test_europarl_is_fetched_unpacked_and_joined(tmp_path):
    target = "results/encodings/europarl/subwords-2000/pairs/test.npz"
    run = snakemake(tmp_path, "--dry-run", target, "--config", "studies=[]")
    assert run.returncode == 0, run.stderr + run.stdout
    made = {"download_file": 3, "unpack_member": 6, "build_parallel": 1, "make_subwords": 1, "encode_parallel": 1}
    assert jobs(run.stdout) == {**made, "total": 12}
    assert {w["member"] for rule, w, _ in planned(run.stdout) if rule == "unpack_member"} == {
        f"europarl-v7.{language}-en.{side}" for language in ("de", "es", "fr") for side in (language, "en")
    }


def test_a_parallel_corpus_has_no_token_streams_and_text_no_pairs(tmp_path):
    for target in ("languages/subwords-2000/wo-title/test.tokens.npy", "docstrings/bpe-2048/pairs/test.npz"):
        run = snakemake(tmp_path, "--dry-run", f"results/encodings/{target}", "--config", "studies=[]")
        assert run.returncode == 1
        assert "MissingRuleException" in run.stderr + run.stdout


def test_artificial_languages_are_built_and_encoded(tmp_path):
    (tmp_path / "registry").mkdir()
    options = {"languages": {"sentences": 200, "vocabulary": 40, "mixing": 0.1}}
    entries = {"corpora": {"tiny": {"extractor": "languages", "options": options}}}
    entries["encodings"] = {"parts": {"tokenizer": {"subwords": {"vocabulary": 150}}}}
    for registry, content in entries.items():
        (tmp_path / f"registry/{registry}.yaml").write_text(yaml.safe_dump(content))
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"studies": [], "registry_folders": ["config/registry", "registry"]}))
    run = run_snakemake(tmp_path, "results/encodings/tiny/parts/pairs/test.npz", configfile=config)
    assert run.returncode == 0, run.stderr + run.stdout
    encoded = tmp_path / "results/encodings/tiny/parts"
    pairs, tokenizer = Pairs.load(encoded / "pairs/test.npz"), load_tokenizer(encoded / "tokenizer")
    articles = read_articles(tmp_path / "results/corpora/tiny/test.parquet")
    assert len(pairs) == len(articles) == 60
    for index, article in enumerate(articles):
        source, target = (tokenizer.decode(side.tolist()) for side in pairs.pair(index))
        assert (source, target) == (article.title, article.sections[0].text)
