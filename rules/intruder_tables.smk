"""Intruder sentences: the standing tables of the kind.

Needs: intruder corpora, predictions of detectors, maybe probes, votes and documents of generated text, which the rules of
corpora and of detectors make. Makes: results/studies/{study}/{experiment}/tables.
"""


use rule make_part_table as make_intruders_tables with:
    output:
        standing("intruders"),
    log:
        "results/logs/make_intruders_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_intruders_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("intruders"),
