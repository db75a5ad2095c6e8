"""What people export: characters, packed files, tables of text, folders, answers of programs, and keys of one's own."""

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import unicodedata
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import textcritic
from textcritic.api.documents import documents_of
from textcritic.cli import main
from textcritic.corpora.extract import extract_corpus
from textcritic.corpora.readers import packed
from textcritic.corpora.readers.answers import sections_of
from textcritic.corpora.readers.reading import Reading
from textcritic.errors import TextcriticError
from textcritic.files import read_json
from textcritic.plan.entries import Corpus

ROWS = ["a b", 'one "two", three', "first line\nsecond line", "café “naïve”"]


def texts(given, **reading):
    return [parts[0] for parts in documents_of(given, "given", "texts", Reading(**reading)).texts()]


def lines(path, *values):
    path.write_text("".join(json.dumps(value) + "\n" for value in values))
    return path


# Characters


def test_letters_of_two_code_points_are_those_of_one_from_every_door(tmp_path, capsys):
    known = "the café of a naïve résumé was said to be near the old sea wall by all who came there"
    apart = unicodedata.normalize("NFD", known).replace("naïve", "na\u00adïve").replace("sea", "se\u200ba")
    train = [f"{known} number {number}" for number in range(30)]
    copies = [unicodedata.normalize("NFD", text).replace("sea", "se\u200ba") for text in train]
    result = textcritic.recitation(["other words " * 10] * 20, {"copies": copies}, train=train, resamples=20)
    assert result.samples["copies"]["recited"]["value"] == 1.0
    assert "copies" not in capsys.readouterr().out
    (tmp_path / "a.txt").write_text(f"{apart}\n")
    for given in (
        [apart],
        pd.DataFrame({"text": [apart]}),
        tmp_path / "a.txt",
        lines(tmp_path / "a.jsonl", {"text": apart}),
    ):
        assert texts(given) == [known]
    assert "1 texts, titles or mentions put into Unicode's form NFC" in capsys.readouterr().err


def test_curly_and_straight_quotes_are_one_where_text_is_looked_up_alone():
    plain = "it's what she said: \"we don't know\" when all of them were asked about it twice"
    curly = plain.replace("'", "’").replace(' "', " “").replace('" ', "” ")
    result = textcritic.recitation(
        [f"other words {n} " * 10 for n in range(20)], [curly] * 20, train=[plain], resamples=20
    )
    assert result.samples["samples"]["recited"]["value"] == 1.0
    assert texts([curly]) == [curly]


@pytest.mark.parametrize("value", ['{"text": "a \\ud835 b"}', '{"sections": [{"title": "\\udc00", "text": "a"}]}'])
def test_a_document_with_half_a_character_is_left_out_and_counted(tmp_path, capsys, value):
    (tmp_path / "a.jsonl").write_text(f'{value}\n{{"text": "whole"}}\n')
    assert texts(tmp_path / "a.jsonl") == ["whole"]
    assert "documents left out: half a character, such as \\ud83d 1" in capsys.readouterr().err
    assert texts(["a \ud835 b", "whole"]) == ["whole"]
    textcritic.compare_tendencies(["a b c d"] * 20 + ["\ud835"], ["a b"] * 20 + ["\ud835"], resamples=19)


def test_chains_with_half_a_character_and_titles_in_another_spelling():
    chains = [["Introduction", "method  ", "méthode"], ["introduction", "Method", "me\u0301thode"]] * 15
    result = textcritic.chains(chains, [*chains, ["a", "\ud835"]], resamples=20)
    assert (result.n, result.scores[-1].rejected) == (30, 0)
    near = textcritic.chains(chains, [*chains, ["Introduction", "metod"]], resamples=20)
    assert near.scores[-1].rejected == 1
    assert "test: 1 document rejected for the title 'metod'; known is 'method  '" in near.warnings


