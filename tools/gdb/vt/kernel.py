"""The kernel's data as Python sees it: variables, per-CPU copies, lists, trees, tasks, symbols. Reads only.

Every answer is of this moment: nothing that changes is kept from stop to stop."""

import bisect
import struct

import gdb

from vt.image import image, kept

WORD = 8
ALL = (1 << 64) - 1
HIGH_HALF = 1 << 63  # the kernel's addresses, on both machines

# What reading of memory ends in: it is not there, or what is there makes no sense.
NONSENSE = (struct.error, OverflowError, IndexError, KeyError, ValueError, ZeroDivisionError)
UNREADABLE = (gdb.error, gdb.GdbError, *NONSENSE)


def why(error):
    """One of these in words."""
    return f"this makes no sense: {error}" if isinstance(error, NONSENSE) else str(error)


def check_guest():
    """Does the guest run what gdb has the symbols of? Its constant data, the table of symbols among them, are the
    file's."""
    connection = gdb.selected_inferior().connection
    if not gdb.selected_thread() or kept("guest") == [connection]:
        return
    place = address_of("__start_ksyms_offset")
    data, at = image().find(place)
    if read(place - at, len(data)) != data:
        raise gdb.GdbError(
            f"{gdb.current_progspace().filename} is not what the guest runs: another kernel does, or none yet"
        )
    kept("guest", list)[:] = [connection]


def variable(name):
    """A variable of the kernel, as a gdb.Value. `name` may be any expression of constant place."""
    try:
        return gdb.parse_and_eval(name)
    except gdb.MemoryError:
        raise
    except gdb.error as error:
        raise gdb.GdbError(f"{name}: {error} Are these the symbols of a Vitrine kernel?") from error


def address_of(name):
    return int(variable(f"(unsigned long)&{name}"))


def enumerator(name):
    """The number of a name of some enum."""
    return kept(("enumerator", name), lambda: int(variable(name)))


def type_of(name):
    try:
        return gdb.lookup_type(name)
    except gdb.error as error:
        raise gdb.GdbError(f"{error} Are these the symbols of a Vitrine kernel?") from error


def read(address, size):
    """Bytes of the guest's memory."""
    if not size:
        return b""
    return bytes(gdb.selected_inferior().read_memory(address & ALL, size))


def word(address):
    return struct.unpack("<Q", read(address, WORD))[0]


def words(address, count):
    return struct.unpack(f"<{count}Q", read(address, count * WORD))


def text(pointer, limit=256):
    """A string of C at this address, at most so long."""
    address, found = int(pointer), b""
    while len(found) < limit:
        part = read(address + len(found), min(64, 4096 - (address + len(found)) % 4096))
        end = part.find(b"\0")
        if end >= 0:
            return (found + part[:end]).decode(errors="replace")
        found += part
    return found[:limit].decode(errors="replace")


def constant_text(address):
    """The same, from the kernel's file where it is constant."""
    found = image().text(address)
    return text(address) if found is None else found


def chars(value):
    """The text in an array of characters."""
    return value.string(errors="replace")


def at(address, type_name):
    """What lies there, as a value of that type."""
    return gdb.Value(address & ALL).cast(type_of(type_name).pointer()).dereference()


def offset_of(type_name, member):
    """Of a member, or of a member's member: "se.run_node"."""
    kind, bits = type_of(type_name), 0
    for part in member.split("."):
        field = kind[part]
        bits += field.bitpos
        kind = field.type.strip_typedefs()
    return bits // 8


def container(pointer, type_name, member):
    return at(int(pointer) - offset_of(type_name, member), type_name)


# ---- CPUs


def cpus():
    """Numbers of the CPUs that the machine has. One before the kernel has counted them."""
    return range(max(1, int(variable("nr_cpu_ids"))))


def online_cpus():
    bits = int(variable("cpu_online_mask.bits[0]"))
    return [cpu for cpu in cpus() if bits >> cpu & 1]


def started_cpus():
    """Those that run, and those that did until a panic stopped them."""
    online = online_cpus()
    return [cpu for cpu in cpus() if cpu in online or int(per_cpu("runqueues", cpu)["nr_switches"])]


def per_cpu(name, cpu):
    """A CPU's own copy of a per-CPU variable."""
    return per_cpu_of(variable(name), cpu)


def per_cpu_of(value, cpu):
    offset = int(variable("__per_cpu_offset")[cpu])
    return gdb.Value(int(value.address) + offset & ALL).cast(value.type.pointer()).dereference()


def this_cpu():
    """The CPU that gdb looks at: QEMU numbers its threads from 1."""
    thread = gdb.selected_thread()
    if thread is None:
        raise gdb.GdbError("no guest: `make gdb-arm64` or `make gdb-x86_64` starts one")
    return max(thread.ptid[1], 1) - 1


def thread_of(cpu):
    """gdb's thread that is this CPU."""
    for thread in gdb.selected_inferior().threads():
        if max(thread.ptid[1], 1) - 1 == cpu:
            return thread
    raise gdb.GdbError(f"QEMU shows no CPU {cpu}")


# ---- Lists and trees. What a damaged one leads to ends after so many steps.

