"""Ctrl-C during a run: it is recorded, and raised where the run can be stopped."""

from __future__ import annotations

# What the module signal is made of: its own functions turn numbers into enums and back, 10 µs for every run.
import _signal  # type: ignore[import-not-found]
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType

__all__ = ["deferred", "undeferred"]


class deferred:
    """Within it Ctrl-C is only noted (in the main thread, with Python's own handler).

    Parameters
    ----------
    patient : bool
        Whether the second time is only noted too: where what runs cannot be left between two boundaries.
    """

    __slots__ = ("_ours", "_patient", "pressed")

    def __init__(self, patient: bool = False) -> None:
        self.pressed, self._patient = False, patient

    def __enter__(self) -> deferred:
        main = threading.current_thread() is threading.main_thread()
        self._ours = main and _signal.getsignal(_signal.SIGINT) is _signal.default_int_handler
        if self._ours:
            _signal.signal(_signal.SIGINT, self)
        return self

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Handle the signal."""
        if self.pressed and not self._patient:  # the second time the user does not want to wait for a boundary
            raise KeyboardInterrupt
        self.pressed = True

    def check(self) -> None:
        """Raise KeyboardInterrupt if Ctrl-C was pressed."""
        if self.pressed:
            self.pressed = False
            raise KeyboardInterrupt

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._ours:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)
            if kind is None:
                self.check()  # pressed after the last boundary at which the run looked


@contextmanager
def undeferred() -> Iterator[None]:
    """Within :class:`deferred`: what takes seconds and may be left at any moment, so Ctrl-C is raised at once."""
    noted = _signal.getsignal(_signal.SIGINT)
    if not isinstance(noted, deferred) or threading.current_thread() is not threading.main_thread():
        yield
        return
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    try:
        noted.check()
        yield
    finally:
        _signal.signal(_signal.SIGINT, noted)
