"""CoNLL-2012 columns: what is read of them, and what is said of files that are wrong."""

import gzip
import io
import re
import tarfile

import pytest
from hypothesis import given
from hypothesis import strategies as st
from samples import LARGE, of_large

from textcritic.corpora.readers.conll import conll_articles, conll_documents, parse_heads, plain
from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.conll import resolved_of
from textcritic.latents.resolvers.heads import head_word


def columns(words, name="(tale); part 0", sep="\t", fill=8):
    """A document of (word, brackets) pairs; None ends a sentence."""
    lines = [f"#begin document {name}"]
    for number, pair in enumerate(words):
        lines.append("" if pair is None else sep.join(["tale", "0", str(number), pair[0], *["_"] * fill, pair[1]]))
    return "\n".join([*lines, "#end document", ""])


def read(tmp_path, text, name="a.conll"):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return list(conll_documents([path]))


def seen(document):
    """(text, head, entity) of each mention."""
    made = resolved_of(document)
    return [
        (made.text[m.start : m.end], made.text[m.head_start : m.head_end], m.entity, m.sentence) for m in made.mentions
    ]


TALE = [("The", "(9"), ("man", ""), ("in", ""), ("black", "9)"), ("saw", ""), ("her", "(-3)"), (".", ""), None]
TALE += [("He", "(9)"), ("-LRB-", "_"), ("smiled", "-"), ("-RRB-", "_"), (".", "")]


@pytest.mark.parametrize("sep", ["\t", "  "])
def test_words_sentences_mentions_and_heads(tmp_path, sep):
    words = [pair and (pair[0], pair[1] or "-") for pair in TALE]
    [document] = read(tmp_path, columns(words, sep=sep))
    made = resolved_of(document)
    assert made.text == "The man in black saw her .\nHe ( smiled ) ."
    assert [made.text[start:end] for start, end in made.sentences] == made.text.split("\n")
    assert seen(document) == [("The man in black", "man", 0, 0), ("her", "her", 1, 0), ("He", "He", 0, 1)]


def test_empty_cells_mean_no_mention(tmp_path):
    [document] = read(tmp_path, columns(TALE).replace("\t_\n", "\t\n"))
    assert len(document.mentions) == 3


def test_crossing_nested_and_doubled_mentions_are_kept(tmp_path):
    words = [("a", "(1|(2"), ("b", "(x"), ("c", "1)"), ("d", "x)|2)|(1000000)|(5)")]
    [document] = read(tmp_path, columns(words))
    assert [(first, last, entity) for first, last, _, entity in document.mentions] == [
        (0, 3, "2"),
        (0, 2, "1"),
        (1, 3, "x"),
        (3, 3, "1000000"),
        (3, 3, "5"),
    ]
    assert [m.entity for m in resolved_of(document).mentions] == [0, 1, 2, 3, 4]


def test_brackets_of_one_entity_in_each_other(tmp_path):
    [document] = read(tmp_path, columns([("a", "(1(1"), ("b", "1)"), ("c", "1)")]))
    assert [span[:2] for span in document.mentions] == [(0, 2), (0, 1)]


def test_several_parts_and_documents_without_a_name(tmp_path):
    text = columns([("a", "(1)")], "(bn/x); part 000") + columns([("b", "(1)")], "(bn/x); part 001")
    text += columns([("c", "(1)")], "") + columns([("d", "-")], "")
    assert [d.id for d in read(tmp_path, text, "GUM_a.conll")] == ["bn/x", "bn/x#1", "GUM_a#3", "GUM_a#4"]
    articles = conll_articles(tmp_path / "GUM_a.conll")
    assert [article.group for article in articles] == ["bn/x", "bn/x", "GUM_a", "GUM_a"]


def test_three_columns_without_empty_lines_get_sentences_by_their_signs(tmp_path):
    words = ["He", "left", ".", '"', "Why", "?", "!", '"', "She", "asked"]
    rows = "\n".join(f"{number}\t{word}\t_" for number, word in enumerate(words))
    [document] = read(tmp_path, f"# begin document \n{rows}\n9\t\t_\n# end document\n")
    assert document.sentences == ((0, 2), (3, 7), (8, 9))
    assert document.id == "a"


