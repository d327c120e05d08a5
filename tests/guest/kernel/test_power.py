"""What the board does beside computing: it ends, starts again, and knows the time of day."""

import calendar
import time

import pytest
from machines import product

# Boards, and CPUs that have no other name for it: the default and those that differ.
BOARDS = product(
    lambda machine: [("default", {}), *((v.name, v.setup) for v in machine.variants if "board" in v.setup)]
)


@pytest.mark.parametrize("machine,setup", BOARDS)
def test_power_off(machine, setup):
    with machine.guest(smp=2, timeout=60, **setup) as guest:
        guest.send("poweroff\n")
        assert guest.wait_end(), "QEMU did not end"
        assert guest.exit_status() == 0


@pytest.mark.parametrize("machine,setup", BOARDS)
def test_reboot(machine, setup):
    """A reset, not a power-off: with QEMU told to go on, the next prompt comes by itself. Twice: the second start is no
    other."""
    with machine.guest(smp=2, timeout=60, qemu_args=["-action", "reboot=reset"], **setup) as guest:
        for _ in range(2):
            guest.send("reboot\n")
            guest.expect("reboot: Restarting system")
            guest.expect(r"Run /\S+ as init process")
            guest.expect(guest.PROMPT)
            assert guest.run("grep -c ^processor /proc/cpuinfo") == (0, "2\n")


def test_init_collects_signals(machine):
    """busybox's init blocks the signals of poweroff, halt and reboot and takes them by sigwaitinfo: they reach it."""
    files = machine.programs("waitinit")
    with machine.guest(append="init=/bin/waitinit", files=files, wait_prompt=False, timeout=60) as guest:
        guest.expect("waitinit: 0 checks failed")
        assert guest.wait_end() and guest.exit_status() == 0


@pytest.mark.parametrize("machine,setup", BOARDS)
@pytest.mark.parametrize(
    "date",
    ["1999-12-31T23:59:59", "2000-02-29T12:00:00", "2001-03-01T00:30:00", "2038-01-19T03:14:07", "2100-02-28T23:59:58"],
)
def test_time_of_day(machine, setup, date):
    """The real-time clock is read once, at boot: over the ends of days, years and centuries, and of 31 bits."""
    wanted = calendar.timegm(time.strptime(date, "%Y-%m-%dT%H:%M:%S"))
    start = time.monotonic()
    with machine.guest(timeout=60, qemu_args=["-rtc", f"base={date},clock=vm"], **setup) as guest:
        status, seconds = guest.run("date +%s")
        most = wanted + time.monotonic() - start + 1
        assert status == 0 and wanted <= int(seconds) <= most, f"{int(seconds) - wanted} s from the clock's time"
