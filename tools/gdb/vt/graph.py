"""vt-graph: a task's shadow stack, the calls whose return is traced."""

from vt import command, kernel, stack

USERS = 16


def users(key):
    """Who is told of the return: the names of their ftrace_ops."""
    table, names = kernel.variable("fgraph_users"), []
    for bit in range(USERS):
        if not key >> bit & 1:
            continue
        gops = int(table[bit])
        name = int(table[bit]["ops"]["name"]) if gops else 0
        names.append(kernel.text(name) if name else f"user {bit}" if gops else "one that has gone")
    return ", ".join(names) or "nobody"


def returns_to(frame, shadow):
    if frame["ret"] == shadow.handler:
        return "the frame below (it was reached by a jump)"
    return kernel.symbols().place(frame["ret"], 1)


class Graph(command.Command):
    """Show a task's shadow stack: the calls whose returns are hooked.

    Innermost call first: where each call returns to in truth, the word of the stack that holds
    return_to_handler in its place, when the call began (ns of sched_clock), and who is told of its return.

    Without a pid: of the task that runs on the CPU that gdb looks at."""

    name = "vt-graph"
    usage = "vt-graph [PID]"
    most = 1

    def run(self, words):
        task = kernel.task_of_pid(command.number(words[0], "a pid")) if words else kernel.current()
        shadow = stack.Shadow(int(task.address))
        yield f"{kernel.comm(task)}-{int(task['pid'])}: {len(shadow.frames)} hooked calls"
        for number, frame in reversed(list(enumerate(shadow.frames))):
            held = kernel.word(frame["slot"]) == shadow.handler if frame["slot"] else False
            yield (
                f"  [{number}] {kernel.symbols().name(frame['func'])} returns to {returns_to(frame, shadow)}; "
                f"slot {frame['slot']:#x}{' holds return_to_handler' if held else ''}; since {frame['calltime']}; "
                f"for {users(frame['key'])}"
            )


Graph()
