"""Programs as data: problems and their fields, frontiers, steps, loops, schedules, and runs of them."""
