"""Shards of samples: independent of batching, resumable after a kill, and one clear line for each kind of bad input."""

import json
import multiprocessing
import os
import re
import shutil
import signal
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from tiny_causal import configs
from transformers import (
    AutoModelForCausalLM,
    BloomConfig,
    GPT2Config,
    GPT2LMHeadModel,
    MistralConfig,
)

from textcritic.corpora import Article, Section, write_articles
from textcritic.errors import TextcriticError
from textcritic.generators.article_model import ArticleModel
from textcritic.generators.cache import ArticleCache, fitting_rows, require_support
from textcritic.generators.drawing import draw
from textcritic.generators.sample import (
    Openings,
    Sampling,
    draw_articles,
    on_device,
    sample_articles,
)
from textcritic.generators.shards import Draw, PartialShard, Shard, read_shard, seed_of_draw, write_shard
from textcritic.generators.uniforms import UNIFORMS_AT_ONCE, Uniforms
from textcritic.plan.entries import Decoding
from textcritic.plan.shares import share_of
from textcritic.training.load import decode, load_tokenizer, train_tokenizer

WINDOW = 32
SCHEME = Decoding(max_tokens=60, batch_size=8)


@pytest.fixture(scope="module")
def model_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small GPT-2 with its tokenizer, at random weights, that ends an article now and then."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("generator") / "model"
    train_tokenizer(["the cat sat on the mat. the dog sat on the cat."] * 5, folder, 270)
    tokenizer = load_tokenizer(folder)
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=len(tokenizer), n_positions=WINDOW, n_embd=16, n_layer=2, n_head=2)
    model = AutoModelForCausalLM.from_config(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(std=0.3)
        # A larger norm makes the end token likelier whenever the last layer points its way.
        model.transformer.ln_f.bias += model.transformer.wte.weight[tokenizer.eos_token_id]
    model.save_pretrained(folder)
    return folder


@pytest.fixture
def copy(model_dir: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_dir, tmp_path / "copy"))


