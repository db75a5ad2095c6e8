"""The registries and their entries: pydantic models, one for each kind of entry.

`REGISTRIES` has them by name. They are at once the schema of config/registry, the defaults, the documentation in
docs/config, and the values that travel: a job gets its entry back from one line of text by `restore` of its class.
"""

import json
from dataclasses import dataclass, replace
from typing import get_args

from textcritic.errors import TextcriticError
from textcritic.plan.entries.base import Entry, json_schema
from textcritic.plan.entries.campaigns import Campaign
from textcritic.plan.entries.classifiers import (
    GeneratorEmbedder,
    GivenTitles,
    PretrainedEmbedder,
    TransformerClassifier,
)
from textcritic.plan.entries.corpora import Corpus
from textcritic.plan.entries.critics import (
    Ctm,
    KnownProcess,
    Lda,
    Mauve,
    Mentions,
    Order,
    Recitation,
    Tendencies,
    Transitions,
)
from textcritic.plan.entries.decodings import Decoding
from textcritic.plan.entries.detectors import Detector
from textcritic.plan.entries.downloads import Dataset, Download, HubModel
from textcritic.plan.entries.encodings import Encoding
from textcritic.plan.entries.generators import Causal, Fairseq, Hsmm, Ngram, SampleFile
from textcritic.plan.entries.latent import Crf, EntityDisc, EntityNlm, HsmmProposal, Kglm, KglmDisc, Lstm, Rnng
from textcritic.plan.entries.resolvers import Annotations, GivenMentions, Nearest, Neural, Persons
from textcritic.values import JsonObject

Generator = Causal | Ngram | Hsmm | Fairseq | Rnng | EntityNlm | Kglm | Lstm | SampleFile
Critic = Transitions | KnownProcess | Ctm | Mentions | Lda | Tendencies | Recitation | Order | Detector | Mauve
Classifier = TransformerClassifier | GivenTitles
Resolver = Persons | Nearest | Neural | GivenMentions
Embedder = PretrainedEmbedder | GeneratorEmbedder
Proposal = Crf | EntityDisc | KglmDisc | HsmmProposal

DRAFT = "https://json-schema.org/draft/2020-12/schema"


@dataclass(frozen=True, slots=True)
class Registry:
    """What the entries of a registry are.

    Attributes:
        description: what an entry is, in a line.
        models: of each kind of entry, the model, told apart by the key `kind`; one model for a
            registry without kinds.
        checks: functions `module:function` of a name and all `Registries` that see whether an entry is right, beyond
            its model and the names in it.
    """

    description: str
    models: tuple[type[Entry], ...]
    checks: tuple[str, ...] = ()


REGISTRIES: dict[str, Registry] = {
    "annotations": Registry(
        "text in which people have marked coreference; how good a resolver is, is measured on it",
        (Annotations,),
        ("textcritic.plan.checks.resolvers:check_annotations",),
    ),
    "campaigns": Registry(
        "a campaign in which people are asked about texts, by the web app of `textcritic annotate` (appendix H"
        " of the model-criticism paper; docs/annotation.md)",
        (Campaign,),
        ("textcritic.annotation.campaigns:check_campaign",),
    ),
    "classifiers": Registry(
        "a section classifier; it says which title each section has (appendix E of the model-criticism paper)",
        (
            TransformerClassifier,
            GivenTitles,
        ),
        ("textcritic.plan.checks.models:check_classifier",),
    ),
    "corpora": Registry(
        "one corpus, from where its text comes to how it is filtered and split",
        (Corpus,),
        (
            "textcritic.corpora.synthetic.recipe:check_process",
            "textcritic.corpora.intruders.options:check_intruders",
            "textcritic.plan.checks.corpora:check_corpus",
            "textcritic.corpora.intruders.options:check_probes",
        ),
    ),
    "critics": Registry(
        "a critic; a latent process that scores text",
        (
            Transitions,
            KnownProcess,
            Ctm,
            Mentions,
            Lda,
            Tendencies,
            Recitation,
            Order,
            Detector,
            Mauve,
        ),
        (
            "textcritic.plan.checks.vocabulary:check_vocabulary",
            "textcritic.critics.tendencies.options:check_tendencies",
            "textcritic.plan.checks.detectors:check_detector",
        ),
    ),
    "datasets": Registry(
        "one data set of the Hugging Face hub, downloaded by the rule `download_dataset` to"
        " results/raw/datasets/{name}, for corpora with the extractor `hub-dataset`",
        (Dataset,),
        ("textcritic.plan.checks.datasets:check_dataset",),
    ),
    "decodings": Registry(
        "how articles are drawn from a generator",
        (Decoding,),
        ("textcritic.plan.checks.decodings:check_decoding",),
    ),
    "downloads": Registry(
        "one file of the web, fetched by the rule `download_file` to results/raw/downloads/{name}",
        (Download,),
    ),
    "embedders": Registry(
        "a language model whose last hidden states are points of documents, for MAUVE",
        (
            PretrainedEmbedder,
            GeneratorEmbedder,
        ),
        ("textcritic.plan.checks.critics:check_embedder",),
    ),
    "encodings": Registry(
        "how text becomes tokens; the tokenizer and the mark between articles",
        (Encoding,),
        ("textcritic.plan.checks.models:check_encoding",),
    ),
    "generators": Registry(
        "one language model, to be trained on a corpus in a setting",
        (
            Causal,
            Ngram,
            Hsmm,
            Fairseq,
            Rnng,
            EntityNlm,
            Kglm,
            Lstm,
            SampleFile,
        ),
        ("textcritic.plan.checks.models:check_generator",),
    ),
    "hub": Registry(
        "one pretrained model of the Hugging Face hub, downloaded by the rule `download_model` to"
        " results/raw/hub/{name}",
        (HubModel,),
    ),
    "proposals": Registry(
        "one proposal q(z | x), which draws latent states of a text for importance sampling; trained on texts"
        " whose states are given",
        (
            Crf,
            EntityDisc,
            KglmDisc,
            HsmmProposal,
        ),
        ("textcritic.plan.checks.latent:check_proposal",),
    ),
    "resolvers": Registry(
        "a coreference resolver; it says which spans of a text mean the same person or thing",
        (
            Persons,
            Nearest,
            Neural,
            GivenMentions,
        ),
        ("textcritic.plan.checks.resolvers:check_resolver",),
    ),
}


