"""The kernel's build with a small kernel of its own: what is built, when it is built again, and what fails it."""

import os
import re
import shutil
import socket
import struct
import subprocess
import time

import pexpect
import pytest
from elfimage import BuildError, Image
from elftools.elf.elffile import ELFFile
from ksyms import entries, read_table
from ksyms import verify as verify_ksyms
from machines import params
from mcount import verify as verify_mcount
from vitrine_guest import MACHINES

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))

LINKER = """
#define KIMAGE_ENTRY _text
#define KIMAGE_MAX_SIZE 0x1000000
#define KIMAGE_TEXT_PAGES 496
"""
# What is each machine's: {file: text} below arch/ARCH.
ARCH_FILES = {
    "aarch64": {
        "include/asm/linker.h": LINKER
        + """
#define LINKER_FORMAT "elf64-littleaarch64"
#define LINKER_ARCH aarch64
#define KIMAGE_VADDR 0xffff800008000000
#define LOAD_OFFSET 0
#define LINKER_PHDRS
#define LINKER_NOTES
""",
        "head.S": """
#include <generated/asm-offsets.h>
    .section .head.text, "ax"
    b start
pair_b: .quad PAIR_B
    .text
    .type start, %function
start: bl start_kernel
    .size start, . - start
    .globl _mcount
    .type _mcount, %function
_mcount: ret
    .size _mcount, . - _mcount
""",
    },
    "x86_64": {
        "include/asm/linker.h": LINKER
        + """
#define LINKER_FORMAT "elf64-x86-64"
#define LINKER_ARCH i386:x86-64
#define KIMAGE_VADDR 0xffffffff80200000
#define LOAD_OFFSET 0xffffffff80000000
#define LINKER_PHDRS note PT_NOTE FLAGS(4);
#define LINKER_NOTES .note.Xen : AT_PHYS(.note.Xen) { KEEP(*(.note.Xen)) } :rodata :note
""",
        "head.S": """
#include <generated/asm-offsets.h>
    .section .note.Xen, "a", @note      /* by which QEMU takes it for a kernel; nothing is run */
    .long 4, 8, 18
    .asciz "Xen"
    .quad 0x200000
    .section .head.text, "ax"
    jmp start
pair_b: .quad PAIR_B
    .text
    .type start, @function
start: call start_kernel
    .size start, . - start
    .globl __fentry__
    .type __fentry__, @function
__fentry__: ret
    .size __fentry__, . - __fentry__
""",
    },
}
OFFSETS = """
#include <stddef.h>
struct pair { long a, b; };
void offsets(void) { __asm__ volatile("\\n.ascii \\"->PAIR_B %0\\"" ::"i"(offsetof(struct pair, b))); }
"""
FILES = {
    "include/kernel/main.h": "int pass(int x);\nint traced(int x);\n",
    "kernel/main.c": """
#include <kernel/main.h>
int counter = 3, cleared[1000];
static int percpu __attribute__((section(".data..percpu"), used));
static const char *const plug __attribute__((section("ptrs_tracers"), used)) = "x";
extern const char *const __start_ptrs_tracers[], *const __stop_ptrs_tracers[];
void start_kernel(void)
{
	counter += pass(counter) + traced(cleared[3]) + (int)(__stop_ptrs_tracers - __start_ptrs_tracers);
}
""",
    "kernel/sched/core.c": """
#include <kernel/main.h>
static __attribute__((noinline)) int helper(int x) { __asm__(""); return x + 1; }
int pass(int x) { return helper(x) * 2; }
""",
    "include/uapi/syscall.tbl": "# aarch64 x86_64 name\n",
    "rooms": "".join(
        f"{path} {floor} 1000 core - what this test needs\n"
        for floor, path in enumerate(("arch/aarch64", "arch/x86_64", "kernel", "kernel/sched", "trace/core"))
    ),
    "trace/core/array.c": "#include <kernel/main.h>\nint traced(int x) { return x + 2; }\n",
}


