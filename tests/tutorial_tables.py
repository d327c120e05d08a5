"""The tables of tests/tutorials: what each line of a tutorial does here. One format, read by the test and by whoever
writes a table.

    # a comment; the first lines say which document this is
    document: seeds/000*.txt 1-940      where its text is: below ../shared, or in Debian's package linux-source-6.12
                                        (linux:PATH); with line numbers, only these lines of it
    guest: smp=2                        words for the guest that the lines are typed in
    prose: echo every function          a place of the document that looks like a command and is a sentence

    ! cd /sys/kernel/tracing            what the document takes for granted; typed too, and must succeed
    > echo function > current_tracer    a line of the document; one that ends in \\ goes on in the next `>` line
      works                             status 0
    > cat trace
      works ^# tracer: function$        status 0, and the answer has a match of this regular expression
    > echo xxx > trigger
      refused Invalid argument          it fails, as the document shows; counted among those that work
    > cat trace_pipe
      until sched_switch                ^C is typed when the answer matches this
      works
    > cat set_ftrace_pid
      differs ^$ -- reads empty          the answer is another one than the document's: the expression, and why
    > echo blk > current_tracer
      missing Invalid argument -- the blk tracer    it fails: the expression, and what is missing
    > zcat /proc/config.gz
      needs busybox                     not typed where the build could not have Debian's
      works ^CONFIG_FUNCTION_TRACER=y$
    > echo x86_function > set_ftrace_filter
      works
      aarch64: missing Invalid argument -- a function of x86    on this machine another verdict, behind the common one
"""

import glob
import os
import re
from dataclasses import dataclass, field, replace

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "tests", "tutorials")
VERDICTS = ("works", "refused", "differs", "missing")


@dataclass
class Row:
    """One command: typed by the document, or (verdict 'setup') by us for what the document takes for granted."""

    place: str  # file:line of the table
    command: str
    verdict: str = ""
    pattern: str = ""
    why: str = ""
    until: str = ""
    needs: str = ""
    special: dict = field(default_factory=dict)  # by machine: a Row with that machine's verdict

    def on(self, machine):
        """The row as it stands for a machine."""
        return self.special.get(machine, self)


@dataclass
class Table:
    """One document."""

    name: str
    title: str = ""
    document: str = ""
    guest: dict = field(default_factory=dict)
    prose: list = field(default_factory=list)
    rows: list = field(default_factory=list)

    def counts(self):
        """{works, differs, missing: number of the document's commands}"""
        count = {verdict: sum(row.verdict == verdict for row in self.rows) for verdict in VERDICTS}
        count["works"] += count.pop("refused")
        return count


def read_verdict(row, line):
    """Put an indented line into its row."""
    word, _, rest = line.strip().partition(" ")
    if word in ("until", "needs"):
        setattr(row, word, rest)
        return
    if word.endswith(":"):
        row.special[word[:-1]] = other = replace(row, verdict="", pattern="", why="")
        read_verdict(other, rest)
        return
    if word not in VERDICTS or row.verdict:
        raise ValueError(f"{row.place}: '{line.strip()}' is not a verdict, or a second one")
    row.verdict = word
    row.pattern, dashes, row.why = (part.strip() for part in rest.partition("-- "))
    if (word in ("works", "refused")) == bool(dashes):
        raise ValueError(f"{row.place}: '{word}' {'needs no reason' if dashes else 'needs a reason'}")
    re.compile(row.pattern)


def read_table(path):
    """The Table in a file. ValueError names the line that is wrong."""
    table = Table(os.path.basename(path).removesuffix(".txt"))
    with open(path, encoding="utf-8") as file:
        lines = file.read().splitlines()
    table.title = lines[0].lstrip("# ")
    for number, line in enumerate(lines, 1):
        place = f"{os.path.basename(path)}:{number}"
        if line.startswith(("> ", "! ")):
            before = table.rows[-1] if table.rows else None
            if before and before.command.endswith("\\") and not before.verdict:
                before.command += "\n" + line[2:]
            else:
                table.rows.append(Row(place, line[2:], "setup" if line[0] == "!" else ""))
        elif line.startswith("  "):
            read_verdict(table.rows[-1], line)
        elif line.startswith("document: "):
            table.document = line.removeprefix("document: ")
        elif line.startswith("prose: "):
            table.prose.append(line.removeprefix("prose: "))
        elif line.startswith("guest: "):
            table.guest = dict(word.split("=") for word in line.split()[1:])
        elif line and not line.startswith("#"):
            raise ValueError(f"{place}: '{line}' is none of the table's forms")
    for row in table.rows:
        if not row.verdict:
            raise ValueError(f"{row.place}: '{row.command}' has no verdict")
    return table


def tables():
    """All tables, by name."""
    return [read_table(path) for path in sorted(glob.glob(os.path.join(FOLDER, "*.txt")))]


def judge(row, status, answer):
    """What is wrong with an answer, or None."""
    found = re.search(row.pattern, answer, re.M)
    if row.verdict in ("works", "setup") and status not in ((0, 130) if row.until else (0,)):
        return f"status {status}"
    if row.verdict in ("missing", "refused") and status == 0:
        return "it succeeds: the table is behind"
    return None if found else f"no match of '{row.pattern}'"
