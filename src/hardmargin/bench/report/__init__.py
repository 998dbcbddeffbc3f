"""Reports on campaigns: tables, figures, and one page with all of them."""
