"""The operators that process elements one by one: Compute, Filter, Put, Reduce, Split."""
