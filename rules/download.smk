"""Downloads: the only rules that use the network, run where `snakemake` runs (a login node).

Needs: the hub and downloads registries.
Makes: results/raw/hub/{model}, the files of one commit, which later rules load offline; results/raw/downloads/{download}.
"""


localrules:
    download_model,
    download_file,


rule download_file:
    """One file of the web; a broken download goes on where it stopped."""
    output:
        protected("results/raw/downloads/{download}"),
    params:
        spec=spec("downloads", "download"),
    log:
        "results/logs/download_file/{download}.log",
    conda:
        "../envs/controller.yaml"
    script:
        "../workflow/scripts/download_file.py"


rule download_model:
    """The configuration, tokenizer and weights of a pretrained model."""
    output:
        directory("results/raw/hub/{model}"),
    log:
        "results/logs/download_model/{model}.log",
    conda:
        "../envs/controller.yaml"
    params:
        spec=spec("hub", "model"),
    script:
        "../workflow/scripts/download_model.py"
