"""Statistics of corpora: the tables of the experiments of kind corpora.

Needs: results/corpora/{corpus}/statistics.json. Makes: tables of results/studies.
"""


use rule make_part_table as make_corpora_tables with:
    output:
        standing("corpora"),
    log:
        "results/logs/make_corpora_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_corpora_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("corpora"),
