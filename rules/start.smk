"""What is said when `snakemake` starts, and settled before the first job; each job sees that it still holds."""

from textcritic.workflow.again import made_again

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

else:
    settled(project.recipes.check)


# A Snakefile that uses this one as a module calls it in an `onstart` of its own.
onstart:
    settled(project.begin)
    for line in made_again(workflow.dag):
        print(line, file=sys.stderr)
