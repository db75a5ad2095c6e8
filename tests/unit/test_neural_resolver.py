"""The resolver of kind `neural` on tiny checkpoints in the published format, and on broken ones."""

import json
import pickle
import shutil
from pathlib import Path

import local_hub as local
import pyarrow as pa
import pytest
import torch
from local_hub import REVISION, local_hub
from safetensors.torch import save_file
from tiny_coreference import DOCUMENTS

from textcritic.corpora import Article, Section, write_articles
from textcritic.errors import TextcriticError
from textcritic.files import write_table
from textcritic.latents.resolvers import Mention, Resolved, Unresolved, iter_mentions, text_of
from textcritic.latents.resolvers.neural import NeuralResolver, _in_words
from textcritic.latents.resolvers.neural_model import PieceMaker, load_coreference
from textcritic.latents.resolvers.resolve import ResolvedFiles, resolve_articles
from textcritic.latents.resolvers.text import split_words
from textcritic.plan.entries import HubModel, Neural
from textcritic.plan.entries.resolvers import Opening
from textcritic.rehearsal.coreference import LONGEST, save_checkpoint

ARCHITECTURES = ("f-coref", "lingmess")
LONG = " ".join(DOCUMENTS[3])
EMOJI = "Anna \U0001f469\u200d\U0001f680 met Bob. \U0001f600 She gave him Zoe\u0308's book.\n\nHe thanked her\u2026"
TEXTS = [
    ("plain", " ".join(DOCUMENTS[0])),
    ("empty", ""),
    ("white", " \n\n \t "),
    (
        "emoji",
        "Anna \U0001f469\u200d\U0001f680 met Bob. \U0001f600 She gave him Zoe\u0308's book.\n\nHe thanked her\u2026",
    ),
    ("long", LONG),
    ("two", f"{LONG}\n\n{LONG} She saw him.\n\nThey met."),
]


