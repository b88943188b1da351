"""The backends, one folder each, and what they have in common; :mod:`frontier.backends.base` says what one is."""

from frontier.backends.base import Backend, backend_names, register_backend

__all__ = ["Backend", "backend_names", "register_backend"]
