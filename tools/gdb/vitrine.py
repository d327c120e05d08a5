"""gdb reads this file (make gdb-arm64, make gdb-x86_64, or `source tools/gdb/vitrine.py`): commands that know Vitrine's
kernel.

`help vitrine` lists them. They read memory only, so they work on a kernel that is stopped anywhere, hung or
panicked."""

import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gdb  # noqa: E402

import vt  # noqa: E402

vt.register()
try:
    gdb.execute("tui new-layout vitrine {-horizontal src 3 asm 2} 3 status 0 cmd 2")
except gdb.error:
    pass  # a gdb without windows, or this file is read again
