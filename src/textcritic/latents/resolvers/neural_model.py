"""Published checkpoints of F-coref and LingMess: read whole or refused, and run on a batch of documents.

The files are those of biu-nlp/f-coref and biu-nlp/lingmess-coref on the Hugging Face hub (MIT licence): config.json
with the key `coref_head`, tokenizer.json, and the weights in model.safetensors or pytorch_model.bin. Only tensors are
read from these, nothing that runs code. The authors' package `fastcoref` is not used: its last release, 2.1.6 of May
2023, loads neither model with transformers 5 (docs/results/coreference.md has what was compared).
"""

import json
import os
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt
import safetensors.torch
import torch
from safetensors import SafetensorError
from tokenizers import Encoding, Tokenizer, pre_tokenizers
from torch import Tensor, nn

from textcritic.errors import TextcriticError, first_line
from textcritic.files import read_json
from textcritic.latents.resolvers.neural_heads import (
    NO_WORD,
    PRONOUNS,
    STOP_WORD,
    STOP_WORDS,
    FCorefHeads,
    Heads,
    LingMessHeads,
    Words,
)

if TYPE_CHECKING:
    from transformers import PretrainedConfig

Cluster = list[tuple[int, int]]
"""(first, last) word piece of each span of an entity."""


class Architecture(NamedTuple):
    """How a checkpoint is recognised: its `model_type`, the names in `architectures`, and its heads."""

    encoder: str
    names: tuple[str, ...]
    heads: type[Heads]


ARCHITECTURES = {
    "f-coref": Architecture("roberta", ("FastCorefModel", "FCorefModel"), FCorefHeads),
    "lingmess": Architecture("longformer", ("LingMessCoref", "LingMessModel"), LingMessHeads),
}
# Saved with the encoder, and not used: the layer for sentences, and position numbers.
NOT_USED = ("pooler.", "embeddings.position_ids")
SEGMENTS = 64  # of long documents, read at once
SAFE, PICKLED = "model.safetensors", "pytorch_model.bin"


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A document as the model reads it.

    Attributes:
        ids: int64 [pieces], word pieces between the marks of the beginning and the end.
        words: int64 [pieces], the index of the word that a piece is a part of, `NO_WORD` for the marks.
        types, pronouns: see `neural_heads.Words`.
    """

    ids: npt.NDArray[np.int64]
    words: npt.NDArray[np.int64]
    types: npt.NDArray[np.int64]
    pronouns: npt.NDArray[np.int64]


class CoreferenceModel(nn.Module):
    """An encoder with the heads of F-coref or LingMess, in evaluation mode.

    Attributes:
        longest: word pieces of the longest document that can be read; None: any.
        segment: word pieces that the encoder reads at once; None: a document whole.
    """

    def __init__(self, config: "PretrainedConfig", architecture: str) -> None:
        super().__init__()
        from transformers import AutoModel

        head = config.coref_head
        self.segment: int | None = int(head["max_segment_len"]) if architecture == "f-coref" else None
        self.longest: int | None = int(head["max_doc_len"]) if architecture == "lingmess" else None
        self.padding = int(config.pad_token_id)
        self.encoder = AutoModel.from_config(config, add_pooling_layer=False, dtype=torch.float32)
        self.heads = ARCHITECTURES[architecture].heads(
            config.hidden_size,
            int(head["ffnn_size"]),
            int(head["max_span_length"]),
            float(head["top_lambda"]),
            config.hidden_act,
            config.layer_norm_eps,
        )
        self.eval()

    @torch.inference_mode()
    def clusters(self, documents: Sequence[Pieces], precision: str = "fp32") -> list[list[Cluster]]:
        """The entities of each document with two spans or more, in the order of their first spans.

        Documents influence each other only by rounding.

        Args:
            documents: one batch; none longer than `longest`.
            precision: of the encoder, see `training.hardware.autocast`; the heads compute in fp32.
        """
        from textcritic.training.hardware import autocast

        at = next(self.parameters()).device
        lengths = torch.tensor([len(document.ids) for document in documents], device=at)
        ids = _padded([document.ids for document in documents], self.padding).to(at)
        with autocast(at, precision):
            vectors = self._encoded(ids, lengths)
        types = _padded([document.types for document in documents], NO_WORD).to(at)
        pronouns = _padded([document.pronouns for document in documents], -1).to(at)
        spans, linked = self.heads.antecedents(vectors.float(), lengths, Words(types, pronouns))
        kept = (spans.starts.tolist(), spans.ends.tolist(), linked.tolist())
        return [_trees(*document) for document in zip(*kept, strict=True)]

    def _encoded(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """The encoder's vectors: [documents, pieces, width]."""
        inside = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        if self.segment is None:
            whole: Tensor = self.encoder(ids, attention_mask=inside.long()).last_hidden_state
            return whole
        # Segments of all documents together; those that are cut short, mostly the last ones, in a batch of their own
        # ("leftover batching", Otmazgin et al. 2022), so that little padding is read.
        documents, pieces = ids.shape
        extra = -pieces % self.segment
        parts = nn.functional.pad(ids, (0, extra), value=self.padding).view(-1, self.segment)
        filled = nn.functional.pad(inside, (0, extra)).view(-1, self.segment)
        sizes = filled.sum(-1)
        vectors = torch.zeros(*parts.shape, self.encoder.config.hidden_size, device=ids.device)
        for kind in (sizes == self.segment, (sizes > 0) & (sizes < self.segment)):
            for rows in kind.nonzero().flatten().split(SEGMENTS):
                width = int(sizes[rows].max()) if len(rows) else 0
                if width:
                    marks = filled[rows, :width].long()
                    vectors[rows, :width] = self.encoder(parts[rows, :width], marks).last_hidden_state.float()
        return vectors.view(documents, pieces + extra, -1)[:, :pieces]


