"""What lab graph is graded by: trees of calls that this file computes again, times that planted code takes itself, and
shadow stacks as the slab allocator and tests' own files of debugfs count them."""

import re

from grading import check

TRACING = "/sys/kernel/tracing"
FILE = "/sys/kernel/debug/lab/graph"
STATS = "/sys/kernel/debug/fgraph/stats"
MASK = (1 << 64) - 1
NODES, DEPTH = 6, 4
GRAIN = 32  # ns: two steps of aarch64's clock
ALL = range(NODES)


class Tree:
    """The calls of lab_graph for this number, in the order of their begins: [(path of node numbers, itself the last)].
    branch: only the first call of each."""

    def __init__(self, seed, branch=False):
        self.paths, self.branch = [], branch
        self.sum = self._node(DEPTH, seed, ())

    def _node(self, depth, state, above):
        path = (*above, (state >> 33) % NODES)
        self.paths.append(path)
        total = path[-1] + 1
        for nr in range((1 if self.branch else 1 + (state >> 40) % 3) if depth else 0):
            state_of = ((state + nr) * 6364136223846793005 + 1442695040888963407) & MASK
            total = (total * 33 + self._node(depth - 1, state_of, path)) & MASK
        return total

    def traced(self, wanted=ALL, below=None, without=None, most=DEPTH + 1):
        """What a trace must show: [(depth, name)]. wanted: nodes that are traced; below, without: a node of
        set_graph_function and set_graph_notrace; most: max_graph_depth."""
        shown = []
        for path in self.paths:
            inner = path[path.index(below) :] if below in path else () if below is not None else path
            counted = [node for node in inner if node in wanted]
            if inner and path[-1] in wanted and len(counted) <= most and without not in path:
                shown.append((len(counted) - 1, f"lab_node_{path[-1]}"))
        return shown


def chosen(attempt):
    """A number whose tree has calls of all nodes."""
    while True:
        seed = attempt.rng.randrange(1, 1 << 60)
        if 40 <= len(Tree(seed).paths) and len({path[-1] for path in Tree(seed).paths}) == NODES:
            return seed


