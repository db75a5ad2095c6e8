"""What a package has beside its own folder: the workflow, from its places in the repository, and its page."""

import re
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

# Where textcritic.place.workflow_folder finds it.
SHIPPED = "textcritic/shipped"
# A picture or a link of Markdown that leads to a file of the repository.
LINK = re.compile(r"(?P<picture>!?)\[(?P<text>[^\]]*)\]\((?!https?://|#)(?P<path>[^)]+)\)")


class WorkflowHook(BuildHookInterface):
    """Adds the paths of `workflow` in pyproject.toml; an editable installation finds them in the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called by hatchling before it builds; `version` is that of the kind of wheel, standard or editable."""
        if version == "standard":
            build_data["force_include"] |= {path: f"{SHIPPED}/{path}" for path in self.config["workflow"]}


class ReadmeHook(MetadataHookInterface):
    """The page of the package: README.md with links that lead somewhere there."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Called by hatchling, which knows the version by then; `Source` of `[project.urls]` is the repository."""
        readme = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        source = metadata.get("urls", {}).get("Source")
        text = package_page(readme, source, f"v{metadata['version']}")
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def package_page(readme: str, source: str | None, tag: str) -> str:
    """Markdown whose links do not depend on where it is read.

    Args:
        readme: Markdown with links and pictures by paths in the repository.
        source: the address of the repository on a code host; None as long as it has none: then links become the names
            of their files, and pictures are left out.
        tag: the name of the commit that the package is made of.
    """

    def absolute(found: re.Match[str]) -> str:
        picture, text, path = found["picture"], found["text"], found["path"]
        if source:
            return f"{picture}[{text}]({source}/{'raw' if picture else 'blob'}/{tag}/{path})"
        return "" if picture else f"`{path}`" if text == path else f"{text} (`{path}`)"

    return LINK.sub(absolute, readme)
