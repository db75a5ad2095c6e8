#!/usr/bin/env bash
# Builds fairseq in the environment of fairseq.yaml. Its dependencies are there; those that its metadata names are not.
set -euo pipefail
python -m pip install --no-deps fairseq==0.12.2
