#!/usr/bin/python3
"""Prove that a module can be loaded, and write the C file that makes it one.

    modpost.py --export vmlinux -o Module.symvers               what the kernel exports, a line each
    modpost.py --kernel Module.symvers --write M/Module.symvers M/a.o M/b.o

For each NAME.o the second form writes NAME.mod.c, with the struct module and what modinfo(8) shows, unless the module
asks for a symbol that neither the kernel nor another module exports. That is an error here, with the header that would
declare it, and not a surprise when it is loaded. Module.symvers has Linux's columns: CRC (none here), name, who exports
it, how.
"""

import argparse
import functools
import os
import re
import struct
import subprocess
import sys

sys.dont_write_bytecode = True
from elfimage import SHN_UNDEF, STB_WEAK, STT_FUNC, STT_OBJECT, BuildError, Image, main_wrapper  # noqa: E402

# The loader's list (kernel/module/main.c).
GPL_COMPATIBLE = {"GPL", "GPL v2", "GPL and additional rights", "Dual BSD/GPL", "Dual MIT/GPL", "Dual MPL/GPL"}
HOOKS = {"_mcount", "__fentry__"}
ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def kernel_exports(image):
    """(name, is it for modules under the GPL only) of each EXPORT_SYMBOL of a linked kernel."""
    section = image.section(".rodata")
    for symbol in image.symbols:
        if symbol.name.startswith("__ksymtab_") and symbol.section == section.index:
            (gpl,) = struct.unpack_from("<B", section.data, symbol.value - section.addr + 16)
            yield symbol.name[len("__ksymtab_") :], bool(gpl)


def module_exports(image):
    """(name, is it for modules under the GPL only) of each EXPORT_SYMBOL of a module's object."""
    for symbol in image.symbols:
        if symbol.name.startswith("__ksymtab_"):
            yield symbol.name[len("__ksymtab_") :], bool(image.sections[symbol.section].data[symbol.value + 16])


def read_symvers(path):
    """{symbol: who exports it} of a Module.symvers, and the set of those for modules under the GPL only."""
    try:
        with open(path, encoding="utf-8") as file:
            rows = [line.rstrip("\n").split("\t") for line in file]
            return {row[1]: row[2] for row in rows}, {row[1] for row in rows if row[3] == "EXPORT_SYMBOL_GPL"}
    except OSError as error:
        raise BuildError(f"{path}: {error.strerror}") from error


def line(name, owner, gpl):
    return f"0x00000000\t{name}\t{owner}\tEXPORT_SYMBOL{'_GPL' if gpl else ''}\t\n"


def modinfo(image):
    """{tag: values} of the section .modinfo."""
    words, section = {}, image.section(".modinfo")
    for word in section.data.split(b"\0") if section else ():
        tag, equal, value = word.decode(errors="replace").partition("=")
        if equal:
            words.setdefault(tag, []).append(value)
    return words


