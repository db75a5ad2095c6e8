"""What is said when `snakemake` starts, and settled before the first job; each job sees that it still holds."""

from textcritic.workflow.again import made_again


def minutes(usual):
    """The run time of a job of seconds to minutes; more each time that it is submitted again."""
    return lambda w, attempt: usual * attempt


def at_hand(paths):
    """Files of which those that ship with the workflow come from no storage."""
    ships = [STORED and Path(path).resolve().is_relative_to(ROOT / "config") for path in paths]
    return [local(path) if of_workflow else path for path, of_workflow in zip(paths, ships)]


if STORED and Path("config/local.yaml").is_file():
    raise WorkflowError("config/local.yaml: jobs elsewhere do not see it; give its values by --config registry=...")
if workflow.is_main_process:
    for line in settled(project.said_at_start):
        print(line, file=sys.stderr)
    # What a user must bring: a job that needs it is refused in one line.
    for number, (path, why) in enumerate(project.missing.gone().items()):

        rule:
            name:
                f"bring_{number}"
            input:
                lambda w, why=why: refused(why),
            output:
                path,

elif not STORED:
    settled(project.recipes.check)


# A Snakefile that uses this one as a module calls it in an `onstart` of its own.
onstart:
    settled(project.begin)
    for line in made_again(workflow.dag):
        print(line, file=sys.stderr)
