"""Optional packages of textcritic: which extra installs each, and the error line if one is missing."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from textcritic.errors import TextcriticError, first_line

EXTRAS = {
    **dict.fromkeys(("torch", "transformers", "tokenizers", "safetensors", "datasets", "sklearn"), "models"),
    "tomotopy": "mixing",
    "snakemake_executor_plugin_slurm": "slurm",
}
"""The extra (pyproject.toml) by the name that its packages are imported by."""
OUT_OF_MEMORY, NO_LIBRARY = "failed to map segment", "cannot open shared object file"


def lacks(package: str) -> str:
    """What to install if a package is not there; "" if it is. Nothing is imported."""
    return "" if find_spec(package) else f"needs {package}: pip install 'textcritic[{EXTRAS[package]}]'"


def require_models(what: str) -> None:
    """Before a study of language models begins: raise one clear error if a package that it needs is missing.

    Otherwise its jobs would fail one after the other, minutes later.

    Args:
        what: that needs them, to begin the line with.

    Raises:
        TextcriticError: which package is missing, and how to install it.
    """
    for package, extra in EXTRAS.items():
        if extra == "models" and (line := lacks(package)):
            raise TextcriticError(f"{what}: {line}")


@contextmanager
def needing_extras(what: str) -> Iterator[None]:
    """A block in which a missing or broken package of an extra becomes one clear error line.

    Args:
        what: that needs it, such as a function's name, to begin the line with.

    Raises:
        TextcriticError: an import of the block failed, of a package of an extra.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or "").partition(".")[0]
        if package not in EXTRAS or OUT_OF_MEMORY in str(error):
            raise
        extra, missing = EXTRAS[package], isinstance(error, ModuleNotFoundError) and error.name == package
        how = "is not installed" if missing else f"cannot be loaded ({first_line(error)})"
        again = "" if missing else "--force-reinstall "
        raise TextcriticError(
            f"{what}: needs {package}, which {how}; run pip install {again}'textcritic[{extra}]'"
        ) from error
    except OSError as error:  # of a library that torch loads by itself
        if NO_LIBRARY not in str(error):
            raise
        raise TextcriticError(
            f"{what}: a library cannot be loaded ({first_line(error)}); run pip install --force-reinstall"
            " 'textcritic[models]'"
        ) from error
