"""The papers' tables and figures by their numbers there, as targets: `snakemake model_criticism_table2`.

Every study of the study folders has its own, `{study}_{part}`, read off the `tables` and `figures` of its experiments. The
short name `table2` stands for the only configured study that has one; if several have, it says their full names. With a
study that is not configured a target says how to configure it.
"""

for name, target in project.targets().items():

    rule:
        name:
            name
        input:
            target.path or (lambda w, why=target.refusal: refused(why)),
        message:
            target.left_out.replace("{", "{{").replace("}", "}}") or None
