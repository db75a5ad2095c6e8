"""Latent language models and the proposals of their states."""

from typing import Literal

from textcritic.plan.entries.base import Entry, Number, key, optional
from textcritic.plan.entries.parts import Batches, GpuJob, Precision


class LatentTraining(Batches):
    """How a latent language model or a proposal is trained."""

    optimiser: Literal["adam", "sgd"] = key(
        "`sgd`: plain stochastic gradient descent, as urnng trains its model; set `learning_rate` with it"
        " (urnng: 1, of the mean loss of a sentence; here the loss is the mean of a token)",
        "adam",
    )
    learning_rate: Number = key("at its peak", 0.001, gt=0)
    batch_size: int = key("texts in one forward pass", 16, ge=1)
    gradient_clip: Number | None = key("largest norm of the gradient; null means no clipping", 5.0, gt=0)
    precision: Precision = key("auto: bf16 on a GPU, fp32 on a CPU", "fp32")

    @property
    def method(self) -> str:
        """The optimiser, see `training.optimiser`."""
        return self.optimiser


class Latent(GpuJob):
    """A latent language model or a proposal of its states."""

    label: str | None = optional("what tables and figures call it")
    minimum_count: int = key("words of the train split that occur less often are <unk>", 2, ge=1)
    training: LatentTraining = key(
        "how it is trained; what has the lowest validation loss is kept", LatentTraining(epochs=10)
    )
    runtime: str = key("time limit of each of its jobs", "4h")


class RnngModel(Entry):
    """The architecture of an RNNG."""

    hidden: int = key("width of words, subtrees and each layer of the stack LSTM", 650, ge=1)
    layers: int = key("layers of the stack LSTM", 2, ge=1)
    dropout: Number = key("share of the values that training leaves out", 0.5, ge=0, lt=1)
    tied: bool = key("whether the table of words that are read is that of words that are written", True)
    end: Literal["stop", "length", "as_released"] = key(
        "`stop`, the model predicts where a text ends; `length`, the number of words is given;"
        " `as_released`, the end is not predicted, but the last REDUCEs are paid for, as in the released"
        " code: p(x) then sums to less than one",
        "stop",
    )
    count_end: bool = key("whether the end of a text counts as a token, with `end: stop`", False)


class Rnng(Latent, title="a recurrent neural network grammar (kind rnng)"):
    """RNNG: words and a binary tree over them."""

    kind: Literal["rnng"] = key(
        "RNNG: words and a binary tree over them (Dyer et al. 2016; Kim et al. 2019); for corpora of trees"
    )
    model: RnngModel = key("its architecture and what its probabilities are of", RnngModel)


class EntitySizes(Entry):
    """Sizes that EntityNLM and EntityDisc share."""

    embedding: int = key("width of a word vector", 300, ge=1)
    hidden: int = key("units of each layer of the LSTM", 300, ge=1)
    layers: int = key("layers of the LSTM", 1, ge=1)
    dropout: Number = key("share of the values that training leaves out", 0.2, ge=0, lt=1)
    entity_size: int = key("width of an entity's vector", 300, ge=1)
    max_entities: int = key("most entities of a text", 100, ge=1)
    longest_mention: int = key("most tokens of a mention", 100, ge=1)


class EntityNlmModel(EntitySizes):
    """The architecture of EntityNLM."""

    tied: bool = key("whether input and output share their word vectors; `embedding` must be `hidden` then", False)
    uncounted: list[str] = key("words that do not count as tokens, e.g. @@START@@; the released code counts them", [])
    noise: Number = key(
        "standard deviation of noise on the vectors of new entities; the released code has 1e-4 in its"
        " evaluation too, so that p(x, z) is another number each time",
        0,
        ge=0,
    )


class EntityNlm(Latent, title="a language model with entities (kind entitynlm)"):
    """EntityNLM: words and mentions of entities."""

    kind: Literal["entitynlm"] = key(
        "EntityNLM: words and mentions of entities (Ji et al. 2017); for corpora of mentions"
    )
    model: EntityNlmModel = key("its architecture and what its probabilities are of", EntityNlmModel)


class GraphSizes(Entry):
    """Sizes that KGLM and KglmDisc share."""

    words: int = key("width of a word vector", 400, ge=1)
    entities: int = key("width of an entity's and a relation's vector", 256, ge=1)
    hidden: int = key("units of each layer of the LSTM", 1150, ge=1)
    layers: int = key("layers of the LSTM", 3, ge=1)
    dropout: Number = key("share of the values that training leaves out", 0.4, ge=0, lt=1)
    window: int = key("tokens after which an entity is no longer recent", 30, ge=1)
    learn_entities: bool = key("whether the vectors of entities are trained; else they stay as they are drawn", True)


class KglmModel(GraphSizes):
    """The architecture of KGLM."""

    as_released: bool = key(
        "whether the choice of a new entity is paid for at every token of a mention, as in the released"
        " code: p(x) then sums to less than one",
        False,
    )


