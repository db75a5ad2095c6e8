"""Models that samples are drawn from: their entries, a model as it is, and articles that go on from real ones."""

import json

import pytest
import torch

from textcritic.api.articles.configure import Wanted, recorded_commits, write_configuration
from textcritic.api.articles.models import Drawing, models_of
from textcritic.cli import main
from textcritic.corpora import Article, Section, render, write_articles
from textcritic.errors import TextcriticError
from textcritic.generators.sample import Openings, Sampling, sample_articles
from textcritic.generators.shards import Shard, read_shard
from textcritic.generators.train import Encoded, train_causal
from textcritic.plan.entries import Decoding
from textcritic.plan.entries.generators import CausalTraining as Training
from textcritic.plan.project import Project
from textcritic.plan.sources import Source
from textcritic.plan.spec import load_yaml
from textcritic.rehearsal.checkpoints import tiny_gpt2
from textcritic.training.load import load_causal, load_tokenizer
from textcritic.training.loop import Run
from textcritic.workflow import workflow_folder

COMMIT = "0123456789abcdef" * 2 + "01234567"


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    """Real articles, and a tiny model in the hub's format."""
    folder = tmp_path_factory.mktemp("models")
    words = ["the cat sat on the mat", "a dog ran in the sun all day long", "rice and bread"]
    articles = [
        Article(str(n), None, (Section("plot", f"{w} {w}"), Section("end", w)), "x") for n, w in enumerate(words)
    ]
    write_articles(folder / "test.parquet", articles)
    tiny_gpt2(folder / "tiny", [render(article, "w-title") for article in articles])
    return folder, articles


def test_a_model_as_it_is_and_articles_that_go_on_from_real_ones(real, tmp_path):
    folder, articles = real
    run = Run(tmp_path / "model", tmp_path / "training.json")
    encoded = Encoded(tmp_path / "train", tmp_path / "validation", folder / "tiny")
    report = train_causal(
        encoded, {"folder": folder / "tiny"}, Training(context=32, learning_rate=1e-3, epochs=0), 1, run
    )
    assert (report["steps"], report["curve"]) == (0, [])
    tokenizer = load_tokenizer(tmp_path / "model")
    models = [load_causal({"folder": str(path)}, tokenizer) for path in (folder / "tiny", tmp_path / "model")]
    states = [model.state_dict() for model in models]
    assert all(torch.equal(states[0][name], states[1][name]) for name in states[0])
    shard = Shard(1, 0, 5, tmp_path / "shard.parquet")
    for setting in ("wo-title", "w-title"):
        sampling = Sampling(context=32, threads=1, openings=Openings(str(folder / "test.parquet"), setting, 6))
        sample_articles(tmp_path / "model", Decoding(max_tokens=20, batch_size=2), "single", shard, sampling)
        drawn = sorted(read_shard(shard.path), key=lambda draw: draw.index)
        assert len(drawn) == 5
        for draw in drawn:
            ids = tokenizer(render(articles[draw.index % 3], setting))["input_ids"][:6]
            assert draw.text.startswith(tokenizer.decode(ids))
            assert 1 <= draw.tokens <= 20
        shard.path.unlink()
    with pytest.raises(TextcriticError, match=r"test.parquet: no article has more than 999 tokens; lower `opening`"):
        Openings(str(folder / "test.parquet"), "wo-title", 999).ids(tokenizer)


@pytest.mark.parametrize(("epochs", "given"), [(0, False), (0, True), (3, True), (3, False)])
def test_what_is_written_is_a_valid_study(real, tmp_path, epochs, given):
    models = tuple(models_of([str(real[0] / "tiny"), f"someone/gpt2@{COMMIT}"], {}))
    drawing = Drawing(epochs, 50, 400, given or epochs > 0, 2)
    reference = tmp_path / "real.jsonl"
    numbers = {"given": given, "minimum_title_count": 4, "command": "textcritic criticise"}
    wanted = Wanted(reference=reference, samples=(), models=models, drawing=drawing, **numbers)
    write_configuration(tmp_path, wanted)
    project = Project(load_yaml(tmp_path / "config.yaml"), workflow_folder(), tmp_path)
    setting = "w-title" if given or epochs else "wo-title"
    names = ["tiny", "gpt2-2"]
    assert project.studies["own-text"].sources() == [Source("real", setting, name, "drawn", 1) for name in names]
    entry = project.registries.entry("generators", "tiny").plain()
    assert (entry["training"]["context"], entry["training"]["epochs"]) == (32, epochs)
    assert project.registries.entry("hub", "gpt2-2").plain() == {
        **project.registries.entry("hub", "gpt2").plain(),
        "repository": "someone/gpt2",
        "revision": COMMIT,
    }
    assert project.registries.entry("decodings", "drawn").opening == (0 if epochs else 8)
    # A commit that was looked up once is not looked up again.
    again = models_of(["someone/gpt2"], recorded_commits(tmp_path))
    assert [model.revision for model in again] == [COMMIT]


@pytest.mark.parametrize(
    ("given", "line"),
    [
        (["a b"], "--model a b: neither a folder nor a name on the hub"),
        (["x/y@main"], "--model x/y@main: neither a folder nor a name on the hub"),
        ([f"x/y@{COMMIT}"] * 2, "the same model twice, or two of one name"),
        (["/tmp"], "/tmp: has no config.json; give the folder of a model"),
    ],
)
def test_names_that_are_no_model(given, line):
    with pytest.raises(TextcriticError, match=line):
        models_of(given, {})


def test_there_must_be_something_to_compare(tmp_path, capsys):
    path = tmp_path / "real.jsonl"
    path.write_text(json.dumps({"sections": [{"title": "a", "text": "x"}]}) + "\n")
    assert main(["criticise", str(path), "--output", str(tmp_path / "out")]) == 2
    assert "samples" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
