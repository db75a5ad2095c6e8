"""Train a detector of intruder sentences, or choose its threshold."""

import json

from textcritic import runlog
from textcritic.critics.detectors.learner import Files
from textcritic.critics.detectors.train import train_detector
from textcritic.plan.entries import Detector
from textcritic.training.loop import Run

w, given = snakemake.wildcards, snakemake.input
with runlog.job(snakemake.log[0], f"train {w.detector}", runlog.gpus_of(snakemake.resources)):
    run = Run(
        snakemake.output.model,
        snakemake.output.training,
        w.detector,
        snakemake.threads,
        snakemake.params.version,
        snakemake.resources.checkpoint_seconds,
    )
    files = Files(
        tokenizer=given.tokenizer or None,
        pretrained=given.pretrained or None,
        vectors=given.vectors or None,
        scorer=next(iter(given.scorer), None),  # other files of a critic are in the same folder
        made_with=json.loads(snakemake.params.made_with),
    )
    entry = Detector.restore(snakemake.params.spec)
    train_detector(given.train, given.validation, files, entry, int(w.detector_seed), run)
