"""The operators that take elements one by one: Compute, Filter, Reduce, Split."""
