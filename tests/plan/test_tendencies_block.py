"""Statistical tendencies in a study: their files, and what is refused."""

import pytest
from own_study import assert_refused, experiment, own_folder, study, write

from textcritic.experiments import kind_of

SOURCES = {"corpora": ["mine"], "generators": ["words", "theirs"], "decodings": ["plain"]}
TABLE = {"name": "table2", "of": "laws", "caption": "Laws", "generators": ["words"]}
FIGURE = {"name": "figure6", "of": "rank-frequency", "generators": ["theirs"]}


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        block(),
        corpora={
            "mine": {"extractor": "jsonl", "options": {"paths": ["mine.jsonl"]}},
            "numbers": {"extractor": "process"},
        },
        generators={"words": {"kind": "ngram"}, "theirs": {"kind": "file", "path": "theirs.txt"}},
        decodings={"plain": {"articles": 10}},
        critics={"habits": {"kind": "tendencies", "tokenizer": "words", "draws": 3}, "topics": {"kind": "ctm"}},
    )


def block(critic="habits", tables=(TABLE,), figures=(FIGURE,), **changes):
    parts = {"tables": list(tables), "figures": list(figures)}
    return study({"kind": "tendencies", "critic": critic, "sources": [{**SOURCES, **changes}], **parts})


def test_its_files_are_statistics_and_curves_of_real_text_and_of_samples(folder):
    files = experiment(folder, "tendencies").files()
    base = "results/tendencies/habits/mine"
    assert [str(real.scores) for real in files.data] == [f"{base}/data/test.json"]
    assert [str(real.curves) for real in files.data] == [f"{base}/data/test.curves.parquet"]
    ends = [f"{base}/samples/wo-title/{name}/seed1/plain/draw1" for name in ("words", "theirs")]
    assert [str(sample.scores) for sample in files.samples] == [f"{end}.json" for end in ends]
    assert [str(sample.curves) for sample in files.samples] == [f"{end}.curves.parquet" for end in ends]
    assert not files.models
    assert files.options["tokenizer"] == "words"
    assert files.options["draws"] == 3


def test_a_sample_has_the_closed_vocabulary_of_its_generator(folder):
    """Of whole words, if the encoding says how many; pairs of letters can write any word."""
    training = {"max_tokens": 99, "learning_rate": 0.1, "steps": 10}
    sizes = {"closed": {"words": {"vocabulary": 500}}, "rare": {"words": {"minimum_count": 2}}}
    sizes["open"] = {"train": {"vocabulary": 300}}
    write(folder / "registry/encodings.yaml", {name: {"tokenizer": tokenizer} for name, tokenizer in sizes.items()})
    model = {"kind": "fairseq", "architecture": "transformer_lm", "training": training}
    models = {f"{name}-model": {**model, "label": name, "encoding": name} for name in sizes}
    write(folder / "registry/generators.yaml", {"words": {"kind": "ngram"}, **models})
    write(folder / "studies/own.yaml", block(generators=["words", *models], tables=(), figures=()))
    samples = experiment(folder, "tendencies").files().samples
    assert {sample.label: sample.vocabulary for sample in samples} == {
        "words": None,
        "closed": 500,
        "rare": None,
        "open": None,
    }


def test_tables_of_models_and_of_real_text_need_no_sample(folder):
    tables = ({"name": "table1", "of": "models", "caption": "Models"}, {"name": "table4", "of": "real", "caption": "x"})
    write(folder / "studies/own.yaml", block(tables=tables, figures=()))
    tendencies = experiment(folder, "tendencies")
    model = "results/generators/mine/wo-title/words/seed1"
    assert tendencies.files("table1").paths() == [f"{model}/perplexity.json", f"{model}/training.json"]
    real = "results/tendencies/habits/mine/data/test"
    assert tendencies.files("table4").paths() == [f"{real}.json", f"{real}.curves.parquet"]


def test_a_numbered_part_reads_its_own_samples_alone(folder):
    tendencies = experiment(folder, "tendencies")
    assert [sample.generator for sample in tendencies.files("table2").samples] == ["words"]
    assert [sample.generator for sample in tendencies.files("figure6").samples] == ["theirs"]
    assert set(tendencies.files("table2").paths()) < set(tendencies.files().paths())


def test_what_cannot_be_compared_is_refused(folder):
    for changed, message in (
        (block(critic="topics"), "critic: topics is of kind ctm; name an entry of kind tendencies"),
        (block(corpora=["numbers"], tables=(), figures=()), "numbers is not text but synthetic; this experiment is"),
        (block(tables=[{**TABLE, "of": "law"}]), "'law' is not one of"),
    ):
        assert_refused(folder, changed, message)


def test_its_tables_are_read_by_their_names():
    ends = ("", "-values", "-distances", "-means", "-audit", "-sizes")
    assert kind_of("tendencies").tables == tuple(f"tendencies{end}" for end in ends)
