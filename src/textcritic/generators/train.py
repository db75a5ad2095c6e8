"""Train a causal language model on an encoded corpus: on one GPU or several, resumable at any moment."""

import os
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import torch

from textcritic.errors import TextcriticError
from textcritic.files import whole_folder, write_json
from textcritic.generators.causal import CausalJob, Streams
from textcritic.generators.encode import load_encoded
from textcritic.plan.entries.generators import CausalTraining
from textcritic.training.load import Init, init_folder, load_causal, load_tokenizer, require_same_tokens
from textcritic.training.loop import Run, launch, resumable
from textcritic.training.processes import Ranks
from textcritic.values import JsonObject

STATE_FORMAT = 3  # of what a checkpoint holds; raise it when a state of before could not be taken up


@dataclass(frozen=True)
class Encoded:
    """What a language model is trained on.

    Attributes:
        train: prefix of the encoded training split, see `encode.encode_split`.
        validation: prefix of the encoded validation split.
        tokenizer: folder of the encoding's tokenizer.
    """

    train: str | os.PathLike[str]
    validation: str | os.PathLike[str]
    tokenizer: str | os.PathLike[str]

    @property
    def files(self) -> dict[str, str]:
        """The splits' tokens, by their role in a training."""
        return {
            "train": f"{os.fspath(self.train)}.tokens.npy",
            "validation": f"{os.fspath(self.validation)}.tokens.npy",
        }


def train_causal(
    encoded: Encoded, init: Init, training: CausalTraining, seed: int, run: Run, processes: int = 1
) -> JsonObject:
    """Train, and write the model with the lowest validation loss and the tokenizer as `run.model_dir`.

    The training stream is cut into blocks of `context` tokens, each predicting the token after it (see `encode`);
    blocks are shuffled again in each epoch, and the batch of a step depends on (seed, step) alone. State is kept in
    `checkpoints/` next to the model folder until that is complete: a rerun after a kill continues from there, on the
    CPU with exactly the losses and weights of an uninterrupted run. On SIGTERM the step is finished and saved.

    Several processes share the blocks of each forward pass and average their gradients, so that the number of
    processes changes nothing but the order of sums, and which random numbers dropout takes.

    With 0 epochs the model is written as it is, and of the report there are `steps`, `parameters` and an empty curve.

    Args:
        encoded: the splits and their tokenizer.
        init: see `load.load_causal`.
        training: how.
        seed: of initial weights, dropout and the order of blocks.
        run: what is written and how; its report is training.json.
        processes: of this node, each with a GPU of its own where there are GPUs; a training may be resumed by another
            number of them.

    Returns:
        what was written to the report: steps, best_step, validation_loss (nats per token), tokens_seen, parameters,
        curve (mean training loss since the point before, and validation loss where there was a validation), seconds
        (of all attempts), tokens_per_second (of the steps in the model, whichever attempt they are of; validations and
        checkpoints not counted), flops_per_token and mfu (see `hardware`; mfu is None on a CPU, in fp32, on cards
        whose peak is not known, and when attempts had other cards or another number of them), device and processes
        (of the last attempt).

    Raises:
        TextcriticError: bad input, a loss that is not finite, too little memory on the GPU, SIGTERM, a process that
            was killed, or another job that trains this very model.
    """
    if training.epochs == 0:
        return _as_it_is(encoded, init, run)
    if training.batch_size % processes:
        raise TextcriticError(
            f"training.batch_size: {training.batch_size} blocks cannot be shared evenly by {processes} GPUs; change "
            "batch_size or gpu"
        )
    given: JsonObject = {
        "encoded": {key: str(value) for key, value in asdict(encoded).items()},
        "init": {key: value if key == "config" else str(value) for key, value in init.items()},
        "training": training.plain(),
        "seed": seed,
    }
    return launch(train_share, given, run, processes)


def train_share(
    ranks: Ranks,
    encoded: dict[str, str],
    init: Init,
    training: JsonObject,
    seed: int,
    run: JsonObject,
) -> None:
    """The work of one of the processes of `train_causal`; the one that leads holds the lock and writes all files."""
    data, plan, how = Encoded(**encoded), CausalTraining(**training), Run(**run)
    weights = init_folder(init)
    decides = {"training": plan.deciding(), "init": dict(init), "seed": seed, "format": STATE_FORMAT}
    files = {**data.files, **({"init": str(weights)} if weights else {})}
    with resumable(how, decides, files, ranks) as loop:
        tokenizer = load_tokenizer(data.tokenizer)
        if weights:
            require_same_tokens(weights, tokenizer)
        model = load_causal(init, tokenizer, seed, plan.context)
        train = _training_stream(data.train, plan.context, len(tokenizer))
        streams = Streams(train, _validation_stream(data.validation, len(tokenizer)), tokenizer.eos_token_id)
        try:
            job = CausalJob(how.name, model, plan, seed, streams, ranks)
            loop.train(job)
        except torch.OutOfMemoryError as error:
            raise TextcriticError(
                f"training {how.name}: the GPU's memory is too small for {plan.batch_size // ranks.size} blocks of "
                f"{plan.context} tokens; lower training.batch_size and raise accumulation by the same factor, set "
                "activation_checkpointing: true, or raise gpu"
            ) from error
        if ranks.leads:
            report = job.report(loop)
            model.load_state_dict(loop.best())

            def save(folder: Path) -> None:
                model.save_pretrained(folder)
                tokenizer.save_pretrained(folder)

            loop.finish(save, report)


def _as_it_is(encoded: Encoded, init: Init, run: Run) -> JsonObject:
    """A pretrained model that is not trained: its folder is written in the form that a training gives it."""
    tokenizer = load_tokenizer(encoded.tokenizer)
    if weights := init_folder(init):
        require_same_tokens(weights, tokenizer)
    model = load_causal(init, tokenizer)
    with whole_folder(run.model_dir) as temporary:
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
    report = {"steps": 0, "parameters": model.num_parameters(), "curve": []}
    write_json(run.report_path, report)
    return report


def _training_stream(prefix: str | os.PathLike[str], context: int, vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    tokens, kinds = load_encoded(prefix)
    if len(tokens) <= context:
        raise TextcriticError(
            f"{prefix}.tokens.npy: {len(tokens)} tokens are less than one block; lower training.context ({context}) "
            "or give more text"
        )
    _require_known(prefix, tokens, vocabulary)
    return tokens, kinds


def _validation_stream(prefix: str | os.PathLike[str], vocabulary: int) -> tuple[np.ndarray, np.ndarray]:
    tokens, kinds = load_encoded(prefix)
    if len(tokens) < 2:
        raise TextcriticError(f"{prefix}.tokens.npy: {len(tokens)} tokens are too few to predict any; give more text")
    _require_known(prefix, tokens, vocabulary)
    return tokens, kinds


def _require_known(prefix: str | os.PathLike[str], tokens: np.ndarray, vocabulary: int) -> None:
    if tokens.max() >= vocabulary:
        raise TextcriticError(
            f"{prefix}.tokens.npy: holds token {tokens.max()}, the tokenizer has {vocabulary}; rerun the encoding"
        )
