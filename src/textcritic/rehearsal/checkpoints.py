"""Tiny models in the form of the large ones on the hub: names of weights, shards, files of tokenizers."""

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save_file
from tokenizers import (
    BertWordPieceTokenizer,
    ByteLevelBPETokenizer,
    Tokenizer,
    models,
    pre_tokenizers,
    processors,
    trainers,
)

from textcritic.training.load import END  # and transformers is offline from here on
from textcritic.values import JsonObject

from transformers import (  # type: ignore[attr-defined]  # isort: skip
    AlbertConfig,
    AlbertForPreTraining,
    BertConfig,
    BertForPreTraining,
    ElectraConfig,
    ElectraForPreTraining,
    GPT2Config,
    GPT2LMHeadModel,
    GPTNeoConfig,
    GPTNeoForCausalLM,
    GPT2TokenizerFast,
    PreTrainedModel,
    RobertaConfig,
    RobertaForMaskedLM,
    XLNetConfig,
    XLNetLMHeadModel,
)

SHARD_BYTES = 30_000
WINDOW, LESSON_STEPS, LESSON_RATE = 32, 300, 1e-2
ENCODER: JsonObject = {
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "initializer_range": 0.1,
}


def tiny_gpt2(folder: Path, texts: Iterable[str], tokenizer_json: bool = False, lessons: Sequence[str] = ()) -> Path:
    """As openai-community/gpt2: no `transformer.` before the names, masks among the weights, no padding token.

    With `lessons` it is trained to write like these texts, otherwise its weights are random.
    """
    size = _bpe(folder, texts, tokenizer_json)
    torch.manual_seed(5)
    shape: JsonObject = {"n_positions": 32, "n_embd": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.2}
    config = GPT2Config(vocab_size=size, bos_token_id=size - 1, eos_token_id=size - 1, **shape)
    model = GPT2LMHeadModel(config)
    _teach(model, folder, lessons)
    weights = {name.removeprefix("transformer."): weight for name, weight in model.state_dict().items()}
    del weights["lm_head.weight"]  # the embeddings, once more
    for layer in range(config.n_layer):
        weights[f"h.{layer}.attn.bias"] = torch.ones(32, 32).tril()[None, None]
    return _save(folder, model, weights, ["GPT2LMHeadModel"])


def tiny_gpt_neo(folder: Path, texts: Iterable[str], lessons: Sequence[str] = ()) -> Path:
    """As EleutherAI/gpt-neo-125m: every other layer sees the last few tokens alone; masks among the weights.

    `lessons` as for `tiny_gpt2`.
    """
    size = _bpe(folder, texts)
    torch.manual_seed(6)
    shape: JsonObject = {"max_position_embeddings": 64, "hidden_size": 32, "num_layers": 2, "num_heads": 2}
    kinds = [[["global", "local"], 1]]
    ends: JsonObject = {"bos_token_id": size - 1, "eos_token_id": size - 1}
    config = GPTNeoConfig(vocab_size=size, attention_types=kinds, window_size=8, **shape, **ends)
    model = GPTNeoForCausalLM(config)
    _teach(model, folder, lessons)
    weights = dict(model.state_dict())
    del weights["lm_head.weight"]
    for layer in range(config.num_layers):
        weights[f"transformer.h.{layer}.attn.attention.bias"] = torch.ones(64, 64).tril()[None, None]
        weights[f"transformer.h.{layer}.attn.attention.masked_bias"] = torch.tensor(-1e9)
    return _save(folder, model, weights, ["GPTNeoForCausalLM"])


def tiny_bert(folder: Path, texts: Iterable[str]) -> Path:
    """As google-bert/bert-base-cased: 512 positions, both heads of pretraining, gamma and beta for norms' weights."""
    size = _word_pieces(folder, texts, lowercase=False)
    torch.manual_seed(7)
    shape: JsonObject = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = BertConfig(vocab_size=size, initializer_range=0.1, **shape)
    model = BertForPreTraining(config)
    old = {"LayerNorm.weight": "LayerNorm.gamma", "LayerNorm.bias": "LayerNorm.beta"}
    weights = {}
    for name, weight in model.state_dict().items():
        end = ".".join(name.split(".")[-2:])
        weights[name.removesuffix(end) + old.get(end, end)] = weight
    del weights["cls.predictions.decoder.weight"], weights["cls.predictions.decoder.bias"]
    return _save(folder, model, weights, ["BertForMaskedLM"])


