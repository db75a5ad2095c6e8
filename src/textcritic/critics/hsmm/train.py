"""The training job of a hidden semi-Markov language model: resumable, the best model on validation is kept."""

import math
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from textcritic.critics.hsmm.adam import Adam
from textcritic.critics.hsmm.em import EM
from textcritic.critics.hsmm.initial import initial_model
from textcritic.critics.hsmm.lexicon import Lexicon
from textcritic.critics.hsmm.model import HSMM, TABLES
from textcritic.critics.hsmm.multigram import find_segments
from textcritic.critics.hsmm.text import Settings, Text, log_likelihoods, sparse_lattices
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder, write_json
from textcritic.generators.checkpoint import Checkpoints, file_digests, terminated
from textcritic.generators.cpu import prepare_cpu
from textcritic.generators.load import device, load_tokenizer
from textcritic.generators.lock import Lock
from textcritic.generators.symbols import read_sequences
from textcritic.runlog import Progress, log

COUNTERS = ("step", "best_step", "possible", "best_loss", "settled", "seconds")


def train_hsmm(
    train_prefix: str | os.PathLike[str],
    validation_prefix: str | os.PathLike[str],
    tokenizer_dir: str | os.PathLike[str],
    settings: Settings,
    seed: int,
    model_dir: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    threads: int | None = None,
    name: str = "hsmm",
    version: int = 1,
    checkpoint_seconds: float = 300,
) -> dict[str, Any]:
    """Train, and write the model with the lowest validation loss and the tokenizer as `model_dir`.

    By `em`: segments are found by the multigram model, states by what stands between the same segments, and then
    expectation maximisation sums over all segmentations and states. By `adam`: see `adam.Adam`. State is kept in
    `checkpoints/` beside `model_dir` until the model folder is whole: a rerun after a kill goes on from the last one.

    Args:
        train_prefix: token stream of the training split, see `generators.symbols`.
        validation_prefix: that of the validation split.
        tokenizer_dir: the encoding's tokenizer.
        settings: see `Settings`.
        seed: of the clustering.
        model_dir: folder to write.
        report_path: training.json to write.
        threads: CPU threads of torch; None leaves torch's own number.
        name: the generator's name, for progress lines.
        version: of the stage; state that another version left is not taken up.
        checkpoint_seconds: least time between two checkpoints; what training begins with is always kept.

    Returns:
        what was written to `report_path`: steps (rounds), best_step, validation_loss (nats per token, ends not
        modelled), tokens_seen, parameters (of the model that was found), published_parameters (as the paper counts
        those of a model with all states and n-grams), states, segments, curve, seconds, tokens_per_second, device.

    Raises:
        TextcriticError: bad input, SIGTERM, or another job that trains this very model.
    """
    prepare_cpu(threads)
    model_dir = Path(model_dir)
    folder = model_dir.parent / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder / "lock.json") as lock, terminated() as stop:
        files = [f"{prefix}.tokens.npy" for prefix in (train_prefix, validation_prefix)]
        decides = {"settings": asdict(settings), "seed": seed, "files": file_digests(files), "version": version}
        checkpoints = Checkpoints(folder, decides)
        tokenizer = load_tokenizer(tokenizer_dir)
        end: Any = tokenizer.eos_token_id
        train, validation = (Text(*read_sequences(prefix, end)) for prefix in (train_prefix, validation_prefix))
        # The symbols are the tokens below the end of text.
        run = _Run(name, train, validation, end, settings, seed, checkpoints)
        report = run.train(lock, stop, checkpoint_seconds)
        best = unpack(checkpoints.load_best(run.best_step))
        with whole_folder(model_dir) as temporary:
            best.save(temporary)
            tokenizer.save_pretrained(temporary)
        write_json(report_path, report)
        checkpoints.remove()
    return report


