"""Score sequences under the process that made the data."""

from textcritic import runlog
from textcritic.critics.known_process import score_sequences

w = snakemake.wildcards
with runlog.job(snakemake.log[0], f"score {w.corpus} {w.get('generator', '')} {w.get('decoding', '')}".strip()):
    # The data has no rejected sequences.
    score_sequences(
        snakemake.input.process, snakemake.input.articles, snakemake.output[0], snakemake.input.get("rejected")
    )
