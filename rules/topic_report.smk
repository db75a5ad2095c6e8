"""A study's tables and figures of topics.

Needs: topics and scores of real text and of the sources under `topics`, and nothing else of the study.
Makes: the tables topics, topic-words and topic-outliers, and the folder topic-figures, in results/studies/{study}.
"""

WITH_TOPICS = "|".join(study for study in project.studies if project.topic_sources(study)) or "(?!)"


rule make_topic_tables:
    """The tables of a study's topics as CSV (tidy, full precision), LaTeX and HTML."""
    input:
        lambda w: StudyFiles(paths, w.study).topic_inputs(),
        published=lambda w: StudyFiles(paths, w.study).published(),
    output:
        expand(
            "results/studies/{{study}}/tables/{table}.{suffix}", table=StudyFiles.TOPICS, suffix=["csv", "tex", "html"]
        ),
    log:
        "results/logs/make_topic_tables/{study}.log",
    benchmark:
        "results/benchmarks/make_topic_tables/{study}.tsv"
    wildcard_constraints:
        study=WITH_TOPICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).topics(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_topic_tables.py"


rule make_topic_figures:
    """The figures of a study's topics as SVG and PDF."""
    input:
        lambda w: StudyFiles(paths, w.study).topic_inputs(),
        topics="results/studies/{study}/tables/topics.csv",
    output:
        directory("results/studies/{study}/topic-figures"),
    log:
        "results/logs/make_topic_figures/{study}.log",
    benchmark:
        "results/benchmarks/make_topic_figures/{study}.tsv"
    wildcard_constraints:
        study=WITH_TOPICS,
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime="1h",
    params:
        study=lambda w: StudyFiles(paths, w.study).topics(),
        version=stage("report"),
    script:
        "../workflow/scripts/make_topic_figures.py"