def test_characters_of_a_corpus_stay_unless_it_says_so(tmp_path):
    path = lines(
        tmp_path / "a.jsonl",
        {"sections": [{"title": "e\u0301", "text": "se\u00ada"}]},
        {"sections": [{"text": "\ud835"}]},
    )
    entry, found = {"extractor": "jsonl", "options": {"paths": [str(path)]}}, {}
    for way in ("none", "unicode"):
        out = tmp_path / f"{way}.parquet"
        corpus = Corpus.read({**entry, "normalise": way}, "test")
        extract_corpus(corpus, [path], out, out.with_suffix(".json"))
        report = read_json(out.with_suffix(".json"))
        (section,) = pa.parquet.read_table(out)["sections"].to_pylist()[0]
        found[way] = section["title"], section["text"], report.get("changed"), list(report["skipped"].values())
    assert found["none"] == ("e\u0301", "se\u00ada", None, [1])
    changed = {
        "{} texts, titles or mentions put into Unicode's form NFC": 1,
        "{} invisible characters removed, such as soft hyphens": 1,
    }
    assert found["unicode"] == ("é", "sea", changed, [1])


# Files


def as_csv(separator=",", **columns):
    text = io.StringIO()
    writer = csv.writer(text, delimiter=separator)
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    return text.getvalue()


@pytest.mark.parametrize(("name", "separator"), [("t.csv", ","), ("t.tsv", "\t"), ("t.csv", ";"), ("T.CSV", ",")])
def test_a_table_of_text_has_the_rows_of_the_json_lines(tmp_path, name, separator):
    path = tmp_path / name
    path.write_text("\ufeff" + as_csv(separator, id=range(4), text=ROWS), newline="")
    assert texts(path) == ROWS


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("id,txt\n1,a\n", "no column `text` or `sections`; its columns are id, txt; `txt` is near"),
        ("id,text\n1,a,b\n", ":2: 3 cells, but the first row has 2"),
        ('id,text\n1,"a\n', "t.csv:2: unexpected end of data"),
        ("text,text\na,b\n", ":1: two columns are called `text`"),
        ("", "no column `text` or `sections`; its columns are none"),
        (",".join(f"c{n}" for n in range(10_000)) + "\n", "c11 and 9,988 more"),
        ('text\n"' + "a" * 100, "t.csv:2: field larger than field limit (50)"),
    ],
)
def test_bad_tables_of_text_are_one_line(tmp_path, monkeypatch, content, says):
    (tmp_path / "t.csv").write_text(content)
    limit = csv.field_size_limit(50) if "a" * 100 in content else None
    with pytest.raises(TextcriticError) as error:
        texts(tmp_path / "t.csv")
    if limit:
        csv.field_size_limit(limit)
    assert says in str(error.value)
    assert "\n" not in str(error.value)


