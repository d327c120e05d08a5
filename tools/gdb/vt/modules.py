"""vt-symbols: the symbols of loaded modules, at the addresses that their sections have in the running kernel.

A file belongs to a loaded module when both have the same build id: the linker's sum over the file's contents, which is a
section of its own in either (.note.gnu.build-id)."""

import os
import struct

import gdb

from vt import command, kernel

BUILD_ID = ".note.gnu.build-id"
FOLDERS = []  # where files are looked for beside the current folder: those that the user has named, and SHARE=


def section_of_file(path, wanted):
    """The bytes of a section of a little-endian 64-bit ELF file; None: it is no such file, or has no such section."""
    with open(path, "rb") as file:
        data = file.read()
    try:
        if data[:6] != b"\x7fELF\x02\x01":
            return None
        (table,) = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3A)
        heads = [struct.unpack_from("<IIQQQQ", data, table + number * size) for number in range(count)]
        for name, _, _, _, offset, length in heads:
            start = heads[names][4] + name
            if data[start : data.index(b"\0", start)] == wanted.encode():
                return data[offset : offset + length]
    except (struct.error, IndexError, ValueError):
        pass  # it is damaged
    return None


def files_of(name):
    """Paths of all files that may be this module, the current folder's last. Hidden folders are passed over."""
    for folder in (*FOLDERS, os.getcwd()):
        for path, folders, files in os.walk(folder):
            folders[:] = sorted(one for one in folders if not one.startswith("."))
            for file in files:
                if file.endswith(".ko") and file[:-3].replace("-", "_") == name:
                    yield os.path.join(path, file)


class Module:
    """A module that the kernel has: its name, and (name, address, size) of each section that is in memory."""

    def __init__(self, value):
        self.name = kernel.chars(value["name"])
        array, count = value["sections"], int(value["nr_sections"])
        self.sections = tuple(
            (kernel.text(array[n]["name"]), int(array[n]["address"]), int(array[n]["size"])) for n in range(count)
        )

    def find_file(self):
        """The path of the file that was loaded, or None."""
        build_id = next((kernel.read(at, size) for name, at, size in self.sections if name == BUILD_ID), None)
        return build_id and next(
            (path for path in files_of(self.name) if section_of_file(path, BUILD_ID) == build_id), None
        )

    def text(self):
        """Where its code begins: gdb knows a file by an address in it. What has no code has nothing to be added."""
        return next((at for name, at, size in self.sections if name == ".text" and size), None)


def loaded_modules():
    """Those that have their addresses. One without has just been copied from its file."""
    unformed = kernel.enumerator("MODULE_STATE_UNFORMED")
    return [
        Module(value)
        for value in kernel.list_entries(kernel.variable("modules"), "struct module", "list")
        if int(value["state"]) != unformed
    ]


class Added:
    """The files that gdb has been given: {(name, sections): (path, address of its code)}. A module that was loaded
    again, or whose init has gone, has other sections."""

    files = {}

    @classmethod
    def drop_others(cls, modules):
        """Takes back all but these. Yields the names of those that are no longer there."""
        keys = {(module.name, module.sections) for module in modules}
        for key in [key for key in cls.files if key not in keys]:
            _, text = cls.files.pop(key)
            try:
                gdb.execute(f"remove-symbol-file -a {text:#x}", to_string=True)
            except gdb.error:
                pass  # somebody has removed it by hand
            if key[0] not in {module.name for module in modules}:
                yield key[0]

    @classmethod
    def add(cls, module):
        """Its line."""
        key, text = (module.name, module.sections), module.text()
        if key not in cls.files:
            path = module.find_file()
            if not path:
                return f"{module.name}: no {module.name}.ko with its build id below {' '.join((*FOLDERS, os.getcwd()))}"
            if text is None:
                return f"{module.name}: {path} has no code"
            places = " ".join(f"-s {name} {at:#x}" for name, at, size in module.sections if size)
            gdb.execute(f'add-symbol-file "{path}" {places}', to_string=True)
            cls.files[key] = path, text
        return f"{module.name}: {cls.files[key][0]}, .text at {text:#x}"


class Symbols(command.Command):
    """Use the symbols of all modules that are loaded, and drop those of modules that have gone.

    The files NAME.ko are looked for below the FOLDERs, which are remembered, below the folder of SHARE=, and below the
    current one; the build id tells whether a file is what was loaded. The command is given again when modules have come
    or gone. To stop in a module's init: `break do_one_initcall`, `continue`, `insmod` in the guest, vt-symbols."""

    name = "vt-symbols"
    usage = "vt-symbols [FOLDER...]"
    most = 100

    def run(self, words):
        for word in words:
            folder = os.path.abspath(os.path.expanduser(word))
            if not os.path.isdir(folder):
                raise gdb.GdbError(f"{word}: no folder")
            if folder not in FOLDERS:
                FOLDERS.insert(0, folder)
        modules = loaded_modules()
        for name in Added.drop_others(modules):
            yield f"{name}: gone"
        for module in modules:
            yield Added.add(module)
        if not modules:
            yield "no module is loaded"


Symbols()
