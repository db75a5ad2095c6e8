"""Probes of an intruder corpus: which sentence is edited, bases, limits, counts, files, examples, the rule."""

import dataclasses

import pytest

from textcritic.corpora.articles import iter_articles
from textcritic.corpora.intruders.documents import Document, read_documents, write_documents
from textcritic.corpora.intruders.probes import PROBES, Refused, edited
from textcritic.corpora.intruders.probes.edits import (
    BASE,
    INTRUDER,
    OWN,
    examples,
    iter_edited,
    make_probes,
    probed,
    write_edited,
)
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.registries import Registries

PEOPLE = ["He was born in Ulm in 1890.", "She wrote this book and sold it.", "It has three rooms.", "Rain."]
DOCUMENTS = [
    Document(
        f"d{n}",
        (f"Opening {n} was here.", *(PEOPLE[(n + k) % 4] for k in range(3))),
        intruder=1 + n % 3 if n % 2 else None,
        replaced="Old." if n % 2 else None,
        group=f"g{n % 5}",
    )
    for n in range(40)
]


@pytest.fixture
def made(tmp_path):
    """The paths of documents, of their probes, and of counts."""

    def make(documents=DOCUMENTS, most=None, name="probes"):
        paths = [tmp_path / "test.parquet", tmp_path / f"{name}.parquet", tmp_path / f"{name}.json"]
        write_documents(paths[0], documents, "test")
        make_probes(*paths, most)
        return paths

    return make


def test_every_edit_is_of_the_intruder_or_of_a_sentence_that_is_not_the_opening(made):
    _, path, _ = made()
    by_id = {document.id: document for document in DOCUMENTS}
    rows = [row for row in iter_edited(path) if row.probe != BASE]
    for row in rows:
        base = by_id[row.of]
        assert row.where == (OWN if base.intruder is None else INTRUDER)
        assert row.position >= 1
        assert base.intruder in (None, row.position)
        assert row.before == base.sentences[row.position]
        assert row.after == edited(row.probe, row.before)
        sentences = list(base.sentences)
        sentences[row.position] = row.after
        expected = dataclasses.replace(base, id=f"{row.of}#{row.probe}", sentences=tuple(sentences))
        assert row.document == expected
    assert {row.probe for row in rows} == set(PROBES)
    assert len({row.document.id for row in rows}) == len(rows)


def test_bases_are_the_documents_that_were_edited_once_each(made):
    _, path, _ = made()
    rows = list(iter_edited(path))
    bases = [row for row in rows if row.probe == BASE]
    assert [row.of for row in bases] == [d.id for d in DOCUMENTS if d.id in {r.of for r in rows if r.probe != BASE}]
    by_id = {document.id: document for document in DOCUMENTS}
    assert all(dataclasses.replace(row.document, id=row.of) == by_id[row.of] for row in bases)
    assert all(row.before is row.after is None for row in bases)


def test_counts_add_up_and_say_why(made):
    documents, path, counts = made()
    tally = read_json(counts)
    rows = [row for row in iter_edited(path) if row.probe != BASE]
    assert list(tally) == list(PROBES)
    for probe, kinds in tally.items():
        for where, one in kinds.items():
            assert one["documents"] == 20 == one["edited"] + sum(one["refused"].values())
            assert one["edited"] == sum(row.probe == probe and row.where == where for row in rows)
    intruders = [d.sentences[d.intruder] for d in read_documents(documents) if d.intruder is not None]
    refused = [edited("gender", sentence) for sentence in intruders]
    assert sum(isinstance(one, Refused) for one in refused) == sum(tally["gender"][INTRUDER]["refused"].values())


def test_a_coherent_document_is_refused_only_if_no_sentence_can_be_edited():
    document = Document("d", ("She came.", "Rain.", "Snow.", "He left."))
    found = probed(document, "gender")
    assert (found.position, found.after) == (3, "She left.")
    assert probed(Document("d", ("She came.", "Rain.", "Snow.")), "gender") == edited("gender", "Rain.")


def test_the_choice_of_a_sentence_is_spread_and_repeats():
    documents = [Document(f"d{n}", ("Op.", "He sat.", "He ate.", "He left.")) for n in range(300)]
    places = [probed(document, "gender").position for document in documents]
    assert places == [probed(document, "gender").position for document in documents]
    assert all(70 < places.count(place) < 130 for place in (1, 2, 3))  # 100 expected, sd 8.2
    assert places != [probed(document, "animacy-down").position for document in documents]


def test_more_documents_add_and_change_none(made):
    _, few, _ = made(most=3, name="few")
    _, more, counts = made(most=6, name="more")
    small, large = ({row.document.id: row for row in iter_edited(path)} for path in (few, more))
    assert small.items() <= large.items()
    assert all(one["edited"] <= 6 for kinds in read_json(counts).values() for one in kinds.values())
    assert sum(row.probe == "gender" and row.where == OWN for row in small.values()) == 3


def test_detectors_and_other_jobs_read_the_file_as_any_corpus(made):
    _, path, _ = made()
    rows = list(iter_edited(path))
    assert read_documents(path) == [row.document for row in rows]
    articles = list(iter_articles(path))
    assert [article.id for article in articles] == [row.document.id for row in rows]
    assert articles[-1].sections[0].text == " ".join(rows[-1].document.sentences)
    assert articles[-1].source == "probes"
    assert {article.group for article in articles} == {f"g{n}" for n in range(5)}


def test_many_rows_survive_the_file(tmp_path):
    document = Document("d", ("Op.", "He sat."), intruder=1)
    rows = [
        dataclasses.replace(row, document=dataclasses.replace(row.document, id=f"{n}"))
        for n, row in enumerate([probed(document, "gender")] * 5000)
    ]
    write_edited(tmp_path / "many.parquet", rows, "s")
    assert list(iter_edited(tmp_path / "many.parquet")) == rows


def test_examples_are_the_first_of_intruders(made):
    _, path, _ = made()
    shown = examples(path, 2)
    assert list(shown) == list(PROBES)
    rows = [row for row in iter_edited(path) if row.probe == "gender" and row.where == INTRUDER]
    assert shown["gender"] == rows[:2]
    own = examples(path, 1, lambda row: row.where == OWN)
    assert all(row.where == OWN for found in own.values() for row in found)
    _, coherent, _ = made([document for document in DOCUMENTS if document.intruder is None], name="coherent")
    assert [row.where for row in examples(coherent)["gender"]] == [OWN] * 3


def test_a_corpus_that_cannot_be_edited(made, tmp_path):
    with pytest.raises(
        TextcriticError, match=r"test\.parquet: no probe can edit any of its 2 documents; are they English"
    ):
        made([Document(name, ("Ein Haus.", "Ein Baum.")) for name in "ab"])
    assert not (tmp_path / "probes.parquet").exists()
    with pytest.raises(TextcriticError, match=r"no\.parquet: no such file"):
        make_probes(tmp_path / "no.parquet", tmp_path / "a", tmp_path / "b")


def test_other_corpora_have_no_probes(tmp_path):
    (tmp_path / "corpora.yaml").write_text("plain: {extractor: docstrings, probes: {documents: 5}}\n")
    with pytest.raises(
        TextcriticError, match=r"probes\.documents: is for the extractor intruders; this entry's is docstr"
    ):
        Registries([tmp_path], tmp_path)
