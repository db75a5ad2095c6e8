"""Coherence in a study: its files, and what is refused."""

import pytest
from own_study import ROOT, assert_refused, experiment, own_folder, project, study, write

from textcritic.plan.project import Project

BLOCK = {"corpora": ["mine"], "settings": ["wo-title"], "generators": ["theirs"], "decodings": ["given"]}
TABLE = {"name": "table2", "of": "coherence", "caption": "Coherence"}


@pytest.fixture
def folder(tmp_path):
    return own_folder(
        tmp_path,
        coherence(),
        corpora={name: {"extractor": "jsonl", "options": {"paths": [f"{name}.jsonl"]}} for name in ("mine", "other")},
        generators={"theirs": {"kind": "file", "path": "theirs.jsonl"}},
        decodings={"few": {"top_k": 5}, "plain": {}},
    )


def coherence(sources=(BLOCK,), critic="transitions-demo", **keys):
    return study({"kind": "coherence", "critic": critic, "sources": list(sources), **keys})


def test_the_papers_study_as_jobs_are_told_of_it(tmp_path):
    shipped = Project({"studies": ["model-criticism", "demo"]}, ROOT, tmp_path)
    paper, demo = (shipped.studies[name].experiments["coherence"] for name in ("model-criticism", "demo"))
    files = paper.files()
    labels = {sample.label for sample in files.samples}
    assert labels == {"GPT-2 small (LM1)", "GPT-Neo 125M (LM2)", "GPT-2 medium", "GPT-2 large", "GPT-2 XL"}
    costly = [source.decoding for source in paper.costly_sources()]
    assert costly == [keys["decoding"] for keys in files.undrawn] == ["one-token", "as-released"] * 6
    assert (set(files.decodings), files.audit_samples, demo.files().undrawn) == ({"ancestral"}, (), ())
    assert not set(paper.costly_sources()) & set(paper.sources())
    # `--config audits=true` gives text.
    whole = Project({"studies": ["model-criticism"], "audits": "true"}, ROOT, tmp_path).studies["model-criticism"]
    audited = whole.experiments["coherence"].files()
    assert (len(audited.audit_samples), audited.undrawn) == (12, ())
    apart = [(audited.decodings[name]["top_k"], audited.decodings[name]["stride"]) for name in costly[:2]]
    assert apart == [(0, 1), (50, 1)]
    assert audited.samples == files.samples
    assert files.resamples == 10_000
    assert str(ROOT) not in str(paper.request())
    assert paper.published == [str(ROOT / "config/published/model-criticism/coherence.csv")]
    at_home = Project({"studies": ["model-criticism"]}, ROOT, ROOT).studies["model-criticism"]
    for known in at_home.experiments.values():
        assert known.published == [f"config/published/model-criticism/{known.kind}.csv"]
        assert known.published[0] in known.artefacts()
    assert demo.published == []


def test_real_text_with_inferred_and_with_given_titles(folder):
    (real,) = experiment(folder, "coherence").files().data
    assert str(real.accuracy) == "results/classifiers/mine/bert-demo/accuracy.json"
    assert str(real.latents) == "results/latents/bert-demo/mine/data/test.parquet"
    assert str(real.gold) == "results/scores/transitions-demo/mine/data/test-gold.parquet"
    assert str(real.inferred) == "results/scores/transitions-demo/mine/data/test-inferred.parquet"
    assert str(real.critic) == "results/critics/transitions-demo/mine/critic.json"
    write(folder / "studies/own.yaml", coherence([{**BLOCK, "settings": ["w-title"]}], critic="transitions-given"))
    files = experiment(folder, "coherence").files()
    assert files.titles_given
    assert files.data[0].accuracy is None
    assert (
        str(files.samples[0].latents) == "results/latents/given/mine/samples/w-title/theirs/seed1/given/draw1.parquet"
    )
    assert not [path for path in files.paths() if "classifiers" in path]


def test_only_standing_tables_read_the_audit(folder):
    sources = [{**BLOCK, "generators": ["ngram-3"], "decodings": ["plain"]}, {**BLOCK, "corpora": ["other"]}]
    audit = [{**BLOCK, "generators": ["ngram-3"], "decodings": ["given"]}]
    table = {**TABLE, "corpora": ["mine"], "generators": ["ngram-3"]}
    write(folder / "studies/own.yaml", coherence(sources, audit=audit, tables=[TABLE, table | {"name": "table3"}]))
    found = experiment(folder, "coherence")
    assert [source.decoding for source in found.sources()] == ["plain", "given", "given"]
    standing, whole, part = found.files(), found.files("table2"), found.files("table3")
    assert [sample.decoding for sample in standing.audit_samples] == ["given"]
    assert standing.bases(standing.audit_samples[0]) == [standing.samples[0]]
    assert len(standing.samples) == len(whole.samples) == 2
    assert whole.audit_samples == part.audit_samples == ()
    assert [sample.generator for sample in part.samples] == ["ngram-3"]
    assert set(part.paths()) < set(whole.paths()) < set(standing.paths())
    assert set(part.decodings) == {"plain"}


def test_the_manifest_has_the_classifier_and_the_base_of_the_audit(folder):
    used = project(folder).describe("own")["registry"]
    assert set(used["critics"]) == {"transitions-demo"}
    assert set(used["classifiers"]) == {"bert-demo"}
    assert set(used["encodings"]) == {"bpe-2048"}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        (
            {"audit": [{**BLOCK, "generators": ["ngram-3"], "decodings": ["demo"]}]},
            r"audit: ngram-3 wo-title on mine, seed 1, draw 1, is not among the sources; it is compared with the same",
        ),
        (
            {"costly_audit": [{**BLOCK, "seeds": [3]}]},
            r"costly_audit: theirs wo-title on mine, seed 3, draw 1, is not among the sources",
        ),
        (
            {"audit": [{**BLOCK, "seeds": [2]}]},
            r"audit: theirs wo-title on mine, seed 2, draw 1, is not among the sources",
        ),
        (
            {"audit": [{**BLOCK, "corpora": ["process-demo"]}]},
            r"audit: process-demo is not text but synthetic; this experiment is for text",
        ),
        (
            {"critic": "transitions-given"},
            r"sources: theirs wo-title has no titles in its text, and the critic transitions-given uses given titles",
        ),
        (
            {
                "critic": "transitions-given",
                "sources": [{**BLOCK, "settings": ["w-title"]}],
                "audit": [BLOCK],
            },
            r"audit: theirs wo-title has no titles in its text, .* its setting must be w-title",
        ),
        ({"tables": [{**TABLE, "generators": ["ngram-3"]}]}, r"table2: ngram-3 on mine is not among the sources"),
        ({"tables": [{**TABLE, "of": "coherance"}]}, r"tables.0.of: 'coherance' is not one of coherence, errors"),
        ({"figures": [{"name": "figure1", "of": "graph"}]}, r"figures.0.of: 'graph' is not one of errors"),
    ],
)
def test_what_does_not_go_together_is_refused_in_a_line(folder, keys, message):
    assert_refused(folder, coherence(**keys), rf"own.yaml: experiments.1 \(coherence\): {message}")