def registry_schema(registry: str) -> JsonObject:
    """The JSON schema of an entry of a registry."""
    about = REGISTRIES[registry]
    forms = [json_schema(model) for model in about.models]
    form = forms[0] if len(forms) == 1 else {"oneOf": forms}
    return {"$schema": DRAFT, "description": about.description, **form}


def read_entry(value: object, registry: str, where: str) -> Entry:
    """An entry of a registry from YAML or JSON.

    Args:
        value: the mapping.
        registry: which registry.
        where: file and entry, which the error line begins with.

    Raises:
        TextcriticError: as `Entry.read`; or an unknown kind.
    """
    models = REGISTRIES[registry].models
    if len(models) == 1:
        return models[0].read(value, where)
    kinds = {kind_of(model): model for model in models}
    default = next((name for name, model in kinds.items() if not model.model_fields["kind"].is_required()), None)
    kind = value.get("kind", default) if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise TextcriticError(f"{where}: kind: {kind!r} is not one of {', '.join(kinds)}")
    return kinds[kind].read(value, where)


def kind_of(model: type[Entry]) -> str:
    """The value of `kind` in the entries of a model."""
    (kind,) = get_args(model.model_fields["kind"].annotation)
    return str(kind)


def join(registry: str, model: type[Entry], where: str) -> None:
    """Let a registry have entries of one more kind in this process: of a kind that a package from outside brings.

    Args:
        registry: which registry.
        model: its entries.
        where: the package, which the error line begins with.

    Raises:
        TextcriticError: there is no such registry; its entries have no kinds, or neither has the model; or the registry
            has entries of this kind already.
    """
    kinds = [name for name, about in REGISTRIES.items() if "kind" in about.models[0].model_fields]
    if registry not in kinds:
        raise TextcriticError(f"{where}: entries: {registry!r} is not one of {', '.join(kinds)}, which have kinds")
    if len(get_args(getattr(model.model_fields.get("kind"), "annotation", None))) != 1:
        raise TextcriticError(f"{where}: entries: {model.__name__} should have a key kind: Literal[...], with its name")
    others = [one for one in REGISTRIES[registry].models if _place(one) != _place(model)]
    if kind_of(model) in map(kind_of, others):
        raise TextcriticError(f"{where}: entries: {registry} has a kind {kind_of(model)!r} already; rename it")
    REGISTRIES[registry] = replace(REGISTRIES[registry], models=(*others, model))


def _place(model: type[Entry]) -> tuple[str, str]:
    return model.__module__, model.__qualname__


def restore(text: str, registry: str) -> JsonObject:
    """What `Entry.canonical` wrote, as a mapping with all defaults; `restore` of a model gives the entry itself."""
    return read_entry(json.loads(text), registry, f"specification of {registry}").plain()
