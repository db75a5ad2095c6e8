"""Mentions from files: aligned with the text of articles, or refused in one line."""

import json

import pytest
import yaml

from textcritic.corpora.articles import read_articles
from textcritic.corpora.extract import extract_corpus
from textcritic.corpora.readers.conll import conll_documents
from textcritic.critics.mentions.job import chain_options
from textcritic.errors import TextcriticError
from textcritic.latents.resolvers.chains import chains_of
from textcritic.latents.resolvers.conll import resolved_of
from textcritic.latents.resolvers.given import NOTHING, GivenResolver
from textcritic.latents.resolvers.language import FOLDER
from textcritic.latents.resolvers.mention import Unresolved, text_of
from textcritic.latents.resolvers.resolve import resolver_of
from textcritic.plan.entries import Corpus, Mentions, read_entry

TEXT = "Anna saw the man in\nblack. She left 👩‍🚀 him.\n\nHe (Zoe\u0308’s friend) smiled."


def lines(tmp_path, *values, name="m.jsonl"):
    path = tmp_path / name
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


def mention(start, end, entity=0, **more):
    return {"start": start, "end": end, "entity": entity, **more}


def resolve(path, text=TEXT, identifier="a"):
    [resolved] = GivenResolver([path]).resolve([(identifier, text)])
    return resolved


def shown(resolved):
    return [
        (resolved.text[m.start : m.end], resolved.text[m.head_start : m.head_end], m.entity, m.sentence)
        for m in resolved.mentions
    ]


def test_lines_of_json(tmp_path):
    friend = TEXT.index("Zoe")
    given = [
        mention(27, 30, "anna"),
        mention(0, 4, "anna", person=True),
        mention(9, 25, -7),
        mention(36, 39, 1_000_000, person=False),
        mention(friend, friend + 13, -7, head=[friend + 7, friend + 13], sentence=2),
    ]
    resolved = resolve(lines(tmp_path, {"id": "a", "mentions": given}))
    assert shown(resolved) == [
        ("Anna", "Anna", 0, 0),
        ("the man in\nblack", "man", 1, 0),
        ("She", "She", 0, 1),
        ("👩‍🚀", "👩‍🚀", 2, 1),
        ("Zoe\u0308’s friend", "friend", 1, 2),
    ]
    assert [m.person for m in resolved.mentions] == [True, None, None, False, None]


def test_given_sentences_take_the_place_of_found_ones(tmp_path):
    row = {"id": 12, "sentences": [[0, 26], [27, 39]], "mentions": [mention(27, 30)]}
    resolved = resolve(lines(tmp_path, row), identifier="12")
    assert resolved.sentences == ((0, 26), (27, 39))
    assert shown(resolved) == [("She", "She", 0, 1)]


COLUMNS = """#begin document (a); part 000
a 0 0 Anna (-1)
a 0 1 saw -
a 0 2 the (x|(y
a 0 3 man -
a 0 4 in -
a 0 5 black x)
a 0 6 . -

a 0 0 She (-1)
a 0 1 left -
a 0 2 👩‍🚀 y)
a 0 3 him (x)
a 0 4 . -

a 0 0 He (x)
a 0 1 -LRB- -
a 0 2 Zoe\u0308 (3
a 0 3 's -
a 0 4 friend 3)
a 0 5 -RRB- -
a 0 6 smiled -
a 0 7 . -

#end document
"""


def test_columns_are_laid_on_the_text_whatever_its_spaces_and_signs(tmp_path):
    path = tmp_path / "a.conll"
    path.write_text(COLUMNS)
    assert shown(resolve(path)) == [
        ("Anna", "Anna", 0, 0),
        ("the man in\nblack. She left 👩‍🚀", "man", 1, 0),
        ("the man in\nblack", "man", 2, 0),
        ("She", "She", 0, 1),
        ("him", "him", 2, 1),
        ("He", "He", 2, 2),
        ("Zoe\u0308’s friend", "friend", 3, 2),
    ]


def test_articles_that_no_file_has_are_counted_and_those_without_mentions_are_resolved(tmp_path):
    resolver = GivenResolver([lines(tmp_path, {"id": "a", "mentions": []})])
    first, second = resolver.resolve([("a", "Rain."), ("b", "Anna.")])
    assert (first.mentions, first.sentences) == ((), ((0, 5),))
    assert second == Unresolved("b", NOTHING)


