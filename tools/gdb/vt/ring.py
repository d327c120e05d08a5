"""Ring buffers in memory: the records of each CPU with their stamps, as ring_buffer_iter hands them out.

trace/ring_buffer/internal.h and include/trace/ring_buffer_inline.h have the layout. Nothing is written: what a reader
has consumed is left out, and what a writer that was stopped in the middle had not committed yet."""

import struct

import gdb

from vt import kernel

NONE = (1 << 64) - 1  # seq of a page that was never in the ring
HEAD_BITS = 20
PAGE_SIZE, HEADER = 4096, 16  # of the smallest sub-buffers
ORDER_MAX = 7
INDEX_MASK = (1 << 17) - 1
PADDING, TIME_EXTEND, TIME_STAMP = 29, 30, 31
TIME_BITS = 27


def event_size(kind, first):
    """Bytes that an event of any type takes."""
    if kind in (PADDING, 0):
        return first + 4
    return 8 if kind in (TIME_EXTEND, TIME_STAMP) else kind * 4 + 4


def stamp_after(kind, delta, first, before):
    """The time of an event, given that of the one before it."""
    if kind == TIME_EXTEND:
        return before + (first << TIME_BITS) + delta
    if kind == TIME_STAMP:
        wide = (first << TIME_BITS) + delta | before & ~((1 << 59) - 1)
        return wide + (1 << 59) if wide < before else wide
    return before + delta


def events(page, at, size, stamp):
    """(stamp, bytes) of each record of a page from a place on."""
    end = min(HEADER + size, len(page))
    at += HEADER
    while at + 4 <= end:
        header, first = (
            struct.unpack_from("<II", page, at) if at + 8 <= end else (struct.unpack_from("<I", page, at)[0], 0)
        )
        kind = header & 31
        stamp = stamp_after(kind, header >> 5, first, stamp)
        length = event_size(kind, first)
        if kind < PADDING:
            yield stamp, page[at + (4 if kind else 8) : at + length]
        at += length


class Ring:
    """What one CPU has recorded."""

    def __init__(self, buffer, cpu):
        ring = buffer["cpu"][cpu]["ring"]
        self.ring = ring
        self.count = int(ring["nr_pages"])
        if not 0 < self.count < 1 << HEAD_BITS:
            raise gdb.GdbError(f"the ring buffer of CPU {cpu} makes no sense: {self.count} pages")
        self.order, self.bias = int(ring["order"]), int(ring["bias"])
        if self.order > ORDER_MAX:
            raise gdb.GdbError(f"the ring buffer of CPU {cpu} makes no sense: pages of order {self.order}")
        self.pages = int(ring["pages"])
        self.slots = struct.unpack(f"<{self.count}I", kernel.read(int(ring["slot"]), 4 * self.count))
        self.overrun = int(ring["overrun"])
        self.page_type = kernel.type_of("struct buffer_page")

    def _page(self, address):
        """(number of its first event, its bytes, how many of them are committed)."""
        page = kernel.at(address, "struct buffer_page")
        data = kernel.read(int(page["data"]), PAGE_SIZE << self.order)
        return int(page["first"]), data, max((int(page["commit"]) & INDEX_MASK) - self.bias, 0) * 4

    def parts(self):
        """(number of the first event, page, where to begin, size, stamp before) of what can be read, the oldest
        first."""
        reader, wanted = self.ring["reader_page"].dereference(), 0
        if int(reader["seq"]) != NONE:
            _, data, size = self._page(int(reader.address))
            yield int(self.ring["next_event"]), data, int(self.ring["read"]), size, int(self.ring["read_stamp"])
            wanted = int(reader["seq"]) + 1
        head, last = int(self.ring["head"]) >> HEAD_BITS, int(self.ring["commit_seq"])
        if last - head > self.count:
            raise gdb.GdbError(f"the ring buffer's ends make no sense: pages {head} to {last} of {self.count}")
        for seq in range(max(wanted, head), last + 1):
            first, data, size = self._page(self.pages + self.slots[seq % self.count] * self.page_type.sizeof)
            yield first, data, 0, size, struct.unpack_from("<Q", data)[0]

    def records(self):
        """(stamp, how many were lost before it, bytes)."""
        number = None
        for first, data, at, size, stamp in self.parts():
            lost = 0 if number is None else max(first - number, 0)
            number = first
            for when, record in events(data, at, size, stamp):
                yield when, lost, record
                number, lost = number + 1, 0
