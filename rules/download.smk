"""Downloads: the only rules that use the network, run where `snakemake` runs (a login node).

Needs: the hub and downloads registries.
Makes: results/raw/hub/{model}, the files of one commit, which later rules load offline; results/raw/downloads/{download},
and the members of an archive in results/raw/unpacked/{download}.
"""


localrules:
    download_model,
    download_file,
    unpack_member,


rule download_file:
    """One file of the web; a broken download goes on where it stopped."""
    output:
        protected("results/raw/downloads/{download}"),
    log:
        "results/logs/download_file/{download}.log",
    conda:
        "../envs/controller.yaml"
    resources:
        in_turn=0,
    params:
        spec=spec("downloads", "download"),
    script:
        "../workflow/scripts/download_file.py"


rule unpack_member:
    """One file out of a downloaded zip or tar archive, found by its name in whatever folder."""
    input:
        "results/raw/downloads/{download}",
    output:
        "results/raw/unpacked/{download}/{member}",
    log:
        "results/logs/unpack_member/{download}/{member}.log",
    conda:
        "../envs/controller.yaml"
    resources:
        in_turn=0,
    script:
        "../workflow/scripts/unpack_member.py"


rule download_model:
    """The configuration, tokenizer and weights of a pretrained model."""
    input:
        lambda w: refused(project.missing.why("hub", w.model), w.model),
    output:
        directory("results/raw/hub/{model}"),
    log:
        "results/logs/download_model/{model}.log",
    conda:
        "../envs/controller.yaml"
    resources:
        in_turn=0,
    params:
        spec=spec("hub", "model"),
    script:
        "../workflow/scripts/download_model.py"
