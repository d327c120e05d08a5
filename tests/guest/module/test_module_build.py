"""The build of modules on the host: the words of a Makefile, what is made again, and what is an error before it is loaded."""

import os
import subprocess

import pytest

from test_modules import DEMO, MAKEFILE, make
from vitrine_guest import ROOT


def test_the_words_of_a_kbuild_makefile(tmp_path):
    """V=1 shows commands, clean removes what was made, flags reach the file they are for, and arm64-modules is our
    way."""
    source = (
        '#include <linux/module.h>\nMODULE_LICENSE("GPL");\n#if FOLDER != 1 || ONE != %d\n#error "flags"\n#endif\n'
        "static int f(void)\n{\n\treturn 0;\n}\nmodule_init(f);\n"
    )
    (tmp_path / "one.c").write_text(source % 2)
    (tmp_path / "two.c").write_text(source.replace("ONE", "TWO") % 3)
    flags = "one.o two.o\nccflags-y := -DFOLDER=1\nCFLAGS_one.o := -DONE=2\nCFLAGS_two.o := -DTWO=3"
    status, said = make(tmp_path, "arm64", "V=1", "W=1", objects=flags)
    assert status == 0 and "-DFOLDER=1" in said and "-Wextra" in said and (tmp_path / "two.ko").exists(), said
    before = {"Makefile", "one.c", "two.c"}
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "ARCH")}
    for words, left in (
        (["ARCH=arm64", "clean"], before),
        (["arm64-modules"], before | {"one.ko", "two.ko"}),
        (["ARCH=aarch64", "clean"], before),
    ):
        done = subprocess.run(
            ["make", "-C", ROOT, f"M={tmp_path}", *words], env=environment, capture_output=True, timeout=300
        )
        names = {path.name for path in tmp_path.iterdir() if not path.name.startswith(".")}
        assert done.returncode == 0 and left <= names and (len(left) > 3 or names == left), (words, names)


