"""`textcritic coreference`: Latent PPL of chains of mentions."""

import argparse

from textcritic.commands.arguments import add_resamples, positive, seed

COREFERENCE = """\
Fit a critic of who is mentioned after whom on REAL and give the Latent PPL of SAMPLES.

Each line of both files is a JSON object {"mentions": [".", "he:3", "MALE:3", ...]}: who is mentioned in one document,
in order. "." stands at each start of a sentence, and symbol:entity for a mention: the symbol is a pronoun as it is
written, or the gender of the entity (MALE, FEMALE, PLURAL, None); the entity is any text after the last colon, the same
one for the same person of the document. Or the files are tables with a column `mentions` of lists: .parquet, .arrow, a
folder of these, or a folder that `datasets` saved.

With --resolver, each line is {"text": "..."} or {"sections": [{"text": "..."}, ...]}, and mentions are found first.
"""
COREFERENCE_OUTPUT = """\
One JSON object is printed:
  latent_ppl          exp(sum of NLL / sum of tokens), pooled over the documents scored; tokens: mentions and "."
  ci95                [low, high], 95% percentile bootstrap over documents
  latent_nll_mean     mean NLL of a document, in nats
  tokens, n           tokens and documents scored
  rejected            documents of SAMPLES left out, as they have neither a mention nor a sentence mark
  rejected_by_reason  how many for each reason
  without_people      documents scored in which nobody is mentioned
  order, discount     as asked
  unseen              tokens scored that REAL does not have: no window of it ends in this symbol with this number, where
                      the entities of a window are numbered from 0 by first appearance
"""


def add(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to the command line."""
    coreference = commands.add_parser(
        "coreference",
        help="Latent PPL of chains of mentions: who is mentioned after whom",
        description=COREFERENCE,
        epilog=COREFERENCE_OUTPUT,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    coreference.add_argument("real", metavar="REAL", help="chains to fit the critic on")
    coreference.add_argument("samples", metavar="SAMPLES", help="chains to score")
    coreference.add_argument(
        "--order", metavar="N", type=positive, default=5, help="tokens of a window, 1 to 9 (default 5, the paper's)"
    )
    coreference.add_argument(
        "--discount",
        choices=["kneser-ney", "as_released", "modified"],
        default="kneser-ney",
        help="kneser-ney (the default): interpolated, with continuation counts, as the paper's words say; as_released: "
        "absolute discounting, as in its released code; modified: three discounts an order (Chen and Goodman 1999)",
    )
    coreference.add_argument(
        "--resolver",
        choices=["persons"],
        help="find the mentions in texts; persons: people, by rules, English",
    )
    coreference.add_argument(
        "--no-gender", action="store_true", help="the label None in place of MALE, FEMALE and PLURAL"
    )
    add_resamples(coreference)
    coreference.add_argument("--seed", metavar="S", type=seed, default=1, help="of the bootstrap (default 1)")
    coreference.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.api.coreference import coreference  # numpy and pyarrow are loaded for this command only

    return coreference(
        arguments.real,
        arguments.samples,
        order=arguments.order,
        discount=arguments.discount,
        resolver=arguments.resolver,
        gender=not arguments.no_gender,
        resamples=arguments.resamples,
        seed=arguments.seed,
    ).to_json()
