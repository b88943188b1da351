"""What is fast, and by how much; see README.md beside this file."""
