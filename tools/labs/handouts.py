"""Handouts as pages: HTML by python3-markdown, PDF where pandoc is installed."""

import os
import shutil
import subprocess

from catalogue import LabError

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<style>
body {{ max-width: 46em; margin: 2em auto; padding: 0 1em; font: 16px/1.5 sans-serif; }}
pre, code {{ font-family: monospace; background: #f4f4f4; }}
pre {{ padding: .7em; overflow-x: auto; }}
table {{ border-collapse: collapse; }} td, th {{ border: 1px solid #ccc; padding: .2em .6em; text-align: left; }}
</style></head><body>
{body}
</body></html>
"""


def html(lab, path):
    """Write a lab's handout as one page."""
    try:
        import markdown
    except ImportError:
        raise LabError("python3-markdown is not there: make deps-labs installs it") from None
    with open(os.path.join(lab.folder, "handout.md"), encoding="utf-8") as file:
        body = markdown.markdown(file.read(), extensions=["tables", "fenced_code", "toc"])
    with open(path, "w", encoding="utf-8") as file:
        file.write(PAGE.format(title=lab.title, body=body))


def pdf(lab, path):
    """The same as PDF, if pandoc is there; False if it is not, or has no TeX to work with."""
    if not shutil.which("pandoc"):
        return False
    source = os.path.join(lab.folder, "handout.md")
    return subprocess.run(["pandoc", "-o", path, source], capture_output=True, check=False).returncode == 0