MOST = 1 << 20


def list_nodes(head):
    """Addresses of the nodes of a struct list_head."""
    first = int(head.address)
    node, before = int(head["next"]), first
    for _ in range(MOST):
        if node == first:
            return
        try:
            following = word(node)
        except gdb.MemoryError as error:
            raise gdb.GdbError(f"the list at {first:#x} is broken behind {before:#x}: {error}") from error
        yield node
        node, before = following, node
    raise gdb.GdbError(f"the list at {first:#x} does not come back to its head")


def list_entries(head, type_name, member):
    for node in list_nodes(head):
        yield container(node, type_name, member)


def tree_nodes(root):
    """Addresses of the nodes of a struct rb_root, in order."""
    right = offset_of("struct rb_node", "right")
    left = offset_of("struct rb_node", "left")
    stack, node = [], int(root["node"])
    for _ in range(MOST):
        while node:
            stack.append(node)
            node = word(node + left)
        if not stack:
            return
        node = stack.pop()
        yield node
        node = word(node + right)
    raise gdb.GdbError("the tree has a circle")


def tree_entries(root, type_name, member):
    for node in tree_nodes(root):
        yield container(node, type_name, member)


# ---- Tasks

STATES = "RSDTtXZPI"


def tasks():
    """All tasks: the CPUs' idle ones, then every process with its threads."""
    for cpu in cpus():
        idle = per_cpu("runqueues", cpu)["idle"]
        if int(idle):
            yield idle.dereference()
        elif cpu == 0:
            yield variable("init_task")  # boot, before there are runqueues
    for process in list_entries(variable("init_tasks"), "struct task_struct", "tasks"):
        yield process
        yield from list_entries(process["thread_group"], "struct task_struct", "thread_group")


def task_of_pid(pid):
    for task in tasks():
        if int(task["pid"]) == pid:
            return task
    raise gdb.GdbError(f"no task has the pid {pid}: vt-ps lists them")


def task_state(task):
    """Its letter, as in ps. kernel/sched/init.c says how."""
    state = int(task["exit_state"]) or int(task["state"])
    if state & 0x402 == 0x402:  # TASK_IDLE
        return "I"
    if state & 0x80:  # TASK_DEAD
        return "X"
    return STATES[(state & 0x7F).bit_length()]


def state_letter(index):
    return STATES[index] if index < len(STATES) else "?"


def signed(value):
    """A u64 of the kernel's that it compares and prints as s64: a vruntime begins below 0."""
    return (int(value) & ALL) - (int(value) & HIGH_HALF) * 2


def comm(task):
    return chars(task["comm"])


def stack_size():
    """Of a kernel stack, THREAD_SIZE: the boot CPU's two stand one after the other, with a guard page between."""
    return address_of("boot_irq_stack") - address_of("init_stack") - 4096


def current(cpu=None):
    """The task that a CPU runs: whom the machine calls `current`, or, in user mode, the runqueue's."""
    from vt.machine import machine  # it needs this module itself

    chosen = this_cpu() if cpu is None else cpu
    known = machine().current(chosen) or int(per_cpu("runqueues", chosen)["curr"])
    return at(known, "struct task_struct") if known else variable("init_task")


# ---- Symbols, as the kernel's own table has them: what its texts say, ours say


class Symbols:
    """tools/ksyms.py's table: include/kernel/ksyms.h has its layout."""

    def __init__(self):
        self.file = image()
        start, stop = address_of("__start_ksyms_offset"), address_of("__stop_ksyms_offset")
        count = (stop - start) // 4
        self.text = address_of("_text")
        self.size = address_of("_end") - self.text
        self.offsets = struct.unpack(f"<{count}I", self.file.read(start, count * 4))
        self.entries = struct.unpack(f"<{count}I", self.file.read(address_of("__start_ksyms_entry"), count * 4))
        self.names = address_of("__start_ksyms_names")

    def _index(self, address):
        offset = address - self.text
        after = bisect.bisect_right(self.offsets, offset)
        if not after or not 0 <= offset < self.size:
            return None
        return bisect.bisect_left(self.offsets, self.offsets[after - 1])

    def _name(self, index):
        return self.file.text(self.names + (self.entries[index] & 0xFFFFFF))

    def lookup(self, address):
        """(name, distance from its start, size up to the next symbol), or None outside of the kernel's image."""
        index = self._index(address)
        if index is None:
            return None
        start = self.offsets[index]
        after = bisect.bisect_right(self.offsets, start)
        end = self.offsets[after] if after < len(self.offsets) else self.size
        return self._name(index), address - self.text - start, end - start

    def name(self, address):
        """As %ps: the name alone."""
        found = self.lookup(address)
        return found[0] if found else f"{address:#x}"

    def place(self, address, back=0):
        """As %pS, or with back=1 %pB, which looks for a return address where its call stands."""
        found = self.lookup(address - back)
        if not found:
            return f"{address:#x}"
        return f"{found[0]}+{found[1] + back:#x}/{found[2]:#x}"


def symbols():
    """The table of the program that gdb has loaded."""
    return kept("symbols", Symbols)
