"""Take one file out of a downloaded archive."""

from textcritic import runlog
from textcritic.download import unpack_member

with runlog.job(snakemake.log[0], f"unpack {snakemake.wildcards.member}"):
    unpack_member(snakemake.input[0], snakemake.wildcards.member, snakemake.output[0])