def _bpe(folder: Path, texts: Iterable[str], tokenizer_json: bool = False) -> int:
    """Write vocab.json and merges.txt, the end of text last, or tokenizer.json; return the number of tokens."""
    tokenizer = ByteLevelBPETokenizer(add_prefix_space=False)
    tokenizer.train_from_iterator(texts, vocab_size=320, show_progress=False)
    folder.mkdir(parents=True)
    tokenizer.save_model(str(folder))
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    _write(folder / "vocab.json", vocabulary | {END: len(vocabulary)})
    _write(folder / "tokenizer_config.json", {"model_max_length": 1024})
    if tokenizer_json:
        GPT2TokenizerFast.from_pretrained(folder).backend_tokenizer.save(str(folder / "tokenizer.json"))
        (folder / "vocab.json").unlink()
        (folder / "merges.txt").unlink()
    return len(vocabulary) + 1


def _teach(model: PreTrainedModel, folder: Path, lessons: Sequence[str]) -> None:
    """Train a model for some CPU-seconds on a stream of texts, the end of text before each."""
    if not lessons:
        return
    tokenizer = GPT2TokenizerFast.from_pretrained(folder)
    stream = torch.tensor(tokenizer.encode("".join(END + text for text in lessons)))
    windows = stream.unfold(0, WINDOW, 1)
    optimizer = torch.optim.AdamW(model.parameters(), lr=LESSON_RATE)
    slower = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.05, LESSON_STEPS)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # several would wait for each other, at tensors as small as these
    model.train()
    for _ in range(LESSON_STEPS):
        batch = windows[torch.randint(len(windows), (32,))]
        loss = model(input_ids=batch, labels=batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        slower.step()
    torch.set_num_threads(threads)
    model.eval()


def _save(folder: Path, model: PreTrainedModel, weights: dict[str, torch.Tensor], architectures: list[str]) -> Path:
    """config.json, and the weights in shards with their index."""
    config = model.config.to_dict() | {"architectures": architectures}
    _write(folder / "config.json", {key: value for key, value in config.items() if key != "transformers_version"})
    shards: list[dict[str, torch.Tensor]] = [{}]
    for name, weight in weights.items():
        if shards[-1] and sum(w.nbytes for w in [*shards[-1].values(), weight]) > SHARD_BYTES:
            shards.append({})
        shards[-1][name] = weight.contiguous().clone()
    names = [f"model-{number:05}-of-{len(shards):05}.safetensors" for number in range(1, len(shards) + 1)]
    for file, shard in zip(names, shards, strict=True):
        save_file(shard, folder / file, metadata={"format": "pt"})
    where = {name: file for file, shard in zip(names, shards, strict=True) for name in shard}
    total = sum(weight.nbytes for weight in weights.values())
    _write(folder / "model.safetensors.index.json", {"metadata": {"total_size": total}, "weight_map": where})
    return folder


def as_pytorch(folder: Path) -> None:
    """Put the weights of a folder into one pytorch_model.bin, in place of the shards."""
    weights: dict[str, torch.Tensor] = {}
    for path in sorted(folder.glob("*.safetensors")):
        weights |= load_file(path)
        path.unlink()
    (folder / "model.safetensors.index.json").unlink()
    torch.save(weights, folder / "pytorch_model.bin")


def _write(path: Path, value: object) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def tiny_electra(folder: Path, texts: Iterable[str]) -> Path:
    """As google/electra-base-discriminator: embeddings narrower than layers, the head that tells replaced words."""
    size = _word_pieces(folder, texts, lowercase=True)
    torch.manual_seed(8)
    config = ElectraConfig(vocab_size=size, embedding_size=16, **ENCODER)
    model = ElectraForPreTraining(config)
    return _save(folder, model, dict(model.state_dict()), ["ElectraForPreTraining"])


def tiny_albert(folder: Path, texts: Iterable[str]) -> Path:
    """As albert/albert-large-v2: layers that share their weights, a sentence-piece tokenizer in tokenizer.json."""
    special = ["<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]"]
    size = _sentence_pieces(folder, texts, special, "[CLS]:0 $A:0 [SEP]:0", "$B:1 [SEP]:1")
    torch.manual_seed(9)
    config = AlbertConfig(vocab_size=size, embedding_size=16, pad_token_id=0, **ENCODER)
    model = AlbertForPreTraining(config)
    weights = dict(model.state_dict())
    for name in ("predictions.decoder.weight", "predictions.decoder.bias"):
        weights.pop(name, None)
    return _save(folder, model, weights, ["AlbertForMaskedLM"])


def tiny_roberta(folder: Path, texts: Iterable[str]) -> Path:
    """As FacebookAI/roberta-base: positions counted from behind the padding, one type of tokens, `</s></s>` between."""
    tokenizer = ByteLevelBPETokenizer(add_prefix_space=False)
    special = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
    tokenizer.train_from_iterator(texts, vocab_size=330, special_tokens=special, show_progress=False)
    folder.mkdir(parents=True)
    tokenizer.save_model(str(folder))
    _write(folder / "tokenizer_config.json", {"model_max_length": 512})
    torch.manual_seed(10)
    size = tokenizer.get_vocab_size()
    positions: JsonObject = {"max_position_embeddings": 98, "type_vocab_size": 1, "pad_token_id": 1}
    model = RobertaForMaskedLM(RobertaConfig(vocab_size=size, bos_token_id=0, eos_token_id=2, **ENCODER | positions))
    weights = dict(model.state_dict())
    del weights["lm_head.decoder.weight"], weights["lm_head.decoder.bias"]
    return _save(folder, model, weights, ["RobertaForMaskedLM"])


def tiny_xlnet(folder: Path, texts: Iterable[str]) -> Path:
    """As xlnet/xlnet-base-cased: padding on the left, and the token of the whole text at the end."""
    special = ["<unk>", "<s>", "</s>", "<cls>", "<sep>", "<pad>", "<mask>", "<eod>", "<eop>"]
    size = _sentence_pieces(folder, texts, special, "$A:0 <sep>:0", "$B:1 <sep>:1", "<cls>:2")
    torch.manual_seed(11)
    config = XLNetConfig(vocab_size=size, d_model=32, n_layer=1, n_head=2, d_inner=64, pad_token_id=5)
    model = XLNetLMHeadModel(config)
    weights = dict(model.state_dict())
    weights.pop("lm_loss.weight", None)
    return _save(folder, model, weights, ["XLNetLMHeadModel"])


def _word_pieces(folder: Path, texts: Iterable[str], lowercase: bool) -> int:
    tokenizer, texts = BertWordPieceTokenizer(lowercase=lowercase), list(texts)
    letters = sorted(set("".join("".join(texts).split())))
    # The trainer would number pieces of one letter at random; so every stand-in is the same.
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *(f"##{x.lower() if lowercase else x}" for x in letters)]
    tokenizer.train_from_iterator(texts, 300, min_frequency=1, special_tokens=special, show_progress=False)
    folder.mkdir(parents=True)
    tokenizer.save_model(str(folder))
    _write(folder / "tokenizer_config.json", {"do_lower_case": lowercase, "model_max_length": 512})
    return int(tokenizer.get_vocab_size())


def _sentence_pieces(
    folder: Path, texts: Iterable[str], special: list[str], first: str, second: str, last: str = ""
) -> int:
    """A unigram tokenizer as tokenizer.json; of texts and pairs of texts, what is put around them. Return its size."""
    cls, sep = (next(token for token in special if name in token.lower()) for name in ("cls", "sep"))
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    trainer = trainers.UnigramTrainer(vocab_size=150, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(texts, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{first} {last}".strip(),
        pair=f"{first} {second} {last}".strip(),
        special_tokens=[(token, tokenizer.token_to_id(token)) for token in (cls, sep)],
    )
    folder.mkdir(parents=True)
    tokenizer.save(str(folder / "tokenizer.json"))
    names = {"cls_token": cls, "sep_token": sep, "unk_token": "<unk>", "pad_token": "<pad>"}
    _write(folder / "tokenizer_config.json", {"model_max_length": 512, **names})
    return int(tokenizer.get_vocab_size())
