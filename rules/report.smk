"""A study's outputs: tables, figures, the report and its manifest.

Needs: scores of real text and of every source of the study. Makes: results/studies/{study}.
"""

TABLES = StudyFiles.TABLES


rule make_tables:
    """Every table as CSV (tidy, full precision), LaTeX and HTML, with the published values beside ours."""
    input:
        lambda w: StudyFiles(paths, w.study).inputs(),
        published=lambda w: StudyFiles(paths, w.study).published(),
    output:
        expand("results/studies/{{study}}/tables/{table}.csv", table=TABLES),
        expand("results/studies/{{study}}/tables/{table}.{suffix}", table=StudyFiles.SHEETS, suffix=["tex", "html"]),
    log:
        "results/logs/make_tables/{study}.log",
    benchmark:
        "results/benchmarks/make_tables/{study}.tsv"
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).description(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_tables.py"


rule make_figures:
    """Every figure as SVG and PDF."""
    input:
        lambda w: StudyFiles(paths, w.study).inputs(),
        coherence="results/studies/{study}/tables/coherence.csv",
    output:
        directory("results/studies/{study}/figures"),
    log:
        "results/logs/make_figures/{study}.log",
    benchmark:
        "results/benchmarks/make_figures/{study}.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).description(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_figures.py"


rule make_report:
    """The self-contained report.html, and the manifest of what went into it."""
    input:
        lambda w: StudyFiles(paths, w.study).inputs(),
        published=lambda w: StudyFiles(paths, w.study).published(),
        tables=rules.make_tables.output,
        figures="results/studies/{study}/figures",
    output:
        report="results/studies/{study}/report.html",
        manifest="results/studies/{study}/manifest.json",
    log:
        "results/logs/make_report/{study}.log",
    benchmark:
        "results/benchmarks/make_report/{study}.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).description(),
        record=lambda w: project.describe(w.study),
        repository=workflow.basedir,
        version=stage("report"),
    script:
        "../workflow/scripts/make_report.py"


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
