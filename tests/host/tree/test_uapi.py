"""The user ABI is written down once, in include/uapi, for the kernel and for programs.

A number or structure of the ABI that stood a second time in userland or in a guest test could differ, and a test that
has its own numbers does not notice when the kernel's are wrong. (That they are Linux's:
tests/host/userland/test_same_on_linux.py.)
"""

import re

import pytest
from tree import files, read

UAPI = [path for path in files() if path.startswith("include/uapi/")]
OTHERS = [
    path
    for path in files()
    if re.match(r"(include/(?!uapi/)|kernel/|drivers/|trace/|userland/|tests/guest/progs/).*\.[ch]$", path)
]


def code(path):
    """Without comments."""
    return re.sub(r"/\*.*?\*/", " ", read(path), flags=re.S)


def made(path):
    """The names of numbers and the structures that a file defines, each as it begins there."""
    text = code(path)
    numbers = re.findall(r"^#\s*define\s+([A-Za-z_]\w*)[ \t]+\S", text, flags=re.M)
    return set(numbers) | {f"struct {name}" for name in re.findall(r"^struct (\w+) \{", text, flags=re.M)}


def test_something_is_there():
    assert {"SIGKILL", "struct termios", "ENOENT", "O_CREAT"} <= set().union(*map(made, UAPI))


@pytest.mark.parametrize("path", UAPI)
def test_a_program_can_include_it(path):
    """It needs nothing of the kernel's own."""
    included = re.findall(r"^#include (.*)$", code(path), flags=re.M)
    assert all(re.fullmatch(r"<(uapi/\w+\.h|asm/uapi_\w+\.h|stdint\.h)>\s*", name) for name in included), included
    assert not re.search(r"\b([us](8|16|32|64)|size_t|__user|static_assert)\b", code(path))


def test_nobody_has_it_again():
    ours = {}
    for path in UAPI:
        for name in made(path):
            assert name not in ours, (name, path, ours[name])
            ours[name] = path
    again = {(name, path, ours[name]) for path in OTHERS for name in made(path) & ours.keys()}
    assert not again, sorted(again)


def test_userland_takes_nothing_else_of_the_kernel():
    folders = {path.split("/")[1] for path in files() if re.match(r"include/\w+/", path)} - {"uapi"}
    wrong = [
        (path, name)
        for path in OTHERS
        if path.startswith(("userland/", "tests/guest/progs/"))
        for name in re.findall(r"^#include <(\w+)/", code(path), flags=re.M)
        if name in folders - {"sys"}
    ]
    assert not wrong, wrong


def test_nobody_asks_the_preprocessor_for_a_call():
    """SYS_<name> is no macro: #ifdef would leave the code out on every machine, and with it what it tests."""
    wrong = [path for path in OTHERS if re.search(r"^\s*#\s*(if|elif)\w*\b.*\bSYS_[a-z]", code(path), flags=re.M)]
    assert not wrong, wrong
