"""The training of a hidden semi-Markov language model: resumable, the best model on validation is kept."""

from pathlib import Path

from textcritic.generators.hsmm.adam import Adam
from textcritic.generators.hsmm.em import EM
from textcritic.generators.hsmm.initial import initial_model, with_single_tokens
from textcritic.generators.hsmm.lexicon import Lexicon
from textcritic.generators.hsmm.model import HSMM
from textcritic.generators.hsmm.multigram import find_segments
from textcritic.generators.hsmm.text import Text, log_likelihood
from textcritic.generators.train import Encoded
from textcritic.plan.entries import Hsmm
from textcritic.runlog import log
from textcritic.training.checkpoint import State
from textcritic.training.hardware import card_name, device
from textcritic.training.load import load_tokenizer
from textcritic.training.loop import Job, Loop, Run, resumable
from textcritic.values import JsonObject


def train_hsmm(encoded: Encoded, entry: Hsmm, seed: int, run: Run) -> JsonObject:
    """Train, and write the model with the lowest validation loss and the tokenizer as `run.model_dir`.

    With `em`, the multigram model finds the segments, segments with the same neighbours become a state, and then
    expectation maximisation sums over all segmentations and states. With `adam`: see `adam.Adam`. State is kept in
    `checkpoints/` next to the model folder until that is complete: a rerun after a kill continues from the last
    checkpoint, with the same result (on a GPU up to rounding, as it adds in no fixed order).

    Args:
        encoded: token streams of the splits, see `generators.symbols`, and their tokenizer.
        entry: of the generator.
        seed: of the clustering; by `adam`, of the first tables and of the order of the sequences.
        run: what is written and how; its report is training.json. The model that training begins with is always saved.

    Returns:
        what was written to the report: steps (rounds), best_step, validation_loss (nats per token, ends not
        modelled), tokens_seen, parameters (of the trained model), published_parameters (as the paper counts
        those of a model with all states and n-grams), states, segments, curve, seconds, tokens_per_second, device.

    Raises:
        TextcriticError: bad input, SIGTERM, or another job that trains this very model.
    """
    sizes = {"states": entry.states, "longest": entry.longest, "most_common": entry.most_common}
    settings = {**sizes, **entry.training.plain()}
    settings.pop("checkpoint_seconds")
    with resumable(run, {"settings": settings, "seed": seed}, encoded.files) as loop:
        tokenizer = load_tokenizer(encoded.tokenizer)
        end = tokenizer.eos_token_id  # the symbols are the tokens below
        text, validation = (Text.read(prefix, end) for prefix in (encoded.train, encoded.validation))
        job = HSMMJob(run.name, text, validation, end, entry, seed)
        loop.train(job)
        best = unpack(loop.best())

        def save(folder: Path) -> None:
            best.save(folder)
            tokenizer.save_pretrained(folder)

        report = job.report(loop, best)
        loop.finish(save, report)
    return report


