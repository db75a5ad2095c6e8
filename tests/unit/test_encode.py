import json
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny import TinyEncoding, tiny_articles
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification

from textcritic.corpora import Article, Section, render, write_articles
from textcritic.errors import TextcriticError
from textcritic.generators.encode import document_index, encode_split, load_encoded, prompt_ids
from textcritic.training.load import (
    load_causal,
    load_model,
    load_tokenizer,
    save_hub_tokenizer,
    tokens_of,
    train_tokenizer,
)

SMALL = {"model_type": "gpt2", "n_layer": 1, "n_embd": 16, "n_head": 2, "n_positions": 32}


def encode(tiny: TinyEncoding, folder: Path, articles: list[Article], setting: str, boundary: str) -> tuple:
    write_articles(folder / "a.parquet", articles)
    encode_split(folder / "a.parquet", tiny.tokenizer, setting, boundary, folder / "out")
    return load_encoded(folder / "out")


def documents(tokens: np.ndarray, end: int) -> list[list[int]]:
    """The runs between end-of-text tokens."""
    cuts = np.flatnonzero(tokens == end)
    return [list(map(int, tokens[a + 1 : b])) for a, b in pairwise(cuts)]


@pytest.mark.parametrize("setting", ["w-title", "wo-title"])
def test_decoding_the_single_stream_gives_back_every_rendered_text(tiny_encoding, tmp_path, setting):
    articles = tiny_articles(30, 5)
    tokens, _ = encode(tiny_encoding, tmp_path, articles, setting, "single")
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    assert tokens[0] == tokens[-1] == tokenizer.eos_token_id
    assert tokens.dtype == np.int32
    decoded = [tokenizer.decode(ids) for ids in documents(tokens, tokenizer.eos_token_id)]
    assert decoded == [render(article, setting) for article in articles]


def test_the_released_form_puts_a_line_break_between_two_end_markers(tiny_encoding, tmp_path):
    articles = tiny_articles(3, 5)
    tokens, kinds = encode(tiny_encoding, tmp_path, articles, "w-title", "as_released")
    text = load_tokenizer(tiny_encoding.tokenizer).decode(tokens)
    assert text == "".join(f"<|endoftext|>{render(a, 'w-title')}<|endoftext|>\n" for a in articles)
    assert (kinds[tokens == 0] == 0).all()


@pytest.mark.parametrize("setting", ["w-title", "wo-title"])
def test_kinds_split_the_text_into_titles_bodies_and_separators(tiny_encoding, tmp_path, setting):
    articles = tiny_articles(20, 7)
    tokens, kinds = encode(tiny_encoding, tmp_path, articles, setting, "single")
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    sections = [section for article in articles for section in article.sections]
    # The space after a colon belongs to the title; but when it is part of the body's first token, it goes with that.
    title, body = (tokenizer.decode(tokens[kinds == kind]).replace(" ", "") for kind in (1, 2))
    titles = [f"{section.title}:" for section in sections] if setting == "w-title" else []
    assert title == "".join(titles).replace(" ", "")
    assert body == "".join(section.text for section in sections).replace(" ", "")
    assert tokenizer.decode(tokens[(kinds == 0) & (tokens != 0)]) == "\n\n" * (len(sections) - len(articles))
    assert (tokens == 0).sum() == len(articles) + 1


def test_shuffling_permutes_articles_reproducibly(tiny_encoding, tmp_path):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    streams = []
    for seed in (None, 1, 1, 2):
        encode_split(
            tiny_encoding.articles("train"), tiny_encoding.tokenizer, "w-title", "single", tmp_path / "s", seed
        )
        streams.append(documents(load_encoded(tmp_path / "s")[0], tokenizer.eos_token_id))
    in_order, once, again, other = streams
    assert once == again != in_order
    assert other != once
    assert sorted(once) == sorted(in_order) == sorted(other)
    assert not list(tmp_path.glob(".*"))


def test_an_end_marker_inside_an_article_is_ordinary_text(tiny_encoding, tmp_path):
    article = Article("x", None, (Section("notes", "use <|endoftext|> and [CLS] here"),), "test")
    tokens, _ = encode(tiny_encoding, tmp_path, [article], "w-title", "single")
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    assert (tokens < 4).sum() == 2
    assert tokenizer.decode(tokens[1:-1]) == "notes: use <|endoftext|> and [CLS] here"