class PieceMaker:
    """Cuts the words of documents into the word pieces of a checkpoint, as its tokenizer.json says.

    Args:
        folder: of the checkpoint.
        entries: tokens that the model embeds.

    Raises:
        TextcriticError: there is no tokenizer.json, it cannot be read, or it has tokens that the model does not embed.
    """

    def __init__(self, folder: str | os.PathLike[str], entries: int) -> None:
        path = Path(folder) / "tokenizer.json"
        if not path.is_file():
            raise TextcriticError(f"{path}: no such file; copy the checkpoint's tokenizer.json into the folder")
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the library raises Exception itself
            raise TextcriticError(f"{path}: not a tokenizer ({first_line(error)}); copy the file again") from error
        if self._tokenizer.get_vocab_size() > entries:
            raise TextcriticError(
                f"{path}: has {self._tokenizer.get_vocab_size():,} tokens, the model embeds {entries:,}; "
                "copy tokenizer.json and config.json of one checkpoint"
            )
        # Each word is read as if a space came before it, as the models were trained.
        self._tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()

    def cut(self, documents: Sequence[Sequence[str]]) -> list[Pieces]:
        """The pieces of documents that are given as words."""
        encoded = self._tokenizer.encode_batch([list(words) for words in documents], is_pretokenized=True)
        return [_pieces(encoding, words) for encoding, words in zip(encoded, documents, strict=True)]


def load_coreference(folder: str | os.PathLike[str], architecture: str) -> CoreferenceModel:
    """Read a checkpoint: float32, on the CPU.

    Args:
        folder: with config.json and the weights.
        architecture: `f-coref` or `lingmess`.

    Raises:
        TextcriticError: a file is missing or cut; the checkpoint is of another architecture; weights are missing, have
            another shape, or have no place in the model.
    """
    # First, because it puts transformers offline.
    from textcritic.training import load  # noqa: F401

    folder = Path(folder)
    config = _config(folder, architecture)
    weights = _weights(folder)
    with torch.random.fork_rng(devices=[]):  # the caller's random numbers are not changed
        try:
            model = CoreferenceModel(config, architecture)
        except (KeyError, TypeError, ValueError, AttributeError, RuntimeError) as error:
            raise TextcriticError(
                f"{folder}/config.json: no {architecture} can be built from it ({first_line(error)}); copy it again"
            ) from error
    # In the published files the encoder's weights have its name as a prefix, and those of the heads have no prefix.
    encoder = f"{ARCHITECTURES[architecture].encoder}."
    own = {
        encoder + name.removeprefix("encoder.") if name.startswith("encoder.") else name.removeprefix("heads."): name
        for name in model.state_dict()
    }
    weights = {name: weight for name, weight in weights.items() if not name.removeprefix(encoder).startswith(NOT_USED)}
    _require_same(folder, {name: model.state_dict()[own[name]] for name in own}, weights)
    model.load_state_dict({own[name]: weight for name, weight in weights.items()})
    return model


