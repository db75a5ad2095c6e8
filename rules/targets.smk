"""What the named targets of the Snakefile build: the files of all configured studies up to a stage."""


def of_studies(files):
    """The files of all configured studies; `files` takes a study. With no study it says what can be asked for."""

    def of_all(w):
        if not project.studies:
            raise WorkflowError(project.without_studies())
        return [path for study in project.studies.values() for path in files(study)]

    return of_all


def corpus_files(study):
    return [f"results/corpora/{corpus}/statistics.json" for corpus in study.corpora()]


def generator_files(study):
    measured = [path for source in study.sources() for path in paths.perplexity(source)]
    return [*measured, *(path for e in study.experiments.values() for path in e.models())]


def sample_files(study):
    return [f"{source.sample}.parquet" for source in study.sources()]


def audit_files(study):
    return [f"{source.sample}.parquet" for e in study.experiments.values() for source in e.costly_sources()]


def table_files(study):
    return [path for e in study.experiments.values() for path in e.table_files()]


def figure_files(study):
    return [path for e in study.experiments.values() for path in e.figure_folders()]
