"""The operators on whole fields, scalars and piles: Set, Swap, Take."""