@pytest.fixture(scope="module")
def whole(model_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> list[Draw]:
    out = tmp_path_factory.mktemp("whole") / "shard0.parquet"
    sample_articles(model_dir, SCHEME, "single", Shard(7, 0, 40, out))
    return read_shard(out)


def test_a_shard_holds_its_articles_in_order(whole, model_dir):
    assert [drawn.index for drawn in whole] == list(range(40))
    assert {drawn.finish for drawn in whole} == {"end", "length"}
    for drawn in whole:
        assert (drawn.tokens == SCHEME.max_tokens) or drawn.finish == "end"
        assert "<|endoftext|>" not in drawn.text
        if drawn.tokens == 1:
            assert drawn.text == ""


@pytest.mark.parametrize("batch_size", [1, 3, 64])
def test_the_batch_size_does_not_matter(model_dir, whole, tmp_path, batch_size):
    scheme = Decoding(max_tokens=60, batch_size=batch_size)
    sample_articles(model_dir, scheme, "single", Shard(7, 0, 40, tmp_path / "s.parquet"))
    assert read_shard(tmp_path / "s.parquet") == whole


@pytest.mark.parametrize("shards", [2, 5])
def test_the_sharding_does_not_matter(model_dir, whole, tmp_path, shards):
    parts = []
    for shard in range(shards):
        first, count = share_of(40, f"{shard}-of-{shards}")
        sample_articles(model_dir, SCHEME, "single", Shard(7, first, count, tmp_path / f"shard{shard}.parquet"))
        parts += read_shard(tmp_path / f"shard{shard}.parquet")
    assert parts == whole


def test_seed_and_prompt_matter(model_dir, whole, tmp_path):
    for seed, boundary in [(8, "single"), (7, "as_released")]:
        sample_articles(model_dir, SCHEME, boundary, Shard(seed, 0, 40, tmp_path / "s.parquet"))
        assert read_shard(tmp_path / "s.parquet") != whole
        (tmp_path / "s.parquet").unlink()


def test_draws_of_a_training_differ_and_come_again(model_dir, tmp_path):
    """And are not those of another training: the random numbers come from both numbers together."""
    drawn = {}
    for training, number, again in ((1, 2, "a"), (1, 2, "b"), (1, 3, "a"), (2, 1, "a")):
        shard = Shard(seed_of_draw(training, number), 0, 10, tmp_path / f"{training}-{number}-{again}.parquet")
        sample_articles(model_dir, SCHEME, "single", shard)
        drawn[training, number, again] = [one.text for one in read_shard(shard.path)]
    assert drawn[1, 2, "a"] == drawn.pop((1, 2, "b"))
    assert len(set(map(tuple, drawn.values()))) == 3
    seeds = {seed_of_draw(training, number) for training in range(30) for number in range(30)}
    assert len(seeds) == 900
    assert all(0 <= seed < 2**64 for seed in seeds)


def test_an_empty_shard_is_written(model_dir, tmp_path):
    sample_articles(model_dir, SCHEME, "single", Shard(0, 5, 0, tmp_path / "s.parquet"))
    assert read_shard(tmp_path / "s.parquet") == []


@pytest.mark.parametrize("method", [{}, {"method": "beam-sampling", "beam": 3}, {"method": "best-of", "beam": 3}])
def test_a_killed_job_goes_on_after_its_last_finished_article(model_dir, tmp_path, method):
    scheme = Decoding(max_tokens=40 if method else 200, batch_size=2, **method)
    out, undisturbed = tmp_path / "killed.parquet", tmp_path / "undisturbed.parquet"
    partial = Path(f"{out}.partial.jsonl")
    arguments = (model_dir, scheme, "single")
    shard = Shard(3, 0, 40, out)
    job = multiprocessing.get_context("fork").Process(target=sample_articles, args=(*arguments, shard))
    job.start()
    deadline = time.monotonic() + 60
    while not (partial.exists() and partial.read_bytes().count(b"\n") > 8) and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(job.pid, signal.SIGKILL)
    job.join()
    assert not out.exists()
    lines = partial.read_bytes().splitlines(keepends=True)
    assert 8 < len(lines) < 41
    finished = json.loads(lines[1]) | {"text": "kept from the first run"}
    lines[1] = f"{json.dumps(finished)}\n".encode()
    partial.write_bytes(b"".join(lines)[:-5])  # a kill in the middle of a line
    sample_articles(*arguments, shard)
    sample_articles(*arguments, replace(shard, path=undisturbed))
    texts, expected = ({drawn.index: drawn.text for drawn in read_shard(path)} for path in (out, undisturbed))
    assert texts.pop(finished["index"]) == "kept from the first run"
    del expected[finished["index"]]
    assert texts == expected
    assert sorted(path.name for path in tmp_path.iterdir()) == ["killed.parquet", "undisturbed.parquet"]


def test_a_partial_file_of_other_settings_is_discarded(model_dir, whole, tmp_path):
    out = tmp_path / "s.parquet"
    Path(f"{out}.partial.jsonl").write_text('{"seed": 8}\n{"index": 0, "text": "x", "tokens": 1, "finish": "end"}\n')
    sample_articles(model_dir, SCHEME, "single", Shard(7, 0, 40, out))
    assert read_shard(out) == whole


CHANGES = {
    "nothing": {},
    "batch_size": {"scheme": {"batch_size": 3}},
    "threads": {"sampling": {"threads": 1}},
    "temperature": {"scheme": {"temperature": 0.9}},
    "top_k": {"scheme": {"top_k": 200}},
    "top_p": {"scheme": {"top_p": 0.99}},
    "stride": {"scheme": {"stride": 5}},
    "max_tokens": {"scheme": {"max_tokens": 61}},
    "method": {"scheme": {"method": "beam-sampling", "beam": 2}},
    "beam": {"scheme": {"method": "best-of", "beam": 2}},
    "context": {"sampling": {"context": WINDOW - 1}},
    "precision": {"scheme": {"precision": "bf16"}},
    "float32_matmul_precision": {"scheme": {"float32_matmul_precision": "high"}},
    "version": {"sampling": {"version": 2}},
    "openings": {"opening": 2},
    "seed": {"shard": {"seed": 8}},
    "first": {"shard": {"first": 1}},
    "count": {"shard": {"count": 4}},
    "boundary": {"boundary": "as_released"},
    "model": {"model": True},
}


@pytest.mark.parametrize("changed", CHANGES)
def test_a_half_finished_shard_is_taken_up_only_with_the_same_settings(changed, copy, tmp_path, monkeypatch):
    """Every setting but the path, what stands between articles, and the model."""
    shard = Shard(7, 0, 3, tmp_path / "s.parquet")
    with monkeypatch.context() as killed:
        killed.setattr(PartialShard, "complete", lambda partial: None)
        sample_articles(copy, SCHEME, "single", shard)
    partial = Path(f"{shard.path}.partial.jsonl")
    partial.write_text(re.sub('"text": "[^"]*', '"text": "kept from the first run', partial.read_text()))
    change = CHANGES[changed]
    if "model" in change:
        model = AutoModelForCausalLM.from_pretrained(copy)
        with torch.no_grad():
            model.transformer.wpe.weight[0, 0] += 1
        model.save_pretrained(copy)
    sampling = dict(change.get("sampling", {}))
    if "opening" in change:
        real = tmp_path / "real.parquet"
        write_articles(real, [Article("1", None, (Section(None, "the cat sat on the mat and the dog ran"),), "x")])
        sampling["openings"] = Openings(str(real), "wo-title", change["opening"])
    sample_articles(
        copy,
        SCHEME.changed(**change.get("scheme", {})),
        change.get("boundary", "single"),
        replace(shard, **change.get("shard", {})),
        Sampling(**sampling),
    )
    kept = ["kept from the first run" in draw.text for draw in read_shard(shard.path)]
    assert all(kept) if changed in ("nothing", "batch_size", "threads") else not any(kept)


def test_every_setting_is_among_those_changes():
    scheme = [*SCHEME.of_article(), "batch_size", "precision", "float32_matmul_precision"]
    fields = [*scheme, *Sampling.__dataclass_fields__, *Shard.__dataclass_fields__]
    refined = {"iterations"}  # which only models of fairseq are
    assert set(fields) - {"path"} - refined == set(CHANGES) - {"nothing", "boundary", "model"}


def test_in_bf16_the_layers_are_rounded_and_the_logits_are_not(model_dir, tmp_path):
    scheme = SCHEME.changed(precision="bf16")
    sample_articles(model_dir, scheme, "single", Shard(7, 0, 10, tmp_path / "s.parquet"))
    assert len(read_shard(tmp_path / "s.parquet")) == 10
    exact = AutoModelForCausalLM.from_pretrained(model_dir).eval()
    weights = exact.lm_head.weight.detach().clone()
    model = on_device(exact, "bf16")
    assert torch.equal(model.lm_head.weight.cpu(), weights)
    assert model.lm_head.weight.dtype == torch.float32
    assert {weight.dtype for weight in model.transformer.parameters()} == {torch.bfloat16}
    ids = torch.arange(6, device=model.device)[None]
    with torch.no_grad():
        logits, states = model(ids).logits, model.transformer(ids).last_hidden_state
    assert logits.dtype == torch.float32
    assert torch.equal(logits, torch.nn.functional.linear(states.float(), model.lm_head.weight))


def test_contexts_move_back_without_a_change_where_old_and_new_place_overlap():
    cache = ArticleCache(2, 200)
    tokens = torch.randn(2, 3, 200, 4)
    for at in range(200):
        cache.step(min(at, 120))
        keys, values = cache.update(tokens[:, :, at : at + 1], -tokens[:, :, at : at + 1], 0)
        seen = tokens[:, :, at - min(at, 120) : at + 1]
        assert torch.equal(keys, seen)
        assert torch.equal(values, -seen)
        cache.advance()
    assert cache.capacity < 200 + 120  # so it moved, by fewer columns than it holds


def test_gpt_neo_is_sampled_from_its_folder(model_dir, tmp_path):
    tokenizer = load_tokenizer(model_dir)
    config = configs(len(tokenizer), WINDOW)["gpt-neo"]
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path / "neo")
    tokenizer.save_pretrained(tmp_path / "neo")
    sample_articles(tmp_path / "neo", SCHEME, "single", Shard(0, 0, 3, tmp_path / "s.parquet"))
    assert len(read_shard(tmp_path / "s.parquet")) == 3


