"""Watchpoints that a replay meets on its way back.

QEMU does not tell gdb then that a watchpoint was the reason to stop, so gdb shows no more than SIGTRAP. Here the
instruction before is undone and done again, and each watchpoint whose value that changes is shown with both values, as
gdb shows it on the way forwards."""

import contextlib

import gdb

last_stop = None


def at_stop(event):
    global last_stop
    last_stop = event


def watched():
    return [one for one in gdb.breakpoints() if one.type == gdb.BP_HARDWARE_WATCHPOINT and one.enabled]


def values(watchpoints):
    """What they watch now; those that cannot be read here are left out."""
    seen = {}
    for watchpoint in watchpoints:
        try:
            seen[watchpoint] = str(gdb.parse_and_eval(watchpoint.expression))
        except gdb.error:
            pass
    return seen


@contextlib.contextmanager
def quietly(watchpoints):
    """No watchpoint is met meanwhile, and no stop is shown."""
    for watchpoint in watchpoints:
        watchpoint.enabled = False
    gdb.execute("set suppress-cli-notifications on")
    try:
        yield
    finally:
        gdb.execute("set suppress-cli-notifications off")
        for watchpoint in watchpoints:
            watchpoint.enabled = True


def after():
    """Behind reverse-continue: what the instruction before has changed. (An event without a kind: gdb knows no reason.)"""
    new = values(watched()) if type(last_stop) is gdb.StopEvent else {}
    if not new:
        return
    try:
        with quietly(new):
            gdb.execute("reverse-stepi", to_string=True)
            old = values(new)
            gdb.execute("stepi", to_string=True)
    except gdb.error:
        return  # at the recording's beginning nothing was met
    for watchpoint, value in new.items():
        if old.get(watchpoint, value) != value:
            name = f"Hardware watchpoint {watchpoint.number}: {watchpoint.expression}"
            gdb.write(f"\n{name}\n\nOld value = {old[watchpoint]}\nNew value = {value}\n")


gdb.execute("define hookpost-reverse-continue\npython vt.watch.after()\nend")
gdb.events.stop.connect(at_stop)
