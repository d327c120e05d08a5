"""How long a guest may live, and how one that hangs is told before its time is up.

Three words of the environment are for tests, as the programs that a test starts have them, too:
VITRINE_PATIENCE    the time is multiplied by it. On a host with much else to do a guest takes several times as long;
                    one that hangs does so however long it is waited for.
VITRINE_MOST_IDLE   a guest that is waited for and does nothing for so many seconds is stuck: each of its tasks sleeps,
                    and no timer will wake one soon.
VITRINE_CPU_PART    a guest whose QEMU has used such a part of its time (of a quiet host) as CPU time is stuck, too: it
                    computes. A busy host does not make it use more, so there is no patience with it."""

import math
import os
import subprocess
import time

from vitrine_machines import NO_STATUS, GuestError

PROC = "/proc"  # where there is none, as on macOS, ps is asked


def number(name, without):
    """What the environment says, or does not."""
    said = os.environ.get(name)
    try:
        return float(said) if said else without
    except ValueError:
        raise GuestError(f"{name}={said}: a number is wanted", NO_STATUS) from None


def patience():
    return number("VITRINE_PATIENCE", 1)


def fields(path):
    """Of /proc/.../stat, from the state on; none where a host does not tell, or when the process has ended."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()
    except OSError:
        return []


def asked_ps(pid):
    """The same two answers from a host without /proc: seconds of CPU time, and whether it runs."""
    try:
        words = ["ps", "-o", "time=,stat=", "-p", str(pid)]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        clock, state = done.stdout.split()
        days, _, rest = clock.rpartition("-")
        seconds = 0.0
        for part in rest.split(":"):
            seconds = seconds * 60 + float(part)
        return seconds + 86400 * int(days or 0), state[0] in "RDU"
    except (OSError, ValueError):
        return math.nan, False


def processor_seconds(pid):
    """CPU time that a process has used; no number when it has ended."""
    if not os.path.isdir(PROC):
        return asked_ps(pid)[0]
    used = fields(f"{PROC}/{pid}/stat")[11:13]
    return sum(map(int, used)) / os.sysconf("SC_CLK_TCK") if used else math.nan


def can_run(pid):
    """Does one of its threads run, or would it if the host let it?"""
    if not os.path.isdir(PROC):
        return asked_ps(pid)[1]
    try:
        threads = os.listdir(f"{PROC}/{pid}/task")
    except OSError:
        return False
    return any(fields(f"{PROC}/{pid}/task/{thread}/stat")[:1] in (["R"], ["D"]) for thread in threads)


IDLE = 0.02  # the part of a CPU that QEMU uses for a guest that sleeps is less


class Silence:
    """A QEMU of which nothing has been heard yet, looked at now and then: should it have been? A kernel says its first
    line after some hundredths of a second of CPU time. The clock alone tells nothing on a busy host, so it counts only
    while QEMU does nothing."""

    MOST_CPU = 5
    MOST_CPU_OF_FIRMWARE = 20  # UEFI has used 3 s when it says its first word
    MOST_IDLE = 10

    def __init__(self, pid, firmware=False):
        """firmware: a BIOS or UEFI runs before the kernel."""
        self._pid, self._most = pid, self.MOST_CPU_OF_FIRMWARE if firmware else self.MOST_CPU
        self._used, self._idle, self._last = processor_seconds(pid), 0, time.monotonic()

    def look(self):
        """How long nothing has been heard, when it is too long."""
        used, now = processor_seconds(self._pid), time.monotonic()
        passed, self._last = now - self._last, now
        sleeps = used - self._used < passed * IDLE and not can_run(self._pid)
        self._used, self._idle = used, self._idle + passed if sleeps else 0
        if used >= self._most:
            return f"in {used:.0f} s of QEMU's CPU time"
        return f"in {self._idle:.0f} s in which QEMU has done nothing" if self._idle >= self.MOST_IDLE else None


class Lifetime:
    """The time of one guest, which begins now."""

    WATCH = 5  # seconds that pass between two looks at a guest

    def __init__(self, seconds):
        """seconds: of a quiet host."""
        self.seconds = seconds * patience()
        self.deadline = time.monotonic() + self.seconds
        self.most_idle = number("VITRINE_MOST_IDLE", math.inf)
        self.most_cpu = seconds * number("VITRINE_CPU_PART", math.inf)
        self.why = None  # after portions(): why there is no waiting any more

    def left(self, seconds=math.inf):
        """How long may still be waited, and no longer than so many seconds of a quiet host."""
        return max(0, min(seconds * patience(), self.deadline - time.monotonic()))

    def portions(self, pid, seconds=math.inf):
        """For a loop that waits for what QEMU, the process `pid`, does: how long to wait next, until time is up or the
        guest is stuck. Portions are counted, not the clock: a host that was stopped has let only one of them pass."""
        end = time.monotonic() + self.left(seconds)
        idle, used, self.why = 0, processor_seconds(pid), None
        left = end - time.monotonic()
        while not self.why:
            yield max(0, min(left, self.WATCH))
            before, used = used, processor_seconds(pid)
            idle = idle + self.WATCH if used - before < self.WATCH * IDLE and not can_run(pid) else 0
            left = end - time.monotonic()
            if idle >= self.most_idle:
                self.why = f"the guest has done nothing for {idle} s"
            elif used > self.most_cpu:
                self.why = f"the guest has used {used:.0f} s of CPU time, of {self.most_cpu:g}"
            elif left <= 0:
                self.why = f"time is up ({self.seconds:g} s)"
