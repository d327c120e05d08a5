"""The names of Linux's own gdb scripts: lx-ps, lx-dmesg and lx-symbols are names of commands here; lx-lsmod, lx-version
and lx-cpus are made here."""

import gdb

from vt import command, kernel, log

# Linux's name, and ours for what does the same.
SAME = {"lx-ps": "vt-ps", "lx-dmesg": "vt-dmesg", "lx-symbols": "vt-symbols"}


def used_by(module):
    """Names of the modules that use this one, as lsmod has them."""
    uses = kernel.list_entries(module["used_by"], "struct module_use", "users")
    return ",".join(kernel.chars(use["user"]["name"]) for use in uses)


class Lsmod(command.Command):
    """List the loaded modules: where the code begins, name, size, and how many use it: who."""

    name = "lx-lsmod"

    def run(self, words):
        yield "Address            Module                  Size  Used by"
        unformed = kernel.enumerator("MODULE_STATE_UNFORMED")
        text = kernel.enumerator("MODULE_TEXT")
        for module in kernel.list_entries(kernel.variable("modules"), "struct module", "list"):
            if int(module["state"]) == unformed:
                continue
            parts = module["memory"]
            size = sum(int(parts[part]["size"]) for part in range(parts.type.range()[1] + 1))
            users = max(int(module["refcnt"]["counter"]) - 1, 0)
            line = f"{int(parts[text]['base']):#018x} {kernel.chars(module['name']):<19} {size:8}  {users} "
            yield (line + used_by(module)).rstrip()


class Version(command.Command):
    """Print the kernel's version, as it said it when it booted."""

    name = "lx-version"

    def run(self, words):
        for _, _, text in log.records(1 << 30):
            if " version " in text:
                yield text
                return
        raise gdb.GdbError("the log does not reach back to the boot: `cat /proc/version` in the guest says it")


class Cpus(command.Command):
    """List the CPUs: those that there may be, those that are there, and those that run."""

    name = "lx-cpus"

    def run(self, words):
        yield f"Possible CPUs : {' '.join(map(str, kernel.cpus()))}"
        yield f"Present CPUs  : {' '.join(map(str, kernel.cpus()))}"
        yield f"Online CPUs   : {' '.join(map(str, kernel.online_cpus()))}"


Lsmod()
Version()
Cpus()
for theirs, ours in SAME.items():
    gdb.execute(f"alias {theirs} = {ours}")
