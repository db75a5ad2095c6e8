"""CoNLL-U with `Entity=` in the last column, as GUM and CorefUD are published."""

import gzip
import io
import logging
import tarfile
from collections import Counter

import pytest

from textcritic.corpora.readers.conll import conll_articles, conll_documents
from textcritic.corpora.structured.mentions import read_mentions
from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.conll import resolved_of
from textcritic.latents.resolvers.given import GivenResolver


def row(number, form, misc="_", head="_"):
    return "\t".join([str(number), form, *["_"] * 4, str(head), "_", "_", misc])


def read(tmp_path, lines, name="a.conllu"):
    path = tmp_path / name
    path.write_text("\n".join(lines) + "\n")
    return list(conll_documents([path]))


def seen(document):
    """(text, head, entity) of each mention."""
    made = resolved_of(document)
    return [(made.text[m.start : m.end], made.text[m.head_start : m.head_end], m.entity) for m in made.mentions]


COREFUD = [
    *("# newdoc id = x", "# global.Entity = eid-etype-head-other", "# newpar", "# sent_id = 1", "# text = He doesn't."),
    row(1, "He", "Entity=(e1-person-1-a:b)", 2),
    row("2-3", "doesn't", "SpaceAfter=No"),
    row(2, "does", "_", 0),
    row(3, "n't", "_", 2),
    row(4, ".", "_", 2),
    *("", "# sent_id = 2"),
    row(1, "The", "Entity=(e2-animal-3", 3),
    row(2, "old", "_", 3),
    row("2.1", "_", "Entity=(e3--1)"),
    row(3, "dog", "Bridge=e1<e2|Entity=e2)|SpaceAfter=No", 4),
    row(4, ",", "_", 0),
    *("", "# newpar", "# sent_id = 3"),
    row(1, "It", "Entity=(e2)(e1-person-1)", 0),
    "",
]


def test_words_text_heads_and_mentions(tmp_path):
    [document] = read(tmp_path, COREFUD)
    assert document.id == "x"
    assert document.words == ("He", "does", "n't", ".", "The", "old", "dog", ",", "It")
    assert document.sentences == ((0, 3), (4, 7), (8, 8))
    # Its lines are paragraphs, because the file says where they begin.
    assert resolved_of(document).text == "He doesn't. The old dog,\nIt"
    # Heads count empty nodes: the third of `The old _ dog` is one, so that the word whose governor is outside counts.
    assert seen(document) == [("He", "He", 0), ("The old dog", "dog", 1), ("It", "It", 1), ("It", "It", 0)]


@pytest.mark.parametrize(
    ("fields", "brackets", "entity", "head"),
    [
        ("GRP-etype-infstat-centering-minspan-link-identity", "(e1-person-giv:act-cf1-1-ana-Jim_O%2DNeil)", "e1", 0),
        ("entity-GRP-infstat-MIN-coref_type-identity", "(person-97-giv:inact-1,3-coref-Jensen_Ackles)", "97", None),
        ("eid-etype-head-other", "(e1-person-1)", "e1", 0),
        ("eid-etype-head-other", "(c1--1-a-b-c)", "c1", 0),
        ("eid", "(e1)", "e1", None),
        (None, "(e1-person-giv:act-1-ana-coref)", "e1", None),
    ],
)
def test_the_fields_that_a_file_declares(tmp_path, fields, brackets, entity, head):
    declared = [f"# global.Entity = {fields}"] * (fields is not None)
    [document] = read(tmp_path, [*declared, "# newdoc id = x", row(1, "He", f"Entity={brackets}")], "a.conll")
    assert document.mentions == ((0, 0, head, entity),)


def test_brackets_of_several_words_close_by_the_entity_alone_or_by_its_fields(tmp_path):
    lines = ["# global.Entity = entity-GRP-infstat-MIN", row(1, "a", "Entity=(person-1-new-2(time-2-new-1")]
    [document] = read(tmp_path, [*lines, row(2, "b", "Entity=time-2)"), row(3, "c", "Entity=1)(place-3)")])
    assert [(first, last, entity) for first, last, _, entity in document.mentions] == [
        (0, 2, "1"),
        (0, 1, "2"),
        (2, 2, "3"),
    ]


def test_words_written_as_one_have_its_characters(tmp_path):
    lines = [row("1-2", "Del"), row(1, "De", "_", 3), row(2, "el", "Entity=(e1--2"), row(3, "perro", "Entity=e1)")]
    [document] = read(tmp_path, lines)
    assert (document.words, document.id) == (("De", "el", "perro"), "a")
    assert seen(document) == [("Del perro", "perro", 0)]
    found = GivenResolver([tmp_path / "a.conllu"]).resolve([("a", "Del  perro")])
    assert [(m.start, m.end, m.head_start) for r in found for m in r.mentions] == [(0, 10, 5)]


