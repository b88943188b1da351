"""What several operators share: reductions, phases, and how the kernels of a backend are found."""