@pytest.fixture(scope="module", params=params())
def made(tmp_path_factory, request):
    """A tree with the small kernel for one machine, whose name is the tree's; built once. Tests that change it copy
    it."""
    arch = request.param.arch
    tree = tmp_path_factory.mktemp("kernel") / arch
    for name in ("mk", "tools", "include/lib"):
        shutil.copytree(os.path.join(ROOT, name), tree / name)
    (tree / "mk/userland.mk").unlink(missing_ok=True)
    headers = ("include/kernel/ksyms.h", "include/kernel/export.h")
    for name in ("Makefile", "linker.ld", "kernel/ksyms.c", *headers, "arch/aarch64/mcount_site.s"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(os.path.join(ROOT, name), tree / name)
    own = {f"arch/{arch}/{name}": text for name, text in {**ARCH_FILES[arch], "asm-offsets.c": OFFSETS}.items()}
    for name, text in {**FILES, **own}.items():
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(text)
    done = make(tree)
    assert done.returncode == 0, done.stdout
    return tree


@pytest.fixture
def tree(made, tmp_path):
    """A copy that a test may change; file times are kept, so nothing is out of date."""
    return shutil.copytree(made, tmp_path / made.name)


def make(tree, *words):
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "MAKELEVEL")}
    return subprocess.run(
        ["make", f"ARCH={tree.name}", *words],
        cwd=tree,
        env=environment,
        text=True,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def lines(done):
    assert done.returncode == 0, done.stdout
    return [line.split() for line in done.stdout.splitlines() if not line.startswith("make")]


def built(tree):
    return str(tree / "build" / tree.name / "vmlinux")


def test_nothing_to_do_twice(made):
    assert lines(make(made)) == []


def test_header_rebuilds_what_includes_it(tree):
    with open(tree / "include/kernel/main.h", "a", encoding="utf-8") as file:
        file.write("/* changed */\n")
    compiled = sorted(line[1] for line in lines(make(tree)) if line[0] == "CC")
    assert compiled == ["kernel/main.o", "kernel/sched/core.o", "trace/core/array.o"]
    assert lines(make(tree)) == []


def test_header_of_the_abi_rebuilds_programs(machine):
    """Programs find the kernel's headers behind all others."""
    for name in ("guest-tests/obj/signal/sigmask.d", "userland/bin/text/cat.d"):
        with open(os.path.join(ROOT, "build", machine.arch, name), encoding="ascii") as file:
            assert any(word.startswith("include/uapi/") for word in file.read().split()), name


def test_flags_rebuild_everything(tree):
    flags = (tree / "build" / tree.name / "kernel.flags").read_text().split("|", 1)[0].split(maxsplit=2)[2].strip()
    more = "KCFLAGS=" + flags + " -DMORE"
    assert len([line for line in lines(make(tree, more)) if line[0] == "CC"]) == 4
    assert lines(make(tree, more)) == []
    assert len([line for line in lines(make(tree)) if line[0] == "CC"]) == 4


def test_new_and_vanished_sources_link_again(tree):
    (tree / "kernel/more.c").write_text("int more;\n")
    assert ["CC", "kernel/more.o"] in lines(make(tree))
    (tree / "kernel/more.c").unlink()
    done = lines(make(tree))
    assert ["LD", "vmlinux"] in done and not [line for line in done if line[0] == "CC"]
    assert not [entry for entry in entries(Image(built(tree))) if entry.name == "more"]


def test_new_and_vanished_headers_are_another_interface(tree):
    """What modules must have been built for is a sum over the headers that are there now."""
    name = f"build/{tree.name}/include/generated/vermagic.h"
    sums = []
    for change in (lambda path: None, lambda path: path.write_text("int more;\n"), lambda path: path.unlink()):
        change(tree / "include/kernel/more.h")
        lines(make(tree, name))
        sums.append((tree / name).read_text())
    assert sums[0] == sums[2] != sums[1]


def test_generated_offset_reaches_assembly(made):
    image = Image(built(made))
    text = image.section(".text")
    assert struct.unpack_from("<Q", text.data, image.symbol("pair_b") - text.addr) == (8,)


def test_what_boots_is_whole(made):
    """A flat image is as long as all that is loaded; an ELF file says where each part goes in physical memory."""
    image = Image(built(made))
    for name in ("__start_rodata", "_data", "__bss_start", "_end"):
        assert image.symbol(name) % 4096 == 0
    kernel = made / "build" / made.name / MACHINES[made.name].kernel
    if kernel.name == "Image":
        assert len(kernel.read_bytes()) == image.symbol("__bss_start") - image.symbol("_text")
        return
    with open(kernel, "rb") as file:
        loads = list(ELFFile(file).iter_segments("PT_LOAD"))
    offset = image.symbol("_text") - 0x200000
    assert [segment["p_vaddr"] - segment["p_paddr"] for segment in loads] == [offset] * len(loads)
    assert loads[0]["p_vaddr"] == image.symbol("_text")
    assert loads[-1]["p_vaddr"] + loads[-1]["p_memsz"] == image.symbol("_end")


def test_plug_in_tables_are_bounded(made):
    image = Image(built(made))
    assert image.symbol("__stop_ptrs_tracers") - image.symbol("__start_ptrs_tracers") == 8
    assert image.symbol("__stop_ptrs_drivers") == image.symbol("__start_ptrs_drivers")


def test_only_traced_folders_have_sites(made):
    image = Image(built(made))
    table = image.section(".mcount_table").data
    names = {
        entry.offset: entry.name for entry in reversed(entries(image))
    }  # of several at one place a function comes first
    inside = [max(at for at in names if at <= site) for (site,) in struct.iter_unpack("<I", table)]
    assert sorted(names[at] for at in inside) == ["helper", "pass", "start_kernel"]


def test_symbols_are_those_of_nm(made):
    image = Image(built(made))
    table, _ = read_table(image)
    found = {(entry.name, entry.type) for entry in table}
    assert found >= {
        ("start_kernel", "T"),
        ("helper", "t"),
        ("counter", "D"),
        ("cleared", "B"),
        ("_end", "B"),
        ("_text", "T"),
        ("_data", "D"),
        ("percpu", "d"),
    }
    assert [entry.offset for entry in table] == sorted(entry.offset for entry in table)
    assert not [entry for entry in table if entry.name.startswith(("$", ".L"))]


def test_read_only_data_that_fills_its_pages(tree):
    """Its last label has the address of the first datum, until the tables come between them: the one stays there."""
    size = 64
    for _ in range(3):
        (tree / "kernel/filled.c").write_text(f"const char filled[{size}] __attribute__((used)) = {{1}};\n")
        done = make(tree, "kernel")
        assert done.returncode == 0, done.stdout
        image = Image(built(tree))
        last = max(symbol.value for symbol in image.symbols if symbol.name.startswith("__stop_ptrs_"))
        size += -last % 4096
    assert last % 4096 == 0 and image.symbol("_data") > last


def test_without_call_sites(tree):
    assert make(tree, "NOPG=1", "kernel").returncode == 0
    assert Image(str(tree / "build" / f"{tree.name}-nopg" / "vmlinux")).section(".mcount_table").data == b""
    assert lines(make(tree)) == []


def test_unknown_plug_in_table_fails(tree):
    (tree / "kernel/odd.c").write_text('int odd __attribute__((section("ptrs_odd")));\n')
    done = make(tree)
    assert done.returncode and "ptrs_odd" in done.stdout


def test_half_a_system_call_is_named_in_one_line(tree):
    """A definition, and a line with its numbers: without one of them the build says which call it is, and no more."""
    table, source = tree / "include/uapi/syscall.tbl", tree / "kernel/sched/core.c"
    columns, text = table.read_text(), source.read_text()

    def told(why, change):
        change()
        done = make(tree)
        assert done.returncode and done.stdout.splitlines()[0] == why and "syscall" in done.stdout.splitlines()[1]
        assert len(done.stdout.splitlines()) == 2 and not done.stdout.splitlines()[1].startswith("  CC")

    told(
        f"include/uapi/syscall.tbl: the system call late has a number on {tree.name}, but no SYSCALL_DEFINEn there",
        lambda: table.write_text(columns + "500 501 late\n"),
    )
    definition = (
        "#define SYSCALL_DEFINE2(name, ...) int sys_##name\nSYSCALL_DEFINE2(late, int, fd,\n\t\tchar *, buf)\n;"
    )
    told(
        "kernel/sched/core.c: the system call late is defined, but has no line in include/uapi/syscall.tbl",
        lambda: (table.write_text(columns), source.write_text(text + definition)),
    )
    told(
        "include/uapi/syscall.tbl:3: even or its number 7 stands there twice",
        lambda: table.write_text(columns + "7 7 late\n7 7 even\n"),
    )
    told(
        "include/uapi/syscall.tbl:2: '7 late' is not aarch64 x86_64 name",
        lambda: table.write_text(columns + "7 late\n"),
    )
    table.write_text(columns + "500 501 late\n")
    lines(make(tree))
    header = (tree / "build" / tree.name / "include/generated/syscall_table.h").read_text()
    number = {"aarch64": 500, "x86_64": 501}[tree.name]
    assert header.splitlines()[1:] == [f"SYSCALL({number}, late, 2, int, fd, char *, buf)"]
    table.write_text(columns + "- - late\n")
    lines(make(tree))
    assert len((tree / "build" / tree.name / "include/generated/syscall_table.h").read_text().splitlines()) == 1


def test_text_without_room_to_patch_fails(tree):
    """What patching can write is 496 pages: one more page of text fails the link."""
    text = '__asm__(".text\\n.skip %d * 4096");\n'
    (tree / "kernel/large.c").write_text(text % 494)
    lines(make(tree, "kernel"))
    (tree / "kernel/large.c").write_text(text % 496)
    done = make(tree, "kernel")
    assert done.returncode != 0 and "FIX_TEXT" in done.stdout


def test_site_in_the_tracer_fails(tree):
    rules = tree / "mk/kernel.mk"
    sound = "$(NOPG)$(filter-out $(TRACED),$(filter $(NOTRACE),$(1)))"
    assert sound in rules.read_text()
    rules.write_text(rules.read_text().replace(sound, "$(NOPG)"))
    done = make(tree)
    assert done.returncode and "sites in a file that must not call " in done.stdout


def spoil(path, name, change):
    """Change the bytes of a section inside an ELF file."""
    section = Image(path).section(name)
    with open(path, "rb") as file:
        whole = file.read()
    at = whole.index(section.data)
    with open(path, "wb") as file:
        file.write(whole[:at] + change(bytearray(section.data)) + whole[at + len(section.data) :])


@pytest.mark.parametrize(
    "section, verify, words",
    [
        (".mcount_table", verify_mcount, "embedded table is not that of"),
        (".ksyms", verify_ksyms, "the table has"),
    ],
)
def test_spoilt_table_is_noticed(tree, section, verify, words):
    first = str(tree / "build" / tree.name / "vmlinux.1")
    verify(built(tree), first)

    def change(data):
        data[4] ^= 4
        return data

    spoil(built(tree), section, change)
    with pytest.raises(BuildError, match=words):
        verify(built(tree), first)


def test_table_that_fills_its_last_page(tree):
    """Then its end has the address of the first datum, and is not taken for one: the kernel's list has neither end."""
    image = Image(built(tree))
    room = image.symbol("_data") - image.symbol("__stop_ksyms_names")
    room += 4096 if room <= 200 else 0  # too little for the two last names: a page more
    # A name of n bytes takes n + 11: offset, entry, place in the order of names, and the ending zero.
    sizes = [100] * ((room - 100) // 100)
    sizes.append(room - sum(sizes))
    names = [f"n{number:02}".ljust(size - 11, "x") for number, size in enumerate(sizes[:-1])]
    names += ["a".ljust(sizes[-1] // 2 - 11, "x"), "b".ljust(sizes[-1] - sizes[-1] // 2 - 11, "x")]
    head = tree / f"arch/{tree.name}/head.S"
    head.write_text(head.read_text() + "\n.text\n" + "".join(f".globl {name}\n{name}:\n" for name in names))
    done = make(tree)
    assert done.returncode == 0, done.stdout
    image = Image(built(tree))
    assert image.symbol("__stop_ksyms_names") == image.symbol("_data")
    listed = {entry.name for entry in read_table(image)[0]}
    assert {"_data", *names} <= listed and not {name for name in listed if "_ksyms_" in name}


def test_missing_compiler_in_one_line(tree):
    done = make(tree, "CROSS=nowhere-")
    assert done.returncode and "there is no nowhere-gcc" in done.stdout


def test_old_compiler_in_one_line(tree, tmp_path):
    for name, text in {"old-gcc": "echo 11", "old-ld": "exit 1"}.items():
        (tmp_path / name).write_text(f"#!/bin/sh\n{text}\n")
        (tmp_path / name).chmod(0o755)
    done = make(tree, f"CROSS={tmp_path}/old-")
    assert done.returncode and "gcc 12 or later is needed" in done.stdout


def test_gdb_session_ends_qemu(made):
    build = f"build/{made.name}"
    (made / build / "initramfs.cpio").write_bytes(b"")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = ["tools/vrun", "--arch", made.name, "--build", build, "--gdb", port, "--gdb-arg=-batch"]
    for line in ("p $pc", "info address start_kernel", "stepi"):
        command += ["--gdb-arg=-ex", f"--gdb-arg={line}"]
    done = subprocess.run(
        command,
        cwd=made,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=600,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert done.returncode == 0 and '"start_kernel" is a function at address 0xffff' in done.stdout, done.stdout
    assert "until the kernel has switched the MMU on" in done.stdout
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(port))), "QEMU's stub is gone"


def listens(port):
    """Does anybody on this machine? To connect would use up what the listener has room for."""
    with open("/proc/net/tcp", encoding="ascii") as file:
        return any(re.match(rf" *\d+: [0-9A-F]+:{port:04X} \S+ 0A ", line) for line in file)


def test_closed_terminal_ends_a_gdb_session(made):
    """Also where the terminal tells only somebody who then waits for us, as make does."""
    (made / "build" / made.name / "initramfs.cpio").write_bytes(b"")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    session = pexpect.spawn(
        "bash",
        [
            "-c",
            f"trap : HUP; tools/vrun --arch {made.name} --build build/{made.name} --layout none --gdb {port} "
            "--gdb-arg=-ex --gdb-arg='p 6 * 7' --gdb-arg=-ex --gdb-arg=continue; true",
        ],
        cwd=made,
        timeout=600,
        encoding="utf-8",
    )
    session.expect(" = 42[^$]*Continuing")
    os.close(session.child_fd)
    for _ in range(600):
        if not listens(port):
            break
        time.sleep(0.1)
    else:
        raise AssertionError("QEMU is still there")
    session.closed = True


@pytest.mark.parametrize(
    "data",
    [b"", b"all:\n", b"\x7fELF\2\1", b"\x7fELF\2\1" + bytes(10) + b"\2\0", b"\x7fELF\1\1" + bytes(10) + b"\1\0"],
)
def test_only_a_module_gets_a_sum(tmp_path, data):
    """A program and a 32-bit object are no modules. A second sum takes the place of the first."""
    path = tmp_path / "file"
    path.write_bytes(data)
    command = [os.path.join(ROOT, "tools/modsum.py"), str(path)]
    done = subprocess.run(command, text=True, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert f"{path}: not a module" in done.stderr and path.read_bytes() == data
    module = b"\x7fELF\2\1" + bytes(10) + b"\1\0"
    path.write_bytes(module)
    for _ in range(2):
        subprocess.run(command, check=True)
    assert re.fullmatch(re.escape(module) + rb"~module sum [0-9a-f]{16}~\n", path.read_bytes())
