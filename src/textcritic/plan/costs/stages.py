"""What a job of each rule costs: units of work times seconds of a unit, each declared once, here.

Seconds on a core are those of an idle core of the machine that `workflow.calibrate.REFERENCE` names; where
docs/scale.md has a figure, it is that. Seconds on a card are arithmetic: operations by the card's throughput, or what
`stage_costs` guesses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from textcritic.plan.costs.cards import Card
from textcritic.plan.costs.units import OPERATIONS, UNITS, Job
from textcritic.plan.stage_costs import LAYER_STEP

MODEL, RUNTIME, MEASURED = "model", "declared runtime", "measured"
# CPU seconds until a script has loaded what it imports: little; torch; transformers too; matplotlib and pandas.
LIGHT, PLAIN_TORCH, TORCH, DRAWING = 0.7, 2.6, 4.5, 3.5
CORE_OPERATIONS = 8.5e10  # a second of one core, of the demo's GPT-2: 16,900 tokens a second (docs/scale.md)


@dataclass(frozen=True, slots=True)
class Term:
    """A part of the cost: a unit, seconds of one on a core, and on a card where that is no matter of operations."""

    unit: str
    core: float
    card: float = 0.0


@dataclass(frozen=True, slots=True)
class Stage:
    """The cost of a rule's jobs.

    Args:
        start: CPU seconds that any job takes.
        terms: units of work and their seconds.
        cores: how many one job keeps busy at most.
    """

    start: float
    terms: tuple[Term, ...] = ()
    cores: int = 1


@dataclass(frozen=True, slots=True)
class Cost:
    """What a job takes: seconds of cores, of cards, and of the clock; on what that rests."""

    core_seconds: float
    gpu_seconds: float
    wall_seconds: float
    basis: str = MODEL


def _operations(unit: str) -> Term:
    return Term(unit, 1 / CORE_OPERATIONS)


TRAINING = Stage(TORCH, (_operations("training operations"), Term("updates", 0.004, 0.0)), 8)
READING = Stage(TORCH, (_operations("read operations"), Term("documents", 0.0005)), 4)
DETECTING = Stage(TORCH, (_operations("read operations"), Term("sentences", 0.0003)), 4)
SAMPLING = Stage(
    TORCH,
    (_operations("drawn operations"), Term("drawn tokens", 0.00013), Term("layers passed", 0.0002, LAYER_STEP)),
    4,
)
WEIGHING = Stage(PLAIN_TORCH, (Term("drawn states", 0.00002), Term("declared draws", 0.0, 1.0)))
WEIGHING_PATHS = Stage(PLAIN_TORCH, (Term("drawn paths", 0.000004), Term("declared draws", 0.0, 1.0)))
SHOWING = Stage(DRAWING, (), 1)
PEOPLE = Stage(LIGHT, (Term("documents", 0.0016),))
SCORING = Stage(LIGHT, (Term("documents", 0.0000013),))
LOOKING_UP = Stage(LIGHT, (Term("documents", 0.0038),))

STAGES: Mapping[str, Stage] = {
    # Corpora. A dump: 11.3 MB of XML a second, so 0.9 ms an article of 10 kB; all of them, of which a tenth stays.
    "extract_wikipedia": Stage(LIGHT, (Term("dump share", 246 * 3600 / 1e9 * 17e6),), 1),
    "extract_lines": Stage(LIGHT, (Term("dump share", 12.5 * 3600),), 1),
    "join_wikipedia": Stage(LIGHT, (Term("all documents", 0.0002),)),
    "extract_corpus": Stage(DRAWING, (Term("all documents", 0.0018),)),
    "extract_dataset": Stage(LIGHT, (Term("all documents", 0.0002),)),
    "build_corpus": Stage(LIGHT, (Term("all documents", 0.00015),)),
    "build_lines": Stage(LIGHT, (Term("all documents", 0.00002),)),
    "build_parallel": Stage(LIGHT, (Term("all documents", 0.00002),)),
    "build_structured": Stage(LIGHT, (Term("all documents", 0.0001),)),
    "build_linked": Stage(LIGHT, (Term("all documents", 0.0003),)),
    "build_intruders": Stage(LIGHT, (Term("all documents", 0.001),)),
    "find_candidates": Stage(LIGHT, (Term("documents", 0.00087),)),
    "cut_documents": Stage(LIGHT, (Term("documents", 0.0002),)),
    "cut_samples": Stage(LIGHT, (Term("documents", 0.0002),)),
    "draw_process": Stage(LIGHT, (Term("all tokens", 0.000002),)),
    "audit_extraction": Stage(LIGHT, (Term("1", 30.0),)),
    "make_probes": Stage(LIGHT, (Term("documents", 0.002),)),
    "make_tokenizer": Stage(LIGHT, (Term("train tokens", 0.0000015),), 4),
    "make_lines_tokenizer": Stage(LIGHT, (Term("train tokens", 0.0000015),), 4),
    "make_subwords": Stage(LIGHT, (Term("train tokens", 0.000003),)),
    "encode_corpus": Stage(LIGHT, (Term("tokens", 0.000001),), 4),
    "encode_lines": Stage(LIGHT, (Term("tokens", 0.000001),), 4),
    "encode_process": Stage(PLAIN_TORCH, (Term("tokens", 0.0000005),)),
    "encode_parallel": Stage(LIGHT, (Term("tokens", 0.00002),)),
    # Generators.
    "train_causal": TRAINING,
    "measure_perplexity": READING,
    "fit_ngram": Stage(LIGHT, (Term("train tokens", 0.0000011),)),
    "train_fairseq": Stage(TORCH, (_operations("training operations"), Term("updates", 0.02, 0.0)), 2),
    "measure_fairseq": READING,
    "train_hsmm": Stage(PLAIN_TORCH, (Term("HSMM passes", 6.0e-7, 3.0e-8), Term("HSMM updates", 20.0, 0.5)), 2),
    "measure_hsmm": Stage(PLAIN_TORCH, (Term("tokens", 0.00001, 0.0000005),)),
    "train_latent": Stage(PLAIN_TORCH, (Term("latent tokens", 0.00005, 0.00002),)),
    "train_proposal": Stage(PLAIN_TORCH, (Term("latent tokens", 0.00008, 0.00002),)),
    "train_classifier": Stage(TORCH, (_operations("training operations"), Term("updates", 0.004)), 4),
    "train_detector": Stage(TORCH, (_operations("training operations"), Term("updates", 0.004)), 4),
    # Samples.
    "sample_causal": SAMPLING,
    "sample_fairseq": SAMPLING,
    "sample_fairseq_text": SAMPLING,
    "sample_ngram": Stage(LIGHT, (Term("drawn tokens", 0.000004),)),
    "sample_hsmm": Stage(PLAIN_TORCH, (Term("drawn tokens", 0.000002),)),
    "sample_latent": Stage(PLAIN_TORCH, (Term("drawn tokens", 0.00002, 0.0001),)),
    "collect_samples": Stage(LIGHT, (Term("documents", 0.0003),)),
    "collect_translations": Stage(LIGHT, (Term("documents", 0.0002),)),
    "collect_latent": Stage(LIGHT, (Term("documents", 0.0001),)),
    "parse_sequences": Stage(LIGHT, (Term("tokens", 0.000002),)),
    "import_samples": Stage(LIGHT, (Term("documents", 0.0003),)),
    "import_translations": Stage(LIGHT, (Term("documents", 0.0002),)),
    # Critics.
    "take_data_titles": Stage(LIGHT, (Term("documents", 0.000012),)),
    "take_sample_titles": Stage(LIGHT, (Term("documents", 0.000012),)),
    "infer_data_titles": READING,
    "infer_sample_titles": READING,
    "fit_transitions": SCORING,
    "score_data": SCORING,
    "score_samples": SCORING,
    "score_sequences": Stage(LIGHT, (Term("tokens", 0.00001),)),
    "score_process_data": Stage(LIGHT, (Term("tokens", 0.00001),)),
    "count_words": Stage(LIGHT, (Term("train tokens", 0.000003),)),
    "fit_topics": Stage(LIGHT, (Term("topic fits", 0.0052 / 214),), 16),
    "infer_data_topics": Stage(LIGHT, (Term("topics read", 0.0052 / 214),), 4),
    "infer_sample_topics": Stage(LIGHT, (Term("topics read", 0.0052 / 214),), 4),
    "measure_topic_power": Stage(DRAWING, (Term("documents", 0.005),)),
    "fit_lda": Stage(LIGHT, (Term("sweeps", 0.0000001),), 4),
    "infer_data_mixing": Stage(LIGHT, (Term("tokens", 0.0001),)),
    "infer_sample_mixing": Stage(LIGHT, (Term("tokens", 0.0001),)),
    "measure_mixing_power": Stage(LIGHT, (Term("tokens", 0.0002),)),
    "count_tendencies": Stage(LIGHT, (Term("tokens", 0.000013 / 57),), 2),
    "count_tendencies_shard": Stage(LIGHT, (Term("tendency share", 0.000013 / 57),), 2),
    "draw_tendencies": Stage(LIGHT, (Term("tokens", 0.000013 / 57 * 10),), 2),
    "draw_tendencies_shard": Stage(LIGHT, (Term("tendency share", 0.000013 / 57 * 10),), 2),
    "merge_tendencies": Stage(LIGHT, (Term("documents", 0.000002),)),
    "merge_draws": Stage(LIGHT, (Term("documents", 0.000002),)),
    "measure_real_tendencies": Stage(LIGHT, (Term("1", 10.0), Term("documents", 0.00012))),
    "compare_tendencies": Stage(LIGHT, (Term("1", 10.0), Term("documents", 0.00012))),
    "resolve_data_mentions": PEOPLE,
    "resolve_sample_mentions": PEOPLE,
    "infer_data_mentions": READING,
    "infer_sample_mentions": READING,
    "vary_data_mentions": PEOPLE,
    "vary_sample_mentions": PEOPLE,
    "fit_mentions": Stage(LIGHT, (Term("train documents", 0.00004),)),
    "score_data_mentions": Stage(LIGHT, (Term("documents", 0.00007),)),
    "score_sample_mentions": Stage(LIGHT, (Term("documents", 0.00007),)),
    "index_train": Stage(LIGHT, (Term("train documents", 0.0006),)),
    "look_up_data": LOOKING_UP,
    "look_up_sample": LOOKING_UP,
    "measure_overlap": LOOKING_UP,
    "fit_order": Stage(LIGHT, (Term("train documents", 0.0005),)),
    "score_order_of_data": Stage(LIGHT, (Term("documents", 0.0005),)),
    "score_order_of_sample": Stage(LIGHT, (Term("documents", 0.0005),)),
    "measure_data_by_function": PEOPLE,
    "measure_sample_by_function": PEOPLE,
    "embed_data": READING,
    "embed_samples": READING,
    "score_mauve": Stage(DRAWING, (Term("1", 20.0),)),
    "score_mauve_of_data": Stage(DRAWING, (Term("1", 20.0),)),
    "measure_resolver": PEOPLE,
    "measure_neural_resolver": READING,
    "measure_resolver_error": PEOPLE,
    "measure_neural_resolver_error": READING,
    "measure_power": Stage(DRAWING, (Term("1", 5.0),)),
    "predict_documents": DETECTING,
    "predict_samples": DETECTING,
    "predict_probes": DETECTING,
    "predict_originals": DETECTING,
    "predict_candidates": DETECTING,
    # Importance sampling.
    "weigh_states": Stage(PLAIN_TORCH, (Term("drawn states", 0.000006), Term("declared draws", 0.0, 1.0))),
    "weigh_best": WEIGHING,
    "weigh_own_texts": WEIGHING,
    "weigh_mixture": WEIGHING,
    "weigh_particles": WEIGHING,
    "weigh_exact": Stage(PLAIN_TORCH, (Term("tokens", 0.0001, 0.00001),)),
    "weigh_whole": Stage(PLAIN_TORCH, (Term("tokens", 0.0001, 0.00001),)),
    "weigh_paths": WEIGHING_PATHS,
    "weigh_best_paths": WEIGHING_PATHS,
    "weigh_mixed_paths": WEIGHING_PATHS,
    "weigh_own_paths": WEIGHING_PATHS,
    "weigh_filtered_paths": WEIGHING_PATHS,
    # Tables, figures, pages: nearly the same at any size, but for 10,000 resamples.
    "make_part_table": SHOWING,
    "make_figures": SHOWING,
    "make_section": Stage(1.3),
    "make_report": Stage(1.3),
    "make_manifest": Stage(LIGHT),
    "download_file": Stage(LIGHT, (Term("1", 5.0),)),
    "download_model": Stage(LIGHT, (Term("1", 5.0),)),
    "download_dataset": Stage(LIGHT, (Term("1", 30.0),)),
    "unpack_member": Stage(LIGHT, (Term("1", 10.0),)),
}
TARGETS = ("all", "data", "train", "samples", "tables", "figures", "report")


@cache
def stage_of(rule: str) -> Stage | None:
    """The stage of a rule; a kind's own tables cost what all do. None of one that is not declared."""
    shows = rule.startswith("make_") and rule.endswith("_tables")
    return STAGES.get(rule, SHOWING if shows else None)


def cost_of(job: Job, threads: int, gpus: int, card: Card, core_factor: float = 1.0) -> Cost | None:
    """What a job costs by its stage.

    Args:
        job: with a rule of `STAGES`.
        threads: CPU threads that it asks for.
        gpus: cards that it asks for.
        card: the kind of these.
        core_factor: seconds of a core here for one of the reference machine's.

    Returns:
        The cost; None where no stage is declared, or the job is not such as that is declared for.
    """
    stage = stage_of(job.rule)
    if stage is None:
        return None
    amounts = [(term, max(0.0, UNITS[term.unit](job))) for term in stage.terms]
    start = stage.start * core_factor
    if gpus:
        exact = job.drawn_exactly
        work = sum(
            card.seconds(amount, exact) if term.unit in OPERATIONS else amount * term.card for term, amount in amounts
        )
        return Cost(start + work / gpus, start * gpus + work, start + work / gpus)
    work = core_factor * sum(term.core * amount for term, amount in amounts)
    return Cost(start + work, 0.0, start + work / max(1, min(threads, stage.cores)))
