"""The rehearsal: each stand-in is read by the reader of the real file, and what is made of them is marked."""

import base64
import gzip
import io
import json
import tarfile
import zipfile
from collections import Counter
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import pandas as pd
import pytest
import yaml
from test_wikipedia_extract import extracted
from tiny_fairseq import tiny_data

from textcritic.cli import main
from textcritic.corpora import read_articles
from textcritic.corpora.layout import W_TITLE, parse
from textcritic.corpora.readers.conll import conll_documents
from textcritic.corpora.readers.jsonl import read_scientific
from textcritic.corpora.readers.stories import read_stories
from textcritic.corpora.structured.links import NEW, read_links
from textcritic.corpora.structured.trees import read_trees
from textcritic.corpora.synthetic.entities import draw_entity_texts
from textcritic.corpora.synthetic.grammar import draw_trees
from textcritic.corpora.synthetic.links import draw_linked_texts
from textcritic.critics.detectors.vectors import read_vectors
from textcritic.critics.detectors.votes import read_votes
from textcritic.download import download_file
from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.models import load_model
from textcritic.generators.fairseq.sample import encode_sources, make_texts
from textcritic.generators.fairseq.shim import installed
from textcritic.generators.fairseq.train import Architecture, Splits, train_fairseq
from textcritic.place import workflow_folder
from textcritic.plan.entries import Decoding, Download, Fairseq
from textcritic.plan.project import Project
from textcritic.rehearsal import brought, files
from textcritic.rehearsal.mirror import Mirror, serving
from textcritic.rehearsal.rules import never_ran, rules_that_ran
from textcritic.rehearsal.run import Rehearsal, rehearse
from textcritic.rehearsal.small import FAIRSEQ, LIMITS, RATE, STEPS, small_values, smoke_study
from textcritic.rehearsal.words import TITLES, lessons
from textcritic.report.rehearsed import MARK, WORD
from textcritic.report.sheet import plain_sheet
from textcritic.report.style import new_figure, save
from textcritic.report.tables import Table, read_rows, write_table
from textcritic.training.loop import Run

STUDIES = ("model-criticism", "document-coherence", "latent-lms", "beyond-perplexity")


