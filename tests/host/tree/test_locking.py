"""docs/locking.md has every lock of the kernel, by its name or, for a field, beside the file that it is in."""

import re

import pytest
from tree import files, read

PAGE = read("docs/locking.md")
FOLDERS = ("arch/", "boot/", "drivers/", "include/", "kernel/", "samples/", "trace/", "vdso/")
# A mutex has a lock in it; that is the mutex.
SOURCES = [
    path
    for path in files()
    if path.startswith(FOLDERS) and path.endswith((".c", ".h")) and path != "include/sched/mutex.h"
]
KINDS = r"(?:spinlock_t|struct mutex)"


def locks(text):
    """(names of locks that stand alone, whether there is one inside a structure)."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    alone = re.findall(r"^(?:static )?DEFINE_(?:SPINLOCK|MUTEX)\(\s*(\w+)\s*\)", text, flags=re.M)
    alone += re.findall(rf"^(?:static )?{KINDS} (\w+)\b[^;(]*;", text, flags=re.M)
    return alone, re.search(rf"^\s+{KINDS} \w[\w, ]*;", text, flags=re.M) is not None


def test_what_counts_as_a_lock():
    assert locks("static DEFINE_MUTEX(a_mutex);\nspinlock_t b_lock = {};\n") == (["a_mutex", "b_lock"], False)
    assert locks("struct s {\n\tspinlock_t lock;\n};\n") == ([], True)
    assert locks("extern struct mutex a;\nvoid f(spinlock_t *lock);\n/* spinlock_t x; */\n") == ([], False)


@pytest.mark.parametrize("path", [path for path in SOURCES if any(locks(read(path)))])
def test_the_page_has_the_locks_of(path):
    alone, inside = locks(read(path))
    missing = [name for name in alone if f"`{name}`" not in PAGE]
    assert not missing and (
        not inside or f"`{path}`" in PAGE
    ), f"{missing or 'a field'} of {path} is not in docs/locking.md"


def test_the_page_names_files_that_have_a_lock():
    named = re.findall(r"`((?:arch|drivers|include|kernel|trace)/[\w./-]+\.[ch])`", PAGE)
    assert len(named) > 50
    assert not [path for path in named if not any(locks(read(path)))]