def test_special_tokens_are_removed_at_the_ends_only(model_dir):
    tokenizer = load_tokenizer(model_dir)
    end = tokenizer.eos_token_id
    cat = tokenizer("cat")["input_ids"][1:-1]
    padding = tokenizer.pad_token_id
    assert decode(tokenizer, [padding, *cat, padding, *cat, end]) == f"cat{tokenizer.pad_token}cat"
    assert decode(tokenizer, [end]) == ""


def test_a_stream_is_one_sequence_however_it_is_read():
    uniforms = Uniforms(5, 3)
    for row, article in enumerate([10, 11, 12]):
        uniforms.assign(row, article)
    rows = np.arange(3)
    read = np.stack([uniforms.next(rows) for _ in range(UNIFORMS_AT_ONCE + 5)])
    expected = np.random.Generator(np.random.Philox(np.random.SeedSequence((5, 11)))).random(UNIFORMS_AT_ONCE + 5)
    np.testing.assert_array_equal(read[:, 1], expected)
    assert len(np.unique(read)) == read.size


def test_a_draw_never_takes_a_token_without_mass():
    logits = torch.tensor([[-torch.inf, 0.0, -torch.inf, 0.0, -torch.inf]]).expand(3, -1)
    assert draw(logits, np.array([0.0, 0.5, 1 - 2**-53]), Decoding()).tolist() == [1, 3, 3]


