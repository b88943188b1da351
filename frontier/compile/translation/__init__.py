"""Translate generated code and kernels to LLVM without type inference, on any target."""
