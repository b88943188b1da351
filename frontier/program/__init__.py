"""Programs as data: what users declare, and what is checked before it runs.

``problem`` is a graph with fields, ``field_store`` makes their arrays, ``values`` are what these may hold, ``pairs``
two fields that change together, ``frontiers`` a set of its vertices or edges, ``step`` one use of an operator, ``over``
what it may run on instead of the current frontier, ``loop`` steps in a loop, ``order`` the priority by which a loop
takes elements, ``schedule`` how steps are carried out, by balances and rules that are ``registered`` among others.
``enactor`` puts a loop, its start and its result together, ``time_limit`` ends a run that takes too long. ``execution``
is one run of them, by a backend, perhaps with another ``numbering`` of vertices; ``prepared`` calls run many times in
the same memory, with what ``kept_problems`` has of the call before.

``effects`` is what a functor reads and writes, found by ``effect_analysis``, with what it compares and stores
(``effect_values``), what changes together (``effect_paths``) and what ids are used for (``effect_ids``);
``functor_checks`` compares it with a problem, ``races`` warns of missing atomics, ``swapping`` says which fields
exchange their arrays, ``taking`` accepts what users pass as graphs and frontiers, ``layout`` names what of a problem
generated code depends on.
"""