def test_forms_of_old_tutorials(tmp_path):
    """SUBDIRS= is M= of Linux before 5.4. modules_install says how a guest gets the module instead."""
    (tmp_path / "demo.c").write_text(DEMO)
    old = MAKEFILE.replace("M=", "SUBDIRS=")
    status, said = make(tmp_path, "arm64", makefile=old)
    assert status == 0 and (tmp_path / "demo.ko").exists(), said
    status, said = make(tmp_path, "arm64", makefile=old.replace("modules", "modules_install"))
    assert status != 0 and f"share the folder (make qemu-arm64 SHARE={tmp_path})" in said, said
    done = subprocess.run(["make", "-C", ROOT, "modules"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2 and "is for the modules of a folder: make M=FOLDER modules" in done.stderr


@pytest.mark.parametrize("name", ["sp ace", "two sp aces", "co:lon"])
@pytest.mark.parametrize("given", ["$(PWD)", '"$(PWD)"'])
def test_a_folder_whose_name_make_cannot_have(tmp_path, name, given):
    """Linux refuses such a path, too: in quotes or, as most tutorials write it, without them."""
    folder = tmp_path / name
    folder.mkdir()
    (folder / "demo.c").write_text(DEMO)
    status, said = make(folder, "arm64", makefile=MAKEFILE.replace("$(PWD)", given))
    assert status != 0 and f"M={folder}: the path of a module's folder cannot contain blanks or colons" in said, said


def test_a_module_may_be_built_before_its_kernel(tmp_path):
    """The make of the kernel, which comes first in a new tree, must not take the module's words for its own."""
    (tmp_path / "make").write_text('#!/bin/sh\necho "M=$M ARCH=$ARCH MAKEFLAGS=$MAKEFLAGS: $*"\n')
    (tmp_path / "make").chmod(0o755)
    (tmp_path / "Makefile").write_text("obj-m += demo.o\n")
    said = subprocess.check_output(
        ["make", "-s", "-C", ROOT, f"M={tmp_path}", "ARCH=arm64", "module-kernel", f"MAKE={tmp_path}/make"],
        text=True,
        timeout=60,
    )
    assert said == "M= ARCH= MAKEFLAGS=: arm64\n"


def test_another_machine_or_other_flags_make_all_anew(tmp_path):
    """Who forgot ARCH= types make again with it, in the same folder; nothing changed means nothing is made."""
    (tmp_path / "demo.c").write_text(DEMO)
    for words, machine, made in (
        (("x86_64",), 62, True),
        (("aarch64",), 183, True),
        (("aarch64",), 183, False),
        (("aarch64", "EXTRA_CFLAGS=-DX='1'"), 183, True),
        (("x86_64",), 62, True),
    ):
        status, said = make(tmp_path, *words)
        assert status == 0 and ("CC [M]" in said) == made, said
        ko = (tmp_path / "demo.ko").read_bytes()
        assert int.from_bytes(ko[18:20], "little") == machine, words
    subprocess.run(["make", "-s", "-C", ROOT, f"M={tmp_path}", "ARCH=x86_64", "clean"], check=True, timeout=60)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["Makefile", "demo.c"]


def test_what_nobody_exports_is_an_error_when_it_is_built(tmp_path):
    source = (
        '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nint no_such_function(void);\n'
        "static int f(void)\n{\n\treturn no_such_function();\n}\nmodule_init(f);\n"
    )
    (tmp_path / "lost.c").write_text(source)
    status, said = make(tmp_path, "arm64", objects="lost.o")
    assert status != 0 and 'ERROR: modpost: "no_such_function"' in said and "is it misspelt?" in said
    assert not (tmp_path / "lost.ko").exists()
    (tmp_path / "lost.c").write_text(source.replace("no_such_function", "vfs_open"))
    status, said = make(tmp_path, "arm64", objects="lost.o")
    assert status != 0 and 'ERROR: modpost: "vfs_open"' in said and "The kernel has it, but does not export it" in said
    assert "misspelt" not in said


def test_what_is_for_the_gpl_only_is_refused_when_it_is_built(tmp_path):
    """Of the kernel or of another module, in Linux's words. What is for all may be used under any licence."""
    source = (
        '#include <linux/module.h>\n#include <linux/rcupdate.h>\nMODULE_LICENSE("{}");\nint lent(void);\n'
        "static int f(void)\n{{\n\t{}();\n\treturn 0;\n}}\nmodule_init(f);\n"
    )
    lender = '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nint lent(void);\nint lent(void)\n{\n\treturn 0;\n}\n'
    for licence, name, export, refused in (
        ("Proprietary", "rcu_barrier", "EXPORT_SYMBOL", True),
        ("Proprietary", "lent", "EXPORT_SYMBOL_GPL", True),
        ("Proprietary", "lent", "EXPORT_SYMBOL", False),
        ("Dual BSD/GPL", "rcu_barrier", "EXPORT_SYMBOL", False),
    ):
        (tmp_path / "shut.c").write_text(source.format(licence, name))
        (tmp_path / "lender.c").write_text(f"{lender}{export}(lent);\n")
        status, said = make(tmp_path, "arm64", objects="shut.o lender.o")
        line = f"ERROR: modpost: GPL-incompatible module {tmp_path}/shut.ko uses GPL-only symbol '{name}'"
        assert (status != 0) == refused == (line in said), said
        if not refused:
            assert f"\tlent\tlender\t{export}\t\n" in (tmp_path / "Module.symvers").read_text()


def test_a_circle_of_modules_is_an_error(tmp_path):
    """No order can load them. One beside them that only uses one of them is named too: it cannot be loaded either."""
    for name, other in ("tick", "tock"), ("tock", "tick"), ("user", "tick"):
        (tmp_path / f"{name}.c").write_text(
            f'#include <linux/module.h>\nMODULE_LICENSE("GPL");\nint {name}(void);\nint {other}(void);\n'
            f"int {name}(void)\n{{\n\treturn {other}();\n}}\nEXPORT_SYMBOL({name});\n"
        )
    status, said = make(tmp_path, "arm64", objects="tick.o tock.o user.o")
    assert status != 0 and "ERROR: modpost: tick, tock, user: they use each other" in said, said
