"""The tables and figures of the papers by their numbers there, as files of a study and as targets.

Needs: scores of the sources that a table or figure compares, and no others. Makes: tables/tableN of a study that has
`tables`, and the folder figureN of one that has `figures`. The targets need the study model-criticism, which reproduces
the paper, among the configured ones; that is what the configuration file config/paper.yaml is for, and the profile slurm
reads it: `snakemake table1 --cores 2 --configfile config/paper.yaml`. With any other configuration they say so.
"""


rule make_paper_table:
    """A table of a paper as CSV (tidy, full precision), LaTeX and HTML, with the published values beside ours."""
    input:
        lambda w: StudyFiles(paths, w.study).part_inputs(w.part),
        published=lambda w: StudyFiles(paths, w.study).published(),
    output:
        expand("results/studies/{{study}}/tables/{{part}}.{suffix}", suffix=["csv", "tex", "html"]),
    log:
        "results/logs/make_paper_table/{study}/{part}.log",
    benchmark:
        "results/benchmarks/make_paper_table/{study}/{part}.tsv"
    wildcard_constraints:
        part=parts_of("tables"),
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).part(w.part),
        version=stage("report"),
    script:
        "../workflow/scripts/make_paper_table.py"


rule make_paper_figure:
    """A figure of a paper as SVG and PDF: transition-error graphs or covariances of topics."""
    input:
        lambda w: StudyFiles(paths, w.study).part_inputs(w.part),
    output:
        directory("results/studies/{study}/{part}"),
    log:
        "results/logs/make_paper_figure/{study}/{part}.log",
    benchmark:
        "results/benchmarks/make_paper_figure/{study}/{part}.tsv"
    wildcard_constraints:
        part=parts_of("figures"),
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).part(w.part),
        version=stage("report"),
    script:
        "../workflow/scripts/make_paper_figure.py"


rule table1:
    """Table 1 of the model criticism paper: word-level and latent perplexity where the truth is known."""
    input:
        of_paper("table1", "tables/table1.csv"),


rule table2:
    """Table 2 of the model criticism paper: word-level and latent perplexity, with titles and without."""
    input:
        of_paper("table2", "tables/table2.csv"),


rule table3:
    """Table 3 of the model criticism paper: the same where two neighbouring sections fit into the context window."""
    input:
        of_paper("table3", "tables/table3.csv"),


rule table5:
    """Table 5 of the model criticism paper: word-level and latent perplexity of GPT-2 by size."""
    input:
        of_paper("table5", "tables/table5.csv"),


rule table9:
    """Table 9 of the model criticism paper: Latent NLL under a topic model."""
    input:
        of_paper("table9", "tables/table9.csv"),


rule table11:
    """Table 11 of the model criticism paper: statistics of the corpora."""
    input:
        of_paper("table11", "tables/table11.csv"),


rule table12:
    """Table 12 of the model criticism paper: the commonest section transition errors."""
    input:
        of_paper("table12", "tables/table12.csv"),


rule table13:
    """Table 13 of the model criticism paper: articles that repeat a section."""
    input:
        of_paper("table13", "tables/table13.csv"),


rule table14:
    """Table 14 of the model criticism paper: samples whose topics are the least likely."""
    input:
        of_paper("table14", "tables/table14.csv"),


rule figure4:
    """Figure 4 of the model criticism paper: the graph of section transition errors."""
    input:
        of_paper("figure4", "figure4"),


rule figure6:
    """Figure 6 of the model criticism paper: covariances of topics in real text and in samples, Wiki."""
    input:
        of_paper("figure6", "figure6"),


rule figure8:
    """Figure 8 of the model criticism paper: covariances of topics in real text and in samples, PubMed."""
    input:
        of_paper("figure8", "figure8"),


rule figure9:
    """Figure 9 of the model criticism paper: covariances of topics in real text and in samples, arXiv."""
    input:
        of_paper("figure9", "figure9"),
