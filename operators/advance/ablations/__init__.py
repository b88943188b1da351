"""Balances and switch rules of published systems, which only comparisons with these choose.

Each module registers what it has by its name, as a module of a user does: ``block``, ``twc`` and ``degree_classes`` by
:func:`frontier.register_balance`, ``gunrock`` and ``hubs`` by :func:`frontier.register_switch`. They are imported when
a schedule first names a balance or a rule other than the usual ones; nothing else imports them.
"""
