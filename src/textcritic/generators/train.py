"""Train a causal language model on an encoded corpus: on one GPU or several, resumable at any moment."""

import os
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.files import read_json, whole_folder, write_json
from textcritic.generators.checkpoint import Checkpoints, file_digests, terminated
from textcritic.generators.cpu import prepare_cpu
from textcritic.generators.encode import load_encoded
from textcritic.generators.launch import run_together
from textcritic.generators.load import init_folder, load_causal, load_tokenizer, require_same_tokens
from textcritic.generators.lock import Lock
from textcritic.generators.loop import Run, Streams
from textcritic.generators.plan import Training
from textcritic.generators.ranks import Ranks

STATE_FORMAT = 3  # of what a checkpoint holds; raise it when a state of before could not be taken up


def train_causal(
    train_prefix: str | os.PathLike[str],
    validation_prefix: str | os.PathLike[str],
    tokenizer_dir: str | os.PathLike[str],
    init: Mapping[str, Any],
    training: Training,
    seed: int,
    model_dir: str | os.PathLike[str],
    report_path: str | os.PathLike[str],
    threads: int | None = None,
    name: str = "generator",
    version: int = 1,
    processes: int = 1,
) -> dict[str, Any]:
    """Train, and write the model with the lowest validation loss and the tokenizer as `model_dir`.

    The training stream is cut into blocks of `context` tokens, each predicting the token after it (see `blocks`);
    blocks are shuffled anew each epoch, and the batch of a step depends on (seed, step) alone. State is kept in
    `checkpoints/` beside `model_dir` until the model folder is whole: a rerun after a kill goes on from there, on the
    CPU with exactly the losses and weights of an uninterrupted run. On SIGTERM the step is finished and saved.

    Several processes share the blocks of each forward pass and average their gradients, so that the number of
    processes changes nothing but the order of sums, and which random numbers dropout takes.

    Args:
        train_prefix: encoded training split, see `encode.encode_split`.
        validation_prefix: encoded validation split.
        tokenizer_dir: the encoding's tokenizer.
        init: see `load.load_causal`.
        training: see `plan.Training`.
        seed: of initial weights, dropout and the order of blocks.
        model_dir: folder to write.
        report_path: training.json to write.
        threads: CPU threads of torch, of all processes together; None leaves torch's own number.
        name: the generator's name, for progress lines.
        version: of the stage; state that another version left is not taken up.
        processes: of this node, each with a GPU of its own where there are GPUs; a training may be resumed by another
            number of them.

    Returns:
        what was written to `report_path`: steps, best_step, validation_loss (nats per token), tokens_seen, parameters,
        curve (mean training loss since the point before, and validation loss where there was a validation), seconds
        (of all attempts), tokens_per_second (of the steps in the model, whichever attempt they are of; validations and
        checkpoints not counted), flops_per_token and mfu (see `throughput`; mfu is None on a CPU, in fp32, on cards
        whose peak is not known, and when attempts had other cards or another number of them), device and processes
        (of the last attempt).

    Raises:
        TextcriticError: bad input, a loss that is not finite, too little memory on the GPU, SIGTERM, a process that
            was killed, or another job that trains this very model.
    """
    if training.batch_size % processes:
        raise TextcriticError(
            f"training.batch_size: {training.batch_size} blocks cannot be shared evenly by {processes} GPUs; change "
            "batch_size or gpu"
        )
    given: dict[str, Any] = {
        "train_prefix": str(train_prefix),
        "validation_prefix": str(validation_prefix),
        "tokenizer_dir": str(tokenizer_dir),
        "init": {key: value if key == "config" else str(value) for key, value in init.items()},
        "training": asdict(training),
        "seed": seed,
        "model_dir": str(model_dir),
        "report_path": str(report_path),
        "threads": max(1, threads // processes) if threads else None,
        "name": name,
        "version": version,
    }
    if processes > 1:
        run_together(f"{__name__}:train_share", given, processes, f"training {name}")
    else:
        train_share(Ranks(), **given)
    report: dict[str, Any] = read_json(report_path)
    return report


def train_share(
    ranks: Ranks,
    train_prefix: str,
    validation_prefix: str,
    tokenizer_dir: str,
    init: Mapping[str, Any],
    training: Mapping[str, Any],
    seed: int,
    model_dir: str,
    report_path: str,
    threads: int | None,
    name: str,
    version: int,
) -> None:
    """The work of one of the processes of `train_causal`; the one that leads holds the lock and writes all files."""
    prepare_cpu(threads)
    plan, folder = Training(**training), Path(model_dir).parent / "checkpoints"
    folder.mkdir(parents=True, exist_ok=True)
    with Lock(folder / "lock.json") if ranks.leads else nullcontext() as lock, terminated() as stop:
        weights, checkpoints = init_folder(init), None
        if ranks.leads:
            files = {"train": f"{train_prefix}.tokens.npy", "validation": f"{validation_prefix}.tokens.npy"}
            if weights:
                files["init"] = str(weights)
            decides = {"training": plan.deciding(), "init": dict(init), "seed": seed, "files": file_digests(files)}
            checkpoints = Checkpoints(folder, {**decides, "version": version, "format": STATE_FORMAT})
        tokenizer = load_tokenizer(tokenizer_dir)
        if weights:
            require_same_tokens(weights, tokenizer)
        model = load_causal(init, tokenizer, seed, plan.context)
        train = _training_stream(train_prefix, plan.context, len(tokenizer))
        streams = Streams(train, _validation_stream(validation_prefix, len(tokenizer)), tokenizer.eos_token_id)
        try:
            report = Run(name, model, plan, seed, streams, folder, ranks, checkpoints).train(lock, stop)
        except torch.OutOfMemoryError as error:
            raise TextcriticError(
                f"training {name}: the GPU's memory is too small for {plan.batch_size // ranks.size} blocks of "
                f"{plan.context} tokens; lower training.batch_size and raise accumulation by the same factor, set "
                "activation_checkpointing: true, or raise gpu"
            ) from error
        if checkpoints:
            model.load_state_dict(checkpoints.load_best(report["best_step"]))
            with whole_folder(model_dir) as temporary:
                model.save_pretrained(temporary)
                tokenizer.save_pretrained(temporary)
            write_json(report_path, report)
            checkpoints.remove()


def _training_stream(prefix: str, context: int, vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    tokens, kinds = load_encoded(prefix)
    if len(tokens) <= context:
        raise TextcriticError(
            f"{prefix}.tokens.npy: {len(tokens)} tokens are less than one block; lower training.context ({context}) "
            "or give more text"
        )
    _require_known(prefix, tokens, vocabulary)
    return tokens, kinds


def _validation_stream(prefix: str, vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    tokens, kinds = load_encoded(prefix)
    if len(tokens) < 2:
        raise TextcriticError(f"{prefix}.tokens.npy: {len(tokens)} tokens are too few to predict any; give more text")
    _require_known(prefix, tokens, vocabulary)
    return tokens, kinds


def _require_known(prefix: str, tokens: np.ndarray, vocabulary: int) -> None:
    if tokens.max() >= vocabulary:
        raise TextcriticError(
            f"{prefix}.tokens.npy: holds token {tokens.max()}, the tokenizer has {vocabulary}; rerun the encoding"
        )
