"""vt-ps, vt-runq, vt-bt, and $vt_task(pid)."""

import itertools

import gdb

from vt import command, kernel, stack
from vt.machine import privileged

# What a sleeping task is shown in is its first function that is none of these.
SWITCHING = ("schedule", "__schedule", "cpu_switch_to", "context_switch", "switch_to", "__switch_to")
POLICIES = {0: "other", 1: "fifo", 2: "rr", 3: "batch", 5: "idle", 6: "deadline"}


def place(task):
    """Where it is: the innermost function that is not the scheduler's."""
    cpu, addresses = stack.trace(task)
    if cpu is not None:
        return f"on CPU {cpu}"
    first = None
    for address in itertools.islice(addresses, 6):
        name = kernel.symbols().name(address - 1)
        if not name.startswith(SWITCHING):
            return name
        first = first or name
    return first


def readable(lines, address):
    """The lines on a task, as far as it can be read; then one that says why not further."""
    try:
        yield from lines
    except kernel.UNREADABLE as error:
        yield f" <task at {address:#x}: {kernel.why(error)}>"


def line_of(task):
    """Of vt-ps."""
    parent = int(task["parent"]["pid"]) if int(task["parent"]) else 0
    text = (
        f"{int(task['pid']):5} {int(task['tgid']):5} {parent:5} {int(task['cpu']):3} {kernel.task_state(task)} "
        f"{POLICIES.get(int(task['policy']), '?'):8} {int(task['prio']):4} {kernel.comm(task):<16}"
    )
    try:
        yield f"{text} {place(task)}"
    except kernel.UNREADABLE as error:
        yield f"{text} <{kernel.why(error)}>"


class Ps(command.Command):
    """List all tasks: pid, process, parent, CPU, state, scheduling policy and priority, name, and where each is.

    States are those of ps. A task that does not run is shown with the function that it sleeps in or was preempted in.
    The idle tasks have pid 0, one a CPU."""

    name = "vt-ps"

    def run(self, words):
        yield "  PID  TGID  PPID CPU S POLICY   PRIO COMM             WHERE"
        for task in kernel.tasks():
            yield from readable(line_of(task), int(task.address))


def named(task):
    return f"{kernel.comm(task)}-{int(task['pid'])}"


def waiting(queue):
    """Lines on what is queued: in the order of classes, each in the order in which it will run."""
    for task in kernel.tree_entries(queue["dl"]["tasks"]["root"], "struct task_struct", "dl.node"):
        yield f"    deadline {named(task)} deadline={int(task['dl']['deadline'])} left={int(task['dl']['left'])}ns"
    real_time = queue["rt"]["queue"]
    for level in range(real_time.type.range()[1] + 1):
        for task in kernel.list_entries(real_time[level], "struct task_struct", "rt.run_list"):
            yield f"    rt {named(task)} prio={int(task['prio'])} {POLICIES.get(int(task['policy']), '?')}"
    for task in kernel.tree_entries(queue["cfs"]["timeline"]["root"], "struct task_struct", "se.run_node"):
        entity = task["se"]
        yield f"    fair {named(task)} vruntime={kernel.signed(entity['vruntime'])} weight={int(entity['weight'])}"


class Runq(command.Command):
    """Show the runqueues: what each CPU runs and what waits for it, in the order in which it will run.

    The running task of the fair class is not in its tree; those of the other classes stay in their queues."""

    name = "vt-runq"
    usage = "vt-runq [CPU]"
    most = 1

    def run(self, words):
        wanted = [command.number(words[0], "a CPU")] if words else kernel.cpus()
        for cpu in wanted:
            if cpu not in kernel.cpus():
                raise gdb.GdbError(f"there is no CPU {cpu}: 0 to {len(kernel.cpus()) - 1}")
            queue = kernel.per_cpu("runqueues", cpu)
            held = ", locked" if int(queue["lock"]["locked"]) else ""
            yield (
                f"CPU {cpu}: {int(queue['nr_running'])} runnable, runs {named(kernel.current(cpu))}, "
                f"{int(queue['nr_switches'])} switches, min_vruntime {kernel.signed(queue['cfs']['min_vruntime'])}{held}"
            )
            yield from waiting(queue)


def backtrace(task):
    """As show_stack() prints it, behind the line of sysrq-t."""
    parent = int(task["parent"]["pid"]) if int(task["parent"]) else 0
    yield f"task:{kernel.comm(task):<15} state:{kernel.task_state(task)} pid:{int(task['pid']):<5} ppid:{parent}"
    cpu, addresses = stack.trace(task)
    yield "Call trace:" if cpu is None else f"Call trace: (on CPU {cpu})"
    for number, address in enumerate(addresses):
        # Where it runs is no return address; where it sleeps is one.
        yield " " + kernel.symbols().place(address, 0 if cpu is not None and not number else 1)


class Backtrace(command.Command):
    """Print the kernel stack of a task, or of all of them, as the kernel's own dumps do (sysrq-t, a panic).

    It goes by frame records alone, so it works where `bt` has no debugging information, through interrupts and through
    hooked returns, whose true callers it shows. A task in user mode has one line. Without a word it is the task of the
    CPU that gdb looks at."""

    name = "vt-bt"
    usage = "vt-bt [PID|all]"
    most = 1

    def run(self, words):
        if not words:
            yield from backtrace(kernel.current())
        elif words[0] == "all":
            for task in kernel.tasks():
                yield from readable(backtrace(task), int(task.address))
        else:
            yield from backtrace(kernel.task_of_pid(command.number(words[0], "a pid or `all`")))


class TaskFunction(gdb.Function):
    """$vt_task(PID): the struct task_struct of that task, for `print $vt_task(1).comm`."""

    def invoke(self, pid):
        with command.one_line("$vt_task"), privileged():
            kernel.check_guest()
            task = kernel.task_of_pid(int(pid))
            task.fetch_lazy()
        return task


class CurrentFunction(gdb.Function):
    """$vt_current(): the struct task_struct of the task that runs on the CPU that gdb looks at."""

    def invoke(self):
        with command.one_line("$vt_current"), privileged():
            kernel.check_guest()
            task = kernel.current()
            task.fetch_lazy()
        return task


Ps()
Runq()
Backtrace()
TaskFunction("vt_task")
CurrentFunction("vt_current")