def test_a_mention_in_pieces_is_that_with_the_head_and_is_said(tmp_path, caplog):
    lines = ["# global.Entity = eid-head", row(1, "a", "Entity=(e1[1/2]-3)"), row(2, "b", "Entity=(e2)")]
    lines += [row(3, "c", "Entity=(e1[2/2]"), row(4, "d", "Entity=e1[2/2])"), row("4.1", "_", "Entity=(e4)")]
    with caplog.at_level(logging.WARNING):
        [document] = read(tmp_path, lines)
    assert document.mentions == ((1, 1, None, "e2"), (2, 3, 3, "e1"))
    assert "1 mentions are in several pieces" in caplog.text
    assert "1 mentions, of words that are not written, are left out" in caplog.text


def test_documents_articles_archives_and_texts_of_tokens(tmp_path, caplog):
    lines = [row(1, "a"), "", "# newdoc", row(1, "b"), "# newdoc id = z", row(1, "c", "SpaceAfter=No"), row(2, "d"), ""]
    with caplog.at_level(logging.WARNING):
        assert [d.id for d in read(tmp_path, lines)] == ["a", "a#2", "z"]
    assert "documents without mentions" in caplog.text
    assert [article.sections[0].text for article in conll_articles(tmp_path / "a.conllu")] == ["a", "b", "cd"]
    (tmp_path / "b.conllu").write_text("\n".join(COREFUD))
    (text,) = read_mentions(tmp_path / "b.conllu", Counter())
    assert [(m.start, m.end) for m in text.mentions] == [(0, 1), (4, 7), (8, 9)]
    with tarfile.open(tmp_path / "two.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("x/b.conllu")
        data = "\r\n".join(COREFUD).encode()
        member.size = len(data)
        archive.addfile(member, io.BytesIO(data))
    (tmp_path / "c.conllu.gz").write_bytes(gzip.compress("\n".join(COREFUD).replace("= x", "= y").encode()))
    both = list(conll_documents([tmp_path / "two.tar.gz", tmp_path / "c.conllu.gz"]))
    assert [(d.id, len(d.words), len(d.mentions)) for d in both] == [("x", 9, 4), ("y", 9, 4)]


@pytest.mark.parametrize(
    ("lines", "line", "message"),
    [
        ([row(1, "a", "Entity=(e1")], 1, r"bracket `\(e1` of document 'a' is never closed"),
        ([row(1, "a", "Entity=e1)")], 1, r"bracket `e1\)` closes a mention that was never opened"),
        ([row(1, "a", "Entity=e1")], 1, "Entity=e1; it should be brackets"),
        ([row(1, "a", "Entity=(e1[2/2])")], 1, "piece 1 is missing"),
        ([row(1, "a", "Entity=(e1[1/2])")], 1, r"bracket `\(e1` .* never closed"),
        ([row(1, "a"), row(3, "b")], 2, "word '3'; the sentence goes on with number 2"),
        ([row(1, "a"), row(1, "b")], 2, "word '1'; the sentence goes on with number 2"),
        ([row("1-2", "a"), row(1, "b")], 3, "the sentence ends before the words of its last token"),
        ([row("2-3", "a")], 1, "token 2-3 of several words: its words should follow"),
        ([row("1-2", "a", "Entity=(e1)")], 1, "token 1-2 of several words: a mention should be at one of its words"),
        ([row(1, "a"), "2\tb"], 2, "2 columns; CoNLL-U has 10, separated by tabs"),
        ([row(1, " ")], 1, "word 1 is empty"),
        (["# newdoc id = y", "# newdoc id = z", row(1, "a")], 1, "document 'y' has no words"),
        (["# newdoc id = y", row(1, "a"), "# newdoc id = y", row(1, "a")], 3, "document 'y' is in .*:1 too"),
        (["# global.Entity = etype-identity", row(1, "a")], 1, "no field of 'etype-identity' names the entity"),
        (["1 a _"], 1, "1 columns; CoNLL-U has 10"),
        (["# text"], None, "there is no document in it"),
    ],
)
def test_bad_files_are_one_line_with_file_and_line(tmp_path, lines, line, message):
    where = rf"a\.conllu:{line}: " if line else r"a\.conllu: "
    with pytest.raises(TextcriticError, match=f"{where}.*{message}") as error:
        read(tmp_path, lines)
    assert "\n" not in str(error.value)
