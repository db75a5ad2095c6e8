"""`textcritic chains`: Latent PPL of chains of section titles."""

import argparse

from textcritic.commands.arguments import add_resamples, from_zero, seed

CHAINS = """\
Fit a transition critic on the chains of TRAIN and give the Latent PPL of the chains of TEST.

Each line of both files is a JSON object {"chain": ["title", ...]}: the section titles (or any other states) of one
document, in order. Or the files are tables with a column `chain` of lists: .parquet, .arrow, a folder of these, or a
folder that `datasets` saved. A chain of K titles has K + 1 steps: begin -> first title, ..., last title -> end.
"""
CHAINS_OUTPUT = """\
One JSON object is printed:
  latent_ppl          exp(sum of NLL / sum of steps), pooled over the documents scored
  ci95                [low, high], 95% percentile bootstrap over documents
  latent_nll_mean     mean NLL of a document, in nats
  steps, n            transitions and documents scored
  rejected            documents of TEST left out: no titles, or a title that TRAIN does not have
  rejected_by_reason  how many for each reason
  smoothing           the pseudo-count delta that was used
  unseen_transitions  [{"from", "to", "count"}] of the transitions of TEST to which the critic gives probability 0
                      (smoothing 0 only). If there are any, the Latent PPL is infinite, and latent_ppl, ci95 and
                      latent_nll_mean are null. No figure over the remaining transitions is given: leaving out the
                      impossible ones would reward a text for making them.
  skipped_transitions transitions next to a title that TRAIN does not have (--as-released only, else 0)
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    chains = commands.add_parser(
        "chains",
        help="Latent PPL of chains of section titles",
        description=CHAINS,
        epilog=CHAINS_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    chains.add_argument("train", metavar="TRAIN", help="chains to fit the critic on")
    chains.add_argument("test", metavar="TEST", help="chains to score")
    chains.add_argument(
        "--smoothing",
        metavar="auto|DELTA",
        type=_smoothing,
        default=None,
        help="pseudo-count added to every transition, 0 or more; auto (the default): the one of 0.001 ... 10 with the "
        "lowest Latent PPL in 10-fold cross-validation on TRAIN (ties: the larger)",
    )
    chains.add_argument(
        "--as-released",
        action="store_true",
        help="do as the paper's released code does: rows are normalised over the begin state too, transitions next to "
        "an unknown title are skipped instead of the document rejected, auto chooses from 0 and 1",
    )
    add_resamples(chains)
    chains.add_argument(
        "--seed", metavar="S", type=seed, default=1, help="of bootstrap and cross-validation (default 1)"
    )
    chains.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.chains import chains  # numpy and pyarrow are loaded for this command only

    return chains(
        arguments.train,
        arguments.test,
        smoothing=arguments.smoothing,
        as_released=arguments.as_released,
        resamples=arguments.resamples,
        seed=arguments.seed,
    ).to_json()


def _smoothing(text: str) -> float | None:
    if text == "auto":
        return None
    value = from_zero(text)
    if value is None:
        raise argparse.ArgumentTypeError(f"{text!r} is neither auto nor a finite number from 0 upwards")
    return value