def zstd_of(data, folder):
    with pa.CompressedOutputStream(str(folder / "z"), "zstd") as stream:
        stream.write(data)
    return (folder / "z").read_bytes()


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.jsonl.zst"])
@pytest.mark.parametrize("kind", ["gzip", "bz2", "lzma", "zstd", "plain"])
def test_a_packed_file_is_known_by_its_first_bytes(tmp_path, kind, name):
    data = "".join(json.dumps({"text": f"{row} {number}"}) + "\n" for number in range(2000) for row in ROWS).encode()
    pack = {"gzip": gzip.compress, "bz2": bz2.compress, "lzma": lzma.compress, "plain": bytes}
    packed_data = zstd_of(data, tmp_path) if kind == "zstd" else pack[kind](data)
    (tmp_path / name).write_bytes(packed_data)
    found = texts(tmp_path / name)
    assert len(found) == 8000
    assert found[-1] == "café “naïve” 1999"
    if kind != "plain":
        (tmp_path / name).write_bytes(packed_data[: len(packed_data) // 2])
        with pytest.raises(TextcriticError, match=r"data end early or are broken; fetch the file again$"):
            texts(tmp_path / name)


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
def test_a_bomb_is_one_line(tmp_path, pack):
    (tmp_path / "a.txt").write_bytes(pack(b"a" * (80 << 20)))
    with pytest.raises(TextcriticError, match=r"a\.txt:1: longer than 64 MiB"):
        texts(tmp_path / "a.txt")


@pytest.mark.parametrize("first", packed.OTHERS)
def test_what_is_no_text_is_called_by_its_name(tmp_path, first):
    (tmp_path / "a.txt").write_bytes(first + b"\0" * 600)
    with pytest.raises(TextcriticError, match=r"a\.txt: "):
        texts(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_bytes(gzip.compress(gzip.compress(b"a")))
    with pytest.raises(TextcriticError, match=r"packed twice, by gzip and gzip; unpack it once"):
        texts(tmp_path / "a.txt")


def test_pages_folders_and_arrays(tmp_path):
    (tmp_path / "a.md").write_text("# Title\n\nOne.\n\nTwo.\n")
    assert texts(tmp_path / "a.md") == ["# Title\nOne.\nTwo."]
    for kind, contents in {
        "md": ["one\n\ntwo", "three"],
        "txt": ["one\ntwo", "three"],
        "jsonl": ['{"text": "one"}\n{"text": "two"}', '{"text": "three"}'],
    }.items():
        (tmp_path / kind).mkdir()
        for number, content in enumerate(contents):
            (tmp_path / kind / f"part-{number}.{kind}").write_text(content)
        assert texts(tmp_path / kind) == (["one\ntwo", "three"] if kind == "md" else ["one", "two", "three"])
    (tmp_path / "txt/x.md").write_text("x")
    with pytest.raises(TextcriticError, match=r"several formats \(2 of \.txt, 1 of \.md\); keep those of one in it"):
        texts(tmp_path / "txt")
    for layout in (None, 2):
        (tmp_path / "a.json").write_text(json.dumps([{"text": "one"}, {"text": "two"}], indent=layout))
        assert texts(tmp_path / "a.json") == ["one", "two"]
    (tmp_path / "a.json").write_text('[{"text": "one"},\n{"text"')
    with pytest.raises(TextcriticError, match=r"a\.json:2: not JSON .*; write JSON lines, or one array of objects"):
        texts(tmp_path / "a.json")


def test_a_key_that_stands_twice_is_refused(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"text": "a"}\n{"text": "a", "sections": [{"text": "x", "text": "y"}]}\n')
    with pytest.raises(TextcriticError, match=r"a\.jsonl:2: the key 'text' occurs twice"):
        texts(tmp_path / "a.jsonl")
    (tmp_path / "a.jsonl").write_text(json.dumps({"text": 'she wrote {"a": 1}'}) + "\n")
    assert texts(tmp_path / "a.jsonl") == ['she wrote {"a": 1}']


def test_keys_of_one_s_own(tmp_path):
    rows = [{"content": "a", "name": "n1", "heading": "H"}, {"content": "b", "name": "n2", "heading": "I"}]
    table = tmp_path / "t.csv"
    table.write_text(as_csv(content=["a", "b"], name=["n1", "n2"], heading=["H", "I"]))
    reading = Reading(text_key="content", title_key="heading", id_key="name")
    for given in (lines(tmp_path / "t.jsonl", *rows), table, rows, pd.DataFrame(rows)):
        articles = list(documents_of(given, "given", "texts", reading).as_articles())
        assert [(one.id, one.title, one.sections[0].text) for one in articles] == [("n1", "H", "a"), ("n2", "I", "b")]
    sections = [{"sections": [{"heading": "T", "content": "a"}], "name": "x"}]
    (article,) = documents_of(lines(tmp_path / "s.jsonl", *sections), "given", "articles", reading).articles()
    assert (article.id, article.sections[0].title, article.sections[0].text) == ("x", "T", "a")
    with pytest.raises(TextcriticError, match=r"t\.jsonl:1: there is no `contents`, but there is `content`"):
        texts(tmp_path / "t.jsonl", text_key="contents")
    with pytest.raises(TextcriticError, match=r"there is `name`, which is asked for as the key of the id"):
        texts(tmp_path / "t.jsonl", text_key="content", id_key="nmae")


def test_a_name_that_is_not_utf_8_is_a_label(tmp_path, capsys):
    name = tmp_path / os.fsdecode(b"mod\xe9l.jsonl")
    real = lines(tmp_path / "real.jsonl", *({"chain": list("abc")} for _ in range(40)))
    lines(name, *({"chain": list("abc")} for _ in range(25)))
    assert main(["criticise", str(real), str(name), "--output", str(tmp_path / "out")]) == 0
    assert "mod\ufffdl.jsonl" in (tmp_path / "out/table.csv").read_text()


# Answers


def harness(resps, **more):
    return {"doc_id": 0, "resps": resps, "filter": "none", **more}


@pytest.mark.parametrize(
    ("resps", "found", "without"),
    [
        ([["hello"]], ["hello"], 0),
        ([[None]], [], 1),
        ([None], [], 1),
        (None, [], 1),
        ([], [], 1),
        (["hello", "there"], ["hello", "there"], 0),
        ([["one", None]], ["one"], 1),
        ([["```markdown\n## A\n\none.\n```"]], ["## A\none."], 0),
        ([["<think>why\nnot</think>\n\nYes."]], ["Yes."], 0),
        ([["<think>why not"]], ["<think>why not"], 0),
        ([["Yes.<|endoftext|>Another text."]], ["Yes."], 0),
        ([["<|endoftext|>Yes.<|endoftext|>"]], ["Yes."], 0),
    ],
)
def test_answers_in_a_log_of_lm_evaluation_harness(tmp_path, capsys, resps, found, without):
    path = lines(
        tmp_path / "samples_recipes_2026-11-23T10-00-00.1.jsonl", harness(resps), harness([["last"]]) | {"doc_id": 1}
    )
    records = list(documents_of(path, "given", "texts").records())
    assert texts(path) == [*found, "last"]
    assert (f"without text {without}" in capsys.readouterr().err) == bool(without)
    assert (records[-1].value["doc_id"], records[-1].value["task"]) == (1, "recipes")


def test_the_prompt_of_a_log_travels_with_the_answer(tmp_path):
    path = lines(tmp_path / "s.jsonl", harness([["a"]], arguments={"gen_args_0": {"arg_0": "Write.", "arg_1": {}}}))
    (record,) = documents_of(path, "given", "texts").records()
    assert record.value["prompt"] == "Write."


def test_reasoning_is_kept_where_that_is_asked_for(tmp_path, capsys):
    path = lines(tmp_path / "a.jsonl", {"completion": "<think>a</think>b"}, {"completion": "<think>a"})
    assert texts(path) == ["b", "<think>a"]
    said = capsys.readouterr().err
    assert "the text is in `completion`" in said
    assert "cut from 1 answers; 1 answers end inside their reasoning (<think>): cut off" in said
    assert texts(path, keep_reasoning=True) == ["<think>a</think>b", "<think>a"]


CHAT = [{"role": "user", "content": "Write."}, {"role": "assistant", "content": [{"type": "text", "text": "Told."}]}]
INSPECT = {
    "id": 7,
    "epoch": 1,
    "input": "Write.",
    "output": {"choices": [{"message": {"role": "assistant", "content": "Told."}, "stop_reason": "stop"}]},
}


@pytest.mark.parametrize(
    "value",
    [
        {"messages": CHAT},
        {"conversations": CHAT, "output": "Told."},
        {"prompt": "p", "generation": "Told."},
        {"completion": ["Told."]},
        {"output": "Told.", "response": "other"},
        {"custom_id": "r", "response": {"status_code": 200, "body": {"choices": [{"message": "Told."}]}}},
        {
            "custom_id": "r",
            "response": {"body": {"choices": [{"message": {"content": [{"type": "text", "text": "Told."}]}}]}},
        },
        {"id": "c", "object": "chat.completion", "choices": [{"message": {"role": "assistant", "content": "Told."}}]},
        INSPECT,
        {"version": 2, "eval": {"task": "t"}, "samples": [INSPECT]},
    ],
)
def test_where_the_answer_is(tmp_path, value):
    assert texts(lines(tmp_path / "a.jsonl", value)) == ["Told."]
    assert texts([value]) == ["Told."]


def test_the_archive_of_inspect(tmp_path, capsys):
    cut = INSPECT | {"id": 8, "output": {"choices": [{"message": {"content": "To"}, "stop_reason": "max_tokens"}]}}
    with zipfile.ZipFile(tmp_path / "log.eval", "w") as archive:
        archive.writestr("header.json", "{}")
        for sample in (INSPECT, cut, INSPECT | {"id": 9, "error": {"message": "no"}}):
            archive.writestr(f"samples/{sample['id']}_epoch_1.json", json.dumps(sample))
    assert texts(tmp_path / "log.eval") == ["Told."]
    assert "answers left out: cut off at the token limit 1, request failed 1" in capsys.readouterr().err
    with zipfile.ZipFile(tmp_path / "book.xlsx", "w") as archive:
        archive.writestr("xl/workbook.xml", "<x/>")
    with pytest.raises(TextcriticError, match=r"book\.xlsx: a zip archive without samples of Inspect, or a workbook"):
        texts(tmp_path / "book.xlsx")


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("**A:** one.\n\n**B:** two.", [("A", "one."), ("B", "two.")]),
        ("**A**\n\none.\n\n**B**\n\ntwo.", [("A", "one."), ("B", "two.")]),
        ("## **A**\none.\n## B\ntwo.", [("A", "one."), ("B", "two.")]),
        ("1. **A**: one.\n2. **B**: two.", [("A", "one."), ("B", "two.")]),
        ("some **bold** words\n\nand more", [(None, "some **bold** words"), (None, "and more")]),
    ],
)
def test_titles_in_bold(answer, found):
    assert sections_of(answer) == (None, found)


def test_documents_that_are_left_out_take_no_partner_from_a_pair():
    real, other = [f"a b c {n}" for n in range(40)], [f"a b {n}" for n in range(40)]
    with pytest.raises(TextcriticError, match="other texts are left out than of real, so pairs are lost"):
        textcritic.mixing(
            ["\ud835", *real[1:]], [*other[:-1], "\ud835"], paired=True, iterations=20, starts=1, resamples=20
        )


# Writing without spaces


def written(script, lengths, seed):
    draw = np.random.default_rng(seed)
    return ["".join(draw.choice(list(script), length)) + "。" for length in lengths]


SCRIPTS = {
    "Chinese": "的一是不了人我在有他这中大来上国",
    "Japanese": "のはをにがでとたしれさアカサタナ本日",
    "Thai": "กขคงจชดตนบปมยรลวสหอา",
    "Khmer": "កខគងចឆជញដតថទនបផពមយរលវស",
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_third_as_long_is_no_kept_length(script):
    real, third = written(SCRIPTS[script], [60] * 40, 1), written(SCRIPTS[script], [20] * 40, 2)
    result = textcritic.compare_tendencies(real, third, resamples=199)
    verdicts = {one.tendency: one.verdict for one in next(iter(result.verdicts.values()))}
    assert verdicts["length"] == "differs"
    assert "stop" not in verdicts
    assert result.real["tokens"] == 40 * 61
    of_spaces = textcritic.compare_tendencies(real, third, resamples=19, words="spaces", tokenizer="whitespace")
    assert of_spaces.real["tokens"] == 40


def test_a_sample_in_another_writing_is_said(capsys):
    textcritic.compare_tendencies(["a b c d e"] * 20, {"zh": written(SCRIPTS["Chinese"], [30] * 20, 1)}, resamples=19)
    assert (
        "most of its texts are written without spaces between words, and real text has them" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("words", "tokens"),
    [("characters", ["中", "文", "abc", "กั", "ก"]), ("spaces", ["中文abc", "กัก"]), ("shlex:split", ["中文abc", "กัก"])],
)
def test_ways_to_find_words(words, tokens):
    documents = documents_of(["中文abc กัก"], "given", "texts").cut_by(words)
    assert list(documents.tokens()) == [tokens]


def test_words_by_the_unicode_rules():
    (tokens,) = documents_of(["It's 3.5 中文."], "given", "texts").cut_by("unicode").tokens()
    assert tokens == ["It's", "3.5", "中", "文", "."]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("nomodule:cut", "words: nomodule:cut: there is no such function"),
        ("math:sqrt", "words: math:sqrt failed: TypeError"),
        ("builtins:len", "words: builtins:len gives int; it should give a list of strings"),
        ("builtins:str", "words: builtins:str gives str; it should give a list of strings"),
    ],
)
def test_functions_that_find_no_words(words, says):
    with pytest.raises(TextcriticError, match=says):
        list(documents_of(["a b"], "given", "texts").cut_by(words).tokens())
