"""What is said when `snakemake` starts, and settled before the first job; each job sees that it still holds."""

from textcritic.workflow.again import made_again


def settled(step):
    """What a step gives; its fault is one line."""
    try:
        return step()
    except TextcriticError as error:
        raise WorkflowError(str(error)) from None


def at_hand(paths):
    """Files of which those that ship with the workflow come from no storage."""
    ships = [STORED and Path(path).resolve().is_relative_to(ROOT / "config") for path in paths]
    return [local(path) if of_workflow else path for path, of_workflow in zip(paths, ships)]


def whole_corpus(name):
    """The file of a corpus that is made last, for a rule; it says so if the corpus' own files are not there."""

    def last(w):
        if why := project.missing and project.missing.why("corpora", name):
            raise WorkflowError(f"{name}: {why}")
        return f"results/corpora/{name}/statistics.json"

    return last


if STORED and Path("config/local.yaml").is_file():
    raise WorkflowError("config/local.yaml: jobs elsewhere do not see it; give its values by --config registry=...")
if workflow.is_main_process:
    for line in settled(project.said_at_start):
        print(line, file=sys.stderr)
elif not STORED:
    settled(project.recipes.check)


# A Snakefile that uses this one as a module calls it in an `onstart` of its own.
onstart:
    settled(project.begin)
    for line in made_again(workflow.dag):
        print(line, file=sys.stderr)
