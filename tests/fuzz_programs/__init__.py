"""Random programs of all steps and loops, run on the python backend and on others, which must leave the same behind.

``python -m tests.fuzz_programs --minutes 3 --seed 1`` makes programs until the time is up, and prints what it found. A
program is deterministic by construction: what its functors read in a step no other call of that step writes, and what
many calls write is brought together by an operation for which the order does not matter. Each program is compiled once
and run on many graphs and frontiers, with many values of its scalars and arrays.
"""