def calls(text):
    """What a trace of function_graph shows: [(depth, name, ns)]; ns None: its end is not there."""
    found, stack = [], []
    for line in text.splitlines():
        said = re.match(r"\s*\d+\)([^|]*)\|( *)(\w+\(\)(?:;| \{)|\})", line)
        if not said:
            continue
        times, indent, what = said.groups()
        took = re.search(r"(\d+)\.(\d{3}) us", times)
        ns = int(took.group(1)) * 1000 + int(took.group(2)) if took else None
        if what == "}":
            if stack:
                found[stack.pop()][2] = ns
            continue
        if what.endswith("{"):
            stack.append(len(found))
        found.append([len(indent) // 2 - 1, what.split("(")[0], ns])
    return [tuple(call) for call in found]


def shape(text):
    return [(depth, name) for depth, name, _ in calls(text)]


def numbers(text, word):
    """The numbers behind `word: ` in the output."""
    return [int(number) for number in re.findall(rf"^{re.escape(word)}:\s+(\d+)", text, re.M)]


def parts(ran, *names):
    """The output between the lines `part NAME` that a script has printed."""
    found = dict(piece.split("\n", 1) for piece in re.split(r"^part ", ran.output + "\n", flags=re.M)[1:])
    return [found[name] for name in names]


def begin(functions="lab_node_*"):
    return f"cd {TRACING}; echo '{functions}' > set_ftrace_filter; echo function_graph > current_tracer"


def one_tree(attempt):
    """The run of a tree that two checks look at: (tree, output)."""
    if "tree" not in attempt.data:
        seed = chosen(attempt)
        ran = attempt.guest(
            f"{begin()}; echo tree {seed} > {FILE}; echo part own; cat {FILE}; echo part trace; cat trace"
        )
        attempt.data["tree"] = Tree(seed), ran
    return attempt.data["tree"]


@check(
    "calls and their returns come out as the tree that they are",
    points=20,
    by_hand=f"echo 'lab_node_*' > set_ftrace_filter; echo function_graph > current_tracer; echo tree 123 > {FILE}; cat trace",
)
def nest(attempt):
    tree, ran = one_tree(attempt)
    own, trace = parts(ran, "own", "trace")
    attempt.same("calls (depth and name)", tree.traced(), shape(trace), ran.output[-1500:])
    attempt.same("sum of what they return", tree.sum, numbers(own, "sum")[0])


@check(
    "a duration is neither longer than the call as its caller sees it, nor shorter than what it does",
    points=10,
    by_hand=f"echo tree 123 > {FILE}; cat {FILE} trace",
)
def durations(attempt):
    tree, ran = one_tree(attempt)
    own, trace = parts(ran, "own", "trace")
    times = [list(map(int, pair.split("-"))) for pair in re.search(r"times: (.*)", own).group(1).split()]
    attempt.same("calls", len(tree.paths), len(calls(trace)))
    assert len(times) == len(calls(trace))
    for (_, name, ns), (inside, around) in zip(calls(trace), times):
        attempt.true(f"an end of {name}", ns is not None, "none")
        attempt.within(f"ns of {name}", inside - GRAIN, ns, around + GRAIN)


@check(
    "a call that was hooked returns to its caller though the tracer has gone, and come again",
    points=10,
    by_hand=f"echo park 5 > {FILE}; echo nop > current_tracer; echo wake > {FILE}; cat {FILE} {STATS}",
)
def returns(attempt):
    seeds = [chosen(attempt) for _ in range(3)]
    ran = attempt.guest(
        f"""{begin()}
echo park {seeds[0]} > {FILE}
echo part stack; cat /proc/$(sed -n 's/^pid: //p' {FILE})/stack
echo nop > current_tracer
echo part parked; cat {STATS}
echo wake > {FILE}; sleep 0.1
echo part woken; cat {FILE} {STATS}
echo function_graph > current_tracer
echo park {seeds[1]} > {FILE}
echo nop > current_tracer
echo function_graph > current_tracer
echo wake > {FILE}; sleep 0.1
echo part again; cat {FILE} {STATS}
echo > trace
echo tree {seeds[2]} > {FILE}
echo part tree; cat {FILE} {STATS}
echo part trace; cat trace"""
    )
    stack, parked, woken, again, tree, trace = parts(ran, "stack", "parked", "woken", "again", "tree", "trace")
    path = [f"lab_node_{node}" for node in Tree(seeds[0], branch=True).paths[-1]]
    attempt.same("callers in a backtrace of the sleeper", path[::-1], re.findall(r"lab_node_\d", stack), stack)
    attempt.same("frames of the sleeper, without a tracer", [DEPTH + 1], numbers(parked, "frames"), parked)
    for seed, text, word in ((seeds[0], woken, "without"), (seeds[1], again, "with another")):
        attempt.same(f"sum, woken {word} tracer", Tree(seed, branch=True).sum, numbers(text, "sum")[0], text)
        attempt.same("frames afterwards", 0, numbers(text, "frames")[-1], text)
    attempt.same("sum of a tree", Tree(seeds[2]).sum, numbers(tree, "sum")[0], tree)
    attempt.same("its calls", Tree(seeds[2]).traced(), shape(trace), trace[-1500:])


@check(
    "several users: each learns of its own functions, with its own depth",
    points=20,
    by_hand="mkdir instances/a; echo lab_node_1 > instances/a/set_ftrace_filter; echo function_graph > instances/a/current_tracer",
)
def users(attempt):
    first, second = sorted(attempt.rng.sample(ALL, 3)), sorted(attempt.rng.sample(ALL, 4))
    seeds = [chosen(attempt) for _ in range(3)]
    names = [" ".join(f"lab_node_{node}" for node in nodes) for nodes in (first, second)]
    ran = attempt.guest(
        f"""{begin(names[0])}
mkdir instances/a; cd instances/a
echo '{names[1]}' > set_ftrace_filter; echo function_graph > current_tracer
echo tree {seeds[0]} > {FILE}
echo part both; cat {FILE} {STATS}
echo part top; cat ../../trace
echo part second; cat trace
echo 0 > tracing_on; echo 0 > ../../tracing_on
echo tree {seeds[0]} > {FILE}
echo part off; cat {FILE} {STATS}
echo 1 > tracing_on; echo 1 > ../../tracing_on
echo > trace; echo nop > ../../current_tracer
echo tree {seeds[1]} > {FILE}
echo part alone; cat trace
cd ../..; mkdir instances/b; echo function_graph > instances/b/current_tracer
echo function_graph > current_tracer
echo tree {seeds[2]} > {FILE}
echo nop > instances/b/current_tracer
echo part all; cat {FILE} {STATS}
echo part beside; cat trace"""
    )
    both, top, other, off = parts(ran, "both", "top", "second", "off")
    alone, everything, beside = parts(ran, "alone", "all", "beside")
    trees = [Tree(seed) for seed in seeds]
    attempt.same("users", [2], numbers(both, "users"), both)
    attempt.same(f"calls of {names[0]}", trees[0].traced(first), shape(top), top[-1500:])
    attempt.same(f"calls of {names[1]} at the same time", trees[0].traced(second), shape(other), other[-1500:])
    attempt.same(f"calls of {names[1]} alone", trees[1].traced(second), shape(alone), alone[-1500:])
    attempt.same("calls beside an array that traces everything", trees[2].traced(first), shape(beside), beside[-1500:])
    sums = [trees[0].sum, trees[0].sum, trees[2].sum]
    attempt.same("sums", sums, numbers(both + off + everything, "sum"))
    attempt.same("frames after a tree that nobody records", 0, numbers(off, "frames")[1], off)


def slabs(text):
    return [int(number) for number in re.findall(r"^kmalloc-4k +(\d+)", text, re.M)]


@check(
    "no shadow stack is lost: of tasks that end within traced functions, and of those that go on",
    points=10,
    level="complete",
    by_hand=f"grep kmalloc-4k /proc/slabinfo; cat {STATS}; for i in $(seq 100); do /bin/true; done",
)
def leak(attempt):
    count, seed = attempt.rng.randrange(150, 250), chosen(attempt)
    crowd = f"for i in $(seq {count}); do /bin/true; done; sleep 0.3"
    look = "sleep 0.3; grep kmalloc-4k /proc/slabinfo; grep MemFree /proc/meminfo"
    ran = attempt.guest(
        f"""for i in $(seq 30); do /bin/true; done
{look}
cd {TRACING}; echo 4000 > buffer_size_kb
echo do_exit do_group_exit ksys_read > set_ftrace_filter; echo function_graph > current_tracer
{crowd}; {look}
echo part trace; grep -c do_exit trace; echo part slabs
{crowd}; {look}
echo part stats; cat {STATS}
echo nop > current_tracer; {look}
echo 'lab_node_*' > set_ftrace_filter; echo function_graph > current_tracer
echo park {seed} > {FILE}
echo nop > current_tracer
echo part parked; cat {STATS}
echo wake > {FILE}; sleep 0.3
echo part woken; cat {FILE} {STATS}"""
    )
    trace, stats, parked, woken = parts(ran, "trace", "stats", "parked", "woken")
    attempt.within("calls of do_exit in the trace", count, int(trace.split()[0]), count + 8, ran.output)
    before, traced, later, after = slabs(ran.output)
    attempt.within(
        "tasks without a shadow stack", 0, numbers(stats, "tasks")[0] - numbers(stats, "stacks")[0], 1, stats
    )
    attempt.within("objects of 4 kB after the first crowd", before, traced, before + 40, ran.output)
    attempt.within("objects of 4 kB after the second crowd", traced - 8, later, traced + 8, ran.output)
    attempt.within("objects of 4 kB without a tracer", before - 8, after, before + 8, ran.output)
    attempt.same("shadow stacks without a tracer: a sleeper's", [1], numbers(parked, "stacks"), parked)
    attempt.same("shadow stacks when it has ended", [0], numbers(woken, "stacks"), woken)
    free = [int(number) for number in re.findall(r"MemFree: +(\d+)", ran.output)]
    attempt.within("kB that the second crowd took", -400, free[1] - free[2], 400, ran.output)


@check(
    "calls that find the stack full run unhooked, and are counted",
    points=8,
    level="complete",
    by_hand=f"echo plant_recurse > set_ftrace_filter; echo 140 > /sys/kernel/debug/fgraph/recurse; cat {STATS}",
)
def full(attempt):
    deep, seed = attempt.rng.randrange(90, 150), chosen(attempt)
    ran = attempt.guest(
        f"""{begin("plant_recurse lab_node_*")}
echo {deep} > /sys/kernel/debug/fgraph/recurse || exit 7
echo part stats; cat {FILE} {STATS}
echo part trace; cat trace
echo > trace; echo tree {seed} > {FILE}
echo part tree; cat trace"""
    )
    stats, trace, tree = parts(ran, "stats", "trace", "tree")
    room, frames = numbers(stats, "frames")
    attempt.same("calls in the trace", [(depth, "plant_recurse") for depth in range(room)], shape(trace), stats)
    attempt.same("calls that found no room", [deep + 1 - room], numbers(stats, "overruns"), stats)
    attempt.same("frames afterwards", 0, frames, stats)
    attempt.same("calls of a tree afterwards", Tree(seed).traced(), shape(tree), tree[-1500:])


@check(
    "frames of calls that never return do no harm",
    points=6,
    level="complete",
    by_hand=f"echo 'lab_*' > set_ftrace_filter; echo jump 5 > {FILE}; cat {FILE} {STATS}",
)
def skipped(attempt):
    seed, deep = chosen(attempt), [attempt.rng.randrange(1, 20) for _ in range(6)]
    jumps = "\n".join(f"echo jump {depth} > {FILE}; cat {FILE} {STATS}" for depth in deep)
    ran = attempt.guest(
        f"""{begin("lab_node_* lab_leave lab_land lab_jump")}
echo part jumps
{jumps}
echo > trace; echo tree {seed} > {FILE}
echo part tree; cat {FILE} {STATS}
echo part trace; cat trace
mkdir instances/a; echo function_graph > instances/a/current_tracer
echo part both
{jumps}"""
    )
    alone, tree, trace, both = parts(ran, "jumps", "tree", "trace", "both")
    for text in (alone, both):
        attempt.same("what comes of the jumps", [(depth * 3 + 1) * 2 + 1 for depth in deep], numbers(text, "sum"), text)
    attempt.same("frames after each", [0] * len(deep), numbers(alone, "frames")[1::2], alone)
    attempt.same("sum of a tree afterwards", Tree(seed).sum, numbers(tree, "sum")[0], tree)
    attempt.same("its calls", Tree(seed).traced(), shape(trace), trace[-1500:])


@check(
    "max_graph_depth, set_graph_function and set_graph_notrace",
    points=6,
    level="complete",
    by_hand="echo 2 > max_graph_depth; echo lab_node_3 > set_graph_function; echo lab_node_4 > set_graph_notrace",
)
def limits(attempt):
    below, without = attempt.rng.sample(ALL, 2)
    most = attempt.rng.randrange(1, DEPTH + 1)
    cases = [{"most": most}, {"below": below}, {"without": without}]
    cases += [{"below": below, "most": 2}, {}]
    seeds, script = [chosen(attempt) for _ in cases], begin()
    for nr, (case, seed) in enumerate(zip(cases, seeds)):
        script += f"""
echo {case.get("most", 0)} > max_graph_depth
echo {f"lab_node_{case['below']}" if "below" in case else ""} > set_graph_function
echo {f"lab_node_{case['without']}" if "without" in case else ""} > set_graph_notrace
echo > trace; echo tree {seed} > {FILE}
echo part {nr}; cat trace"""
    ran = attempt.guest(script)
    for case, seed, trace in zip(cases, seeds, parts(ran, *map(str, range(len(cases))))):
        attempt.same(f"calls with {case}", Tree(seed).traced(**case), shape(trace), trace[-1500:])


INSTRUCTIONS = 700


@check(
    f"a call that another array traces costs less than {INSTRUCTIONS} instructions more",
    points=10,
    level="challenge",
    by_hand=f"mkdir instances/a; cd instances/a; echo lab_leaf > set_ftrace_filter; echo loop 1000 > {FILE}; cat {FILE}",
)
def cost(attempt):
    number = attempt.rng.randrange(900, 1100)
    ran = attempt.guest(
        f"""echo loop {number} > {FILE}; cat {FILE}
cd {TRACING}; mkdir instances/a; cd instances/a; echo 1000 > buffer_size_kb
echo lab_leaf > set_ftrace_filter; echo function_graph > current_tracer
echo loop {number} > {FILE}; cat {FILE}
echo part trace; grep -c 'us .*lab_leaf();' trace"""
    )
    plain, traced = numbers(ran.output, "ns")
    attempt.same("calls in the trace", number, int(parts(ran, "trace")[0]), ran.output)
    took = (traced - plain) / number
    attempt.within("instructions", 20, took, INSTRUCTIONS)
    attempt.figure("instructions for a traced call", round(took, 1))