def test_line_ends_of_windows_a_byte_order_mark_gzip_and_five_columns(tmp_path):
    text = columns([("a", "(1"), ("b", "1)"), None, ("c", "(1)")], fill=0).replace("\n", "\r\n")
    [document] = read(tmp_path, gzip.compress(b"\xef\xbb\xbf" + text.encode()))
    assert (document.words, document.sentences) == (("a", "b", "c"), ((0, 1), (2, 2)))
    assert [mention[:2] for mention in document.mentions] == [(0, 1), (2, 2)]


@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(["-4", "0", "1000000", "x y", "Ünal", "_"])),
        unique_by=lambda span: span[2],
    )
)
def test_any_spans_come_back(tmp_path_factory, spans):
    spans = {(min(one, other), max(one, other), entity) for one, other, entity in spans}
    cells = []
    for word in range(8):
        closing = [f"{entity})" for first, last, entity in spans if first < last == word]
        opening = [f"({entity}" + ")" * (first == last) for first, last, entity in spans if first == word]
        cells.append((f"w{word}", "|".join(closing + opening)))
    [document] = read(tmp_path_factory.mktemp("conll"), columns(cells))
    assert {(first, last, entity) for first, last, _, entity in document.mentions} == spans


def test_heads_by_the_parse_where_there_is_one(tmp_path):
    rows = [
        ("The", "DT", "(TOP(NP(NP*", "(1"),
        ("red", "JJ", "*", "-"),
        ("car", "NN", "*)", "-"),
        ("seen", "VBN", "(VP*", "-"),
    ]
    rows += [("by", "IN", "(PP*", "-"), ("her", "PRP", "(NP*)", "(2)"), ("then", "RB", "*))))", "1)")]
    body = "\n".join(f"d 0 {n} {w} {tag} {bit} - - - - * {bracket}" for n, (w, tag, bit, bracket) in enumerate(rows))
    [document] = read(tmp_path, f"#begin document (d); part 000\n{body}\n\n#end document\n")
    assert document.mentions == ((0, 6, 2, "1"), (5, 5, 5, "2"))
    assert parse_heads(["(NP*", "*", "*)"], ["DT", "JJ", "CD"]) == {(0, 2): 2}
    assert parse_heads(["(NP*", "*"], ["DT", "JJ"]) == {}


@pytest.mark.parametrize(
    ("mention", "head"),
    [
        ("the old man in the corner , who", "man"),
        ("Mr. Darcy", "Darcy"),
        ("Elizabeth , the second daughter", "Elizabeth"),
        ("my sister 's governess", "governess"),
        ("my sister 's", "sister"),
        ("that of the king", "that"),
        ("of", "of"),
        (", the king", "king"),
        ("who", "who"),
    ],
)
def test_heads_by_the_words(mention, head):
    words = mention.split()
    assert words[head_word(words, 0, len(words) - 1)] == head


def test_archives_are_read_by_folder_and_in_the_order_of_names(tmp_path):
    path = tmp_path / "two"
    with tarfile.open(path, "w:gz") as archive:
        for name in ("x/conll/b.conll", "x/conll/a.conll", "x/tsv/c.conll", "x/conll/._a.conll", "x/conll/notes.txt"):
            data = columns([("a", "(1)")], "").encode()
            member = tarfile.TarInfo(name)
            member.size = len(data)
            archive.addfile(member, io.BytesIO(data))
    assert [d.id for d in conll_documents([path], "conll")] == ["a", "b"]
    assert [d.id for d in conll_documents([path])] == ["a", "b", "c"]
    with pytest.raises(TextcriticError, match=r"no file \*\.conll or \*\.conllu in a folder onto"):
        list(conll_documents([path], "onto"))
    path.write_bytes(path.read_bytes()[:60])
    with pytest.raises(TextcriticError, match=r"two: cut or no gzip archive"):
        list(conll_documents([path]))


NOTES = [
    "# sent_id = 1",
    "# text = a b",
    "# note -",
    "#newdoc",
    "# 1 2 3 4",
    "# one two three four five six - - - - - (9)",
]


