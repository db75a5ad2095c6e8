"""Readers of linked texts, of graphs and of foreign pickles; made-up linked texts."""

import gzip
import json
from collections import Counter

import pytest

from textcritic.corpora.structured.links import (
    EARLIER_PIECE,
    EMPTY,
    NOT_MENTIONED,
    OVERLAP,
    REFLEXIVE,
    TOO_LONG,
    Knowledge,
    read_links,
    write_knowledge,
)
from textcritic.corpora.structured.texts import Edge, Mention, Structured
from textcritic.corpora.synthetic.links import draw_linked_texts, made_up_facts
from textcritic.errors import TextcriticError

TOKENS = ["@@START@@", "Kawhi", "Leonard", "to", "join", "L.A.", "Clippers", ".", "He", "left", "."]


def annotation(entity, start, end, *edges):
    relations = [relation for relation, _ in edges] or ["@@NEW@@"]
    parents = [parent for _, parent in edges] or [entity]
    return {"source": "WIKI", "id": entity, "relation": relations, "parent_id": parents, "span": [start, end]}


def written(folder, annotations, tokens=TOKENS, name="test.jsonl"):
    path = folder / name
    line = json.dumps({"title": "News", "tokens": tokens, "annotations": annotations}) + "\n"
    with gzip.open(path, "wt") if name.endswith(".gz") else path.open("w") as handle:
        handle.write(line)
    return path


GOOD = [
    annotation("Q1", 1, 3),
    annotation("Q2", 5, 7, ("P54", "Q1"), ("R:P1", "Q1")),
    annotation("Q1", 8, 9, (REFLEXIVE, "Q1"), ("R:P54", "Q2")),
]


def test_null_annotations_are_none_and_anything_else_is_refused(tmp_path):
    (text,) = read_links(written(tmp_path, None), Counter())
    assert (text.tokens, text.mentions) == (tuple(TOKENS[1:]), ())
    says = r"test\.jsonl:1: `annotations` is a string; it should be a list of objects, or null"
    with pytest.raises(TextcriticError, match=says):
        list(read_links(written(tmp_path, "x"), Counter()))


@pytest.mark.parametrize("name", ["test.jsonl", "test.jsonl.gz"])
def test_mentions_and_edges_are_read(tmp_path, name):
    skipped = Counter()
    (text,) = read_links(written(tmp_path, GOOD, name=name), skipped)
    assert text.tokens == tuple(TOKENS[1:])
    assert text.mentions == (
        Mention(0, 2, "Q1"),
        Mention(4, 6, "Q2", (Edge("Q1", "P54"), Edge("Q1", "R:P1"))),
        Mention(7, 8, "Q1", (Edge("Q1", REFLEXIVE), Edge("Q2", "R:P54"))),
    )
    assert text.group == "1: News"
    assert not +skipped


def test_what_cannot_be_used_is_counted_by_its_reason(tmp_path):
    annotations = [
        annotation("Q1", 1, 3),
        annotation("Q2", 2, 4),
        annotation("Q3", 5, 5),
        annotation("Q4", 6, 7, ("P1", "Q2"), ("P1", "Q1")),
    ]
    skipped = Counter()
    (text,) = read_links(written(tmp_path, annotations), skipped)
    assert [mention.entity for mention in text.mentions] == ["Q1", "Q4"]
    assert text.mentions[1].edges == (Edge("Q1", "P1"),)
    assert +skipped == {OVERLAP: 1, EMPTY: 1, NOT_MENTIONED: 1}


def test_pieces_cut_no_mention_and_edges_stay_within_them(tmp_path):
    skipped = Counter()
    texts = list(read_links(written(tmp_path, GOOD), skipped, longest=5))
    assert [len(text.tokens) for text in texts] == [4, 5, 1]
    assert sum((text.tokens for text in texts), ()) == tuple(TOKENS[1:])
    # Q1 is not mentioned in the second piece before Q2, and then follows from Q2 only.
    assert texts[1].mentions == (Mention(0, 2, "Q2"), Mention(3, 4, "Q1", (Edge("Q2", "R:P54"),)))
    assert +skipped == {EARLIER_PIECE: 3}
    assert {text.group for text in texts} == {"1: News"}
    assert len({text.id for text in texts}) == 3


def test_pieces_have_at_least_one_token(tmp_path):
    with pytest.raises(TextcriticError, match="at least 1"):
        list(read_links(written(tmp_path, GOOD), Counter(), longest=0))


def test_a_mention_longer_than_a_piece_is_left_out_and_counted(tmp_path):
    skipped = Counter()
    texts = list(read_links(written(tmp_path, GOOD), skipped, longest=1))
    assert [len(text.tokens) for text in texts] == [1] * 10
    assert skipped[TOO_LONG] == 2


