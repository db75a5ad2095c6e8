"""What is said when `snakemake` starts, and settled before the first job; each job sees that it still holds."""


def settled(step):
    """What a step gives; its fault is one line."""
    try:
        return step()
    except TextcriticError as error:
        raise WorkflowError(str(error)) from None


if workflow.is_main_process:
    for line in settled(project.recipes.said):
        print(line, file=sys.stderr)
else:
    settled(project.recipes.check)


# A Snakefile that uses this one as a module calls it in an `onstart` of its own.
onstart:
    settled(project.recipes.begin)
