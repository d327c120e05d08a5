"""Guests that count their instructions: QEMU's -icount, and what it needs beside it."""

import functools
import resource
import signal
import subprocess
import tempfile

# With -icount one thread of QEMU runs the CPUs in turns, and a turn lasts until the next timer of anybody:
# milliseconds, by which the clock goes on for whoever waits. A timer without a purpose makes turns short: a net
# filter's, of a network without a card. Without it QEMU 7.2 may leave a CPU without any turn for as long as another one
# never waits. The kernel notices at a tick and gives turns away (kernel/sched/tick.c), which is only sure to help while
# turns are shorter than a tick. One CPU has no turns.
TURN = 1000
# For QEMUs that hang when the only CPU waits (hangs_when_idle): such a timer helps, however rare it is.
RARELY = 1_000_000


def turns_of(turn):
    """Arguments that let no CPU run longer than so many microseconds while others wait."""
    return [
        "-netdev",
        "user,id=turns,restrict=on",
        "-object",
        f"filter-buffer,id=turn,netdev=turns,queue=rx,interval={turn}",
    ]


@functools.cache
def hangs_when_idle(qemu, board, cpu, rom):
    """Does this QEMU compute for ever, and take no command any more, when the only CPU waits for its timer? 8.2 does for
    aarch64. The program waits a millisecond and ends; a QEMU that is well needs a tenth of a second for all of it."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (2, 2))

    with tempfile.NamedTemporaryFile(suffix=".rom") as file:
        file.write(rom)
        file.flush()
        command = [qemu, *f"-M {board} -cpu {cpu} -m 64M -nodefaults -display none -icount shift=0,sleep=off".split()]
        command += ["-semihosting-config", "enable=on,target=native", "-kernel", file.name]
        quiet = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            done = subprocess.run(command, preexec_fn=limit, check=False, **quiet)
        except OSError:
            return False  # there is no such QEMU: whoever starts it says so
    return done.returncode == -signal.SIGKILL


def icount_arguments(qemu, machine, smp, turn):
    """One guest instruction is one nanosecond of guest time, and the same on every run; nor is there another seed for
    random bytes. turn: see TURN; None: that."""
    words = ["-icount", "shift=0,sleep=off", "-seed", "1"]
    turn = TURN if turn is None else turn
    if smp > 1:
        return words + (turns_of(turn) if turn else [])
    if machine.idle_rom and hangs_when_idle(qemu, machine.board, machine.cpu, machine.idle_rom):
        return words + turns_of(RARELY)
    return words