@pytest.mark.parametrize("stride", [WINDOW, WINDOW + 1])
def test_a_stride_that_drops_the_whole_window(model_dir, tmp_path, stride):
    with pytest.raises(TextcriticError, match=f"stride: {stride} is not possible; give less than .* {WINDOW} tokens"):
        sample_articles(model_dir, Decoding(stride=stride), "single", Shard(0, 0, 1, tmp_path / "s.parquet"))
    assert not (tmp_path / "s.parquet").exists()


def test_beam_sampling_makes_shorter_texts(model_dir, whole, tmp_path):
    shard = Shard(7, 0, 40, tmp_path / "s.parquet")
    sample_articles(model_dir, SCHEME.changed(method="beam-sampling", beam=3), "single", shard)
    drawn = read_shard(shard.path)
    assert [each.index for each in drawn] == list(range(40))
    assert all(each.tokens == SCHEME.max_tokens or each.finish == "end" for each in drawn)
    assert sum(each.tokens for each in drawn) < 0.9 * sum(each.tokens for each in whole)


def test_a_search_is_refused(model_dir, tmp_path):
    with pytest.raises(TextcriticError, match=r"is drawn from; `method: likeliest` is for models of fairseq$"):
        sample_articles(model_dir, Decoding(method="likeliest"), "single", Shard(0, 0, 1, tmp_path / "s.parquet"))
    assert not (tmp_path / "s.parquet").exists()


def test_truncated_weights(copy, tmp_path):
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    with pytest.raises(TextcriticError, match=r"model.safetensors: not a whole safetensors file"):
        sample_articles(copy, SCHEME, "single", Shard(0, 0, 1, tmp_path / "s.parquet"))


def test_a_folder_without_a_tokenizer(copy, tmp_path):
    for path in copy.glob("tokenizer*"):
        path.unlink()
    with pytest.raises(TextcriticError, match=r"copy: holds no tokenizer") as failure:
        sample_articles(copy, SCHEME, "single", Shard(0, 0, 1, tmp_path / "s.parquet"))
    assert "\n" not in str(failure.value)
    assert not (tmp_path / "s.parquet").exists()


@pytest.mark.parametrize(
    ("context", "boundary", "message"),
    [
        (WINDOW + 1, "single", rf"training.context: {WINDOW + 1} is more than the model's positions; .* {WINDOW}$"),
        (3, "as_released", r"a window of 3 tokens does not hold a prompt of 3 and one more$"),
        (1, "single", r"a window of 1 tokens does not hold a prompt of 1 and one more$"),
    ],
)
def test_contexts_that_do_not_fit(model_dir, tmp_path, context, boundary, message):
    with pytest.raises(TextcriticError, match=message):
        sample_articles(model_dir, SCHEME, boundary, Shard(0, 0, 1, tmp_path / "s.parquet"), Sampling(context))
    assert not (tmp_path / "s.parquet").exists()


def test_as_many_rows_as_the_memory_holds():
    row = (1024 + 256) * 100  # the capacity of a window of 1,024, at 100 bytes a token
    assert fitting_rows(64, 1024, 100, 10**9, "m") == 64
    assert fitting_rows(64, 1024, 100, 20 * row, "m") == 12
    with pytest.raises(TextcriticError, match=r"^m: the keys and values of one article take up to .* precision: bf16$"):
        fitting_rows(64, 1024, 100, row, "m")


