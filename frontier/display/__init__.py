"""What users look at: tables of pandas, Polars and Arrow, HTML for notebooks, charts, and bars of progress."""
