"""gdb's own backtrace goes on through hooked returns: the true return address comes from the task's shadow stack.

`bt` shows return_to_handler where it stands in for one, with the name of the function whose return it is, and then the
true caller. Through ftrace_caller and its kin gdb finds its way by their .cfi lines."""

import gdb
from gdb.FrameDecorator import FrameDecorator
from gdb.unwinder import Unwinder, register_unwinder

from vt import kernel
from vt.machine import machine, note_symbols, register
from vt.stack import Shadow, find_caller, known_layout, layout

HANDLER = "return_to_handler"


class Id:
    """A frame's identity: where it is and what it is in."""

    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc


class HookedReturn(Unwinder):
    """return_to_handler, where it runs and where it only stands in for a return address: all registers are the true
    caller's."""

    def __init__(self):
        super().__init__("vitrine-hooked-return")

    def __call__(self, pending):
        places = known_layout()
        if not places:
            return None
        one = machine()
        try:
            if register(pending, one.pc) not in places.depths:
                return None
            caller = find_caller(pending, places)
            return self._info(pending, places, *caller) if caller else None
        except kernel.UNREADABLE:
            return None  # no kernel, none of its tasks, or a damaged one: other unwinders may know

    @staticmethod
    def _info(pending, places, before, fp, address):
        one = machine()
        value = {name: pending.read_register(name) for name in one.kept}
        info = pending.create_unwind_info(Id(gdb.Value(before), gdb.Value(places.handler)))
        for name, new in ((one.sp, before), (one.fp, fp), (one.pc, address)):
            value[name] = gdb.Value(new).cast(value[name].type)
        for name in one.kept:
            info.add_saved_register(name, value[name])
        return info


class Returning(FrameDecorator):
    """return_to_handler with the name of the function that returns by it."""

    def __init__(self, base, function):
        super().__init__(base)
        self.returns = function

    def function(self):
        return f"{HANDLER}<{self.returns}>"


def hooked_function(frame):
    """The name of the function whose return this frame is the handler of; None: nobody knows."""
    one, places = machine(), layout()
    shadow = Shadow(one.current_of(frame))
    mark = one.handler_frame(frame, places.depths[frame.pc()])[3]
    call = shadow.by_mark(mark)
    if not call and shadow.popped and shadow.popped["mark"] == mark:
        call = shadow.popped  # C has taken it off, the handler is about to go there
    return kernel.symbols().name(call["func"]) if call else None


class ShowReturning:
    """A filter for `bt`."""

    name, priority, enabled = "vitrine-hooked-return", 100, True

    def __init__(self):
        gdb.frame_filters[self.name] = self

    def filter(self, frames):
        return map(self._named, frames)

    @staticmethod
    def _named(decorated):
        frame = decorated.inferior_frame()
        try:
            name = hooked_function(frame) if frame.name() == HANDLER else None
        except kernel.UNREADABLE:
            name = None
        return Returning(decorated, name) if name else decorated


def prepare(event=None):
    """A kernel has been loaded, or something else; or, where its text could not be read then, the guest has stopped."""
    if known_layout():
        return
    try:
        layout()
        note_symbols()
    except kernel.UNREADABLE:
        return
    gdb.invalidate_cached_frames()


register_unwinder(None, HookedReturn(), replace=True)
ShowReturning()
gdb.events.new_objfile.connect(prepare)
gdb.events.stop.connect(prepare)
prepare()
