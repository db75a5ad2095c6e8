"""Given titles: import, latents and scores give what `textcritic chains` gives for the same chains."""

import json
import random

import numpy as np
import pyarrow as pa
import pytest

from textcritic import chains as criticise_chains
from textcritic.corpora import Article, Section, read_articles, write_articles
from textcritic.critics import TransitionCritic, audit_transitions, latent_ppl, rejections, score_latents
from textcritic.files import read_table
from textcritic.generators.collect import SampleFiles, import_samples
from textcritic.latents.titles.posteriors import take_titles
from textcritic.plan.entries import Corpus

CORPUS = Corpus.read({"extractor": "jsonl", "titles": {"drop": ["see also"]}}, "test")
KNOWN = ["summary", "parameters", "returns", "notes"]


def draw(rng, titles, documents):
    return [[rng.choice(titles) for _ in range(rng.randint(1, 6))] for _ in range(documents)]


@pytest.fixture
def study(tmp_path):
    """Chains of train and of a sample, the sample's with titles that train does not have, and its latents."""
    rng = random.Random(4)
    train = draw(rng, KNOWN, 300)
    written = [[t.upper() for t in chain] + ["See also"] for chain in draw(rng, [*KNOWN, "appendix"], 400)]
    with (tmp_path / "own.jsonl").open("w") as handle:
        for chain in written:
            handle.write(json.dumps({"sections": [{"title": title, "text": "x"} for title in chain]}) + "\n")
    outputs = [tmp_path / f"kept{suffix}" for suffix in (".parquet", ".rejected.parquet", ".json")]
    import_samples(tmp_path / "own.jsonl", "w-title", CORPUS, SampleFiles(*outputs))
    take_titles(outputs[0], tmp_path / "latents.parquet")
    chains = [[title.lower() for title in chain[:-1]] for chain in written]
    assert [[s.title for s in a.sections] for a in read_articles(outputs[0])] == chains
    return tmp_path, train, chains, read_table(tmp_path / "latents.parquet")


@pytest.mark.parametrize("mode", ["paper", "as_released"])
def test_latent_ppl_is_that_of_the_same_chains_exactly(study, mode):
    folder, train, chains, latents = study
    for name, rows in (("train", train), ("test", chains)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps({"chain": row}) + "\n" for row in rows))
    files = folder / "train.jsonl", folder / "test.jsonl"
    theirs = json.loads(criticise_chains(*files, smoothing=0.3, as_released=mode == "as_released").to_json())
    critic = TransitionCritic.fit(train, mode=mode, grid=[0.3])
    scores = score_latents(critic, latents, "inferred")
    assert latent_ppl(scores) == theirs["latent_ppl"]
    assert rejections(scores) == theirs["rejected_by_reason"]
    if mode == "paper":
        assert theirs["rejected_by_reason"].keys() == {"unknown title: appendix"}
        assert theirs["rejected"] + theirs["n"] == 400


def test_the_soft_score_is_the_same_and_gold_is_inferred(study):
    _, train, _, latents = study
    critic = TransitionCritic.fit(train, grid=[0.3])
    inferred, gold = (score_latents(critic, latents, which, [("z", "empty")]) for which in ("inferred", "gold"))
    assert latent_ppl(inferred, "nll_soft") == latent_ppl(inferred)
    kept = np.invert(inferred["rejected"].to_numpy())
    assert inferred.filter(pa.array(kept))["nll_soft"].equals(inferred.filter(pa.array(kept))["nll"])
    assert inferred.filter(pa.array(~kept))["nll_soft"].null_count == (~kept).sum() > 0
    assert inferred.drop(["nll_soft", "nll"]).equals(gold.drop(["nll_soft", "nll"]))


def test_the_audit_has_no_switch_of_titles_or_posterior(study):
    _, train, _, latents = study
    critic = TransitionCritic.fit(train)
    rows = audit_transitions(critic, train, latents, {"own": latents})
    names = {"default", "smoothing", "normalisation", "unknown titles", "all as released"}
    assert {(row["source"], row["switch"]) for row in rows} == {(s, n) for s in ("data", "own") for n in names}
    by_source = [[{**row, "source": None} for row in rows if row["source"] == source] for source in ("data", "own")]
    assert by_source[0] == by_source[1]


def test_latents_are_written_in_batches_and_of_nothing_too(tmp_path):
    articles = [Article(str(n), None, tuple(Section(t, "x") for t in ("a", None)[: n % 3]), "s") for n in range(9000)]
    write_articles(tmp_path / "a.parquet", articles)
    take_titles(tmp_path / "a.parquet", tmp_path / "l.parquet")
    latents = read_table(tmp_path / "l.parquet")
    assert latents["id"].to_pylist() == [a.id for a in articles]
    assert latents["gold"].to_pylist() == [[s.title for s in a.sections] for a in articles]
    assert latents["inferred"].equals(latents["gold"])
    assert latents["confidence"].to_pylist()[:3] == [[], [1.0], [1.0, 1.0]]
    write_articles(tmp_path / "none.parquet", [])
    take_titles(tmp_path / "none.parquet", tmp_path / "none.latents.parquet")
    assert read_table(tmp_path / "none.latents.parquet").num_rows == 0
