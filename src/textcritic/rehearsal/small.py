"""Small values for registry entries and studies, by the names of their keys; so a new entry needs no values here.

A number above the limit of its key becomes that limit. Other values do not change, with four exceptions: the sizes of
fairseq's models, which no registry has; the training of fairseq's translators, which must learn at a high rate to
write any words; texts that have not ended, which are kept, because tiny models seldom end one; and tendencies, which
are counted in two shards. Of a study, a smoke rehearsal has as much as runs every rule about once:
see `smoke_study`.
"""

import json
from collections.abc import Iterable, Mapping

from textcritic.plan.checks.decodings import translates
from textcritic.plan.entries import Causal, Decoding, Entry, Fairseq, Tendencies
from textcritic.plan.missing import PARTS, Missing, without
from textcritic.plan.project import Project
from textcritic.plan.registries import Registries, named_in
from textcritic.values import JsonObject

TRAINING = {
    **{"steps": 4, "epochs": 1, "pretraining_epochs": 1, "warmup_steps": 1, "evaluate_every": 2, "evaluate_blocks": 2},
    **{"context": 32, "accumulation": 2, "max_tokens": 500, "batch_size": 8},
}
# All widths are the same, because some must be equal.
MODEL = {
    **dict.fromkeys(
        ("n_embd", "d_model", "hidden_size", "hidden", "embedding", "words", "entities", "entity_size"), 16
    ),
    **dict.fromkeys(("n_layer", "num_layers", "num_hidden_layers", "layers"), 1),
    **dict.fromkeys(("n_head", "attention_heads", "num_attention_heads"), 2),
    **dict.fromkeys(("ffn_dim", "intermediate_size", "states"), 32),
    **dict.fromkeys(("n_positions", "max_position_embeddings"), 64),
    **{"minimum_count": 1, "most_common": 2000, "iterations": 2},
}
HARDWARE = {"threads": 1, "mem_mb": 4000}
LIMITS: Mapping[str, Mapping[str, float]] = {
    "generators": TRAINING | MODEL,
    "proposals": TRAINING | MODEL | {"longest": 250},
    "classifiers": TRAINING | {"max_tokens": 64, "batch_size": 32},
    "critics": TRAINING
    | {"batch_size": 32, "hidden": 16, "states": 16, "longest": 64, "max_tokens": 64, "minimum_count": 1}
    | {"topics": 4, "iterations": 20, "starts": 1, "burn_in": 5, "draws": 2, "sweeps": 2, "shards": 2}
    | {"groups": 8, "resamples": 20, "least": 5, "longest_lag": 8, "window": 10, "ranks": 100}
    | {"documents": 100, "buckets": 4, "seeds": 2, "halves": 4, "redo": 1},
    "decodings": {"articles": 24, "max_tokens": 150, "shards": 1, "batch_size": 24},
    "embedders": {"max_tokens": 32, "batch_size": 8},
    "encodings": {"vocabulary": 400},
    "corpora": {
        **{"train": 60, "validation": 40, "test": 60, "minimum_title_count": 2, "minimum_tokens": 10, "shards": 2},
        **{"states": 16, "steps": 6, "subsequences": 300, "letters": 12, "documents": 15},
    },
}
STUDY: Mapping[str, float] = {"particles": 4, "shards": 2, "samples": 4, "repeats": 4, "group": 4}
FAIRSEQ: Mapping[str, JsonObject] = {
    "transformer_lm": {
        **{f"decoder_{key}": 16 for key in ("embed_dim", "input_dim", "output_dim")},
        **{"decoder_ffn_embed_dim": 32, "decoder_layers": 1, "decoder_attention_heads": 2, "max_target_positions": 256},
    },
    "transformer_lm_wiki103": {"adaptive_input_cutoff": "100,200", "adaptive_softmax_cutoff": "100,200"},
    "fconv_lm": {
        **{"decoder_embed_dim": 16, "decoder_layers": "[(16, 3)] * 2", "adaptive_softmax_cutoff": None},
        "max_target_positions": 256,
    },
    "lstm_lm": {
        **{"decoder_embed_dim": 16, "decoder_hidden_size": 16, "decoder_out_embed_dim": 16, "decoder_layers": 1},
        "max_target_positions": 256,
    },
}
"""By the beginning of an architecture's name; what belongs to a longer beginning is laid over the rest."""
TRANSLATOR: JsonObject = {
    **{f"{side}_{key}": size for side in ("encoder", "decoder") for key, size in
       {"embed_dim": 16, "ffn_embed_dim": 32, "layers": 1, "attention_heads": 2}.items()},
    **{"max_source_positions": 256, "max_target_positions": 256},
}  # fmt: skip
RUNTIME = "20m"
STEPS = 30  # of a language model that starts from a stand-in, which was trained on the texts, and of a translator
RATE = 1e-2  # of a translator; at those of papers its likeliest texts are empty after a few steps
# A study has one entry of each kind from these registries. The kind is given by the keys of an entry that decide which
# rules make it: by their values, or by the keys of a mapping.
TELLING = {
    "corpora": ("extractor", "bring"),
    "generators": ("kind", "architecture", "init"),
    "critics": ("kind", "model", "test", "classifier"),
    "classifiers": ("kind",),
    "decodings": ("method", "stop"),
    "proposals": ("kind", "model.reads"),
}
# An extractor whose corpora are made by the rules of another one, from other files.
SAME = {'"derived"': '"wikipedia"'}


