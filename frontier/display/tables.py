"""Columns as tables of pandas, Polars and Arrow, which are imported only when asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from frontier.errors import BackendUnavailableError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = ["library", "to_arrow", "to_pandas", "to_polars"]


def library(module: str, name: str) -> Any:
    """A module that this needs.

    Raises
    ------
    BackendUnavailableError
        It is not installed.
    """
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise BackendUnavailableError(f"this needs {name}, which is not installed: pip install {package}") from None


def to_pandas(columns: dict[str, NDArray[Any]]) -> Any:
    """Return a DataFrame of pandas."""
    return library("pandas", "pandas").DataFrame(columns)


def to_polars(columns: dict[str, NDArray[Any]]) -> Any:
    """Return a DataFrame of Polars."""
    polars = library("polars", "Polars")
    return polars.DataFrame({name: _plain(values) for name, values in columns.items()})


def to_arrow(columns: dict[str, NDArray[Any]]) -> Any:
    """Return a table of Arrow."""
    arrow = library("pyarrow", "PyArrow")
    return arrow.table({name: _plain(values) for name, values in columns.items()})


def _plain(values: NDArray[Any]) -> Any:
    """Values as these two take them: numbers as they are, names one by one, for they may be of any kind."""
    return values.tolist() if values.dtype.kind in "OUS" else values
