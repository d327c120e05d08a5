"""tools/mcount.py: the table of a good link, and one clear line for each way in which sites can be wrong."""

import os
import shutil
import subprocess

import pytest
from elfimage import BuildError, Image
from machines import AARCH64, X86_64
from mcount import check_objects, collect


def cross(machine):
    """The prefix of the build's compiler."""
    found = next((prefix for prefix in machine.host_gcc if shutil.which(prefix + "as")), None)
    assert found, "the build's dependencies are there when the suite runs"
    return found


CROSS, X86_CROSS = cross(AARCH64), cross(X86_64)

SCRIPT = """SECTIONS {
    . = 0x10000; _text = .;
    .text : { *(.text) }
    .other : { *(.other) }
    .mcount_gcc 0 (INFO) : { *(__mcount_loc) }
    .data : { *(.data) }
    /DISCARD/ : { *(.note.*) *(.comment) *(.eh_frame) }
}"""

# The hook, and a label at its place that the assembler resolves by itself, without a relocation.
HOOK = """
    .text
    .globl _mcount
    .type _mcount, %function
_mcount:
same_place:
    ret
    .size _mcount, . - _mcount
"""


def function(name, body, section=".text"):
    return f"""
    .section {section}, "ax"
    .type {name}, %function
{name}:
    nop
    {body}
    ret
    .size {name}, . - {name}
"""


def assemble(folder, name, text, tool=None):
    source, target = folder / f"{name}.S", folder / f"{name}.o"
    source.write_text(text)
    subprocess.run([*(tool or [CROSS + "as"]), "-o", target, source], check=True)
    return str(target)


def link(folder, *objects, linker=None):
    script, image = folder / "script.ld", folder / "image"
    script.write_text(SCRIPT)
    subprocess.run(
        [linker or CROSS + "ld", "--emit-relocs", "-e", "0", "-T", script, "-o", image, *objects], check=True
    )
    return str(image)


def sites(folder, text):
    return collect(Image(link(folder, assemble(folder, "a", HOOK + text))))


def fails(folder, text, words):
    with pytest.raises(BuildError, match=words) as caught:
        sites(folder, text)
    assert "\n" not in str(caught.value)


def test_sites_are_offsets_in_order(tmp_path):
    text = function("one", "bl _mcount") + function("bare", "nop") + function("two", "nop\n bl _mcount")
    # _mcount 4 bytes; one: nop, bl at 8; bare: 12 bytes from 16; two from 28: nop nop bl
    assert sites(tmp_path, text) == [8, 36]


def test_no_sites_at_all(tmp_path):
    assert sites(tmp_path, function("bare", "nop")) == []


def test_a_pointer_to_the_hook_is_no_site(tmp_path):
    assert sites(tmp_path, function("one", "bl _mcount") + "\n.data\n.quad _mcount\n") == [8]


def test_call_without_relocation(tmp_path):
    fails(tmp_path, function("one", "bl same_place"), r"call of _mcount at 0x10008 in one is not listed")


def test_listed_twice(tmp_path):
    fails(
        tmp_path, function("one", ".reloc ., R_AARCH64_CALL26, _mcount\n bl _mcount"), "0x10008 in one is listed twice"
    )


def test_listed_instruction_is_no_call(tmp_path):
    fails(tmp_path, function("one", ".reloc ., R_AARCH64_CALL26, _mcount\n nop"), "in one is listed but does not call")


def test_call_into_the_middle_of_the_hook(tmp_path):
    fails(tmp_path, function("one", "bl same_place\n bl _mcount + 4"), "in one is not listed")


def test_jump_in_place_of_call(tmp_path):
    fails(tmp_path, function("one", "b _mcount"), "jumps to _mcount")


def test_outside_text(tmp_path):
    fails(tmp_path, function("one", "bl _mcount", ".other"), "lies outside .text")


def test_in_no_function(tmp_path):
    fails(tmp_path, "\n.text\nlabel: bl _mcount\n", "lies in no function")


def test_site_where_none_may_be(tmp_path):
    good = assemble(tmp_path, "good", HOOK + function("one", "bl _mcount"))
    tracer = assemble(tmp_path, "tracer", function("two", "bl _mcount"))
    offsets = collect(Image(link(tmp_path, good, tracer)))
    check_objects([good, tracer], [], len(offsets))
    with pytest.raises(BuildError, match=r"tracer.o: mcount: 1 sites in a file that must not call _mcount"):
        check_objects([good, tracer], [tracer], len(offsets))


def test_site_lost_by_the_link(tmp_path):
    good = assemble(tmp_path, "good", HOOK + function("one", "bl _mcount"))
    lost = assemble(tmp_path, "lost", function("two", "bl _mcount"))
    offsets = collect(Image(link(tmp_path, good)))
    with pytest.raises(BuildError, match="the objects have 2 sites, the link has 1"):
        check_objects([good, lost], [], len(offsets))


def test_not_an_elf_file(tmp_path):
    junk = tmp_path / "junk"
    junk.write_bytes(b"no ELF at all")
    with pytest.raises(BuildError, match="junk"):
        Image(str(junk))


# ---- x86_64: gcc writes the list, the tool holds it against the calls.

X86_HOOK = HOOK.replace("_mcount", "__fentry__").replace("%function", "@function")
X86_AS = [X86_CROSS + "as"]


def x86_sites(folder, text):
    return collect(Image(link(folder, assemble(folder, "a", X86_HOOK + text, X86_AS), linker=X86_CROSS + "ld")))


def x86_function(name, listed, call):
    entry = f'.pushsection __mcount_loc, "a"; .quad {name}; .popsection' if listed else ""
    return f".text\n.type {name}, @function\n{name}: {entry}\n {call}\n ret\n.size {name}, . - {name}\n"


def test_x86_list_of_gcc(tmp_path):
    source = tmp_path / "c.c"
    source.write_text("int one(int x) { return x + 1; }\nint two(int x) { return x + 2; }\n")
    subprocess.run(
        [
            X86_CROSS + "gcc",
            "-O2",
            "-fno-pic",
            "-fcf-protection=none",
            "-pg",
            "-mfentry",
            "-mrecord-mcount",
            "-c",
            "-o",
            tmp_path / "c.o",
            source,
        ],
        check=True,
    )
    hook = assemble(tmp_path, "hook", X86_HOOK, X86_AS)
    image = Image(link(tmp_path, hook, str(tmp_path / "c.o"), linker=X86_CROSS + "ld"))
    offsets = collect(image)
    assert offsets == sorted(image.symbol(name) - image.symbol("_text") for name in ("one", "two"))
    check_objects([hook, str(tmp_path / "c.o")], [hook], len(offsets))


def test_x86_call_that_gcc_did_not_list(tmp_path):
    with pytest.raises(BuildError, match="in one is not listed"):
        x86_sites(tmp_path, x86_function("one", False, "call __fentry__"))


def test_x86_listed_is_no_call(tmp_path):
    with pytest.raises(BuildError, match="in one is listed but does not call __fentry__"):
        x86_sites(
            tmp_path, x86_function("one", True, "nopl 0(%rax,%rax,1)") + x86_function("two", True, "call __fentry__")
        )
