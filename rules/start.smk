"""What is said when `snakemake` starts, and settled before the first job; each job sees that it still holds."""

from textcritic.workflow.again import made_again


def settled(step):
    """What a step gives; its fault is one line."""
    try:
        return step()
    except TextcriticError as error:
        raise WorkflowError(str(error)) from None


def minutes(usual):
    """The run time of a job of seconds to minutes; more each time that it is submitted again."""
    return lambda w, attempt: usual * attempt


def whole_corpus(name):
    """The file of a corpus that is made last, for a rule; it says so if the corpus' own files are not there."""

    def last(w):
        if why := project.missing.why("corpora", name):
            raise WorkflowError(f"{name}: {why}")
        return f"results/corpora/{name}/statistics.json"

    return last


if workflow.is_main_process:
    for line in settled(project.said_at_start):
        print(line, file=sys.stderr)
else:
    settled(project.recipes.check)


# A Snakefile that uses this one as a module calls it in an `onstart` of its own.
onstart:
    settled(project.begin)
    for line in made_again(workflow.dag):
        print(line, file=sys.stderr)
