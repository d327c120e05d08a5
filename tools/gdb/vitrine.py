"""gdb reads this file (make gdb-arm64, make gdb-x86_64, or `source tools/gdb/vitrine.py`): commands that know Vitrine's
kernel.

`help vitrine` lists them. They read memory only, so they work on a kernel that is stopped anywhere, hung or
panicked."""

import os
import shutil
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import gdb  # noqa: E402

import vt  # noqa: E402

vt.register()
# An address has 18 digits, so instructions need 80 columns to show where a call leads: beside the source when there is
# is room for both, else below it.
BESIDE = shutil.get_terminal_size().columns >= 200
try:
    gdb.execute(f"tui new-layout vitrine {{{'-horizontal src 3 asm 2' if BESIDE else 'src 3 asm 2'}}} 3 status 0 cmd 2")
except gdb.error:
    pass  # a gdb without windows, or this file is read again