class _Run:
    """One training: the loop, and the state that a checkpoint holds.

    `step` counts models: 1 is the one that training begins with, every round makes one more.
    """

    def __init__(
        self,
        name: str,
        text: Text,
        validation: Text,
        vocabulary: int,
        settings: Settings,
        seed: int,
        checkpoints: Checkpoints,
    ) -> None:
        self.name, self.text, self.settings, self.checkpoints = name, text, settings, checkpoints
        self.vocabulary, self.seed = vocabulary, seed
        self.step = self.best_step = self.possible = 0
        self.best_loss, self.settled = math.inf, False
        self.seconds, self.started, self.saved = 0.0, time.monotonic(), -math.inf
        state = checkpoints.load()
        self.method = self._method(state)
        if state:
            for key in COUNTERS:
                setattr(self, key, state[key])
            self.method.restore(state["method"])
        self.validation = sparse_lattices(validation, self.method.model.lexicon)
        self.validation_tokens = len(validation.tokens)
        checkpoints.rewind_curve(self.step)

    def train(self, lock: Lock, stop: threading.Event, checkpoint_seconds: float) -> dict[str, Any]:
        """Run to the end and report; see `train_hsmm`."""
        each = self.method.round_sequences
        done = max(self.step - 1, 0) * each
        progress = Progress(f"training {self.name}", self.method.rounds * each, "sequences", done)

        def advance(sequences: int) -> None:
            progress.advance(sequences, f"validation loss {self.best_loss:.4f}")
            if stop.is_set():
                raise TextcriticError(
                    f"training {self.name}: stopped by SIGTERM in round {self.step} of {self.method.rounds}; "
                    "the last checkpoint is kept, rerun to go on from there"
                )

        if self.step == 0:
            self._keep(lock, None, checkpoint_seconds)
        while self.step <= self.method.rounds and not self.settled:
            self._keep(lock, self.method.round(advance), checkpoint_seconds)
        return self._report()

    def _method(self, state: Mapping[str, Any] | None) -> EM | Adam:
        settings, text = self.settings, self.text
        if state and settings.method == "em":
            return EM(unpack(state["model"]).to(device()), text, settings)
        lexicon = Lexicon.count(text.tokens, text.offsets, self.vocabulary, settings.longest, settings.most_common)
        self.possible = len(lexicon)
        log.info("training %s: %d n-grams may be segments", self.name, self.possible)
        if settings.method == "adam":
            return Adam(lexicon, text, settings, self.seed, device())
        segments = find_segments(lexicon, lexicon.rows(text.tokens, text.offsets), text.offsets, self.name)
        return EM(initial_model(segments, text.tokens, settings, self.seed).to(device()), text, settings)

    def _keep(self, lock: Lock, train_loss: float | None, checkpoint_seconds: float) -> None:
        """Validate the model that there is now, and save it."""
        model = self.method.model
        loss = -float(log_likelihoods(model, self.validation).sum()) / self.validation_tokens
        if not math.isfinite(loss):
            raise TextcriticError(
                f"training {self.name}: the validation loss is {loss:g}: a sequence of validation has no segmentation; "
                "give it sequences of the same process"
            )
        self.step, self.settled = self.step + 1, self.method.heed(loss)
        log.info("training %s: validation loss %.5f nats a token after round %d", self.name, loss, self.step - 1)
        lock.check()
        if loss < self.best_loss:
            self.best_step, self.best_loss = self.step, loss
            self.checkpoints.save_best(pack(model), self.step)
        self.checkpoints.record({"step": self.step - 1, "train_loss": train_loss, "validation_loss": loss})
        now = time.monotonic()
        self.seconds, self.started = self.seconds + now - self.started, now
        last = self.settled or self.step > self.method.rounds
        if last or now - self.saved >= checkpoint_seconds:
            state = {key: getattr(self, key) for key in COUNTERS}
            state |= {"method": self.method.state(), "model": pack(model) if self.settings.method == "em" else None}
            self.checkpoints.save(state, self.step, self.best_step)
            self.saved = now

    def _report(self) -> dict[str, Any]:
        model, settings = self.method.model, self.settings
        tokens_seen = round((self.step - 1) * self.method.round_sequences * len(self.text.tokens) / len(self.text))
        published = settings.states * (settings.states + settings.longest + self.possible)
        return {
            "steps": self.step - 1,
            "best_step": self.best_step - 1,
            "validation_loss": self.best_loss,
            "tokens_seen": tokens_seen,
            "parameters": model.parameters,
            "published_parameters": published,
            "states": model.states,
            "states_allowed": settings.states,
            "segments": len(model.lexicon),
            "segments_allowed": self.possible,
            "curve": self.checkpoints.curve(),
            "seconds": round(self.seconds, 1),
            "tokens_per_second": round(tokens_seen / max(self.seconds, 1e-9), 1),
            "device": torch.cuda.get_device_name() if device().type == "cuda" else "cpu",
        }


def pack(model: HSMM) -> dict[str, Any]:
    """A model as tensors and numbers, for a checkpoint."""
    codes = [torch.from_numpy(codes.view(np.int64)) for codes in model.lexicon.codes]
    tables = {name: getattr(model, name) for name in TABLES}
    counts = torch.from_numpy(model.lexicon.counts)
    return {"vocabulary": model.lexicon.vocabulary, "codes": codes, "counts": counts, **tables}


def unpack(state: Mapping[str, Any]) -> HSMM:
    """The inverse of `pack`."""
    codes = tuple(codes.numpy().view(np.uint64) for codes in state["codes"])
    lexicon = Lexicon(state["vocabulary"], codes, state["counts"].numpy())
    return HSMM(lexicon, **{name: state[name] for name in TABLES})
