"""Models from a hub on this machine, with the real client: listing, downloading, verifying, going offline."""

import json

import local_hub as local
import pytest
import torch
from local_hub import REVISION, local_hub
from transformers import GPT2Config, GPT2LMHeadModel

from textcritic.plan.entries import HubModel

ENTRY = HubModel(repository="some/model", revision=REVISION)


@pytest.fixture
def hub(tmp_path, monkeypatch):
    with local_hub(dict(published(tmp_path / "published")), tmp_path / "hf-home", monkeypatch) as served:
        yield served


def published(folder):
    """A tiny GPT-2 in two shards, as its authors might have published it, with files that nobody needs."""
    torch.manual_seed(1)
    config = GPT2Config(vocab_size=50, n_positions=16, n_embd=8, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0)
    GPT2LMHeadModel(config).save_pretrained(folder, max_shard_size="6KB")
    for path in sorted(folder.iterdir()):
        yield path.name, path.read_bytes()
    yield "vocab.txt", b"a\nb\n"
    yield "README.md", b"# A model"
    yield "modeling_own.py", b"raise SystemExit"
    yield "pytorch_model.bin", b"the same in another form"
    yield "onnx/config.json", b"{}"
    yield "model.fp16.safetensors", b"the same at half precision"


def fetch(out_dir, **changes):
    """Run `download_model` on the entry with changes; the error line."""
    return local.fetch("download.download_model", "m", ENTRY.changed(**changes), out_dir)


def test_a_sharded_model_comes_whole_and_loads_offline(hub, tmp_path):
    target = tmp_path / "raw/hub/m"
    assert fetch(target) == ""
    shards = sorted(name for name in hub.files if name.startswith("model-"))
    assert len(shards) > 1
    wanted = {"config.json", "generation_config.json", "model.safetensors.index.json", "vocab.txt", *shards}
    assert {path.name for path in target.iterdir()} == wanted
    assert all((target / name).read_bytes() == hub.files[name] for name in wanted)
    assert [path.name for path in target.parent.iterdir()] == ["m"]
    loaded = GPT2LMHeadModel.from_pretrained(target, local_files_only=True)
    torch.manual_seed(1)
    assert torch.equal(loaded.transformer.wte.weight, GPT2LMHeadModel(loaded.config).transformer.wte.weight)


def test_code_of_the_model_comes_only_where_the_entry_allows_it(hub, tmp_path):
    assert fetch(tmp_path / "m", weights=False, custom_code=True) == ""
    assert (tmp_path / "m/modeling_own.py").read_bytes() == b"raise SystemExit"
    mark = tmp_path / "m.custom_code"
    assert json.loads(mark.read_text()) == {"repository": "some/model", "revision": REVISION}
    hub.spoilt["vocab.txt"] = b"?"
    assert fetch(tmp_path / "m", weights=False) != ""
    assert not mark.exists()  # an entry that no longer allows it says so before anything else


def test_the_tokenizer_alone(hub, tmp_path):
    assert fetch(tmp_path / "m", weights=False) == ""
    assert not [path for path in (tmp_path / "m").iterdir() if path.suffix in (".safetensors", ".py")]
    assert (tmp_path / "m/vocab.txt").is_file()


@pytest.mark.parametrize("name", ["config.json", "model-00001-of-00002.safetensors"])
def test_a_file_that_differs_from_the_commit_is_refused_and_fetched_again(hub, tmp_path, name):
    name = name if name in hub.files else min(n for n in hub.files if n.startswith("model-"))
    hub.spoilt[name] = hub.files[name][:-1] + b"?"
    line = fetch(tmp_path / "m")
    assert line == f"some/model: {name}: differs from the file of commit {REVISION}; rerun to fetch it again"
    assert not (tmp_path / "m").exists()
    hub.spoilt.clear()
    hub.asked.clear()
    assert fetch(tmp_path / "m") == ""
    assert (tmp_path / "m" / name).read_bytes() == hub.files[name]
    again = [path for path in hub.asked if "resolve" in path and not path.endswith(name)]
    assert not any(path.endswith(".safetensors") for path in again)


def test_what_an_attempt_at_another_commit_left_is_no_part_of_this_one(hub, tmp_path):
    (tmp_path / ".m.partial").mkdir()
    (tmp_path / ".m.partial/merges.txt").write_text("of another commit")
    (tmp_path / ".m.partial/config.json").write_text("{}")
    assert fetch(tmp_path / "m") == ""
    assert not (tmp_path / "m/merges.txt").exists()
    assert (tmp_path / "m/config.json").read_bytes() == hub.files["config.json"]


def test_weights_that_a_repository_has_in_the_form_of_pytorch_alone(hub, tmp_path):
    assert fetch(tmp_path / "m", format="pytorch") == ""
    assert {path.name for path in (tmp_path / "m").iterdir() if path.suffix in (".bin", ".safetensors")} == {
        "pytorch_model.bin"
    }
    del hub.files["pytorch_model.bin"]
    line = fetch(tmp_path / "n", format="pytorch")
    assert f"commit {REVISION} has no pytorch_model.bin (it has model-00001" in line


def test_weights_in_another_form_only(hub, tmp_path):
    for name in [name for name in hub.files if name.startswith("model-")]:
        del hub.files[name]
    line = fetch(tmp_path / "m")
    assert f"commit {REVISION} has no model.safetensors (it has model.fp16.safetensors, pytorch_model.bin)" in line
    assert line.endswith("give its folder as init.folder")
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("partial", [False, True])
def test_without_a_network_one_line_says_what_to_do_by_hand(tmp_path, monkeypatch, partial):
    """Also where an attempt that was killed has left files: they do not pass for the whole."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")  # the port that refuses
    monkeypatch.setenv("HF_HOME", str(tmp_path / "hf-home"))
    if partial:
        (tmp_path / ".m.partial").mkdir()
        (tmp_path / ".m.partial/config.json").write_text("{}")
    line = fetch(tmp_path / "m")
    assert line.startswith("some/model: cannot be downloaded (")
    where = f"of https://huggingface.co/some/model/tree/{REVISION} into {tmp_path / 'm'} by hand and rerun"
    assert line.endswith(f"put config.json, the tokenizer's files and *.safetensors {where}")
    assert "\n" not in line
    assert not (tmp_path / "m").exists()


def test_no_such_commit(hub, tmp_path):
    line = fetch(tmp_path / "m", revision="6" * 40)
    assert line.startswith("some/model: cannot be downloaded (")
    assert "\n" not in line
