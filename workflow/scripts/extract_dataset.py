"""Turn a data set of the hub into articles with sections."""

from textcritic import runlog
from textcritic.corpora.readers.hub_dataset import extract_dataset
from textcritic.corpora.titles import require_wordnet
from textcritic.plan.entries import Corpus, Dataset

with runlog.job(snakemake.log[0], f"extract {snakemake.wildcards.corpus}"):
    if snakemake.params.lemmatised:
        require_wordnet()
    options = Corpus.restore(snakemake.params.spec).options
    dataset = Dataset.restore(snakemake.params.dataset)
    extract_dataset(snakemake.input[0], dataset, options, snakemake.output.articles, snakemake.output.report)
