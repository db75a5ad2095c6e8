"""A study's outputs: tables, figures and a section of each experiment, the manifest, and the report.

Needs: what the files of an experiment name, e.g. scores of real text and of samples. Makes: results/studies/{study}.
The standing tables of each kind of experiment have a rule in that kind's own file; all else is the same for every kind.
"""


report: f"{ROOT}/workflow/report/workflow.rst"


# Of each figure the wide form.
FIGURES = [r"{figure,(?!.*\.narrow\.svg).+}.svg"]
TABLES = "results/studies/{study}/{experiment}/tables"


rule make_part_table:
    """A table of a paper as CSV (tidy, full precision), LaTeX and HTML, with the published values beside ours."""
    input:
        made_of,
        published=lambda w: at_hand(experiment(w).published),
    output:
        in_formats("{part}"),
    log:
        "results/logs/make_part_table/{study}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/make_part_table/{study}/{experiment}/{part}.tsv"
    wildcard_constraints:
        part=r"table\d+",
    conda:
        f"{ROOT}/envs/cpu.yaml"
    resources:
        mem_mb=8000,
        runtime=minutes(10),
    params:
        **told(lambda w: experiment(w).request(numbered(w))),
        version=stage("report"),
    # Whole paths, as rules of other folders build on this one.
    script:
        f"{ROOT}/workflow/scripts/make_tables.py"


rule make_figures:
    """The standing figures of an experiment, or one of a paper, each as SVG and, if configured, as PDF."""
    input:
        made_of,
        tables=lambda w: experiment(w).tables_drawn() if w.part == "figures" else [],
    output:
        shown(directory("results/studies/{study}/{experiment}/{part}"), "figure", patterns=FIGURES, figure="{figure}"),
    log:
        "results/logs/make_figures/{study}/{experiment}/{part}.log",
    benchmark:
        "results/benchmarks/make_figures/{study}/{experiment}/{part}.tsv"
    wildcard_constraints:
        part=r"figures|figure\d+",
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime=minutes(10),
    params:
        **told(lambda w: experiment(w).request(numbered(w))),
        tables=TABLES,
        pdf=project.config.pdf_figures,
        version=stage("report"),
    script:
        "../workflow/scripts/make_figures.py"


rule make_section:
    """The section of the report on one experiment, and what `textcritic show` prints of it."""
    input:
        made_of,
        tables=lambda w: experiment(w).table_files(),
        figures=lambda w: experiment(w).figure_folders(),
    output:
        html="results/studies/{study}/{experiment}/section.html",
        facts="results/studies/{study}/{experiment}/section.json",
    log:
        "results/logs/make_section/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_section/{study}/{experiment}.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=8000,
        runtime=minutes(10),
    params:
        **told(lambda w: experiment(w).section_request()),
        tables=TABLES,
        version=stage("report"),
    script:
        "../workflow/scripts/make_section.py"


rule make_manifest:
    """What a study was made from: configuration, versions, revision, and the files behind its tables with their digests."""
    input:
        lambda w: at_hand([path for e in project.studies[w.study].experiments.values() for path in e.artefacts()]),
    output:
        "results/studies/{study}/manifest.json",
    log:
        "results/logs/make_manifest/{study}.log",
    benchmark:
        "results/benchmarks/make_manifest/{study}.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=4000,
        runtime=minutes(10),
    params:
        record=lambda w: project.describe(w.study),
        version=stage("report"),
    script:
        "../workflow/scripts/make_manifest.py"


rule make_report:
    """The self-contained report.html, put together from the sections of the study's experiments."""
    input:
        sections=lambda w: [f"{e.folder}/section.html" for e in project.studies[w.study].experiments.values()],
        facts=lambda w: [f"{e.folder}/section.json" for e in project.studies[w.study].experiments.values()],
        manifest="results/studies/{study}/manifest.json",
    output:
        shown("results/studies/{study}/report.html", "report", report="{study}"),
    log:
        "results/logs/make_report/{study}.log",
    benchmark:
        "results/benchmarks/make_report/{study}.tsv"
    conda:
        "../envs/plot.yaml"
    resources:
        mem_mb=4000,
        runtime=minutes(10),
    params:
        names=lambda w: list(project.studies[w.study].experiments),
        version=stage("report"),
    script:
        "../workflow/scripts/make_report.py"
