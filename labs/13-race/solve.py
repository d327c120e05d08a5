"""solve.py MACHINE SEED: the answers of lab race, found as a student might find them, in the tree of the starting code.
`tools/lab solve race --seed N` runs it for each machine."""

import os
import re
import subprocess
import sys
import tempfile

LOST = """hbreak start_kernel
continue
delete
hbreak *{store} if rtc_dev.pending != n
commands
silent
printf "lost %lu %lu %lu\\n", n, rtc_dev.pending, rtc_dev.fired
continue
end
hbreak sys_reboot
continue
"""
# The interrupt that the first lost update was: where did it come?
PLACE = {"aarch64": "print/a $ELR_EL1", "x86_64": "frame function handle_irq\nprint/a regs->rip"}
CAME = """hbreak start_kernel
continue
delete
hbreak rtc_interrupt if rtc_dev.fired == {before}
continue
{place}
"""


def replay(machine, commands, seed=""):
    """What gdb prints with these commands; with a seed the run is recorded first."""
    with tempfile.TemporaryDirectory() as folder:
        script = os.path.join(folder, "script.gdb")
        with open(script, "w", encoding="utf-8") as file:
            file.write(commands)
        return subprocess.run(
            ["labs/13-race/replay", machine, seed, "--gdb-arg=-batch", "--gdb-arg=-x", f"--gdb-arg={script}"],
            env={**os.environ, "GDB_PORT": os.path.join(folder, "stub")},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=True,
        ).stdout


def store_of(machine):
    """The address of the instruction that clears `pending` in rtc_read(). The line of the source begins before it on
    x86_64, and an interrupt may come in between."""
    words = ["-ex", "print &rtc_dev.pending", "-ex", "print &rtc_dev", "-ex", "disassemble rtc_read"]
    said = subprocess.run(
        ["gdb-multiarch", "-nx", "-batch", *words, f"build/{machine}/vmlinux"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        check=True,
    ).stdout
    pending, whole = (int(address, 16) for address in re.findall(r"^\$\d = .*?(0x[0-9a-f]+)", said, re.M))
    offset = pending - whole
    clears = rf"(0x[0-9a-f]+) .*(?:str\s+xzr, \[x\d+, #{offset}\]|movq\s+\$0x0,.*<rtc_dev\+{offset}>)$"
    found = re.findall(clears, said, re.M)
    if len(found) != 1:
        sys.exit(f"{len(found)} instructions of rtc_read() clear `pending`: there should be one\n{said}")
    return found[0]


def main(machine, seed):
    said = replay(machine, LOST.format(store=store_of(machine)), seed)
    lost = [tuple(map(int, found)) for found in re.findall(r"^lost (\d+) (\d+) (\d+)$", said, re.M)]
    if not lost:
        sys.exit(f"with seed {seed} no update is lost: this student needs another seed")
    taken, there, fired = lost[0]
    place = replay(machine, CAME.format(before=fired - (there - taken), place=PLACE[machine]))
    nested = [line for line in said.splitlines() if line.rstrip().endswith("|    rtc_interrupt();")]
    due, missing = re.search(r"^race: .* interrupts (\d+) .* lost (\d+)$", said, re.M).groups()
    answers = {
        "lost": f"{due} {missing}",
        "inside": len(nested),
        "values": f"{taken} {there} {fired}",
        "where": re.search(r"= 0x[0-9a-f]+ <(.*)>", place)[1],
        "last": lost[-1][2],
    }
    for question, answer in answers.items():
        print(f'{question} = "{answer}"')


if __name__ == "__main__":
    main(*sys.argv[1:])