@pytest.mark.parametrize("boundary", ["single", "as_released"])
def test_every_token_belongs_to_the_article_that_its_end_closes(tiny_encoding, tmp_path, boundary):
    articles = tiny_articles(9, 3)
    tokens, kinds = encode(tiny_encoding, tmp_path, articles, "w-title", boundary)
    index = document_index(np.array(tokens), np.array(kinds), 0)
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    for number, article in enumerate(articles):
        mine = tokenizer.decode(tokens[index == number])
        assert mine.strip().removeprefix("<|endoftext|>").lstrip("\n").removeprefix("<|endoftext|>") == (
            render(article, "w-title") + "<|endoftext|>"
        )
    assert index.max() == len(articles) - 1


def test_a_prompt_is_what_stands_between_two_articles(tiny_encoding):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    assert tokenizer.decode(prompt_ids(tokenizer, "single")) == "<|endoftext|>"
    assert tokenizer.decode(prompt_ids(tokenizer, "as_released")) == "<|endoftext|>\n<|endoftext|>"
    with pytest.raises(TextcriticError, match="boundary 'double' is unknown; use single or as_released"):
        prompt_ids(tokenizer, "double")


def test_bad_articles_leave_no_half_written_stream(tiny_encoding, tmp_path):
    good, empty = tiny_articles(1, 1)[0], Article("hollow", None, (Section(None, ""),), "test")
    with pytest.raises(TextcriticError, match="article 'hollow': its text is empty"):
        encode(tiny_encoding, tmp_path, [good, empty], "wo-title", "single")
    with pytest.raises(TextcriticError, match="holds no articles"):
        encode(tiny_encoding, tmp_path, [], "wo-title", "single")
    assert [path.name for path in tmp_path.iterdir()] == ["a.parquet"]


def test_a_truncated_stream_is_named(tiny_encoding, tmp_path):
    encode(tiny_encoding, tmp_path, tiny_articles(3, 1), "w-title", "single")
    path = tmp_path / "out.tokens.npy"
    path.write_bytes(path.read_bytes()[:-10])
    with pytest.raises(TextcriticError, match=r"out\.tokens\.npy: not a whole \.npy file"):
        load_encoded(tmp_path / "out")


def test_special_tokens_are_added_only_on_request(tiny_encoding):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    plain = tokenizer("a model", add_special_tokens=False)["input_ids"]
    assert tokenizer("a model")["input_ids"] == [tokenizer.cls_token_id, *plain, tokenizer.sep_token_id]
    assert tokenizer.eos_token == tokenizer.bos_token == "<|endoftext|>"
    assert len({tokenizer.eos_token_id, tokenizer.pad_token_id, tokenizer.cls_token_id, tokenizer.sep_token_id}) == 4


def test_a_vocabulary_smaller_than_the_bytes_is_refused(tmp_path):
    with pytest.raises(TextcriticError, match="vocabulary: 200 is too small; at least 261"):
        train_tokenizer(["text"], tmp_path / "t", 200)


def test_a_saved_models_tokenizer_becomes_an_encoding(tiny_encoding, tmp_path):
    save_hub_tokenizer(tiny_encoding.tokenizer, tmp_path / "copy")
    ours, copy = load_tokenizer(tiny_encoding.tokenizer), load_tokenizer(tmp_path / "copy")
    assert ours("the model, naïve")["input_ids"] == copy("the model, naïve")["input_ids"]


def test_faults_of_folders_are_one_clear_line(tiny_encoding, tmp_path):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    with pytest.raises(TextcriticError, match="nowhere: no such folder"):
        load_tokenizer(tmp_path / "nowhere")
    with pytest.raises(TextcriticError, match="holds no tokenizer that can be read"):
        load_tokenizer(tmp_path)
    with pytest.raises(TextcriticError, match=r"has no config\.json"):
        load_causal({"folder": tmp_path}, tokenizer)
    model = load_causal({"config": SMALL}, tokenizer)
    model.save_pretrained(tmp_path / "m")
    weights = tmp_path / "m" / "model.safetensors"
    whole = weights.read_bytes()
    for damaged in (whole[:-100], whole[:5], b""):
        weights.write_bytes(damaged)
        with pytest.raises(TextcriticError, match=r"model\.safetensors: not a whole safetensors file"):
            load_causal({"folder": tmp_path / "m"}, tokenizer)
    weights.unlink()
    with pytest.raises(TextcriticError, match=r"model\.safetensors: no such file; the folder has no weights"):
        load_causal({"folder": tmp_path / "m"}, tokenizer)


