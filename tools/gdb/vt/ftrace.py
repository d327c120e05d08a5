"""vt-ftrace: one site of dynamic ftrace: what its instruction is now, and who is told of the calls."""

import struct

import gdb

from vt import command, kernel
from vt.machine import X86, machine

NOPS = {bytes.fromhex("0f1f440000"), bytes.fromhex("1f2003d5")}
FLAGS = (
    (0x1, "SAVE_REGS"),
    (0x2, "SAVE_REGS_IF_SUPPORTED"),
    (0x4, "RECURSION"),
    (0x8, "IPMODIFY"),
    (0x10, "PERMANENT"),
    (0x100, "ENABLED"),
    (0x200, "GRAPH"),
    (0x400, "TRUE_PARENT"),
    (0x800, "CORE"),
    (0x1000, "KPROBES"),
)
PATCHED = {"ftrace_caller": ("ftrace_call", "ftrace_graph_call"), "ftrace_entry_caller": ("ftrace_entry_call",)}


def decoded(address):
    """What an instruction that ftrace patches is: "nop", ("call" or "jump", its target), or None for something else."""
    if machine() is X86:
        data = kernel.read(address, 5)
        if data in NOPS:
            return "nop"
        kind = {0xE8: "call", 0xE9: "jump"}.get(data[0])
        return kind and (kind, address + 5 + struct.unpack_from("<i", data, 1)[0])
    data = kernel.read(address, 4)
    if data in NOPS:
        return "nop"
    (code,) = struct.unpack("<I", data)
    kind = {0x94000000: "call", 0x14000000: "jump"}.get(code & 0xFC000000)
    distance = (code & 0x3FFFFFF) - (code >> 25 & 1) * (1 << 26)
    return kind and (kind, address + 4 * distance)


def decoded_text(address):
    found = decoded(address)
    if found is None:
        return f"no instruction of ftrace's: {kernel.read(address, 4).hex(' ')}"
    return found if found == "nop" else f"{found[0]} {kernel.symbols().name(found[1])}"


class Sites:
    """The records of all sites, by address."""

    def __init__(self):
        count = int(kernel.variable("ftrace_nr_recs"))
        size = kernel.type_of("struct dyn_ftrace").sizeof
        start = int(kernel.variable("ftrace_recs"))
        data = kernel.read(start, count * size) if start else b""
        self.addresses = [struct.unpack_from("<Q", data, at)[0] for at in range(0, len(data), size)]
        if not self.addresses:
            raise gdb.GdbError("ftrace has not begun: there are no sites yet")

    def of(self, text):
        """The numbers of those of a function's name, or of the function that an address lies in."""
        try:
            name = kernel.symbols().lookup(int(text, 0))
            name = name and name[0]
        except ValueError:
            name = text
        found = [number for number, address in enumerate(self.addresses) if kernel.symbols().name(address) == name]
        if not found:
            raise gdb.GdbError(f"{text}: no function that can be traced (available_filter_functions lists them)")
        return found


def users():
    """All struct ftrace_ops that are registered."""
    user = kernel.variable("ftrace_ops_list")
    for _ in range(kernel.MOST):
        if not int(user):
            return
        yield user.dereference()
        user = user["next"]


def in_set(which, number):
    return bool(kernel.word(int(which["bits"]) + number // 64 * 8) >> number % 64 & 1)


def wish(user, number):
    """(does it want the site, why) by its sets."""
    sets = user["sets_of"].dereference() if int(user["sets_of"]) else user
    chosen, excluded = int(sets["filter"]["count"]), int(sets["exclude"]["count"])
    if chosen and not in_set(sets["filter"], number):
        return False, f"not among the {chosen} of its filter"
    if excluded and in_set(sets["exclude"], number):
        return False, f"among the {excluded} that it excludes"
    return True, f"one of the {chosen} of its filter" if chosen else "its filter is empty: it wants all"


def user_text(user, number):
    wants, why = wish(user, number)
    flags = "|".join(name for bit, name in FLAGS if int(user["flags"]) & bit)
    name = kernel.text(user["name"]) if int(user["name"]) else "a user without a name"
    called = ""
    if int(user["flags"]) & 0x200:
        called = " of its return"
    elif not int(user["flags"]) & 0x800:  # else ftrace_call holds what is called
        called = f" by {kernel.symbols().name(int(user['func']))}"
    return f"  {name} {'is told' + called if wants else 'does not want it'}: {why} ({flags})"


def callee_lines(target):
    """What stands behind the call of a site: the places that are patched, or the user that a caller is for."""
    name = kernel.symbols().name(target)
    for place in PATCHED.get(name, ()):
        yield f"  {place} in {name} holds: {decoded_text(kernel.address_of(place))}"
    if name == "ftrace_kprobe_caller":
        yield f"  {name} is for kprobes alone, by kprobe_called"
    if name.startswith("ftrace_single_caller_"):
        user = kernel.variable("ftrace_single_ops")[int(name[-1])]
        yield f"  {name} is for {kernel.text(user['name']) if int(user) and int(user['name']) else 'a user without a name'}"


class Ftrace(command.Command):
    """Show a function's site: a nop or a call, whom it calls, and which users want it.

    Whether it holds a nop or a call now and of whom, what that calls in turn, and for each user of
    ftrace whether its filters want the function.

    The function is named, or an address in it is given: vt-ftrace vfs_write, vt-ftrace 0xffffffc080012340"""

    name = "vt-ftrace"
    usage = "vt-ftrace SITE|FUNCTION"
    least = most = 1

    def run(self, words):
        sites = Sites()
        for number in sites.of(words[0]):
            address = sites.addresses[number]
            yield f"{kernel.symbols().place(address)}: site {number} of {len(sites.addresses)} at {address:#x}: {decoded_text(address)}"
            found = decoded(address)
            if isinstance(found, tuple):
                yield from callee_lines(found[1])
            told = list(users())
            yield from (user_text(user, number) for user in told)
            if not told:
                yield "  nobody traces functions"


Ftrace()