def test_null_annotations_are_none_and_a_null_title_is_empty(tmp_path):
    path = tmp_path / "null.jsonl"
    path.write_text(json.dumps({"title": None, "tokens": TOKENS, "annotations": None}))
    (text,) = read_links(path, Counter())
    assert (text.tokens, text.mentions, text.group) == (tuple(TOKENS[1:]), (), "1: ")


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"title": "a", "tokens": TOKENS, "annotations": 3}, "`annotations` is a number; it should be a list"),
        ({"title": "a", "tokens": TOKENS, "annotations": "none"}, "`annotations` is a string"),
        ({"title": "a", "tokens": TOKENS, "annotations": [None]}, "an annotation should have id"),
        *(
            ({"title": "a", "tokens": TOKENS, "annotations": [{**GOOD[0], "parent_id": value}]}, "an annotation should")
            for value in (None, [None], "Q")
        ),
        ({"title": "a", "tokens": None, "annotations": None}, "`tokens` should be a list"),
        *(
            ({"title": "a", "tokens": TOKENS, "annotations": [{**GOOD[0], key: value}]}, "an annotation should have id")
            for key, values in {"id": [None], "span": [None, [1, None]], "relation": [None, [None]]}.items()
            for value in values
        ),
        ([1], "title, tokens and annotations"),
        ({"title": "a", "tokens": "b c", "annotations": []}, "tokens"),
        ({"title": "a", "tokens": TOKENS, "annotations": [annotation("Q1", 9, 12)]}, "9 to 12; there are 11"),
        ({"title": "a", "tokens": TOKENS, "annotations": [{"id": "Q1", "span": [1, 2]}]}, "parent_id"),
        (
            {"title": "a", "tokens": TOKENS, "annotations": [{**GOOD[0], "relation": []}]},
            "as many parent_id as relation",
        ),
    ],
)
def test_a_line_that_is_not_as_published_is_named(tmp_path, record, said):
    path = tmp_path / "bad.jsonl"
    path.write_text(json.dumps({"title": "News", "tokens": TOKENS, "annotations": GOOD}) + "\n" + json.dumps(record))
    with pytest.raises(TextcriticError, match=said) as error:
        list(read_links(path, Counter()))
    assert f"{path}:2" in str(error.value)
    assert "\n" not in str(error.value)


def test_a_graph_is_made_of_texts_and_read_back(tmp_path):
    texts = list(read_links(written(tmp_path, GOOD), Counter()))
    knowledge = write_knowledge(texts, tmp_path / "knowledge")
    assert knowledge == Knowledge.read(tmp_path / "knowledge")
    assert knowledge.edges == {"Q1": (("P54", "Q2"), ("R:P1", "Q2")), "Q2": (("R:P54", "Q1"),)}
    assert knowledge.aliases["Q1"] == (("He",), ("Kawhi", "Leonard"))
    assert knowledge.relations == (REFLEXIVE, "P54", "R:P1", "R:P54")


def test_the_commonest_four_short_names_are_aliases(tmp_path):
    names = [("a",), ("b",), ("b",), ("c",), ("c",), ("d", "e"), ("d", "e"), ("f",), ("f",), tuple("longername")]
    tokens = sum(names, ())
    ends = [sum(map(len, names[: n + 1])) for n in range(len(names))]
    mentions = tuple(Mention(end - len(name), end, "Q") for name, end in zip(names, ends, strict=True))
    knowledge = write_knowledge([Structured("t", tokens, mentions=mentions)], tmp_path)
    assert knowledge.aliases == {"Q": (("b",), ("c",), ("d", "e"), ("f",))}


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("aliases.json", {"A": [["x"], []]}, "entity A has an alias of zero tokens"),
        ("aliases.json", {"A": ["x"]}, "list of aliases"),
        ("aliases.json", {}, "no entities"),
        ("graph.json", {"A": [["r", "B"]]}, "entity B is not in aliases.json"),
        ("graph.json", {"A": [["r"]]}, "pairs"),
        ("graph.json", [], "pairs"),
    ],
)
def test_a_graph_that_is_not_possible_is_named(tmp_path, file, content, said):
    (tmp_path / "graph.json").write_text("{}")
    (tmp_path / "aliases.json").write_text(json.dumps({"A": [["x"]]}))
    (tmp_path / file).write_text(json.dumps(content))
    with pytest.raises(TextcriticError, match=said) as error:
        Knowledge.read(tmp_path)
    assert file in str(error.value)


def test_no_graph_is_made_of_texts_without_mentions(tmp_path):
    with pytest.raises(TextcriticError, match="without mentions"):
        write_knowledge([Structured("t", ("a",))], tmp_path / "knowledge")


def test_made_up_texts_follow_the_made_up_graph():
    facts = {(fact.subject, fact.relation, fact.object) for fact in made_up_facts()}
    texts = draw_linked_texts(200, 1)
    assert texts == draw_linked_texts(200, 1)
    assert texts != draw_linked_texts(200, 2)
    related = again = parallel = 0
    for text in texts:
        assert 10 <= len(text.tokens) <= 60
        before: set[str] = set()
        for mention in text.mentions:
            name = " ".join(text.tokens[mention.start : mention.end])
            assert mention.entity == name or (mention.entity.endswith(name) and mention.entity in before)
            for edge in mention.edges:
                assert edge.parent in before
                if edge.relation == REFLEXIVE:
                    assert edge.parent == mention.entity
                    again += 1
                else:
                    assert (edge.parent, edge.relation, mention.entity) in facts
                    related += 1
            parents = [edge.parent for edge in mention.edges]
            parallel += len(set(parents)) < len(parents)
            before.add(mention.entity)
    assert min(related, again) > 200
    assert parallel


def test_no_made_up_texts_are_an_error():
    with pytest.raises(TextcriticError, match="at least 1"):
        draw_linked_texts(0, 1)