def test_faults_of_configurations_are_one_clear_line(tiny_encoding):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    for config, message in (
        (
            {**SMALL, "n_layers": 2},
            "init.config.n_layers: a gpt2 configuration has no such key; did you mean 'n_layer'",
        ),
        ({**SMALL, "n_head": 3}, "init.config: no gpt2 can be built from it: .*divisible"),
        ({**SMALL, "model_type": "gpt-2"}, "init.config.model_type: 'gpt-2' is not a model type of transformers"),
        ({"n_layer": 1}, "the key 'model_type' is missing"),
    ):
        with pytest.raises(TextcriticError, match=message):
            load_causal({"config": config}, tokenizer)
    with pytest.raises(TextcriticError, match="33 is more than the model's positions; use at most 32"):
        load_causal({"config": SMALL}, tokenizer, context=33)
    with pytest.raises(TextcriticError, match=r"the model embeds 100 tokens, the encoding has \d+"):
        load_causal({"config": {**SMALL, "vocab_size": 100}}, tokenizer)


def test_initial_weights_depend_on_the_seed_alone(tiny_encoding):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    one, same, other = (load_causal({"config": SMALL}, tokenizer, seed=s).state_dict() for s in (3, 3, 4))
    assert all(torch.equal(one[key], same[key]) for key in one)
    assert any(not torch.equal(one[key], other[key]) for key in one)


def test_a_new_model_has_the_numbers_of_its_tokenizer(tiny_encoding):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    config = load_causal({"config": SMALL}, tokenizer).config
    assert config.vocab_size == len(tokenizer)
    for name in ("bos_token_id", "eos_token_id", "pad_token_id"):
        assert getattr(config, name) == getattr(tokenizer, name) is not None


def test_sharded_weights_load_and_a_missing_shard_is_named(tiny_encoding, tmp_path):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    model = load_causal({"config": SMALL}, tokenizer)
    model.save_pretrained(tmp_path / "m", max_shard_size="10KB")
    shards = sorted((tmp_path / "m").glob("model-*.safetensors"))
    assert len(shards) > 1
    again = load_causal({"folder": tmp_path / "m"}, tokenizer)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
    shards[1].unlink()
    with pytest.raises(TextcriticError, match=rf"{shards[1].name}: no such file"):
        load_causal({"folder": tmp_path / "m"}, tokenizer)


def test_absent_weights_are_refused_unless_they_are_a_new_head(tiny_encoding, tmp_path):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    load_causal({"config": SMALL}, tokenizer).save_pretrained(tmp_path / "m")
    classifier = load_model(
        AutoModelForSequenceClassification, {"folder": tmp_path / "m"}, tokenizer, new_head=True, num_labels=5
    )
    assert classifier.score.out_features == 5
    with pytest.raises(TextcriticError, match="holds a GPT2LMHeadModel, which cannot serve as GPT2ForSeq"):
        load_model(AutoModelForSequenceClassification, {"folder": tmp_path / "m"}, tokenizer)
    shutil.copytree(tmp_path / "m", tmp_path / "deeper")
    config = json.loads((tmp_path / "deeper" / "config.json").read_text())
    (tmp_path / "deeper" / "config.json").write_text(json.dumps({**config, "n_layer": 2}))
    with pytest.raises(TextcriticError, match=r"weights are missing, the first is transformer\.h\.1\."):
        load_model(AutoModelForCausalLM, {"folder": tmp_path / "deeper"}, tokenizer)


def test_lengths_in_tokens_are_what_the_stream_holds(tiny_encoding):
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    texts = ["a model", "", "naïve <|endoftext|>"]
    assert [len(tokenizer.tokenize(text)) for text in texts[:2]] == tokens_of(tiny_encoding.tokenizer)(texts)[:2]
    assert tokens_of(tiny_encoding.tokenizer)(texts)[2] > 10
    assert tokens_of(tiny_encoding.tokenizer)([]) == []


def test_weights_in_the_hubs_old_naming_load(tiny_encoding, tmp_path):
    # The published GPT-2 names its weights without the prefix "transformer." and stores its attention masks.
    tokenizer = load_tokenizer(tiny_encoding.tokenizer)
    model = load_causal({"config": SMALL}, tokenizer)
    model.save_pretrained(tmp_path)
    weights = {
        key.removeprefix("transformer."): value for key, value in load_file(tmp_path / "model.safetensors").items()
    }
    save_file({**weights, "h.0.attn.bias": torch.ones(1, 1, 32, 32)}, tmp_path / "model.safetensors", {"format": "pt"})
    again = load_causal({"folder": tmp_path}, tokenizer)
    assert all(torch.equal(a, b) for a, b in zip(model.parameters(), again.parameters(), strict=True))