class Kglm(Latent, title="a knowledge graph language model (kind kglm)"):
    """KGLM: words and links into a knowledge graph."""

    kind: Literal["kglm"] = key(
        "KGLM: words and links into a knowledge graph (Logan et al. 2019); for corpora of links"
    )
    model: KglmModel = key("its architecture", KglmModel)


class LstmModel(Entry):
    """The architecture of an LSTM."""

    embedding: int = key("width of a word vector", 300, ge=1)
    hidden: int = key("units of each layer", 300, ge=1)
    layers: int = key("layers", 1, ge=1)
    dropout: Number = key("share of the values that training leaves out", 0.2, ge=0, lt=1)
    tied: bool = key("whether input and output share their word vectors; `embedding` must be `hidden` then", False)
    ends: bool = key(
        "whether the model predicts where a text ends, as RNNG does with `end: stop`; else the length is"
        " given, as of EntityNLM and KGLM",
        False,
    )
    uncounted: list[str] = key("words that do not count as tokens, e.g. @@START@@", [])


class Lstm(Latent, title="a language model without latent states (kind lstm)"):
    """An LSTM over tokens, whose likelihood is exact."""

    kind: Literal["lstm"] = key(
        "an LSTM over the tokens of trees, mentions or links, whose likelihood is exact: the baseline of"
        " the three others",
    )
    model: LstmModel = key("its architecture and what its probabilities are of", LstmModel)


class CrfModel(Entry):
    """The architecture of a CRF over trees."""

    hidden: int = key("width of words and of each direction of the LSTM", 256, ge=1)
    dropout: Number = key("share of the values that training leaves out", 0.5, ge=0, lt=1)
    longest: int = key("most words of a sentence", 250, ge=1)


class Crf(Latent, title="a CRF over binary trees (kind crf)"):
    """A constituency CRF over a BiLSTM."""

    kind: Literal["crf"] = key(
        "a constituency CRF over a BiLSTM (Kim et al. 2019), the proposal of rnng; it reads the whole sentence",
    )
    model: CrfModel = key("its architecture", CrfModel)


class EntityDiscModel(EntitySizes):
    """The architecture of EntityDisc."""

    max_entities: int = key("most entities of a text, as many as the model's", 100, ge=1)
    longest_mention: int = key("most tokens of a mention, as many as the model's", 100, ge=1)
    reads: Literal["prefix", "next", "document"] = key(
        "what it has read when it draws the state of a token: the tokens before it (no peeking), that"
        " token too, or the whole text",
        "next",
    )
    as_released: bool = key(
        "a fault of the released sampler: no mention can begin at the first token or behind a token"
        " outside of mentions; what is estimated is then not p(x)",
        False,
    )


class EntityDisc(Latent, title="a tagger of entities (kind entity-disc)"):
    """The discriminative version of EntityNLM."""

    kind: Literal["entity-disc"] = key("EntityDisc, the discriminative version of entitynlm")
    model: EntityDiscModel = key("its architecture and what it reads", EntityDiscModel)


class KglmDiscModel(GraphSizes):
    """The architecture of KglmDisc."""

    reads: Literal["prefix", "next", "document"] = key(
        "what it has read when it draws the state of a token: the tokens before it (no peeking), that"
        " token too, or the whole document",
        "next",
    )
    match: bool = key(
        "whether it looks up entities with a name that begins with the token; without effect where it reads the prefix",
        True,
    )


class KglmDisc(Latent, title="a tagger of links (kind kglm-disc)"):
    """The discriminative version of KGLM."""

    kind: Literal["kglm-disc"] = key("KglmDisc, the discriminative version of kglm")
    model: KglmDiscModel = key("its architecture", KglmDiscModel)


LatentEntry = Rnng | EntityNlm | Kglm | Lstm | Crf | EntityDisc | KglmDisc


class HsmmProposal(Entry, title="a proposal for a hidden semi-Markov model (kind hsmm)"):
    """A proposal made from the tables of the model itself."""

    kind: Literal["hsmm"] = key(
        "made from the tables of the model itself, so that its quality is known; nothing is trained"
    )
    label: str | None = optional("what tables and figures call it")
    quality: Literal["tempered", "noisy", "flattened", "withheld", "floored", "segment", "blind"] = key(
        "`tempered`, the model's posterior at a temperature (at 1 every weight is p(x)); `noisy`, the same"
        " of tables with noise of 1 nat, as of a proposal that was learnt and is somewhat wrong;"
        " `flattened`, of tables mixed with the uniform distribution; `withheld`, of tables in which only"
        " a few states can emit a segment, so that it misses a part of what is possible; `floored`, the"
        " same with a thousandth left to the others; `segment`, which reads one segment ahead; `blind`,"
        " which reads nothing that the model has still to predict",
    )
    value: Number | None = key(
        "flattened: the share of the uniform distribution; withheld, floored: how many states of a segment"
        " keep their probability; null for the others",
        None,
        gt=0,
    )
