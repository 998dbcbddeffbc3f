"""What readers see of campaigns: tables, figures, and one page with all of them."""
