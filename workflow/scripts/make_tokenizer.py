"""Train an encoding's tokenizer on a corpus, or copy a pretrained one."""

from textcritic import runlog
from textcritic.corpora import iter_articles
from textcritic.corpora.layout import render_with_titles
from textcritic.errors import TextcriticError
from textcritic.generators.words import make_words_tokenizer
from textcritic.plan.entries import Encoding
from textcritic.plan.entries.encodings import Trained, WholeWords
from textcritic.training.load import save_hub_tokenizer, train_tokenizer

with runlog.job(snakemake.log[0], f"tokenizer {snakemake.wildcards.encoding}"):
    tokenizer = Encoding.restore(snakemake.params.spec).tokenizer
    # Always trained on text with titles, so that perplexities with and without titles are over the same tokens.
    texts = (render_with_titles(article) for article in iter_articles(snakemake.input.train))
    if isinstance(tokenizer, Trained):
        train_tokenizer(texts, snakemake.output[0], tokenizer.train.vocabulary)
    elif isinstance(tokenizer, WholeWords):
        make_words_tokenizer(texts, snakemake.output[0], tokenizer.words.vocabulary, tokenizer.words.minimum_count)
    elif snakemake.input.pretrained:
        save_hub_tokenizer(snakemake.input.pretrained, snakemake.output[0])
    else:
        raise TextcriticError(
            f"encodings: {snakemake.wildcards.encoding}: has no tokenizer for text; give train, words, hub or folder"
        )