@pytest.fixture(scope="module", params=ARCHITECTURES)
def checkpoint(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("checkpoint") / request.param
    save_checkpoint(folder, request.param)
    return folder, request.param


def resolver(checkpoint, batch_tokens=10_000, precision="fp32"):
    folder, architecture = checkpoint
    return NeuralResolver(folder, architecture, batch_tokens, precision)


def test_documents_of_all_sorts(checkpoint):
    """Empty ones, white space, emoji and combining marks, several segments; LingMess rejects what is too long."""
    results = list(resolver(checkpoint).resolve(iter(TEXTS)))
    assert [result.id for result in results] == [name for name, _ in TEXTS]
    for (name, text), result in zip(TEXTS, results, strict=True):
        if isinstance(result, Unresolved):
            assert checkpoint[1] == "lingmess"
            assert name in ("long", "two")
            assert result.why.endswith(f" word pieces; the model reads {LONGEST}")
            continue
        assert result.text == text
        assert_sound(result)
    entities = [{m.entity for m in result.mentions} for result in results if isinstance(result, Resolved)]
    assert max(map(len, entities)) >= 3
    assert entities[1] == entities[2] == set()
    assert isinstance(results[-1], Resolved) == (checkpoint[1] == "f-coref")


def assert_sound(result: Resolved) -> None:
    text, mentions = result.text, result.mentions
    assert [(m.start, -m.end) for m in mentions] == sorted((m.start, -m.end) for m in mentions)
    assert list(dict.fromkeys(m.entity for m in mentions)) == list(range(len({m.entity for m in mentions})))
    assert len({(m.start, m.end) for m in mentions}) == len(mentions)
    for mention in mentions:
        assert sum(other.entity == mention.entity for other in mentions) > 1
        assert 0 <= mention.start <= mention.head_start < mention.head_end <= mention.end <= len(text)
        first, last = result.sentences[mention.sentence]
        assert first <= mention.head_start < mention.head_end <= last
        assert text[mention.start : mention.end].strip() == text[mention.start : mention.end]


def test_a_checkpoint_that_was_fetched_from_a_hub(checkpoint, tmp_path, monkeypatch):
    """The files that the downloader takes are those that the resolver needs."""
    files = {path.name: path.read_bytes() for path in checkpoint[0].iterdir()}
    entry = HubModel(repository="some/model", revision=REVISION, format="pytorch")
    with local_hub(files | {"README.md": b"# A model"}, tmp_path / "home", monkeypatch):
        assert local.fetch("download.download_model", "m", entry, tmp_path / "m") == ""
    fetched = resolver((tmp_path / "m", checkpoint[1]))
    assert list(fetched.resolve(TEXTS[:4])) == list(resolver(checkpoint).resolve(TEXTS[:4]))


def test_the_job_writes_what_the_resolver_gives(checkpoint, tmp_path):
    """One article opens otherwise than is asked for; one was rejected before."""
    articles = [Article(name, "", (Section("story", f"{name} {text}"),), "test") for name, text in TEXTS]
    write_articles(tmp_path / "articles.parquet", articles)
    write_table(tmp_path / "rejected.parquet", pa.table({"id": ["before"], "why": ["no text"]}))
    files = ResolvedFiles(
        tmp_path / "articles.parquet", tmp_path / "mentions.parquet", tmp_path / "rejected.parquet", checkpoint[0]
    )
    opening = Opening(matches="(?!emoji)")
    entry = Neural(kind="neural", architecture=checkpoint[1], model="m", batch_tokens=300, opening=opening)
    resolve_articles(files, entry)
    rows = {row["id"]: row for batch in iter_mentions(files.mentions) for row in batch.to_pylist()}
    assert list(rows) == [*(name for name, _ in TEXTS), "before"]
    expected = resolver(checkpoint).resolve((article.id, text_of(article)) for article in articles)
    for result in expected:
        row = rows.pop(result.id)
        if result.id == "emoji":
            assert row["why"] == "the opening does not match"
        elif isinstance(result, Unresolved):
            assert (row["rejected"], row["why"]) == (True, result.why)
        else:
            names = Mention.__slots__
            found = [Mention(**{name: mention[name] for name in names}) for mention in row["mentions"]]
            assert tuple(found) == result.mentions
    assert rows["before"]["why"] == "no text"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU that torch sees")
def test_a_gpu_gives_what_the_cpu_gives(checkpoint, monkeypatch):
    there = list(resolver(checkpoint).resolve(TEXTS))
    monkeypatch.setattr("textcritic.latents.resolvers.neural.device", lambda: torch.device("cpu"))
    assert there == list(resolver(checkpoint).resolve(TEXTS))


@pytest.mark.parametrize("window", [1, 4])
def test_batches_change_nothing(checkpoint, monkeypatch, window):
    whole = list(resolver(checkpoint).resolve(TEXTS))
    monkeypatch.setattr("textcritic.latents.resolvers.neural.WINDOW", window)
    monkeypatch.setattr("textcritic.latents.resolvers.neural_model.SEGMENTS", 3)
    for size in (1, 150, 400):
        assert list(resolver(checkpoint, size).resolve(TEXTS)) == whole


def test_documents_are_read_as_they_are_asked_for(checkpoint, monkeypatch):
    monkeypatch.setattr("textcritic.latents.resolvers.neural.WINDOW", 2)
    taken = []
    stream = resolver(checkpoint).resolve(taken.append(pair) or pair for pair in TEXTS)
    next(stream)
    assert len(taken) == 2


def test_weights_in_safetensors_form_are_the_same(checkpoint, tmp_path):
    folder = tmp_path / "safe"
    shutil.copytree(checkpoint[0], folder)
    (folder / "pytorch_model.bin").unlink()
    weights = torch.load(checkpoint[0] / "pytorch_model.bin", weights_only=True)
    save_file(weights, folder / "model.safetensors")
    texts = TEXTS[:4]
    assert list(resolver((folder, checkpoint[1])).resolve(texts)) == list(resolver(checkpoint).resolve(texts))


def test_bf16_on_the_encoder_alone(checkpoint):
    """Another rounding: other entities perhaps, sound ones still."""
    made = resolver(checkpoint, precision="bf16")
    encoded, scored = [], []
    made.model.encoder.encoder.layer[0].intermediate.dense.register_forward_hook(lambda *a: encoded.append(a[2].dtype))
    made.model.heads.start_mention_mlp.dense.register_forward_hook(lambda *a: scored.append(a[2].dtype))
    for result in made.resolve(TEXTS[:4]):
        assert_sound(result)
    assert set(encoded) == {torch.bfloat16}
    assert set(scored) == {torch.float32}


def test_people_are_known_by_a_name_a_noun_or_a_pronoun(checkpoint):
    made = resolver(checkpoint)
    words, kept, text = _words(made, "Anna saw the ship. The ship was hers. She liked it.")
    # Anna - hers - She; the ship - The ship - it; two verbs.
    clusters = [[(0, 0), (8, 8), (10, 10)], [(2, 3), (5, 6), (12, 12)], [(1, 1), (11, 11)]]
    result = made._resolved("one", words, kept, clusters)
    persons = {text[m.start : m.end]: m.person for m in result.mentions}
    assert persons == {
        **dict.fromkeys(["Anna", "hers", "She"], True),
        **dict.fromkeys(["the ship", "The ship", "it", "saw", "liked"]),
    }
    heads = {text[m.start : m.end]: text[m.head_start : m.head_end] for m in result.mentions}
    assert heads["the ship"] == "ship"
    assert [m.sentence for m in result.mentions] == [0, 0, 0, 1, 1, 2, 2, 2]


def _words(made, text):
    words = split_words(text, made.language)
    return words, list(range(len(words.words))), text


def test_spans_of_pieces_as_spans_of_words(tmp_path):
    """Marks are no words; a part of a word stands for the whole; the same words are one mention."""
    save_checkpoint(tmp_path, "f-coref")
    pieces = PieceMaker(tmp_path, 10_000).cut([["zzz", "he", "qqq"]])[0]
    words = pieces.words.tolist()
    assert words[0] == words[-1] == -1
    assert words.count(0) > 1 < words.count(2)
    first, he, last = words.index(0), words.index(1), words.index(2)
    end = len(words) - 1
    assert _in_words(pieces, [[(first, first), (first, first + 1), (he, he)]]) == [[(0, 0), (1, 1)]]
    assert _in_words(pieces, [[(0, first), (he, he)], [(last, end), (last, last)]]) == []
    both = [[(first, first), (he, he)], [(first + 1, first + 1), (last, last)], [(first, last), (he, last)]]
    assert _in_words(pieces, both) == [[(0, 0), (1, 1)], [(0, 2), (1, 2)]]


class Full(torch.nn.Module):
    """A model on a GPU whose memory has room for so many word pieces."""

    longest = None

    def __init__(self, room: int) -> None:
        super().__init__()
        self.room, self.read = room, []

    def clusters(self, documents, precision):
        size = len(documents) * max(len(document.ids) for document in documents)
        if size > self.room:
            raise torch.OutOfMemoryError("CUDA out of memory")
        self.read.append(len(documents))
        return [[] for _ in documents]


def test_out_of_memory_means_smaller_batches(tmp_path):
    save_checkpoint(tmp_path, "f-coref")
    made = NeuralResolver(tmp_path, "f-coref", 100_000, "fp32")
    texts = [(str(number), "He saw her .") for number in range(8)]
    size = len(made.pieces.cut([["He", "saw", "her", "."]])[0].ids)
    made.model = Full(room=3 * size)
    assert [result.id for result in made.resolve(texts)] == [name for name, _ in texts]
    assert made.model.read == [2, 2, 2, 2]
    assert made.batch_tokens == 2 * size
    made.model = Full(room=size - 1)
    with pytest.raises(TextcriticError, match=f"too small for a document of {size} word pieces; use a larger GPU"):
        list(made.resolve(texts))


def spoil_weights(folder, change):
    weights = torch.load(folder / "pytorch_model.bin", weights_only=True)
    change(weights)
    torch.save(weights, folder / "pytorch_model.bin")


def rewrite(path: Path, **changes) -> None:
    found = json.loads(path.read_text()) | changes
    path.write_text(json.dumps({key: value for key, value in found.items() if value is not None}))


class Code:
    def __reduce__(self):
        return (print, ("this must not be printed",))


FAULTS = {
    "no-folder": (shutil.rmtree, "has no config.json"),
    "no-weights": (lambda f: (f / "pytorch_model.bin").unlink(), "has neither model.safetensors nor pytorch_model.bin"),
    "missing": (
        lambda f: spoil_weights(f, lambda w: w.pop("start_mention_mlp.dense.weight")),
        "1 weights are missing, the first is start_mention_mlp.dense.weight",
    ),
    "missing-in-encoder": (
        lambda f: spoil_weights(f, lambda w: [w.pop(n) for n in list(w) if "layer.1.output" in n]),
        "4 weights are missing, the first is roberta.encoder.layer.1.output.LayerNorm.bias",
    ),
    "shape": (
        lambda f: spoil_weights(f, lambda w: w.update({"mention_end_classifier.weight": torch.zeros(1, 3)})),
        "1 weights have other shapes than config.json says, the first is mention_end_classifier.weight",
    ),
    "extra": (
        lambda f: spoil_weights(f, lambda w: w.update(more=torch.zeros(1))),
        "1 weights have no place in the model, the first is more",
    ),
    "cut": (
        lambda f: (f / "pytorch_model.bin").write_bytes((f / "pytorch_model.bin").read_bytes()[:5000]),
        "not a whole file of weights",
    ),
    "code": (lambda f: torch.save({"more": Code()}, f / "pytorch_model.bin"), "or more than weights"),
    "pickle": (lambda f: (f / "pytorch_model.bin").write_bytes(pickle.dumps(Code(), 2)), "or more than weights"),
    "no-table": (lambda f: torch.save([torch.zeros(1)], f / "pytorch_model.bin"), "holds no table of weights"),
    "kind": (
        lambda f: rewrite(f / "config.json", architectures=["RobertaForMaskedLM"]),
        "holds a RobertaForMaskedLM on a roberta, not f-coref",
    ),
    "no-head": (lambda f: rewrite(f / "config.json", coref_head=None), "holds a FastCorefModel on a roberta, not"),
    "head-keys": (
        lambda f: rewrite(f / "config.json", coref_head={"ffnn_size": 20}),
        "no f-coref can be built from it",
    ),
    "config": (lambda f: (f / "config.json").write_text("{"), "config.json"),
    "no-tokenizer": (lambda f: (f / "tokenizer.json").unlink(), "tokenizer.json: no such file"),
    "tokenizer": (lambda f: (f / "tokenizer.json").write_text("{}"), "tokenizer.json: not a tokenizer"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_checkpoint_is_refused_in_one_line(fault, tmp_path, capsys):
    folder = tmp_path / "model"
    save_checkpoint(folder, "f-coref")
    spoil, line = FAULTS[fault]
    spoil(folder)
    with pytest.raises(TextcriticError) as refused:
        resolver((folder, "f-coref"))
    assert line in str(refused.value)
    assert str(folder) in str(refused.value)
    assert "\n" not in str(refused.value)
    assert "printed" not in capsys.readouterr().out


def test_the_other_architecture_is_refused(tmp_path):
    save_checkpoint(tmp_path, "lingmess")
    with pytest.raises(TextcriticError, match=r"holds a LingMessCoref on a longformer, not f-coref \(FastCorefModel"):
        load_coreference(tmp_path, "f-coref")


def test_a_tokenizer_with_more_tokens_than_the_model_embeds(tmp_path):
    save_checkpoint(tmp_path, "f-coref")
    with pytest.raises(TextcriticError, match=r"tokenizer.json: has 300 tokens, the model embeds 299"):
        PieceMaker(tmp_path, 299)


def test_random_numbers_of_the_caller_go_on_as_if_nothing_was_loaded(checkpoint):
    torch.manual_seed(1)
    wanted = torch.rand(3)
    torch.manual_seed(1)
    load_coreference(*checkpoint)
    assert torch.equal(torch.rand(3), wanted)