def _config(folder: Path, architecture: str) -> "PretrainedConfig":
    from transformers import AutoConfig

    if not (folder / "config.json").is_file():
        raise TextcriticError(f"{folder}: has no config.json; give the folder of a downloaded coreference model")
    config = read_json(folder / "config.json", "copy it again")
    if not isinstance(config, dict):
        raise TextcriticError(f"{folder}/config.json: not an object; copy it again")
    names = config.get("architectures") or []
    kind = ARCHITECTURES[architecture]
    if not set(kind.names) & set(names) or config.get("model_type") != kind.encoder or "coref_head" not in config:
        raise TextcriticError(
            f"{folder}: holds a {' and '.join(names) or 'model without a name'} on a {config.get('model_type')}, not "
            f"{architecture} ({kind.names[0]} on a {kind.encoder}); give the resolver the architecture of its model"
        )
    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise TextcriticError(f"{folder}/config.json: cannot be read ({first_line(error)}); copy it again") from error


def _weights(folder: Path) -> Mapping[str, Tensor]:
    """All weights by name; only tensors are read from a pickled file."""
    safe, pickled = folder / SAFE, folder / PICKLED
    if not safe.is_file() and not pickled.is_file():
        raise TextcriticError(f"{folder}: has neither {SAFE} nor {PICKLED}; copy the weights into it")
    path = safe if safe.is_file() else pickled
    try:
        if path == safe:
            return safetensors.torch.load_file(path)
        weights = torch.load(path, map_location="cpu", weights_only=True)
    except (SafetensorError, pickle.UnpicklingError, OSError, RuntimeError, EOFError, json.JSONDecodeError) as error:
        raise TextcriticError(
            f"{path}: not a whole file of weights, or more than weights ({first_line(error)}); delete it and fetch it "
            "again"
        ) from error
    if not isinstance(weights, Mapping) or not all(isinstance(weight, Tensor) for weight in weights.values()):
        raise TextcriticError(f"{path}: holds no table of weights; fetch it again")
    return weights


def _require_same(folder: Path, wanted: Mapping[str, Tensor], given: Mapping[str, Tensor]) -> None:
    both = wanted.keys() & given.keys()
    for names, fault in (
        (wanted.keys() - given.keys(), "are missing"),
        (given.keys() - wanted.keys(), "have no place in the model"),
        ({name for name in both if wanted[name].shape != given[name].shape}, "have other shapes than config.json says"),
    ):
        if names:
            raise TextcriticError(
                f"{folder}: {len(names)} weights {fault}, the first is {min(names)}; copy the folder again, or give "
                "one whose config.json matches its weights"
            )


def _pieces(encoding: Encoding, words: Sequence[str]) -> Pieces:
    places = np.array([NO_WORD if word is None else word for word in encoding.word_ids], np.int64)
    lowered = [word.lower() for word in words]
    numbers: dict[str, int] = {}
    types = [STOP_WORD if word in STOP_WORDS else numbers.setdefault(word, len(numbers) + 1) for word in lowered]
    groups = [PRONOUNS.get(word, -1) for word in lowered]
    # A mark has index -1: the last entry.
    return Pieces(
        np.array(encoding.ids, np.int64),
        places,
        np.array([*types, NO_WORD], np.int64)[places],
        np.array([*groups, -1], np.int64)[places],
    )


def _padded(rows: Sequence[npt.NDArray[np.int64]], filling: int) -> Tensor:
    table = np.full((len(rows), max(map(len, rows))), filling, np.int64)
    for number, row in enumerate(rows):
        table[number, : len(row)] = row
    return torch.from_numpy(table)


def _trees(starts: list[int], ends: list[int], linked: list[int]) -> list[Cluster]:
    """Spans that are linked, directly or through others."""
    entity: list[int] = []
    clusters: dict[int, Cluster] = {}
    for number, (start, end, antecedent) in enumerate(zip(starts, ends, linked, strict=True)):
        entity.append(number if antecedent < 0 else entity[antecedent])
        clusters.setdefault(entity[-1], []).append((start, end))
    return [cluster for cluster in clusters.values() if len(cluster) > 1]
