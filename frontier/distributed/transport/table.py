"""The table of transports: how the processes of a run talk. MPI and PyTorch's Gloo are shipped, packages add others."""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from frontier.errors import FrontierError
from frontier.system.launched import mpi_that_all_processes_begin_together
from frontier.system.plugins import import_installed

if TYPE_CHECKING:
    from frontier.distributed.transport.communicators import Processes

__all__ = ["Transport", "register_transport", "transport"]


@dataclass(frozen=True)
class Transport:
    """How processes talk; see :func:`register_transport`."""

    name: str
    begin: Callable[[], Processes]
    launcher: tuple[str, ...] = ()
    missing: Callable[[], str] = str

    def launched(self) -> bool:
        """Whether its launcher has started this process."""
        return bool(self.launcher) and os.environ.keys() >= set(self.launcher)


def register_transport(
    name: str,
    begin: Callable[[], Processes],
    *,
    launcher: Sequence[str] = (),
    missing: Callable[[], str] | None = None,
) -> None:
    """Register how the processes of a run talk, for ``g.to("ranks")`` and the command line.

    Parameters
    ----------
    name : str
        What ``FRONTIER_RANKS_TRANSPORT`` calls it; it replaces an earlier one of the same name.
    begin : callable
        ``begin()`` returns this process's :class:`frontier.distributed.transport.communicators.Processes`. It is called
        once, when ranks are first used; all processes call it together.
    launcher : sequence of str
        Environment variables that are set in every process that is to use it. Where all of them are, it is chosen
        without ``FRONTIER_RANKS_TRANSPORT``; empty: only by that.
    missing : callable, optional
        ``missing()`` says in a few words what is missing to use it here, or returns an empty string.

    Raises
    ------
    FrontierError
        The name is not an identifier, or ``launcher`` is a string.

    Examples
    --------
    >>> from frontier.distributed.transport.communicators import Processes
    >>> class Pipes(Processes):  # doctest: +SKIP
    ...     ...  # rank, size and the exchanges that Processes lists
    >>> register_transport("pipes", Pipes, launcher=["PIPES_RANK"])  # doctest: +SKIP

    Notes
    -----
    An installed package names the module that calls this function in the entry points ``frontier.transports``. The
    module is imported when ranks are first used, and before any other transport begins.
    """
    if not (isinstance(name, str) and name.isidentifier()):
        raise FrontierError(f"a transport cannot be called {name!r}: it takes an identifier")
    if isinstance(launcher, str):
        raise FrontierError(f"register_transport(launcher={launcher!r}): a list of environment variables")
    _transports[name] = Transport(name, begin, tuple(launcher), missing or str)


def transport() -> Transport:
    """Return the transport of this process.

    That is the one that ``FRONTIER_RANKS_TRANSPORT`` names; else the last registered one whose launcher has started the
    process; else MPI, which also serves a process that nobody has started.

    Raises
    ------
    FrontierError
        FRONTIER_RANKS_TRANSPORT names none.
    """
    import_installed("transports")
    asked = os.environ.get("FRONTIER_RANKS_TRANSPORT", "").strip()
    if asked:
        if asked not in _transports:
            raise FrontierError(f"FRONTIER_RANKS_TRANSPORT={asked!r}: choose from {', '.join(_transports)}")
        return _transports[asked]
    launched = [each for each in reversed(_transports.values()) if each.launched()]
    return launched[0] if launched else _transports["mpi"]


def _mpi() -> Processes:
    mpi = mpi_that_all_processes_begin_together()
    made: Processes = importlib.import_module("frontier.distributed.transport.mpi").Mpi(mpi)
    return made


def _gloo() -> Processes:
    made: Processes = importlib.import_module("frontier.distributed.transport.torchrun").Gloo()
    return made


def _mpi_missing() -> str:
    return "" if importlib.util.find_spec("mpi4py") else "mpi4py is not installed: pip install mpi4py mpich"


_transports = {
    "mpi": Transport("mpi", _mpi, missing=_mpi_missing),
    "torchrun": Transport(
        "torchrun", _gloo, ("TORCHELASTIC_RUN_ID", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT")
    ),
}
