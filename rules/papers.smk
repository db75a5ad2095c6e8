"""The tables and figures of the papers by their numbers there, as targets.

Needs: the study model-criticism, which reproduces them, among the configured ones; that is what the configuration file
config/paper.yaml is for, and the profile slurm reads it: `snakemake --cores 2 --configfile config/paper.yaml table1`.
With any other configuration the targets say so. Makes: nothing that rules/report.smk does not.
"""


rule table1:
    """Table 1 of the model criticism paper: word-level and latent perplexity where the truth is known."""
    input:
        of_paper("table1", "tables/table1.csv"),


rule table2:
    """Table 2 of the model criticism paper: word-level and latent perplexity, with titles and without."""
    input:
        of_paper("table2", "tables/coherence.csv"),


rule table11:
    """Table 11 of the model criticism paper: statistics of the corpora."""
    input:
        of_paper("table11", "tables/statistics.csv"),


rule table12:
    """Table 12 of the model criticism paper: the commonest section transition errors."""
    input:
        of_paper("table12", "tables/transition-errors.csv"),


rule figure4:
    """Figure 4 of the model criticism paper: the graph of section transition errors."""
    input:
        of_paper("figure4", "figures"),
