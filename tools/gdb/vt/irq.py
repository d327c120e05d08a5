"""vt-irq: what /proc/interrupts shows, and what each CPU is doing about interrupts."""

import gdb

from vt import command, kernel

MOST_HANDLERS = 64  # of one line


def handlers(action):
    """(name, function) of each handler of a line."""
    for _ in range(MOST_HANDLERS):
        if not int(action):
            return
        yield kernel.text(action["name"]), kernel.symbols().name(int(action["handler"]))
        action = action["next"]
    raise gdb.GdbError(f"more than {MOST_HANDLERS} handlers: their list is damaged")


def line_text(line):
    """Behind the counts."""
    every = list(handlers(line["actions"]))
    return (
        f" {kernel.text(line['chip']['name']):>8} {int(line['hwirq']):3} {'Edge' if int(line['type']) & 1 else 'Level':<8}"
        + "  "
        + ", ".join(name for name, _ in every)
        + "  <- "
        + ", ".join(function for _, function in every)
    )


def lines_of_descriptors():
    counts = {cpu: kernel.per_cpu("'irqdesc.c'::irq_counts", cpu)["irqs"] for cpu in kernel.started_cpus()}
    table = kernel.variable("'irqdesc.c'::irq_descs")
    for number in range(1, table.type.range()[1] + 1):
        line = table[number]
        if not int(line["actions"]):
            continue
        text = f"{number:3}: " + "".join(f"{int(count[number]):10} " for count in counts.values())
        try:
            yield text + line_text(line)
        except kernel.UNREADABLE as error:
            yield f"{text} <{kernel.why(error)}>"


def context(count):
    """What a preempt_count says."""
    words = [
        word for word, mask in (("nmi", 0xF00000), ("hardirq", 0xF0000), ("serving a softirq", 0x100)) if count & mask
    ]
    if count & 0xFE00:
        words.append("softirqs off")
    return ", ".join(words or ["task"]) + f", preemption depth {count & 0xFF}"


def pending(cpu):
    bits = int(kernel.per_cpu("'softirq.c'::softirq_pending", cpu))
    names = kernel.variable("softirq_to_name")
    return (
        " ".join(kernel.text(names[number]) for number in range(names.type.range()[1] + 1) if bits >> number & 1)
        or "none"
    )


class Irq(command.Command):
    """Show interrupts: each line with its counts, controller and handlers as /proc/interrupts does, with the handlers'
    functions behind an arrow; then in which context each CPU is, and the softirqs that wait there."""

    name = "vt-irq"

    def run(self, words):
        yield " " * 11 + "".join(f"CPU{cpu:<8}" for cpu in kernel.started_cpus())
        yield from lines_of_descriptors()
        online = kernel.online_cpus()
        for cpu in kernel.started_cpus():
            task, stopped = kernel.current(cpu), "" if cpu in online else "stopped; "
            yield f"CPU {cpu}: {stopped}{context(int(task['preempt_count']))}; softirqs pending: {pending(cpu)}"


Irq()
