"""How good a resolver is, on text in which people have marked coreference, and how much of a Latent PPL is its errors.

Needs: an entry of the annotations registry, whose files are fetched (rules/download.smk) or one's own.
Makes: results/quality/{resolver}/{annotation} and results/quality/{critic}/{annotation}.error, a table with a row a document
(.parquet) and what it says of all of them (.json).
"""

from textcritic.experiments.coreference.plan import annotated_files, resolver_of

# Critics whose resolver is made of rules or of files, and those whose resolver is a pretrained model.
RULED_CRITICS = registries.names("critics", kind=["mentions"], resolver=RULED.split("|"))
NEURAL_CRITICS = registries.names("critics", kind=["mentions"], resolver=NEURAL.split("|"))


rule measure_resolver:
    """MUC, B3, CEAF-e, their mean, and the pronouns that are linked to the right person."""
    input:
        files=lambda w: annotated_files(w.annotation, registries),
        given=lambda w: given_mentions(w.resolver, registries),
    output:
        table="results/quality/{resolver}/{annotation}.parquet",
        summary="results/quality/{resolver}/{annotation}.json",
    log:
        "results/logs/measure_resolver/{resolver}/{annotation}.log",
    benchmark:
        "results/benchmarks/measure_resolver/{resolver}/{annotation}.tsv"
    wildcard_constraints:
        resolver=RULED,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("resolvers", "resolver"),
        runtime=of("resolvers", "resolver", "runtime"),
    params:
        spec=spec("resolvers", "resolver"),
        annotation=spec("annotations", "annotation"),
        version=stage("coreference"),
    script:
        "../workflow/scripts/measure_resolver.py"


use rule measure_resolver as measure_neural_resolver with:
    input:
        files=lambda w: annotated_files(w.annotation, registries),
        model=lambda w: hub_folder(registries.entry("resolvers", w.resolver).model),
    log:
        "results/logs/measure_neural_resolver/{resolver}/{annotation}.log",
    benchmark:
        "results/benchmarks/measure_neural_resolver/{resolver}/{annotation}.tsv"
    wildcard_constraints:
        resolver=NEURAL,
    conda:
        "../envs/gpu.yaml"
    threads: of("resolvers", "resolver", "threads")
    resources:
        gpu=of("resolvers", "resolver", "gpu"),
        mem_mb=memory("resolvers", "resolver"),
        runtime=of("resolvers", "resolver", "runtime"),


rule measure_resolver_error:
    """Latent PPL of gold and of resolved chains, under critics fitted on either."""
    input:
        files=lambda w: annotated_files(w.annotation, registries),
        given=lambda w: given_mentions(resolver_of(w.critic, registries), registries),
    output:
        table="results/quality/{critic}/{annotation}.error.parquet",
        summary="results/quality/{critic}/{annotation}.error.json",
    log:
        "results/logs/measure_resolver_error/{critic}/{annotation}.log",
    benchmark:
        "results/benchmarks/measure_resolver_error/{critic}/{annotation}.tsv"
    wildcard_constraints:
        critic=RULED_CRITICS,
    conda:
        "../envs/cpu.yaml"
    resources:
        mem_mb=memory("critics", "critic"),
        runtime=of("critics", "critic", "runtime"),
    params:
        spec=spec("critics", "critic", "kind", "resolver", "order", "discount", "chains"),
        resolver=lambda w: resolver_spec(w.critic, registries),
        annotation=spec("annotations", "annotation"),
        version=stage("coreference"),
    script:
        "../workflow/scripts/measure_resolver_error.py"


use rule measure_resolver_error as measure_neural_resolver_error with:
    input:
        files=lambda w: annotated_files(w.annotation, registries),
        model=lambda w: hub_folder(registries.entry("resolvers", resolver_of(w.critic, registries)).model),
    log:
        "results/logs/measure_neural_resolver_error/{critic}/{annotation}.log",
    benchmark:
        "results/benchmarks/measure_neural_resolver_error/{critic}/{annotation}.tsv"
    wildcard_constraints:
        critic=NEURAL_CRITICS,
    conda:
        "../envs/gpu.yaml"
    resources:
        gpu=lambda w: registries.entry("resolvers", resolver_of(w.critic, registries)).gpu,
        mem_mb=lambda w, attempt: registries.memory("resolvers", resolver_of(w.critic, registries), attempt),
        runtime=of("critics", "critic", "runtime"),
