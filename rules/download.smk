"""Downloads: the only rules that use the network, run where `snakemake` runs (a login node).

Needs: the hub registry. Makes: results/raw/hub/{model}, the files of one commit; later rules load them offline.
"""


localrules:
    download_model,


rule download_model:
    output:
        directory("results/raw/hub/{model}"),
    params:
        spec=spec("hub", "model"),
    log:
        "results/logs/download_model/{model}.log",
    conda:
        "../envs/controller.yaml"
    script:
        "../workflow/scripts/download_model.py"
