"""Texts in the logs of lm-evaluation-harness, which it wrote itself (tests/data/README.md), and of vLLM's batches."""

import json
from pathlib import Path

import pytest

from textcritic.api.documents import documents_of
from textcritic.cli import main
from textcritic.corpora import given_articles
from textcritic.corpora.readers.generations import sections_of
from textcritic.corpora.readers.records import records
from textcritic.errors import TextcriticError

LOGS = Path(__file__).parents[1] / "data/lm_eval"
RECIPE = "# Pancakes\n\nFor two.\n\n## Ingredients\n\nflour\n\n### Sauce\n\nhoney\n\n## Steps ##\nstir"


def choice(text, ends="stop", **more):
    """A choice of /v1/chat/completions."""
    return {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": ends, **more}


def line(name, *choices, error=None, status=200):
    """A line as `vllm run-batch` writes it: classes BatchRequestOutput and BatchResponseData of its run_batch.py."""
    body = (
        {"id": "chatcmpl-1", "object": "chat.completion", "model": "m", "choices": list(choices)} if choices else None
    )
    response = {"status_code": status, "request_id": "vllm-batch-1", "body": body}
    return {"id": f"vllm-{name}", "custom_id": name, "response": response, "error": error}


def batch(path, *lines):
    path.write_text("".join(json.dumps(one) + "\n" for one in lines), encoding="utf-8")
    return path


def test_each_answer_of_a_log_is_an_article_with_its_headings_as_titles(capsys):
    articles = list(given_articles(LOGS / "samples_recipes.jsonl"))
    logged = [json.loads(row) for row in (LOGS / "samples_recipes.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [article.id for article in articles] == [str(number) for number in range(40)]
    assert len({article.group for article in articles}) == 40  # each prompt has one answer
    assert [(part.title, part.text) for part in articles[0].sections] == [
        ("Summary", "of the that north friends in."),
        ("Ingredients", "salt sugar one milk flour flour flour."),
        ("Steps", "stir stir bake until cool cool."),
    ]
    for article, row in zip(articles, logged, strict=True):
        assert len(article.sections) == row["resps"][0][0].count("\n## ")
    assert capsys.readouterr().err == ""  # keys of a log are known


def test_a_log_is_texts_where_texts_are_wanted():
    texts = [
        part for parts in documents_of(LOGS / "samples_recipes.jsonl", "samples", "texts").texts() for part in parts
    ]
    assert len(texts) == 40
    assert texts[0].startswith("## Summary\nof the that north friends in.\n## Ingredients\n")


def test_answers_to_one_prompt_belong_together_and_filters_repeat_nothing():
    articles = list(given_articles(LOGS / "samples_again.jsonl"))
    assert [article.id for article in articles] == [f"{doc}-{part}" for doc in range(4) for part in (1, 2, 3)]
    groups = [article.group for article in articles]
    assert [group.split()[0] for group in groups] == [str(doc) for doc in range(4) for _ in range(3)]
    others = [article.group for article in given_articles(LOGS / "samples_recipes.jsonl")]
    assert list(dict.fromkeys(groups)) == others[:4]  # the same prompts
    assert len({tuple(article.sections) for article in articles}) == 12


def test_a_log_of_likelihoods_is_refused(capsys):
    with pytest.raises(TextcriticError, match=r"samples_choice\.jsonl:1: `resps` holds no texts.*generate_until"):
        list(given_articles(LOGS / "samples_choice.jsonl"))


def test_a_batch_of_vllm(tmp_path, capsys):
    plain = {"index": 0, "text": "title: some text", "finish_reason": "stop"}
    path = batch(
        tmp_path / "batch.jsonl",
        line("a", choice(RECIPE)),
        line("b", choice("One.\n\nTwo."), choice("Three.", index=1)),
        line("c", plain),
        line("d", choice("It has not", "length")),
        line("e", error={"message": "no"}),
        line("f", status=400),
        line("g", choice(None)),
    )
    articles = list(given_articles(path))
    assert [(article.id, article.group, article.title) for article in articles] == [
        ("a", None, "Pancakes"),
        ("b-1", "b", None),
        ("b-2", "b", None),
        ("c", None, None),
    ]
    assert [[(part.title, part.text) for part in article.sections] for article in articles] == [
        [(None, "For two."), ("Ingredients", "flour\nSauce\nhoney"), ("Steps", "stir")],
        [(None, "One."), (None, "Two.")],
        [(None, "Three.")],
        [("title", "some text")],
    ]
    left_out = "cut off at the token limit 1, request failed 2, without text 1"
    assert capsys.readouterr().err == f"{path}: answers left out: {left_out}\n"


@pytest.mark.parametrize(
    ("text", "title", "sections"),
    [
        ("", None, []),
        ("## A\nx\n\n## B\ny", None, [("A", "x"), ("B", "y")]),
        ("Sure!\n\n## A\nx", None, [(None, "Sure!"), ("A", "x")]),
        ("# Only\nx", None, [("Only", "x")]),
        ("# A\nx\n# B\ny\n## b\nz", None, [("A", "x"), ("B", "y\nb\nz")]),
        ("## A\n```sh\n# no heading\n```\nx", None, [("A", "```sh\n# no heading\n```\nx")]),
        ("## A\n\n## B\ny<|endoftext|>", None, [("A", ""), ("B", "y")]),
        ("#hashtag", None, [(None, "#hashtag")]),
        ("plot: a\n\nend: b: c", None, [("plot", "a"), ("end", "b: c")]),
        ("plot: a\n\nno title here", None, [(None, "plot: a"), (None, "no title here")]),
        (
            "What he said then and there, to all of them: no",
            None,
            [(None, "What he said then and there, to all of them: no")],
        ),
    ],
)
def test_sections_of_what_a_model_wrote(text, title, sections):
    assert sections_of(text) == (title, sections)


def test_a_batch_of_embeddings_is_refused(tmp_path):
    body = {"status_code": 200, "body": {"object": "list", "data": []}}
    path = batch(tmp_path / "batch.jsonl", {"custom_id": "a", "response": body, "error": None})
    with pytest.raises(
        TextcriticError, match=r"batch\.jsonl:1: `response\.body\.choices` is null; it should be a list"
    ):
        list(given_articles(path))


def test_lines_of_one_s_own_with_such_a_key_are_left_alone(tmp_path):
    path = batch(tmp_path / "own.jsonl", {"doc_id": 1, "text": "x"}, {"custom_id": "a", "text": "y"})
    assert [record.value["text"] for record in records(path, ["text"], ["text"])] == ["x", "y"]


def test_the_command_reads_a_log(capsys):
    """Real text and a log: here the recipes of the model against others of its own."""
    files = [str(LOGS / f"samples_{name}.jsonl") for name in ("recipes", "again")]
    assert main(["tendencies", *files, "--resamples", "99", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samples"]["samples_again.jsonl"]["documents"] == 12
