"""The cuda backend: a loop lowered to one cooperative kernel."""
