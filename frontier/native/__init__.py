"""Code that the package compiles for itself: kept on disk, loaded without the compiler, run on threads."""