def put(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    return tmp_path / name


def test_every_download_of_the_registry_has_a_stand_in():
    downloads = yaml.safe_load((workflow_folder() / "config/registry/downloads.yaml").read_text())
    assert all(files.stand_in(entry["url"]) for entry in downloads.values())
    with pytest.raises(TextcriticError, match=r"other\.zip: there is no stand-in"):
        files.stand_in("https://example.org/other.zip")


def test_the_dump_and_the_archives_are_read(tmp_path):
    out, report = extracted(tmp_path, put(tmp_path, "dump", files.wikipedia()))
    articles = [*read_articles(out)]
    assert len(articles) == files.PAGES
    assert sum(report["skipped"].values()) == 2
    assert sum("film" in article.sections[0].text for article in articles) == files.PAGES // 2
    for name in ("pubmed", "arxiv"):
        with zipfile.ZipFile(io.BytesIO(files.scientific(name))) as archive:
            for split, size in files.SIZES.items():
                path = put(tmp_path, f"{name}.{split}", archive.read(f"{name}-dataset/{split}.txt"))
                skipped = Counter()
                read = [*read_scientific(path, skipped=skipped)]
                assert len(read) == size
                assert not skipped
                assert {"introduction", "methods"} <= {section.title for section in read[0].sections}
    assert len([*read_stories(put(tmp_path, "cnn", files.stories()), Counter())]) == files.STORIES


def test_lessons_are_articles_whose_sections_have_titles():
    sections = [section for text in lessons(20) for section in parse(text, W_TITLE)]
    assert len(sections) == 40
    assert {section.title for section in sections} == set(TITLES)


def test_pairs_of_languages_have_the_same_english():
    texts = []
    for language in files.TONGUES:
        with tarfile.open(fileobj=io.BytesIO(files.europarl(language))) as archive:
            parts = [archive.extractfile(member).read().decode() for member in archive]
        assert [len(part.splitlines()) for part in parts] == [files.SENTENCES] * 2
        texts.append(parts)
    assert len({english for _, english in texts}) == 1
    assert len({foreign for foreign, _ in texts}) == 3


def test_texts_with_entities_come_back(tmp_path):
    made = {one.id: one for one in draw_entity_texts(files.DOCUMENTS, 7)}
    for content, folder in ((files.litbank(), "coref/conll"), (files.gum(), "coref/ontogum/conll")):
        read = [*conll_documents([put(tmp_path, "archive", content)], folder)]
        assert {document.id.partition("_brat")[0].partition(";")[0] for document in read} >= {*made} or len(read)
        assert len(read) == len(made)
        assert sorted(len(d.mentions) for d in read) == sorted(len(m.mentions) for m in made.values())


def test_what_is_brought_comes_back(tmp_path):
    brought.put_corpus(tmp_path / "trees.mrg", "trees", 3)
    trees = [(one.tokens, one.actions) for one in read_trees(tmp_path / "trees.mrg", Counter())]
    assert trees == [(one.tokens, one.actions) for one in draw_trees(brought.COUNT, 3)]
    brought.put_corpus(tmp_path / "links.gz", "links", 3)
    links = [(one.tokens, one.mentions) for one in read_links(tmp_path / "links.gz", Counter(), 100)]
    assert links == [(one.tokens, one.mentions) for one in draw_linked_texts(brought.COUNT, 3)]
    assert NEW in gzip.decompress((tmp_path / "links.gz").read_bytes()).decode()
    brought.put_corpus(tmp_path / "conll", "mentions", 3)
    assert len([*conll_documents([tmp_path / "conll"])]) == brought.COUNT


def test_votes_and_vectors_are_read(tmp_path):
    votes = read_votes(put(tmp_path, "votes.jsonl", files.votes()))
    assert len(votes) == files.DOCUMENTS
    assert {one.gold for one in votes} == {None, 2, 3}
    with zipfile.ZipFile(io.BytesIO(files.glove())) as archive:
        path = put(tmp_path, "glove", archive.read("glove.840B.300d.txt"))
    assert {*read_vectors(path, {"The", "river", "nowhere"}, files.WIDTH)} == {"The", "river"}


def test_the_mirror_answers_the_real_client(tmp_path):
    handler = type("Served", (Mirror,), {"files": {"a": b"content"}})
    with serving(handler) as port:
        entry = Download(url=f"http://127.0.0.1:{port}/files/a")
        download_file(entry, tmp_path / "a")
        with pytest.raises(HTTPError):
            urlopen(f"http://127.0.0.1:{port}/files/b")
        with pytest.raises(TextcriticError, match="is taken"), serving(handler, port):
            pass
    assert (tmp_path / "a").read_bytes() == b"content"


@pytest.mark.parametrize("study", STUDIES)
def test_the_small_study_is_a_study_and_keeps_every_kind_of_entry(study, tmp_path):
    """It is read by the real reader, with the small values laid over, and so are the small values of all entries."""
    real = Project({"studies": [study]}, workflow_folder(), tmp_path)
    small = smoke_study(real, study)
    (tmp_path / f"{study}.yaml").write_text(yaml.safe_dump(small))
    over = small_values(real.registries, real.registries.entries, gpus=False)
    made = Project(
        {"studies": [study], "study_folders": [str(tmp_path)], "registry": over}, workflow_folder(), tmp_path
    )
    kinds = {experiment.kind for experiment in made.studies[study].experiments.values()}
    assert kinds == {experiment.kind for experiment in real.studies[study].experiments.values()}
    assert len(made.studies[study].sources()) <= len(real.studies[study].sources())
    entries = {
        registry: {name: entry.plain() for name, entry in named.items()}
        for registry, named in made.registries.entries.items()
    }
    assert all(entry.get("gpu", 0) == 0 for names in entries.values() for entry in names.values())
    trained = [entry["training"] for entry in entries["generators"].values() if entry.get("training")]
    assert all((one.get("steps") or 0) <= max(LIMITS["generators"]["steps"], STEPS) for one in trained)
    assert {entry["unfinished"] for entry in entries["decodings"].values()} == {"keep"}
    real_addresses = {name: entry.url for name, entry in real.registries.entries["downloads"].items()}
    assert {name: entry["url"] for name, entry in entries["downloads"].items()} == real_addresses


def small_fairseq():
    """Entries of fairseq's models with the small values laid over: translators, and language models."""
    real = Project({"studies": []}, workflow_folder())
    over = small_values(real.registries, real.registries.entries, gpus=False)
    entries = Project({"studies": [], "registry": over}, workflow_folder()).registries.entries["generators"]
    every = {name: entry for name, entry in entries.items() if isinstance(entry, Fairseq)}
    models = {name: entry for name, entry in every.items() if entry.architecture.startswith((*FAIRSEQ,))}
    return {name: every[name] for name in every if name not in models}, models


def test_translators_learn_at_a_high_rate():
    translators, models = small_fairseq()
    assert {"translator-mixing", "nat-mixing", "refining-demo"} <= {*translators}
    assert all((e.training.steps, e.training.learning_rate) == (STEPS, RATE) for e in translators.values())
    assert {e.training.steps for e in models.values()} == {LIMITS["generators"]["steps"]}
    assert all(e.training.learning_rate < RATE for e in models.values())


@pytest.mark.skipif(not installed(), reason="run make fairseq")
def test_the_likeliest_texts_of_a_small_translator_have_words(shared_folder, tmp_path):
    """At the rate of its paper, one that makes all words at once writes none."""
    data, entry = shared_folder("fairseq-data", tiny_data), small_fairseq()[0]["nat-mixing"]
    train_fairseq(
        Splits(data / "train.npz", data / "validation.npz", data / "tokenizer"),
        Architecture(entry.architecture, entry.options),
        entry.training,
        1,
        Run(tmp_path / "model", tmp_path / "training.json", threads=1),
    )
    model = load_model(tmp_path / "model")
    sources = encode_sources(model, ["abc", "hijklm", "bd"], "nat")
    texts = [*make_texts(model, sources, Decoding(method="likeliest", max_tokens=20), 1, range(3))]
    assert all(symbols for _, symbols, _, _ in texts)


def test_a_folder_with_results_or_with_another_rehearsal_is_refused(tmp_path, capsys):
    (tmp_path / "results").mkdir()
    assert main(["rehearse", "latent-lms", "--output", str(tmp_path), "--", "--dry-run"]) == 2
    assert "there are results here, which a rehearsal must not touch" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir() if path.name[0] != "."] == ["results"]
    (tmp_path / "results").rmdir()
    (tmp_path / MARK).write_text(json.dumps({"study": "latent-lms", "size": "full"}))
    with pytest.raises(TextcriticError, match=r"here is the rehearsal of latent-lms \(full\)"):
        rehearse(Rehearsal("latent-lms", tmp_path))
    with pytest.raises(TextcriticError, match="there is no study 'latent-lm'"):
        rehearse(Rehearsal("latent-lm", tmp_path / "other"))