def declared_in(name):
    """The header of this tree that names the function or variable, as one includes it; None."""
    found = subprocess.run(
        ["grep", "-rlwE", rf"{re.escape(name)}", os.path.join(ROOT, "include")],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.split()
    headers = sorted(os.path.relpath(path, os.path.join(ROOT, "include")) for path in found)
    return next((header for header in headers if header.startswith("linux/")), headers[0] if headers else None)


@functools.cache
def kernel_names(vmlinux):
    """The functions and variables of a linked kernel; an empty set if it is not there."""
    if not os.path.exists(vmlinux):
        return frozenset()
    return frozenset(symbol.name for symbol in Image(vmlinux).symbols if symbol.type in (STT_FUNC, STT_OBJECT))


def why_not(name, vmlinux):
    """In a sentence, the reason why modules cannot have a name."""
    header = declared_in(name)
    if header:
        return f"<{header}> declares it, but the kernel does not export it to modules"
    if name in kernel_names(vmlinux):
        return "The kernel has it, but does not export it to modules (docs/exported.md lists what it exports)"
    return "No header of this kernel declares it: is it misspelt?"


class Module:
    def __init__(self, path):
        self.path, self.image = path, Image(path)
        self.name = os.path.basename(path)[: -len(".o")].replace("-", "_")
        self.defined = {symbol.name for symbol in self.image.symbols if symbol.section != SHN_UNDEF}
        self.info = modinfo(self.image)

    def wanted(self):
        """(name, can it do without) of what others must have."""
        for symbol in self.image.symbols:
            if symbol.name and symbol.section == SHN_UNDEF and symbol.name not in HOOKS:
                yield symbol.name, symbol.bind == STB_WEAK

    def problems(self, exported, gpl_only, vmlinux):
        free = GPL_COMPATIBLE & set(self.info.get("license", ()))
        for name, weak in self.wanted():
            if name in gpl_only and "license" in self.info and not free:
                yield f"ERROR: modpost: GPL-incompatible module {self.path[:-2]}.ko uses GPL-only symbol '{name}'"
            if name in exported or weak or name == "__this_module":
                continue
            yield f'ERROR: modpost: "{name}" [{self.path[:-2]}.ko] undefined! {why_not(name, vmlinux)}'
        if "license" not in self.info:
            yield f'ERROR: modpost: missing MODULE_LICENSE() in {self.path}: add MODULE_LICENSE("GPL");'

    def depends(self, exported):
        return sorted({exported[name] for name, _ in self.wanted() if exported.get(name, "vmlinux") != "vmlinux"})

    def source(self, exported):
        init = "\t.init = init_module,\n" if "init_module" in self.defined else ""
        leave = "\t.exit = cleanup_module,\n" if "cleanup_module" in self.defined else ""
        return f"""/* Made by tools/modpost.py: what makes {self.name} a module. */
#include <generated/vermagic.h>
#include <linux/module.h>

MODULE_INFO(depends, "{','.join(self.depends(exported))}");
MODULE_INFO(name, "{self.name}");
MODULE_INFO(vermagic, VERMAGIC_STRING);

int init_module(void);
void cleanup_module(void);
struct module __this_module __used __section(THIS_MODULE_SECTION) = {{
\t.name = "{self.name}",
{init}{leave}}};
"""


def refuse_circles(by_name, exported):
    """Modules that use each other can be loaded in no order: BuildError names them."""
    left = {name: {n for n in module.depends(exported) if n in by_name} for name, module in by_name.items()}
    while ready := [name for name, needs in left.items() if not needs & left.keys()]:
        for name in ready:
            del left[name]
    if left:
        raise BuildError(f"ERROR: modpost: {', '.join(sorted(left))}: they use each other, so none can be loaded first")


def dependencies(modules, exported):
    """The text of modules.dep: behind each file of the folder those that have to be loaded first, the last one first."""
    by_name = {module.name: module for module in modules}
    refuse_circles(by_name, exported)
    lines = []
    for module in modules:
        needed, todo = [], [module]
        while todo:
            names = [name for name in todo.pop(0).depends(exported) if name in by_name]
            needed = [name for name in needed if name not in names] + names
            todo += [by_name[name] for name in names]
        files = [os.path.basename(by_name[name].path)[:-1] + "ko" for name in needed]
        lines.append(" ".join([os.path.basename(module.path)[:-1] + "ko:", *files]) + "\n")
    return "".join(lines)


def aliases(modules):
    """The text of modules.alias: other names, with wildcards, by which modprobe finds a module."""
    return "".join(f"alias {alias} {module.name}\n" for module in modules for alias in module.info.get("alias", ()))


def write(path, text):
    """Only when it differs, so that what depends on it is not built again."""
    try:
        with open(path, encoding="utf-8") as file:
            if file.read() == text:
                return
    except OSError:
        pass
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__.split("\n\n")[0],
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--export", metavar="VMLINUX", help="list what this kernel exports")
    parser.add_argument("-o", metavar="FILE", help="where --export writes")
    parser.add_argument("--kernel", metavar="SYMVERS", help="what the kernel exports")
    parser.add_argument("--extra", metavar="SYMVERS", action="append", default=[], help="what other modules export")
    parser.add_argument("--write", metavar="SYMVERS", help="where to write what these modules export")
    parser.add_argument("objects", nargs="*", metavar="NAME.o")
    options = parser.parse_args()
    if options.export:
        exports = sorted(kernel_exports(Image(options.export)))
        write(options.o, "".join(line(name, "vmlinux", gpl) for name, gpl in exports))
        return 0
    modules = [Module(path) for path in options.objects]
    exported, gpl_only = {}, set()
    for path in [*options.extra, options.kernel]:
        owners, gpl = read_symvers(path)
        exported.update(owners)
        gpl_only |= gpl
    own = {name: module.name for module in modules for name, _ in module_exports(module.image)}
    for name, owner in own.items():
        if exported.get(name, owner) != owner:
            raise BuildError(f'ERROR: modpost: {owner}: "{name}" is exported by {exported[name]} already')
    exported.update(own)
    gpl_only |= {name for module in modules for name, gpl in module_exports(module.image) if gpl}
    vmlinux = os.path.join(os.path.dirname(options.kernel), "vmlinux")
    problems = [problem for module in modules for problem in module.problems(exported, gpl_only, vmlinux)]
    for problem in problems:
        print(problem, file=sys.stderr)
    if problems:
        return 1
    for module in modules:
        write(module.path[: -len(".o")] + ".mod.c", module.source(exported))
    write(os.path.join(os.path.dirname(options.write), "modules.dep"), dependencies(modules, exported))
    write(os.path.join(os.path.dirname(options.write), "modules.alias"), aliases(modules))
    with open(options.write, "w", encoding="utf-8") as file:
        file.writelines(line(name, owner, name in gpl_only) for name, owner in sorted(own.items()))
    return 0


if __name__ == "__main__":
    main_wrapper(main)
