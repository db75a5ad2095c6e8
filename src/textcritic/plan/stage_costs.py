"""What a unit of work of each stage costs, in seconds: declared once, read by whatever cuts work into jobs.

Seconds are those of one A100 where the entry asks for a GPU, and of one CPU core otherwise. But for `LAYER_STEP`, none
was measured on a GPU: they are guesses that decide how many jobs share the work, and how much time these ask for, never
what comes out.
"""

# Tokens of a text in the mean, by corpus: of model-criticism's those of its articles, of lines those of its subwords.
TOKENS = {"pubmed": 2600, "arxiv": 3700, "wiki": 800, "wiki-short": 800, "wiki-lines": 75}
USUAL_TOKENS = 1000  # of any other corpus, where the decoding allows as many

# A token of each of the texts that a transformer draws side by side, for each of its layers, on a GPU. Measured on an
# H200 (docs/results/runs.md, On a GPU): such steps wait for the host more than for the card.
LAYER_STEP = 0.00048
LAYERS = {"gpt2": 12, "gpt2-medium": 24, "gpt2-large": 36, "gpt2-xl": 48, "gpt-neo-125m": 12}
USUAL_LAYERS = 12
# A forward pass of a whole window of 1,024 tokens, for each layer of the width of GPT-2 small's (60% of an A100's
# peak), and the least share of tokens beyond the first window where texts in the mean are shorter than it.
LAYER_WINDOW = {"fp32": 0.0018, "bf16": 0.00018}
BEYOND = 0.15
# A token on one CPU core: of the demo's transformer of 0.7 million parameters (measured, docs/scale.md), of GPT-2 small
# by its parameters, and of a word that an n-gram model draws (10,000 texts of 75 words take 3 s).
SMALL_TOKEN, HUB_TOKEN, NGRAM_TOKEN = 1 / 6550, 0.026, 4.0e-6

# A draw of the latent states of every text of a test split, with its weight.
WEIGHED_DRAW = {"rnng": 6.0, "entitynlm": 6.0, "kglm": 6.0, "hsmm": 0.6, "lstm": 6.0}