@pytest.mark.parametrize("rehearsal", [True, False])
def test_tables_and_figures_of_a_rehearsal_are_marked_and_no_others(rehearsal, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if rehearsal:
        MARK.write_text("{}")
    rows = pd.DataFrame({"corpus": ["x"], "value": [1.5]})
    written = write_table(Table(plain_sheet("t", "Caption", ["a", "b"], [["x", "1.5"]]), rows), tmp_path)
    written += save(new_figure(2, 2), tmp_path / "figure", ("svg",))
    assert [WORD in path.read_text() for path in written] == [rehearsal] * 4
    pd.testing.assert_frame_equal(read_rows(tmp_path, "t"), rows)


def test_a_rule_counts_if_what_it_made_was_read(tmp_path):
    folder = tmp_path / ".snakemake/metadata"
    deep = "results/" + "long/" * 60 + "c"
    records = {
        "results/a": {"rule": "one", "input": []},
        "results/b": {"rule": "two", "input": ["results/a"]},
        "results/studies/s/report.html": {"rule": "page", "input": []},
        deep: {"rule": "unread", "input": ["results/b"], "incomplete": True},
    }
    for name, record in records.items():
        code = base64.b64encode(name.encode(), altchars=b"-_").decode()
        parts = [code[at : at + 200] for at in range(0, len(code), 200)]
        path = folder.joinpath(*(f"@{part}" for part in parts[:-1]), parts[-1])
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(record))
    assert rules_that_ran(tmp_path) == {"one": 1, "page": 1, "two": 1}
    assert "infer_data_mentions" in never_ran(["one"])
    assert "download_model" not in never_ran(["download_model"])
    with pytest.raises(TextcriticError, match="nothing has run"):
        rules_that_ran(Path(tmp_path / "other"))
