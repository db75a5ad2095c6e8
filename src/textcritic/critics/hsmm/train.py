"""The training job of a hidden semi-Markov language model: resumable, the best model on validation is kept."""

import math
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch

from textcritic.critics.hsmm.adam import Adam
from textcritic.critics.hsmm.em import EM
from textcritic.critics.hsmm.initial import initial_model, with_single_tokens
from textcritic.critics.hsmm.lexicon import Lexicon
from textcritic.critics.hsmm.model import HSMM
from textcritic.critics.hsmm.multigram import find_segments
from textcritic.critics.hsmm.text import Settings, Text, log_likelihood
from textcritic.errors import TextcriticError
from textcritic.files import whole_folder, write_json
from textcritic.generators.checkpoint import Checkpoints, file_digests, terminated
from textcritic.generators.cpu import prepare_cpu
from textcritic.generators.load import device, load_tokenizer
from textcritic.generators.lock import Lock
from textcritic.runlog import Progress, log

COUNTERS = ("step", "best_step", "possible", "sequences", "best_loss", "settled", "seconds")


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
    `checkpoints/` beside `model_dir` until the model folder is whole: a rerun after a kill goes on from the last one,
    with the same result (on a GPU up to rounding, as it adds in no fixed order).

    Args:
        train_prefix: token stream of the training split, see `generators.symbols`.
        validation_prefix: that of the validation split.
        tokenizer_dir: the encoding's tokenizer.
        settings: see `Settings`.
        seed: of the clustering; by `adam`, of the first tables and of the order of the sequences.
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
        files = {"train": f"{train_prefix}.tokens.npy", "validation": f"{validation_prefix}.tokens.npy"}
        decides = {"settings": asdict(settings), "seed": seed, "files": file_digests(files), "version": version}
        checkpoints = Checkpoints(folder, decides)
        tokenizer = load_tokenizer(tokenizer_dir)
        end: Any = tokenizer.eos_token_id  # the symbols are the tokens below
        text, validation = (Text.read(prefix, end) for prefix in (train_prefix, validation_prefix))
        run = _Run(name, text, end, settings, seed, checkpoints, lock, stop)
        best, report = run.train(validation, checkpoint_seconds)
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
        vocabulary: int,
        settings: Settings,
        seed: int,
        checkpoints: Checkpoints,
        lock: Lock,
        stop: threading.Event,
    ) -> None:
        self.name, self.text, self.vocabulary, self.settings, self.seed = name, text, vocabulary, settings, seed
        self.checkpoints, self.lock, self.stop = checkpoints, lock, stop
        self.step = self.best_step = self.possible = self.sequences = 0
        self.best_loss, self.settled = math.inf, False
        self.best: dict[str, Any] | None = None  # the best model while no checkpoint has it
        self.seconds, self.started, self.saved = 0.0, time.monotonic(), -math.inf

    def train(self, validation: Text, checkpoint_seconds: float) -> tuple[HSMM, dict[str, Any]]:
        """Run to the end, from the last checkpoint if there is one: the best model and the report."""
        state = self.checkpoints.load()
        self.method = self._method(state)
        if state:
            for key in COUNTERS:
                setattr(self, key, state[key])
            self.method.restore(state["method"])
        self.checkpoints.rewind_curve(self.step)
        lattices, tokens = self.method.lattices(validation), len(validation.tokens)
        work = self.method.rounds * self.method.round_sequences
        progress = Progress(f"training {self.name}", work, "sequences", self.sequences)

        def advance(sequences: int) -> None:
            self.sequences += sequences
            progress.advance(sequences, f"validation loss {self.best_loss:.4f}")
            self._check()

        train_loss = None
        while not self.settled and self.step <= self.method.rounds:
            if self.step:
                train_loss = self.method.round(advance)
            self._heed(train_loss, -log_likelihood(self.method.model, lattices) / tokens)
            self.lock.check()
            self._keep(checkpoint_seconds)
        best = unpack(self.checkpoints.load_best(self.best_step))
        return best, self._report(best)

    def _method(self, state: Mapping[str, Any] | None) -> EM | Adam:
        """What is trained, as it was in a checkpoint or at the beginning."""
        settings, text = self.settings, self.text
        if state and settings.method == "em":
            return EM(unpack(state["model"]).to(device()), text, settings)
        lexicon = Lexicon.count(text.tokens, text.offsets, self.vocabulary, settings.longest, settings.most_common)
        self.possible = len(lexicon)
        log.info("training %s: %d n-grams may be segments", self.name, self.possible)
        if settings.method == "adam":
            return Adam(with_single_tokens(lexicon)[0], text, settings, self.seed, device())
        segments = find_segments(lexicon, text, self.name, device(), self._check)
        return EM(initial_model(segments, text.tokens, settings, self.seed).to(device()), text, settings)

    def _check(self) -> None:
        if self.stop.is_set():
            raise TextcriticError(
                f"training {self.name}: stopped by SIGTERM in round {self.step}; the last checkpoint is kept, rerun to "
                "go on from there"
            )

    def _heed(self, train_loss: float | None, loss: float) -> None:
        """Take note of the model that there is now and of its losses."""
        if not math.isfinite(loss):
            raise TextcriticError(
                f"training {self.name}: the validation loss is {loss:g} after round {self.step}; lower "
                "training.learning_rate (the last checkpoint is kept)"
            )
        self.step, self.settled = self.step + 1, self.method.heed(loss)
        log.info("training %s: validation loss %.5f nats a token after round %d", self.name, loss, self.step - 1)
        self.checkpoints.record({"step": self.step - 1, "train_loss": train_loss, "validation_loss": loss})
        if loss < self.best_loss:
            self.best_step, self.best_loss, self.best = self.step, loss, pack(self.method.model)

    def _keep(self, checkpoint_seconds: float) -> None:
        """Save a checkpoint if one is due."""
        now = time.monotonic()
        self.seconds, self.started = self.seconds + now - self.started, now
        last = self.settled or self.step > self.method.rounds
        if last or now - self.saved >= checkpoint_seconds:
            if self.best is not None:
                self.checkpoints.save_best(self.best, self.best_step)
                self.best = None
            by_em = self.settings.method == "em"
            state = {key: getattr(self, key) for key in COUNTERS}
            state |= {"method": self.method.state(), "model": pack(self.method.model) if by_em else None}
            self.checkpoints.save(state, self.step, self.best_step)
            self.saved = time.monotonic()

    def _report(self, best: HSMM) -> dict[str, Any]:
        settings = self.settings
        tokens_seen = round(self.sequences * len(self.text.tokens) / len(self.text))
        return {
            "steps": self.step - 1,
            "best_step": self.best_step - 1,
            "validation_loss": self.best_loss,
            "tokens_seen": tokens_seen,
            "parameters": best.parameters,
            "published_parameters": settings.states * (settings.states + settings.longest + self.possible),
            "states": best.states,
            "states_allowed": settings.states,
            "segments": len(best.lexicon),
            "segments_allowed": self.possible,
            "curve": self.checkpoints.curve(),
            "seconds": round(self.seconds, 1),
            "tokens_per_second": round(tokens_seen / max(self.seconds, 1e-9), 1),
            "device": torch.cuda.get_device_name() if device().type == "cuda" else "cpu",
        }


def pack(model: HSMM) -> dict[str, Any]:
    """A model as tensors and numbers on the host, for a checkpoint."""
    tensors = {name: tensor.cpu() for name, tensor in model.tensors().items()}
    return {"vocabulary": model.lexicon.vocabulary, "longest": model.lexicon.longest, **tensors}


def unpack(state: Mapping[str, Any]) -> HSMM:
    """The inverse of `pack`."""
    return HSMM.of_tensors(state, state["vocabulary"], state["longest"])