@pytest.mark.parametrize("fill", [0, 8])
@pytest.mark.parametrize("sep", ["\t", " "])
def test_comments_are_no_words_and_a_sharp_is_one(tmp_path, sep, fill):
    text = columns([("#", "(1"), ("b", "1)"), None, ("c", "(2)")], fill=fill, sep=sep)
    first, *rest, _, _ = text.split("\n")
    lines = [first, *NOTES, *(part for line in rest for part in (line, *NOTES)), "#end document", ""]
    [document] = read(tmp_path, "\n".join(lines))
    assert document.words == ("#", "b", "c")
    assert [mention[:2] for mention in document.mentions] == [(0, 1), (2, 2)]


@pytest.mark.parametrize("sep", ["\t", " "])
def test_comments_ranges_and_empty_nodes_in_three_columns(tmp_path, sep):
    rows = [*NOTES, "1-2|don't|_", "1|do|(1)", "2|n't|_", "2.1|x|_", "# a note", "3|#|(2)", *NOTES]
    body = "\n".join(line.replace("|", sep) for line in rows)
    [document] = read(tmp_path, f"#begin document (x)\n{body}\n#end document\n")
    assert document.words == ("do", "n't", "#")
    assert [mention[:2] for mention in document.mentions] == [(0, 0), (2, 2)]


def test_a_document_whose_name_begins_with_a_sharp(tmp_path):
    text = columns([("a", "(1)"), ("b", "-")], name="(#x); part 1").replace("tale\t0", "#x\t1")
    [document] = read(tmp_path, text)
    assert (document.id, document.words) == ("#x#1", ("a", "b"))


ROW = "tale\t0\t0\tHe\t_\t_\t_\t_\t_\t_\t_\t_\t(1)"


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("#begin document (a); part 0\n" + ROW, 1, "no `#end document`; the file is cut"),
        (f"#begin document (a)\n{ROW}\n#begin document (b)\n", 3, "has no `#end document`"),
        (f"#begin document (a)\n{ROW}\n{ROW}\tx\n#end document\n", 3, "14 columns, the line before has 13"),
        ("#begin document (a)\na\tb\tc\td\n#end document\n", 2, "4 columns; CoNLL-2012 has 12 or more"),
        (f"#begin document (a)\n{ROW.replace('(1)', '(1')}\n{ROW}\n#end document", 2, r"bracket `\(1` .* never closed"),
        (
            f"#begin document (a)\n{ROW.replace('(1)', '7)')}\n#end document",
            2,
            r"`7\)` closes a mention that was never",
        ),
        (f"#begin document (a)\n{ROW.replace('(1)', '1')}\n#end document", 2, "'1' in the last column"),
        (f"#begin document (a)\n{ROW.replace('He', '')}\n#end document", 2, "the word is missing"),
        ("#begin document (a)\n#end document\n", 1, "has no words"),
        (f"#begin document (a)\n{ROW}\n#end document\n{ROW}\n", 4, "outside of a document"),
        ("#begin document (a)\n1\tb\t-\n#\tc\t(1)\n#end document", 3, "begins with `#` as a comment does, and has 3"),
        ("#begin document (a)\n1-2\tb\t(1)\n#end document", 2, "a mention begins or ends at 1-2"),
        ("#begin document (a)\n; note -\n#end document", 2, "';' where the number of the word should be"),
        ("#end document\n", 1, "without a `#begin document`"),
        (f"#begin document (a)\n{ROW}\n#end document\n" * 2, 4, "document 'a' is in .*:1 too"),
        (b"#begin document (a)\ncaf\xe9\n", 2, "not UTF-8"),
        ("", None, "there is no document in it"),
        ("\n# a note\n", None, "there is no document in it"),
    ],
)
def test_bad_files_are_one_line_with_file_and_line(tmp_path, text, line, message):
    where = rf"a\.conll:{line}: " if line else r"a\.conll: "
    with pytest.raises(TextcriticError, match=f"{where}.*{message}") as error:
        read(tmp_path, text)
    assert "\n" not in str(error.value)


def test_a_missing_file(tmp_path):
    with pytest.raises(TextcriticError, match=r"b\.conll: no such file"):
        list(conll_documents([tmp_path / "b.conll"]))


