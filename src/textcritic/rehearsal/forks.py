"""Runs Snakemake for a rehearsal: its jobs are forked from a process that has torch and transformers loaded too.

Jobs of a rehearsal have one thread and small models, so that imports would take most of their time. A GPU is chosen at
its first use, which is in the forked process.
"""

from textcritic.workflow.forks import LOADED, main

MODELS = (
    *("torch", "torch.distributed", "torch.nn.parallel", "torch.utils.data", "safetensors.torch", "tokenizers"),
    *("transformers", "transformers.models.auto.modeling_auto"),
    *("transformers.models.auto.tokenization_auto", "transformers.models.gpt2.modeling_gpt2"),
    *("transformers.models.gpt_neo.modeling_gpt_neo", "transformers.models.bert.modeling_bert"),
    *("transformers.models.roberta.modeling_roberta", "scipy.stats", "scipy.optimize", "networkx", "nltk"),
    *("matplotlib.pyplot", "fontTools.subset", "tomotopy", "sacremoses"),
)

HUB = "huggingface_hub.constants"
"""First, while the hub is not yet offline: the jobs that download must reach the mirror."""

MOST_THREADS = 1000
"""So that every job is forked: each works with one thread, whatever it may use."""

if __name__ == "__main__":
    main((HUB, *LOADED, *MODELS), most_threads=MOST_THREADS)