def small_values(registries: Registries, used: Mapping[str, Iterable[str]], gpus: bool) -> JsonObject:
    """The values that are laid over registry entries, by registry and name.

    Args:
        registries: the real ones.
        used: the names of the entries, by registry.
        gpus: whether jobs may ask for the GPUs that their entries ask for.
    """
    over: JsonObject = {}
    for registry, names in used.items():
        for name in names:
            whole = registries.entry(registry, name)
            values = capped(
                _relevant(registry, whole), {**HARDWARE, **LIMITS.get(registry, {}), **({} if gpus else {"gpu": 0})}
            )
            if "accumulation" in values.get("training", {}):  # of several GPUs each takes as many passes
                values["training"]["accumulation"] = max(2, values.get("gpu", getattr(whole, "gpu", 0)))
            if isinstance(whole, Causal) and whole.training.epochs:  # whatever the number of blocks
                values["training"] = {**values.get("training", {}), "steps": STEPS, "epochs": None}
            if isinstance(whole, Fairseq):
                values = values | {"options": fairseq_options(whole.architecture)}
                if translates(whole.architecture):
                    learning = {"steps": STEPS, "epochs": None, "learning_rate": RATE}
                    values["training"] = {**values.get("training", {}), **learning}
            if isinstance(whole, Decoding):
                values = values | {"unfinished": "keep"}
            if isinstance(whole, Tendencies):
                values = values | {"shards": 2}  # so that shards are put together
            if "runtime" in type(whole).model_fields:
                values = values | {"runtime": RUNTIME}
            if values:
                over.setdefault(registry, {})[name] = values
    return over


def _relevant(registry: str, entry: Entry) -> JsonObject:
    """The keys of an entry that count: not a corpus's defaults of options of other extractors."""
    if registry != "corpora":
        return entry.plain()
    relevant: JsonObject = json.loads(entry.canonical())
    if relevant["extractor"] == "process":
        relevant["options"] = {"process": entry.plain()["options"]["process"]}
    return relevant


def capped(value: JsonObject, limits: Mapping[str, float]) -> JsonObject:
    """The parts of a value whose numbers are above the limits of their keys, with these limits."""
    found: JsonObject = {}
    for key, item in value.items():
        if isinstance(item, dict):
            inside = capped(item, limits)
            if inside:
                found[key] = inside
        elif isinstance(item, int | float) and not isinstance(item, bool) and item > limits.get(key, item):
            found[key] = limits[key]
    return found


def fairseq_options(architecture: str) -> JsonObject:
    """The sizes of a model of fairseq."""
    sizes = [FAIRSEQ[start] for start in sorted(FAIRSEQ, key=len) if architecture.startswith(start)]
    return {key: item for size in sizes or [TRANSLATOR] for key, item in size.items()}


def smoke_study(project: Project, study: str) -> JsonObject:
    """The description of a study that names one entry of each kind, the first, and has few draws.

    The first numbered table or figure of each recipe stays, if anything that it compares stays.
    """
    whole = project.studies[study]
    blocks = whole.description["experiments"]
    first: dict[tuple[str, ...], str] = {}
    dropped: dict[str, str] = {}
    for block in blocks:
        for _, registry, name in named_in(block, project.kind(block["kind"]).rules()):
            if registry in TELLING and first.setdefault(_likeness(project.registries, registry, name), name) != name:
                dropped[f"{registry}.{name}"] = "alike"
    left = []
    for block in blocks:
        kind = project.kind(block["kind"])
        kept = without(block, kind.rules(), Missing(project.registries, project.here, dropped))
        if kept:
            mended = kind.read_rest(kept, study).plain()
            kept = {key: mended[key] for key in block}
            parts = {
                key: list({part["of"]: part for part in reversed(kept[key])}.values()) for key in PARTS if key in kept
            }
            left.append({key: _fewer(value) for key, value in kept.items()} | capped(kept, STUDY) | parts)
    return {**whole.description, "experiments": left}


def _fewer(value: object) -> object:
    """Two of a list of temperatures or beams: the first, and 1 or the second."""
    if not isinstance(value, list) or len(value) < 3 or not all(isinstance(item, int | float) for item in value):
        return value
    return [value[0], 1 if 1 in value[1:] else value[1]]


def _likeness(registries: Registries, registry: str, name: str) -> tuple[str, ...]:
    entry = registries.entry(registry, name).plain()
    values = []
    for key in TELLING[registry]:
        value: object = entry
        for part in key.split("."):
            value = value.get(part) if isinstance(value, dict) else None
        if key == "bring":
            value = value is not None  # the words do not matter
        text = json.dumps(sorted(value) if isinstance(value, dict) else value)
        values.append(SAME.get(text, text))
    return (registry, *values)
