#!/usr/bin/python3
"""Linux's own tests of ftrace (tools/testing/selftests/ftrace of Debian's linux-source-6.12), as they are, in guests:
what each does, with the programs of busybox and with those of Debian.

    tests/ftracetest.py [--arch arm64|x86_64]... [--with busybox|debian]... [--write] [TEST...]

A TEST is a file or a folder below test.d (00basic, ftrace/fgraph-filter.tc). tests/ftracetest.txt says what has to
pass. With --write docs/ftracetest.md is made from all of them, and what passes from now on is added to the list. The
status is 1 when something of the list does not pass."""

import argparse
import os
import re
import sys
from dataclasses import dataclass

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tools"), os.path.join(ROOT, "tests")]
from linux_source import linux_file  # noqa: E402
from stories import story  # noqa: E402
from vitrine_guest import MACHINES, GuestError, ScriptRun  # noqa: E402
from vitrine_machines import DEBIAN_ROOT  # noqa: E402

LIST = os.path.join(ROOT, "tests", "ftracetest.txt")
PAGE = os.path.join(ROOT, "docs", "ftracetest.md")
USERLANDS = ("busybox", "debian")
RESULTS = ("PASS", "FAIL", "UNRESOLVED", "UNTESTED", "UNSUPPORTED", "XFAIL", "UNDEFINED")
INSTANCE = "@instance"  # behind the name of a test that runs a second time, in an instance
CHANCE = "chance"  # for the list: whether it passes depends on when things happen


@dataclass(frozen=True)
class Result:
    """What became of a test, and what its log says of it."""

    word: str
    log: str

    def reason(self):
        """One line; of a test that wants what is not there, ftracetest's own."""
        wanted = re.search(r"^Required (.*)", self.log, re.M)
        if wanted:
            return wanted.group(1).strip()
        lines = [line for line in self.log.splitlines() if not re.match(r"\++ (kill|exit|\[)|\++ exit_", line)]
        return lines[-1].lstrip("+ ").strip()[:160] if lines else ""


def parse(output):
    """{test: Result} of what the story has printed."""
    parts = re.split(r"^==> (.*)$", output, flags=re.M)[1:]
    parts = dict(zip(parts[::2], parts[1::2]))
    if "end" not in parts:
        raise GuestError("ftracetest did not come to its end", 1)
    words = dict(re.findall(rf"^\[(\d+)\].*\[({'|'.join(RESULTS)})\]$", parts.pop("summary"), re.M))
    found = {}
    for head, log in parts.items():
        match = re.match(r"(\d+) execute( \(instance\) )?: .*/test\.d/(\S+)$", head)
        if match:
            number, instance, test = match.groups()
            found[test + (INSTANCE if instance else "")] = Result(words.get(number, "UNDEFINED"), log)
    return found


def guest_files(host, inside):
    """A file, or a folder with all below it, for a guest."""
    found = {}
    for folder, _, names in os.walk(host) if os.path.isdir(host) else [("", [], [host])]:
        for name in names:
            path = os.path.join(folder, name)
            place = os.path.normpath(os.path.join(inside, os.path.relpath(path, host)))
            with open(path, "rb") as file:
                found[place] = (os.stat(path).st_mode & 0o777, file.read())
    return found


def run(arch, userland, tests=(), log=None, timeout=1800):
    """{test: Result}, or None where Linux's source, busybox or the root is not there."""
    source = linux_file("tools/testing/selftests/ftrace")
    build = os.path.join(ROOT, "build", arch)
    busybox, root = os.path.join(build, "busybox", "busybox"), os.path.join(build, DEBIAN_ROOT)
    if not source or not os.path.exists(busybox if userland == "busybox" else root):
        return None
    files = guest_files(source, "ftrace")
    if userland == "busybox":
        files |= guest_files(busybox, "busybox")
    modules = os.path.join(build, "guest-tests", "modules")
    for name in os.listdir(modules):
        if name.endswith(".ko") or name == "modules.dep":
            files |= guest_files(os.path.join(modules, name), f"modules/{name}")
    words = ["/ftrace" if userland == "busybox" else "/vitrine/ftrace", userland, *tests]
    guest = ScriptRun(
        story("ftracetest").encode(),
        words,
        files=files,
        arch=arch,
        smp=2,
        mem="512M" if userland == "busybox" else "1G",
        timeout=timeout,
        append="loglevel=1",
        icount=True,  # what a test sleeps is the guest's own time, however busy this computer is
        log=log,
        root=root if userland == "debian" else None,
        share=modules if userland == "debian" else None,
    )
    try:
        guest.wait_start()
        guest.wait_exit()
    finally:
        guest.guest.close()
    return parse(guest.output)


def rows():
    """{test: (where it has to pass, why it does not pass elsewhere)} of the list. Where: `busybox`, or
    `busybox@aarch64` for one machine alone; CHANCE: nowhere, though it may."""
    found = {}
    with open(LIST, encoding="utf-8") as lines:
        for line in lines:
            if line.strip() and not line.startswith("#"):
                test, where, *why = line.split(maxsplit=2)
                found[test] = ([] if where == "-" else where.split(","), "".join(why).strip())
    return found


