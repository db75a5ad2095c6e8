"""What people say, beside metrics: the experiment's tables.

Needs: answers (files named in the study), scores and titles of section order (rules/coherence.smk, rules/titles.smk), MAUVE
(rules/mauve.smk), perplexities. Makes: the standing tables.
"""


use rule make_part_table as make_people_tables with:
    output:
        standing("people"),
    log:
        "results/logs/make_people_tables/{study}/{experiment}.log",
    benchmark:
        "results/benchmarks/make_people_tables/{study}/{experiment}.tsv"
    wildcard_constraints:
        experiment=project.experiments_of("people"),