def test_another_language_is_that_of_the_pronouns_and_of_the_heads(tmp_path):
    """German, as the file of English with three other words: `der` ends the head that stands before it."""
    words = yaml.safe_load((FOLDER / "en.yaml").read_text(encoding="utf-8"))
    words["pronouns"] = {"er": words["pronouns"]["he"]}
    words["head_ends"] = "der"
    (tmp_path / "german.yaml").write_text(yaml.safe_dump(words))
    text = "Der Mann der Gans lief. Er he."
    file = lines(tmp_path, {"id": "a", "mentions": [mention(4, 17), mention(24, 26), mention(27, 29)]})
    entry = {"kind": "given", "files": [str(file)], "language": str(tmp_path / "german.yaml")}
    resolver = read_entry(entry, "resolvers", "the test")
    [resolved] = resolver_of(resolver).resolve([("a", text)])
    assert [head for _, head, *_ in shown(resolved)] == ["Mann", "Er", "he"]
    chains = chains_of([resolved], chain_options(Mentions(kind="mentions", resolver="given"), resolver)).chains
    assert [chains.symbols[code] for code in chains.codes] == [".", "MALE", ".", "Er", "MALE"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("a 0 3 him (x)", "a 0 3 her (x)", r"a\.conll:13: word 'her' of document 'a' is not in .* at character 40"),
        ("a 0 7 . -\n", "", r"a\.conll:22: 'smiled' is the last word of document 'a', but .* goes on with '\.'"),
        ("a 0 7 . -", "a 0 7 . -\na 0 8 x -", r"a\.conll:24: word 'x' .* which has ''"),
    ],
)
def test_columns_of_another_text(tmp_path, old, new, message):
    path = tmp_path / "a.conll"
    path.write_text(COLUMNS.replace(old, new))
    with pytest.raises(TextcriticError, match=message):
        resolve(path)


MARK = TEXT.index("\u0308")


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([], "a list; it should be an object"),
        ({"mentions": []}, "`id` is null"),
        ({"id": "a"}, "`mentions` is null"),
        ({"id": "a", "mentions": [[0, 4]]}, "mention 1: a list"),
        ({"id": "a", "mentions": [mention(0.0, 4)]}, "`start` is 0.0; it should be a whole number"),
        ({"id": "a", "mentions": [mention(0, True)]}, "`end` is True"),
        ({"id": "a", "mentions": [{"start": 0, "end": 4}]}, "`entity` is null"),
        ({"id": "a", "mentions": [mention(0, 4, [1])]}, "`entity` is a list"),
        ({"id": "a", "mentions": [mention(0, 4, head=[0])]}, "`head` is a list; it should be a pair"),
        ({"id": "a", "mentions": [mention(0, 4, sentence=-1)]}, "`sentence` is -1"),
        ({"id": "a", "mentions": [mention(0, 4, person="yes")]}, "`person` is 'yes'; it should be true or false"),
        ({"id": "a", "mentions": [], "sentences": [[0]]}, "`sentences` should be a list of pairs"),
        ({"id": "a", "mentions": [mention(0, 4, head=[2, 7])]}, "head 2 to 7 is not within the mention, 0 to 4"),
        ({"id": "a", "mentions": [mention(0, 4, sentence=9)]}, "sentence 9; the article has 3"),
        ({"id": "a", "mentions": [mention(0, 1000)]}, "characters 0 to 1000; a span has"),
        ({"id": "a", "mentions": [mention(4, 0)]}, "characters 4 to 0; a span has"),
        ({"id": "a", "mentions": [mention(-2, 4)]}, "characters -2 to 4"),
        ({"id": "a", "mentions": [mention(4, 5)]}, "are white space"),
        ({"id": "a", "mentions": [mention(MARK - 3, MARK)]}, f"character {MARK} is inside"),
        ({"id": "a", "mentions": [mention(36, 37)]}, "character 37 is inside"),
        ({"id": "a", "mentions": [mention(38, 39)]}, "character 38 is inside"),
        ({"id": "a", "mentions": [], "sentences": [[5, 9], [0, 4]]}, "sentence 2: begins at 0, before"),
    ],
)
def test_bad_lines_are_one_line_with_file_and_line(tmp_path, value, message):
    path = lines(tmp_path, {"id": "other", "mentions": []}, value)
    with pytest.raises(TextcriticError, match=rf"m\.jsonl:2.*{message}") as error:
        resolve(path)
    assert "\n" not in str(error.value)


def test_an_id_twice_and_an_empty_file(tmp_path):
    path = lines(tmp_path, {"id": "a", "mentions": []})
    (tmp_path / "a.conll").write_text(COLUMNS)
    with pytest.raises(TextcriticError, match=r"m\.jsonl:1: id 'a' is in .*a\.conll:1 too"):
        GivenResolver([path, tmp_path / "a.conll"])
    with pytest.raises(TextcriticError, match="there is no line in it"):
        GivenResolver([lines(tmp_path, name="none.jsonl")])


def test_a_corpus_of_columns_and_the_mentions_of_the_same_file_fit(tmp_path):
    path, out = tmp_path / "a.conll", tmp_path / "articles.parquet"
    path.write_text(COLUMNS + COLUMNS.replace("(a)", "(b)"))
    corpus = Corpus.read({"extractor": "conll", "options": {"paths": [str(path)]}}, "test")
    extract_corpus(corpus, [path], out, tmp_path / "report.json")
    articles = read_articles(out)
    resolved = list(GivenResolver([path]).resolve((article.id, text_of(article)) for article in articles))
    assert resolved == [resolved_of(document) for document in conll_documents([path])]
    assert [(article.id, article.source) for article in articles] == [("a", "a.conll"), ("b", "a.conll")]
    assert len(resolved[1].mentions) == 7