class HSMMJob(Job):
    """A training whose step 1 is the model that it begins with; every round of `EM` or `Adam` makes one more.

    A round is a pass over the whole text, or many updates, so SIGTERM ends it in the middle; every round ends with a
    validation, but the state, of gigabytes by Adam, is saved only when a checkpoint is due.

    Args:
        name: the generator's.
        text: the training split.
        validation: the validation split.
        vocabulary: number of symbols.
        entry: of the generator.
        seed: see `train_hsmm`.
    """

    unit, step_noun, first_step, saves_every_validation = "sequences", "round", 1, False

    def __init__(self, name: str, text: Text, validation: Text, vocabulary: int, entry: Hsmm, seed: int) -> None:
        self.name, self.text, self.validation = name, text, validation
        self.vocabulary, self.entry, self.seed = vocabulary, entry, seed
        rounds, in_round = (EM if entry.training.method == "em" else Adam).plan(entry.training, len(text))
        self.steps, self.work = 1 + rounds, rounds * in_round
        self.possible = self.sequences = 0  # n-grams that may be segments; sequences read so far
        self.loss: float | None = None  # in the last round

    def begin(self, loop: Loop) -> None:
        """Find segments and classes (`em`), or draw tables (`adam`)."""
        lexicon = self._lexicon()
        if self.entry.training.method == "adam":
            self._train_by(self._adam(lexicon))
        else:
            segments = find_segments(lexicon, self.text, self.name, device(), loop.check)
            model = initial_model(segments, self.text.tokens, self.entry, self.seed)
            self._train_by(EM(model.to(device()), self.text, self.entry))

    def step(self, loop: Loop) -> None:
        """One round."""

        def advance(sequences: int) -> None:
            self.sequences += sequences
            loop.advance(sequences, f"validation loss {loop.best_loss:.4f}")
            loop.check()

        self.loss = self.method.round(advance)

    def validation_is_due(self, step: int) -> bool:
        """After every round."""
        return True

    def validate(self, loop: Loop) -> float:
        """Nats per token, ends not modelled."""
        return -log_likelihood(self.method.model, self.lattices) / len(self.validation.tokens)

    def train_loss(self) -> float | None:
        """The loss before the updates of the round, in nats per token; None before the first round."""
        return self.loss

    def weights(self) -> State:
        """The model, on the host."""
        return pack(self.method.model)

    def after_validation(self, loop: Loop, loss: float) -> bool:
        """Log the loss and give it to the method, which may end the training."""
        log.info("training %s: validation loss %.5f nats a token after round %d", self.name, loss, loop.step - 1)
        return self.method.after_validation(loss)

    def done(self, step: int) -> int:
        """Sequences read so far."""
        return self.sequences

    def state(self) -> State:
        """The method's state; by `em`, the model."""
        model = pack(self.method.model) if self.entry.training.method == "em" else None
        return {
            "possible": self.possible,
            "sequences": self.sequences,
            "method": self.method.state(),
            "model": model,
        }

    def restore(self, state: State) -> None:
        """Go on from a `state`."""
        if self.entry.training.method == "em":
            self._train_by(EM(unpack(state["model"]).to(device()), self.text, self.entry))
        else:
            self._train_by(self._adam(self._lexicon()))
        self.possible, self.sequences = state["possible"], state["sequences"]
        self.method.restore(state["method"])

    def report(self, loop: Loop, best: HSMM) -> JsonObject:
        """The training's report, see `train_hsmm`."""
        entry = self.entry
        tokens_seen = round(self.sequences * len(self.text.tokens) / len(self.text))
        return {
            "steps": loop.step - 1,
            "best_step": loop.best_step - 1,
            "validation_loss": loop.best_loss,
            "tokens_seen": tokens_seen,
            "parameters": best.parameters,
            "published_parameters": entry.states * (entry.states + entry.longest + self.possible),
            "states": best.states,
            "states_allowed": entry.states,
            "segments": len(best.lexicon),
            "segments_allowed": self.possible,
            "curve": loop.curve(),
            "seconds": round(loop.seconds, 1),
            "tokens_per_second": round(tokens_seen / max(loop.seconds, 1e-9), 1),
            "device": card_name(device()),
        }

    def _lexicon(self) -> Lexicon:
        entry, text = self.entry, self.text
        lexicon = Lexicon.count(text.tokens, text.offsets, self.vocabulary, entry.longest, entry.most_common)
        self.possible = len(lexicon)
        log.info("training %s: %d n-grams may be segments", self.name, self.possible)
        return lexicon

    def _adam(self, lexicon: Lexicon) -> Adam:
        return Adam(with_single_tokens(lexicon)[0], self.text, self.entry, self.seed, device())

    def _train_by(self, method: EM | Adam) -> None:
        self.method, self.lattices = method, method.lattices(self.validation)


def pack(model: HSMM) -> State:
    """A model as tensors and numbers on the host, for a checkpoint."""
    tensors = {name: tensor.cpu() for name, tensor in model.tensors().items()}
    return {"vocabulary": model.lexicon.vocabulary, "longest": model.lexicon.longest, **tensors}


def unpack(state: State) -> HSMM:
    """The inverse of `pack`."""
    return HSMM.of_tensors(state, state["vocabulary"], state["longest"])