def test_escapes():
    assert [plain(word) for word in ("-LRB-", "``", "dog")] == ["(", '"', "dog"]


@pytest.mark.parametrize(
    ("name", "documents", "mentions"),
    [
        of_large("litbank", 100, 29_103, id="litbank"),
        of_large("gum-ontogum", 108, 11_668, id="ontogum"),
    ],
)
def test_real_files(name, documents, mentions):
    found = [resolved_of(d) for d in conll_documents([LARGE / f"coreference/{name}-conll.tar.gz"])]
    assert (len(found), sum(len(d.mentions) for d in found)) == (documents, mentions)
    for document in found:
        for m in document.mentions:
            assert m.start <= m.head_start < m.head_end <= m.end <= len(document.text)
            start, end = document.sentences[m.sentence]
            assert start <= m.head_start < end


UNIVERSAL = """\
# global.Entity = {fields}
# newdoc id = one
# sent_id = 1
1\tI\t_\tPRON\t_\t_\t0\t_\t_\tEntity=({one}e1)
2-3\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
2\tdo\t_\tAUX\t_\t_\t0\t_\t_\t_
3\tn't\t_\tPART\t_\t_\t0\t_\t_\t_
3.1\t_\t_\t_\t_\t_\t_\t_\t_\tEntity=({one}e9)
4\tMary\t_\tPROPN\t_\t_\t0\t_\t_\tEntity=({two}e2({two}e3[1/2]|SpaceAfter=No
5\tLee\t_\tPROPN\t_\t_\t0\t_\t_\tEntity=e2)e3[1/2])({two}e3[2/2])

# newpar
1\tShe\t_\tPRON\t_\t_\t0\t_\t_\tEntity=({one}e2)
# newdoc id = two
1\tx\t_\tX\t_\t_\t0\t_\t_\t_
"""


@pytest.mark.parametrize(
    ("fields", "before", "behind"), [("eid-etype-head-other", "", "-person-1-"), ("x-eid", "person-", "")]
)
def test_conll_u_with_entities_in_its_last_column(tmp_path, fields, before, behind):
    text = re.sub(r"\((\{one\}|\{two\})(e\d(\[\d/\d\])?)", rf"({before}\2{behind}", UNIVERSAL).replace(
        "{fields}", fields
    )
    (tmp_path / "gum.conllu").write_text(text)
    one, two = conll_documents([tmp_path / "gum.conllu"])
    assert (one.id, one.words) == ("one", ("I", "do", "n't", "Mary", "Lee", "She"))
    assert one.sentences == ((0, 4), (5, 5))
    assert {(first, last, entity) for first, last, _, entity in one.mentions} == {
        (0, 0, "e1"),
        (3, 4, "e2"),
        (3, 4, "e3"),
        (5, 5, "e2"),
    }
    assert (two.id, two.words, two.mentions) == ("two", ("x",), ())
    (tmp_path / "gum.conllu").write_text(text.replace("\tX\t_", "\tX"))
    with pytest.raises(TextcriticError, match=r"gum\.conllu:15: 9 columns; CoNLL-U has 10, separated by tabs"):
        list(conll_documents([tmp_path / "gum.conllu"]))


@pytest.mark.parametrize(
    "line", ["# sent_id = 1", "# note -", "#comment with many words in it (3", "1-2\tab\t_", "1.1\tab\t(4)"]
)
def test_comments_ranges_and_empty_nodes_are_no_words(tmp_path, line):
    (tmp_path / "a.conll").write_text(f"#begin document (x)\n{line}\n1\ta\t(1)\n2\tb\t-\n#end document\n")
    (document,) = conll_documents([tmp_path / "a.conll"])
    assert (document.words, document.mentions) == (("a", "b"), ((0, 0, None, "1"),))


def test_a_mention_that_begins_at_no_word_is_refused(tmp_path):
    (tmp_path / "a.conll").write_text("#begin document (x)\n1-2\tab\t(1\n1\ta\t1)\n#end document\n")
    with pytest.raises(TextcriticError, match=r"a\.conll:2: a mention begins or ends at 1-2, which is no word"):
        list(conll_documents([tmp_path / "a.conll"]))
