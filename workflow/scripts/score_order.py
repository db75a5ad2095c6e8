"""Score the order of sentences of documents; carry along samples that did not parse."""

from textcritic import runlog
from textcritic.critics.order import OrderCritic, score_order

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"order of sentences {w.get('generator', 'real text')} {w.corpus}"):
    score_order(OrderCritic.load(given.critic), given.articles, snakemake.output[0], given.get("rejected"))
