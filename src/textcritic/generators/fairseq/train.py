"""Train one of fairseq's models on encoded text or pairs: on one GPU or several, resumable at any moment."""

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

import torch

from textcritic.errors import TextcriticError
from textcritic.generators.fairseq.data import load_examples, split_path, target_streams
from textcritic.generators.fairseq.job import FairseqJob
from textcritic.generators.fairseq.models import build_model, save_model, set_weights, symbol_order, translates
from textcritic.plan.entries.generators import FairseqTraining
from textcritic.training.load import load_tokenizer
from textcritic.training.loop import Run, launch, resumable
from textcritic.training.processes import Ranks
from textcritic.values import JsonObject

STATE_FORMAT = 1  # of what a checkpoint holds; raise it when a state of before could not be taken up


@dataclass(frozen=True)
class Splits:
    """What one of fairseq's models is trained on.

    Attributes:
        train: pairs (.npz) for a translator, for a language model the prefix of a token stream.
        validation: the same.
        tokenizer: folder of the encoding's tokenizer.
    """

    train: str | os.PathLike[str]
    validation: str | os.PathLike[str]
    tokenizer: str | os.PathLike[str]


@dataclass(frozen=True)
class Architecture:
    """A model to build, see `models.build_model`."""

    name: str
    options: Mapping[str, object] = field(default_factory=dict)


def train_fairseq(
    splits: Splits, architecture: Architecture, training: FairseqTraining, seed: int, run: Run, processes: int = 1
) -> JsonObject:
    """Train, and write the model with the lowest validation loss and the tokenizer as `run.model_dir`.

    Batches of a step depend on (seed, step) alone; see `data.Batches`. State is kept in `checkpoints/` next to
    the model folder until that is complete: a rerun after a kill continues from there, on the CPU with exactly the
    losses and weights of an uninterrupted run. On SIGTERM the step is finished and saved.

    Several processes share the forward passes of each step and average their gradients, so that the number of
    processes changes nothing but the order of sums, and which random numbers dropout takes.

    Args:
        splits: the examples and their tokenizer.
        architecture: what to build.
        training: see `FairseqTraining`.
        seed: of initial weights, dropout and the order of batches.
        run: what is written and how; its report is training.json.
        processes: of this node, each with a GPU of its own where there are GPUs; a training may be resumed by another
            number of them.

    Returns:
        what was written to the report, with the keys that `generators.train.train_causal` writes. Losses are nats per
        target token, the end counted. The training loss is fairseq's criterion, with its label smoothing; of a
        non-autoregressive model a mean over batches, its length loss times `length_loss_factor` included. The
        validation loss is the exact negative log likelihood, see `score.iter_nll`. flops_per_token and mfu are None.

    Raises:
        TextcriticError: fairseq is not installed, bad input, a loss that is not finite, too little memory on the GPU,
            SIGTERM, a process that was killed, or another job that trains this very model.
    """
    if training.accumulation % processes:
        raise TextcriticError(
            f"training.accumulation: {training.accumulation} forward passes cannot be shared evenly by {processes} "
            "GPUs; change accumulation or gpu"
        )
    given: JsonObject = {
        "splits": {key: str(value) for key, value in asdict(splits).items()},
        "architecture": asdict(architecture),
        "training": training.plain(),
        "seed": seed,
    }
    return launch(train_share, given, run, processes)


def train_share(
    ranks: Ranks,
    splits: dict[str, str],
    architecture: JsonObject,
    training: JsonObject,
    seed: int,
    run: JsonObject,
) -> None:
    """The work of one of the processes of `train_fairseq`; the one that leads holds the lock and writes all files."""
    data, what, plan, how = Splits(**splits), Architecture(**architecture), FairseqTraining(**training), Run(**run)
    decides = {"training": plan.deciding(), "architecture": asdict(what), "seed": seed, "format": STATE_FORMAT}
    files = {"train": split_path(data.train), "validation": split_path(data.validation), "tokenizer": data.tokenizer}
    reads, path = translates(what.name), split_path(data.train)
    if reads != path.endswith(".npz"):
        takes, given = ("pairs of a parallel corpus", "text") if reads else ("text", "a parallel corpus")
        raise TextcriticError(f"architecture: {what.name} is trained on {takes}; {path} is {given}")
    with resumable(how, decides, files, ranks) as loop:
        tokenizer = load_tokenizer(data.tokenizer)
        order = symbol_order(tokenizer, target_streams(data.train, reads))
        model = build_model(what.name, what.options, order, seed, tokenizer)
        examples = (load_examples(data.train, model), load_examples(data.validation, model))
        try:
            job = FairseqJob(how.name, model, plan, seed, examples, ranks)
            loop.train(job)
        except torch.OutOfMemoryError as error:
            raise TextcriticError(
                f"training {how.name}: the GPU's memory is too small for {plan.max_tokens} tokens; lower "
                "training.max_tokens and raise accumulation by the same factor, or raise gpu"
            ) from error
        if ranks.leads:
            report = job.report(loop)
            set_weights(model.module, loop.best())

            def save(folder: Path) -> None:
                save_model(model, folder)

            loop.finish(save, report)