def must_pass(row, arch, userland):
    return userland in row[0] or f"{userland}@{arch}" in row[0]


def worse(arch, userland, results):
    """Lines about what is in the list and does not pass."""
    table = rows()
    return [
        f"{test}: {result.word} with {userland} on {arch}, and it has passed: {result.reason()}"
        for test, result in results.items()
        if test in table and must_pass(table[test], arch, userland) and result.word != "PASS"
    ]


def merged(outcome):
    """The list's rows with what passes now: {(arch, userland): results} may be only a part."""
    table = rows()
    for (arch, userland), results in outcome.items():
        for test, result in results.items():
            where, why = table.get(test, ([], ""))
            if result.word == "PASS" and CHANCE not in where and not must_pass((where, why), arch, userland):
                where = [*where, f"{userland}@{arch}"]
                both = [f"{userland}@{one}" for one in MACHINES]
                if set(both) <= set(where):
                    where = [one for one in where if one not in both] + [userland]
            table[test] = (sorted(where), why)
    return table


def write_list(table):
    with open(LIST, encoding="utf-8") as file:
        head = [line for line in file if line.startswith("#")]
    width = max(map(len, table))
    with open(LIST, "w", encoding="utf-8") as file:
        file.writelines([*head, "\n"])
        for test, (where, why) in sorted(table.items(), key=lambda one: order(one[0])):
            file.write(f"{test.ljust(width)} {','.join(where) or '-'} {why}".rstrip() + "\n")


def order(test):
    """Those of instances stand behind the others, as they run."""
    return INSTANCE in test, test


def cell(result):
    return result.word if result else "not run"


def reasons(test, row, results):
    """Why not PASS: the list's words, else those of the logs."""
    if all(result.word in ("PASS", "XFAIL") for result in results if result):
        return ""
    said = [row[1]] if row[1] else list(dict.fromkeys(r.reason() for r in results if r and r.word != "PASS"))
    return "; ".join(said).replace("|", "\\|")


def write_page(outcome):
    """The table of docs/ftracetest.md, behind its words."""
    table = rows()
    columns = [(arch, userland) for userland in USERLANDS for arch in MACHINES]
    tests = sorted({test for results in outcome.values() for test in results}, key=order)
    with open(PAGE, encoding="utf-8") as file:
        head = file.read().split("\n| test |")[0]
    lines = [
        f"| test | {' | '.join(f'{userland}, {arch}' for arch, userland in columns)} | why not |",
        "|---" * 6 + "|",
    ]
    passed = [sum(r.word == "PASS" for r in outcome.get(one, {}).values()) for one in columns]
    lines.append(f"| **PASS, of {len(tests)}** | {' | '.join(f'**{number}**' for number in passed)} | |")
    for test in tests:
        results = [outcome.get(one, {}).get(test) for one in columns]
        why = reasons(test, table.get(test, ([], "")), results)
        lines.append(f"| {test.replace(INSTANCE, ', in an instance')} | {' | '.join(map(cell, results))} | {why} |")
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(head + "\n" + "\n".join(lines) + "\n")


def show(arch, userland, results):
    print(f"\n{arch}, {userland}: ", end="")
    print(", ".join(f"{sum(r.word == word for r in results.values())} {word}" for word in RESULTS))
    for test in sorted(results, key=order):
        result = results[test]
        print(f"  {result.word.ljust(12)}{test}{'' if result.word == 'PASS' else ': ' + result.reason()}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    goals = {name: arch for arch, machine in MACHINES.items() for name in (arch, machine.goal)}
    parser.add_argument("--arch", action="append", choices=goals, help="only this machine; repeatable")
    parser.add_argument("--with", action="append", choices=USERLANDS, dest="userlands", help="only with these programs")
    parser.add_argument("--write", action="store_true", help="write docs/ftracetest.md and add to the list")
    parser.add_argument("tests", nargs="*", metavar="TEST")
    args = parser.parse_args()
    outcome, bad = {}, []
    for arch in [goals[name] for name in args.arch or MACHINES]:
        for userland in args.userlands or USERLANDS:
            try:
                results = run(arch, userland, args.tests)
            except GuestError as error:
                print(f"ftracetest: {arch}, {userland}: {error}", file=sys.stderr)
                return 1
            if results is None:
                print(
                    f"ftracetest: {arch}: no {userland} (make busybox, make debian-root), or no source of Linux",
                    file=sys.stderr,
                )
                continue
            show(arch, userland, results)
            outcome[arch, userland] = results
            bad += worse(arch, userland, results)
    if args.write:
        write_list(merged(outcome))
        write_page(outcome)
    print(*bad, sep="\n", file=sys.stderr)
    return 1 if bad or not outcome else 0


if __name__ == "__main__":
    sys.exit(main())
