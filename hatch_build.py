"""What a wheel carries beside the package's own folder: the workflow, from its places at the top of the repository."""

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# Where textcritic.place.workflow_folder finds it.
SHIPPED = "textcritic/shipped"


class WorkflowHook(BuildHookInterface):
    """Adds the paths of `workflow` in pyproject.toml; an editable installation finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds; `version` is that of the kind of wheel, standard or editable."""
        if version == "standard":
            build_data["force_include"] |= {path: f"{SHIPPED}/{path}" for path in self.config["workflow"]}
