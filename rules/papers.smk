"""The tables and figures of the papers by their numbers there, as targets.

Needs: the studies that reproduce them among the configured ones. Makes: nothing that rules/report.smk does not.
"""


rule table1:
    """Table 1 of the model criticism paper: word-level and latent perplexity where the truth is known."""
    input:
        "results/studies/model-criticism/tables/table1.csv",


rule table2:
    """Table 2 of the model criticism paper: word-level and latent perplexity, with titles and without."""
    input:
        "results/studies/model-criticism/tables/coherence.csv",


rule table11:
    """Table 11 of the model criticism paper: statistics of the corpora."""
    input:
        "results/studies/model-criticism/tables/statistics.csv",


rule table12:
    """Table 12 of the model criticism paper: the commonest section transition errors."""
    input:
        "results/studies/model-criticism/tables/transition-errors.csv",


rule figure4:
    """Figure 4 of the model criticism paper: the graph of section transition errors."""
    input:
        "results/studies/model-criticism/figures",