def test_the_bytes_of_a_token_are_those_of_its_keys_and_values(model_dir):
    model = AutoModelForCausalLM.from_pretrained(model_dir).eval()
    with torch.inference_mode():
        assert require_support(model, "m", WINDOW) == 2 * 2 * 16 * 4  # keys and values, layers, width, float32


def test_a_tokenizer_without_an_end_token(copy, tmp_path):
    config = json.loads((copy / "tokenizer_config.json").read_text())
    for key in ("eos_token", "bos_token"):
        config.pop(key)
    (copy / "tokenizer_config.json").write_text(json.dumps(config))
    with pytest.raises(TextcriticError, match="no eos_token"):
        sample_articles(copy, SCHEME, "single", Shard(0, 0, 1, tmp_path / "s.parquet"))


def test_weights_that_are_not_numbers(copy, tmp_path):
    model = AutoModelForCausalLM.from_pretrained(copy)
    with torch.no_grad():
        model.transformer.ln_f.bias.fill_(torch.nan)
    model.save_pretrained(copy)
    with pytest.raises(TextcriticError, match="logits are not numbers"):
        sample_articles(copy, SCHEME, "single", Shard(0, 0, 1, tmp_path / "s.parquet"))


def test_an_unknown_boundary(model_dir, tmp_path):
    with pytest.raises(TextcriticError, match="boundary 'double' is unknown"):
        sample_articles(model_dir, SCHEME, "double", Shard(0, 0, 1, tmp_path / "s.parquet"))


def test_a_negative_seed(model_dir, tmp_path):
    with pytest.raises(TextcriticError, match="seed: -1 is not possible"):
        sample_articles(model_dir, SCHEME, "single", Shard(-1, 0, 1, tmp_path / "s.parquet"))


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (
            MistralConfig(
                vocab_size=20,
                hidden_size=16,
                intermediate_size=16,
                num_hidden_layers=1,
                num_attention_heads=2,
                num_key_value_heads=1,
                max_position_embeddings=16,
                sliding_window=4,
            ),
            "layers of type sliding_attention",
        ),
        (BloomConfig(vocab_size=20, hidden_size=16, n_layer=1, n_head=2, max_position_embeddings=16), r"\(bloom\)"),
        (
            GPT2Config(vocab_size=20, n_positions=2, n_embd=8, n_layer=1, n_head=2),
            "does not hold a prompt of 3 and one more",
        ),
    ],
)
def test_models_that_cannot_be_sampled_from(config, message):
    model = AutoModelForCausalLM.from_config(config).eval()
    with pytest.raises(TextcriticError, match=message):
        list(draw_articles(ArticleModel(model, [0, 1, 0], 0), Decoding(max_tokens=4), 0, range(2)))


class Deaf(GPT2LMHeadModel):
    """Takes its positions from the cache's length, as some architectures do."""

    def forward(self, *args, position_ids=None, **keys):
        return super().forward(*args, **keys)


def test_a_model_that_counts_positions_itself_is_found_out():
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=20, n_positions=16, n_embd=8, n_layer=1, n_head=2, initializer_range=0.5)
    for kind, fits in ((GPT2LMHeadModel, True), (Deaf, False)):
        model = kind(config).eval()
        with torch.inference_mode(), nullcontext() if fits else pytest.raises(TextcriticError, match="position_ids"):
            require_support(model, "m", 16)


@pytest.mark.parametrize(("sliding", "fits"), [(None, True), (17, True), (16, True), (15, False)])
def test_a_sliding_window_is_no_hindrance_if_it_never_slides(sliding, fits):
    shape = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
    config = MistralConfig(vocab_size=20, num_key_value_heads=1, sliding_window=sliding, **shape)
    model = AutoModelForCausalLM.from_config(config).eval()
    with torch.inference_mode(), nullcontext() if fits else pytest.raises(TextcriticError, match="sliding_attention"):
        require_support(model, "m", 16)


def test_a_file_that_is_no_shard(tmp_path):
    path = tmp_path / "shard0.parquet"
    path.write_bytes(b"PAR1 cut off")
    with pytest.raises(TextcriticError, match="not a whole Parquet file"):
        read_shard(path)
    write_shard(path, [Draw(1, "b", 2, "end"), Draw(0, "a", 2, "length")])
    assert [drawn.index for drawn in read_shard(path)] == [0, 1]
