"""Settings of the documentation site; ``make docs`` builds it. Nothing is loaded from the network, neither when the
site is built nor when it is read."""

from __future__ import annotations

from pathlib import Path

import hardmargin

# conf.py is copied to build/docs/source with the pages.
ROOT = Path(__file__).resolve().parent.parent.parent.parent

project = "hardmargin"
author = "The hardmargin developers"
copyright = author
version = release = hardmargin.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
templates_path = ["templates"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["static", "templates"]
root_doc = "index"

# Pages link to headings of other pages: estimator.md#constant-models.
myst_heading_anchors = 4

autosummary_generate = True
# Where upper and lower case are the same in names of files, a class and a function of one name would be one page.
autosummary_filename_map = {
    f"hardmargin.{name}": f"hardmargin.{name}-class"
    for name in hardmargin.__all__
    if name.lower() != name and name.lower() in hardmargin.__all__
}
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "thumbnail_size": (400, 280),
    "show_memory": False,
    # Its page of times would load scripts from other sites.
    "write_computation_times": False,
    "show_signature": False,
    "remove_config_comments": True,
    "min_reported_time": 60,
    "abort_on_example_error": True,
    # Only our own names: those of other projects would need the network.
    "doc_module": ("hardmargin",),
    "reference_url": {"hardmargin": None},
    "backreferences_dir": "gallery/backreferences",
}

html_theme = "pydata_sphinx_theme"
html_title = f"hardmargin {version}"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "hardmargin"},
    "header_links_before_dropdown": 8,
    "navbar_align": "left",
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "show_nav_level": 1,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
# Pages without a menu of further pages.
html_sidebars = {name: [] for name in ("index", "glossary", "getting-started")}

linkcheck_timeout = 20
linkcheck_retries = 2
