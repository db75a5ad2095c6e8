"""The registries and their entries: pydantic models, one for each kind of entry.

`REGISTRIES` has them by name. They are at once the schema of config/registry, the defaults, the documentation in
docs/config, and the values that travel: a job gets its entry back from one line of text by `restore` of its class.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args, overload

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

    @property
    def kinds(self) -> Mapping[str, type[Entry]]:
        """The models by their kinds; none for a registry without kinds."""
        return {kind_of(model): model for model in self.models if "kind" in model.model_fields}

    def schema(self) -> JsonObject:
        """The JSON schema of an entry."""
        forms = [json_schema(model) for model in self.models]
        form = forms[0] if len(forms) == 1 else {"oneOf": forms}
        return {"$schema": DRAFT, "description": self.description, **form}

    def read(self, value: object, where: str) -> Entry:
        """An entry from YAML or JSON.

        Args:
            value: the mapping.
            where: file and entry, which the error line begins with.

        Raises:
            TextcriticError: as `Entry.read`; or an unknown kind.
        """
        if len(self.models) == 1:
            return self.models[0].read(value, where)
        kinds = self.kinds
        default = next((name for name, model in kinds.items() if not model.model_fields["kind"].is_required()), None)
        kind = value.get("kind", default) if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            raise TextcriticError(f"{where}: kind: {kind!r} is not one of {', '.join(kinds)}")
        return kinds[kind].read(value, where)

    def with_models(self, models: Iterable[object], where: str) -> "Registry":
        """The same with more models, each of a kind of its own.

        Raises:
            TextcriticError: something is no model, or its kind is taken or not one literal text.
        """
        known = dict(self.kinds)
        for model in models:
            if not (isinstance(model, type) and issubclass(model, Entry)):
                raise TextcriticError(f"{where}: {model!r} is no subclass of textcritic.plan.entries.base.Entry")
            field = model.model_fields.get("kind")
            kinds = get_args(field.annotation) if field else ()
            if len(kinds) != 1 or not model.model_config.get("title"):
                raise TextcriticError(
                    f'{where}: {model.__name__} needs a title and a kind: `class {model.__name__}(Entry, title="what'
                    ' it is"): kind: Literal["my-kind"] = key("what it is")`'
                )
            if kinds[0] in known:
                raise TextcriticError(f"{where}: {model.__name__}: there is a kind {kinds[0]!r} already; rename it")
            known[kinds[0]] = model
        return replace(self, models=tuple(known.values()))


REGISTRIES: Mapping[str, Registry] = {
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
    """The JSON schema of an entry of a registry, without the kinds of other packages."""
    return REGISTRIES[registry].schema()


def read_entry(value: object, registry: str, where: str) -> Entry:
    """An entry of a registry, of one of our kinds; see `Registry.read`."""
    return REGISTRIES[registry].read(value, where)


def kind_of(model: type[Entry]) -> str:
    """The value of `kind` in the entries of a model."""
    (kind,) = get_args(model.model_fields["kind"].annotation)
    return str(kind)


@overload
def restore(text: str, registry: Literal["classifiers"]) -> Classifier: ...
@overload
def restore(text: str, registry: Literal["critics"]) -> Critic: ...
@overload
def restore(text: str, registry: Literal["embedders"]) -> Embedder: ...
@overload
def restore(text: str, registry: Literal["generators"]) -> Generator: ...
@overload
def restore(text: str, registry: Literal["proposals"]) -> Proposal: ...
@overload
def restore(text: str, registry: Literal["resolvers"]) -> Resolver: ...
@overload
def restore(text: str, registry: str) -> Entry: ...
def restore(text: str, registry: str) -> Entry:
    """What `Entry.canonical` wrote, where entries of several kinds may come; else `restore` of the model does it."""
    return read_entry(json.loads(text), registry, f"specification of {registry}")
