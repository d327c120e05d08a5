"""Pretty-printers: a task, a list, a tree, a page, a trace record in one line each. `print/r` shows the struct
itself."""

import struct

import gdb
from gdb.printing import RegexpCollectionPrettyPrinter, register_pretty_printer

from vt import kernel
from vt.trace import Array, Line

PAGE_FLAGS = ("reserved", "buddy", "slab", "pcp", "large", "icache", "anon")


def one_line(method):
    """A printer's text; what cannot be read is said in it."""

    def safely(self):
        try:
            return method(self)
        except kernel.UNREADABLE as error:
            return f"<{kernel.why(error)}>"

    return safely


class Printer:
    def __init__(self, value):
        self.value = value


class TaskPrinter(Printer):
    """sh-57 state S, CPU 1, prio 120"""

    @one_line
    def to_string(self):
        task = self.value
        return (
            f"{kernel.comm(task)}-{int(task['pid'])} state {kernel.task_state(task)}, CPU {int(task['cpu'])}, "
            f"prio {int(task['prio'])}, stack {int(task['stack']):#x}"
        )


class Children(Printer):
    """A collection: its elements are addresses."""

    what = "nodes"

    def addresses(self):
        raise NotImplementedError

    @one_line
    def to_string(self):
        return f"{sum(1 for _ in self.addresses())} {self.what}"

    def children(self):
        pointer = self.node_type().pointer()
        try:
            for number, address in enumerate(self.addresses()):
                yield f"[{number}]", gdb.Value(address).cast(pointer)
        except kernel.UNREADABLE as error:
            yield "[?]", kernel.why(error)

    def display_hint(self):
        return "array"


class ListPrinter(Children):
    """The nodes behind a head. A node that is in a list shows the others, its head among them."""

    @staticmethod
    def node_type():
        return kernel.type_of("struct list_head")

    def addresses(self):
        if not int(self.value["next"]):
            return iter(())  # never initialised
        return kernel.list_nodes(self.value)


class TreePrinter(Children):
    """The nodes in their order."""

    @staticmethod
    def node_type():
        return kernel.type_of("struct rb_node")

    def addresses(self):
        return kernel.tree_nodes(self.value)


class CachedTreePrinter(TreePrinter):
    def addresses(self):
        return kernel.tree_nodes(self.value["root"])


class NodePrinter(Printer):
    """A node of a tree: its colour and relatives."""

    @one_line
    def to_string(self):
        up = int(self.value["parent_color"])
        return (
            f"{'black' if up & 1 else 'red'}, parent {up & ~1:#x}, left {int(self.value['left']):#x}, "
            f"right {int(self.value['right']):#x}"
        )


class PagePrinter(Printer):
    """frame 0x40210 slab|anon order 0, 1 references, mapped 0 times"""

    @one_line
    def to_string(self):
        page = self.value
        flags = int(page["flags"])
        names = "|".join(name for bit, name in enumerate(PAGE_FLAGS) if flags >> bit & 1) or "-"
        return (
            f"{self.frame()} {names} order {int(page['order'])}, {int(page['refcount']['counter'])} references, "
            f"mapped {int(page['mapcount']['counter'])} times"
        )

    def frame(self):
        if self.value.address is None:
            return "frame ?"
        index = (int(self.value.address) - int(kernel.variable("mem_map"))) // self.value.type.sizeof
        return f"frame {index + int(kernel.variable('min_pfn')):#x}"


class RecordPrinter(Printer):
    """A trace record, by whichever of its structs: its text, and whose it is."""

    @one_line
    def to_string(self):
        if self.value.address is None:
            return "a record without a place"
        return self.text(int(self.value.address), int(self.value.type.sizeof))

    @staticmethod
    def text(address, size):
        line = Line(0, 0, 0, kernel.read(address, max(size, min(512, 4096 - address % 4096))))
        text = Array(None).texts.text(line).rstrip("\n")
        return f"pid {line.pid} {line.flag_letters()} {text}"


class RingEventPrinter(RecordPrinter):
    """What stands in a ring buffer: its header, and the record."""

    @one_line
    def to_string(self):
        kind, delta = int(self.value["type_len"]), int(self.value["time_delta"])
        if kind >= 29:
            return ("padding", "time extend", "time stamp")[kind - 29]
        if not kind and not int(self.value["array"][0]):
            return "nothing yet"
        address = int(self.value.address) + (4 if kind else 8)
        size = kind * 4 if kind else struct.unpack("<I", kernel.read(address - 4, 4))[0] - 4
        return f"+{delta} ns, {size} bytes: {self.text(address, size)}"


RECORDS = (
    "trace_entry|trace_event_raw_.*|ftrace_entry|print_entry|stack_entry|ctx_switch_entry|ftrace_graph_(ent|ret)_entry"
)


def printers():
    found = RegexpCollectionPrettyPrinter("vitrine")
    for name, kind, printer in (
        ("task", "task_struct", TaskPrinter),
        ("list", "list_head", ListPrinter),
        ("tree", "rb_root", TreePrinter),
        ("cached tree", "rb_root_cached", CachedTreePrinter),
        ("tree node", "rb_node", NodePrinter),
        ("page", "page", PagePrinter),
        ("record", RECORDS, RecordPrinter),
        ("ring buffer event", "ring_buffer_event", RingEventPrinter),
    ):
        found.add_printer(name, f"^({kind})$", printer)
    return found


register_pretty_printer(None, printers(), replace=True)
