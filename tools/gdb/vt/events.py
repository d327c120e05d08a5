"""The kinds of trace records: what an event's record holds, and its text, from the event's own tables
(include/trace/trace_events.h)."""

import struct

from vt import kernel, printexpr, printfmt
from vt.image import kept

SIZES = {1: "b", 2: "h", 4: "i", 8: "q"}


class Field:
    """One of a record's."""

    def __init__(self, value):
        self.type = kernel.constant_text(int(value["type"]))
        self.name = kernel.constant_text(int(value["name"]))
        self.offset, self.size = int(value["offset"]), int(value["size"])
        self.signed = bool(value["is_signed"])

    @property
    def dynamic(self):
        return self.type.startswith("__data_loc")

    def data(self, record):
        """Its bytes: of a dynamic array those that its word says."""
        if not self.dynamic:
            return record[self.offset : self.offset + (self.size or len(record))]
        (where,) = struct.unpack_from("<I", record, self.offset)
        return record[where & 0xFFFF : (where & 0xFFFF) + (where >> 16)]

    def value(self, record):
        """A number, a text of an array of characters, or a list of an array's numbers."""
        if self.dynamic or self.type.startswith("char["):
            return self.data(record)
        data = self.data(record)
        if "[" in self.type:
            size = self.size // max(int(self.type[self.type.index("[") + 1 : -1], 0), 1)
            return Numbers(data, size, self.signed)
        code = SIZES[self.size]
        return struct.unpack_from(f"<{code if self.signed else code.upper()}", record, self.offset)[0]


class Numbers(list):
    """An array's numbers; its bytes, too, for those who print them."""

    def __init__(self, data, size, signed):
        super().__init__(
            int.from_bytes(data[at : at + size], "little", signed=signed) for at in range(0, len(data), size)
        )
        self.bytes = data

    def __getitem__(self, index):
        return self.bytes[index] if isinstance(index, slice) else super().__getitem__(index)


class Record:
    """A record of an event, as the expressions of its print format see it: record["field"]."""

    def __init__(self, fields, data):
        self.fields, self.bytes = fields, data

    def __getitem__(self, name):
        return self.fields[name].value(self.bytes)

    def data(self, name):
        return self.fields[name].data(self.bytes)


class Event:
    """A struct trace_event_call."""

    def __init__(self, call):
        self.call, of = call, call["class"]
        self.name = kernel.constant_text(int(call["name"]))
        self.system = kernel.constant_text(int(of["system"]))
        self.printer = kernel.symbols().name(int(of["print"]))
        self.names_itself = bool(of["names_itself"])
        self.print_fmt = kernel.constant_text(int(call["print_fmt"]) or int(of["print_fmt"]))
        self.fields = {field.name: field for field in fields_of(int(of["fields"]))}
        self.format = None if self.names_itself else printexpr.print_format(self.print_fmt)

    def text(self, data):
        """What stands behind the time stamp, without the newline."""
        if self.names_itself:
            return SYSCALLS[self.printer](self, data)
        fmt, expressions = self.format
        record, arguments = Record(self.fields, data), iter(expressions)
        return f"{self.name}: " + printfmt.sprintf(fmt, lambda letter, length: next(arguments)(record))


def fields_of(function):
    """The table that the class's function answers with: a static variable of it."""
    table = kernel.variable(f"{kernel.symbols().name(function)}::fields")
    for number in range(table.type.range()[1] + 1):
        if not int(table[number]["name"]):
            return
        yield Field(table[number])


# ---- System calls: one text for all beginnings, one for all ends (trace/syscalls/syscalls.c)


def enter_text(event, data):
    args = list(event.fields.values())[1:]
    words = [struct.unpack_from("<Q", data, 16 + 8 * number)[0] for number in range(len(args))]
    return (
        f"sys_{event.name[len('sys_enter_'):]}("
        + ", ".join(f"{arg.name}: {word:x}" for arg, word in zip(args, words))
        + ")"
    )


def exit_text(event, data):
    return f"sys_{event.name[len('sys_exit_'):]} -> {struct.unpack_from('<Q', data, 16)[0]:#x}"


SYSCALLS = {"print_enter": enter_text, "print_exit": exit_text}

FIRST = 32  # TRACE_EVENT_FIRST of include/trace/trace_events.h: the type of the records of the first event


def find_event(kind):
    start = kernel.address_of("__start_ptrs_ftrace_events")
    count = (kernel.address_of("__stop_ptrs_ftrace_events") - start) // 8
    if not 0 <= kind - FIRST < count:
        return None
    (pointer,) = struct.unpack("<Q", kernel.image().read(start + 8 * (kind - FIRST), 8))
    return Event(kernel.at(pointer, "struct trace_event_call"))


def event_of(kind):
    """The event whose records have this type; None: they are a tracer's own."""
    return kept(("event", kind), lambda: find_event(kind))
