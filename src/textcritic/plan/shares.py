"""How the work of a stage is shared between jobs: from ten minutes to two hours each, or the whole in one.

A queue takes longer to begin a short job than the job takes. What comes out does not depend on the number of jobs; so
it follows the work that `stage_costs` declares, unless a registry entry names it.
"""

import math
import re

from textcritic.plan import stage_costs
from textcritic.plan.checks.decodings import BEAM_SAMPLING, BEST_OF
from textcritic.plan.entries import Causal, Generator, Ngram
from textcritic.plan.entries.parts import FromHub
from textcritic.plan.registries import Registries
from textcritic.plan.wildcards import Wildcards

LONGEST = 1230  # seconds of work of a job that shares a sample: it stands between a training and all that is measured
LONGEST_WEIGHING = 4800  # of one that shares the weights of latent states
SLOWER = 4  # times as long as declared a job may take: another card, a file system that others use
LEAST_MINUTES = 30
NUMBER = re.compile(r"shard\d+-of-(\d+)\.parquet")


def jobs_for(seconds: float) -> int:
    """How many jobs share so much work; each has more than half of `LONGEST`, or the whole."""
    return max(1, math.ceil(seconds / LONGEST))


def minutes_for(seconds: float, attempt: int) -> int:
    """The run time that a job with so much work asks for; more each time that it is submitted again."""
    return attempt * max(LEAST_MINUTES, math.ceil(SLOWER * seconds / 60))


def share_of(total: int, share: str) -> tuple[int, int]:
    """First and number of the items of one of several nearly equal shares, which may be empty.

    Args:
        total: the number of items.
        share: `0` for all of them, or `2-of-5`, counted from 0.
    """
    number, _, shares = share.partition("-of-")
    n, of = int(number), int(shares or 1)
    return n * total // of, (n + 1) * total // of - n * total // of


def stretches(shards: int, each: float) -> list[str]:
    """Names of stretches of shards that a job draws one after the other: `3`, or `0-8`, from one to another.

    Stretches are of one length but for the last, so more shards keep what fewer have drawn.

    Args:
        shards: how many there are; what is drawn in one depends on its number, so they stay what they are.
        each: seconds of work of one.
    """
    length = max(1, int(LONGEST_WEIGHING // each))
    ends = [(first, min(first + length, shards) - 1) for first in range(0, shards, length)]
    return [f"{first}-{last}" if last > first else str(first) for first, last in ends]


def shards_of(stretch: str) -> range:
    """The shards of a stretch, by its name."""
    first, _, last = stretch.partition("-")
    return range(int(first), int(last or first) + 1)


def weighing(samples: int, kind: str, temperatures: int = 1) -> float:
    """Seconds of work to draw and weigh so many states of each test text, at each temperature."""
    return samples * temperatures * stage_costs.WEIGHED_DRAW[kind]


class Shares:
    """How many jobs draw a sample, their files and their run time, and that of jobs that weigh latent states.

    `w` is Snakemake's wildcards, or anything with the same attributes.

    Args:
        registries: the entries of generators and decodings, and the working directory, where shards may be already.
    """

    def __init__(self, registries: Registries) -> None:
        self.registries = registries

    def seconds(self, w: Wildcards) -> float:
        """The work of drawing a whole sample."""
        generator = self.registries.entry("generators", w.generator)
        decoding = self.registries.entry("decodings", w.decoding)
        tokens = min(stage_costs.TOKENS.get(w.corpus, stage_costs.USUAL_TOKENS), decoding.max_tokens)
        texts, batch = decoding.articles, min(decoding.batch_size, decoding.articles)
        each = decoding.beam if decoding.method in (BEAM_SAMPLING, BEST_OF) else 1
        seconds = texts * each * tokens * _a_token(generator, batch)
        if decoding.stride and isinstance(generator, Causal):  # whole windows again and again, once the first is full
            beyond = max(tokens - generator.training.context, stage_costs.BEYOND * tokens)
            passes = texts * each * beyond / decoding.stride
            seconds += passes * _layers(generator) * stage_costs.LAYER_WINDOW[decoding.precision]
        return seconds

    def number(self, folder: str, w: Wildcards) -> int:
        """How many jobs: as the decoding says, or as many as drew what is there already, or by the work."""
        if given := self.registries.entry("decodings", w.decoding).shards:
            return given
        drawn = [
            int(found[1])
            for path in (self.registries.here / folder).glob("shard*")
            if (found := NUMBER.fullmatch(path.name))
        ]
        return max(drawn, key=drawn.count) if drawn else jobs_for(self.seconds(w))

    def files(self, folder: str, w: Wildcards) -> list[str]:
        """The shards of a sample; one that is the whole has no number of shards in its name."""
        number = self.number(folder, w)
        names = [f"{n}-of-{number}" for n in range(number)] if number > 1 else ["0"]
        return [f"{folder}/shard{name}.parquet" for name in names]

    def minutes(self, w: Wildcards, attempt: int) -> int:
        """The run time of the job that draws shard `w.shard`."""
        return minutes_for(self.seconds(w) / int(w.shard.partition("-of-")[2] or 1), attempt)

    def weighing_minutes(self, w: Wildcards, attempt: int) -> int:
        """The run time of a job that weighs the states or paths, or the likeliest of them, that its wildcards name."""
        temperatures = w.get("temperatures", "").count("-") + 1
        samples = int(w.get("samples", "1")) * len(shards_of(w.get("shard", "0")))
        return minutes_for(
            weighing(samples, self.registries.entry("generators", w.generator).kind, temperatures), attempt
        )


def _a_token(generator: Generator, batch: int) -> float:
    """Seconds of a token of a generator that draws so many texts side by side."""
    if isinstance(generator, Ngram):
        return stage_costs.NGRAM_TOKEN
    if getattr(generator, "gpu", 0):
        return stage_costs.LAYER_STEP * _layers(generator) / batch
    return stage_costs.HUB_TOKEN if _checkpoint(generator) else stage_costs.SMALL_TOKEN


def _layers(generator: Generator) -> int:
    """Layers of a pretrained model, or as many as is usual."""
    return stage_costs.LAYERS.get(_checkpoint(generator), stage_costs.USUAL_LAYERS)


def _checkpoint(generator: Generator) -> str:
    """The entry of the hub that a generator starts from; "" for any other."""
    return generator.init.hub if isinstance(generator, Causal) and isinstance(generator.init, FromHub) else ""
