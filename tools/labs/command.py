#!/usr/bin/python3
"""Course labs: parts of this kernel to write, and points for what the kernel then really does (docs/labs.md).

For a student:
    tools/lab list                        the labs, their points, and what each teaches
    tools/lab start NAME [--dir DIR]      a branch of your own (or a folder with one) that lacks what the lab asks for
    tools/lab grade [--json FILE]         the points, what was expected and what was seen (`make grade` does the same)
    tools/lab diff                        what you have changed
    tools/lab submit [FILE]               the same as a patch to hand in
For an instructor:
    tools/lab check [NAME...] [--short]   whether each lab's points say what they should
    tools/lab export DIR [--labs A,B]     a repository to hand out
    tools/lab seed CLASS.csv              numbers of their own for each student
    tools/lab solve NAME --seed N         the answers of a lab without code, for this seed
    tools/lab grade-all NAME DIR [-j N]   grade each NAME.patch of a folder
"""

import argparse
import os
import subprocess
import sys

sys.dont_write_bytecode = True


def lacks(name):
    """The exit status after a line on a module of Python or a program that this computer lacks: make builds a kernel
    without those that only labs need."""
    print(f"lab: {name} is missing: `make deps` installs it, and all else that grading needs", file=sys.stderr)
    return 2


try:
    from catalogue import LabError, all_labs, find
except ModuleNotFoundError as lacking:
    sys.exit(lacks(lacking.name.partition(".")[0]))

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


MACHINE_NAMES = {"arm64": "aarch64"}  # beside their own


def arches(lab, chosen):
    """The machines to grade on: all of the lab's, or those that were chosen, by either name."""
    chosen = [MACHINE_NAMES.get(one, one) for one in chosen or lab.machines]
    for one in chosen:
        if one not in lab.machines:
            raise LabError(f"lab {lab.name} is for {', '.join(lab.machines)}, not for {one}")
    return chosen


def count(text):
    """How many at a time, for argparse."""
    number = int(text)
    if number < 1:
        raise ValueError(text)
    return number


def cmd_list(_):
    for lab in all_labs():
        print(
            f"{lab.number:3} {lab.name:14} {lab.points:4} points  {lab.weeks} week{'s' if lab.weeks != 1 else ' '}  {lab.title}"
        )
        print(f"    {lab.teaches}")


def cmd_start(args):
    import student

    before, others = student.written_before(ROOT)
    traces_nothing = student.traces_nothing(ROOT, find(args.name).name)
    lab, top = student.start(ROOT, args.name, args.dir, args.seed)
    where = os.path.join("labs", os.path.basename(lab.folder), "handout.md")
    print(f"lab {lab.name}: {lab.title}\n  read   {where}")
    if lab.files:
        print(f"  edit   {', '.join(lab.files)}")
    print(
        f"  try    make qemu-arm64    (gdb: make gdb-arm64, with labs/{os.path.basename(lab.folder)}/hints.gdb)\n  points make grade"
    )
    if before:
        print(f"  with   what you have committed for lab {before}")
    elif others:
        print(
            f"  lacks  what you have written for {', '.join(others)} as well: to build on that, `git switch main`,"
            f" `git branch -D lab/{lab.name}`, `git switch lab/{others[-1]}`, and start this lab there"
        )
    if traces_nothing:
        print(
            "  first  lab mcount: until that is written, this tree traces no function and no event. Then start this lab on"
            " its branch"
        )
    if args.dir:
        print(f"  all of that in {top}")


def cmd_grade(args):
    import grading
    import student

    if args.patch:
        if not args.name:
            raise LabError("grade --patch FILE needs the lab's name")
        lab, seed = find(args.name), args.seed or 1
        workshop = student.workshop_of_patch(lab, args.patch, lab.name, ROOT)
    else:
        started = student.Started(ROOT)
        lab, seed = started.lab, args.seed or started.seed
        if args.name and find(args.name).name != lab.name:
            raise LabError(f"this is the tree of lab {lab.name}")
        others = started.others()
        if others:
            print(f"lab: not counted, as it is not part of this lab: {', '.join(others[:5])}", file=sys.stderr)
        workshop = student.workshop_of(started)
    results, figures = grading.run_checks(lab, workshop, arches(lab, args.arch), seed)
    grading.text(lab, seed, results, figures)
    if args.json:
        grading.save(args.json, results, figures)
    return 1 if any(result.lost for result in results) else 0


def cmd_diff(_):
    import student

    sys.stdout.buffer.write(student.Started(ROOT).patch().encode(errors="surrogateescape"))


def cmd_submit(args):
    import student

    started = student.Started(ROOT)
    others = started.others()
    if others:
        raise LabError(
            f"these files are not part of lab {started.lab.name}: {', '.join(others[:5])}; `git checkout {started.begin[:12]} -- FILE`"
            " puts one back, `git rm` or rm removes a new one"
        )
    text = started.patch()
    if not text:
        raise LabError("nothing was changed yet")
    path = args.file or f"{started.lab.name}.patch"
    with open(path, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
        file.write(text)
    print(f"{path}: {text.count(chr(10))} lines to hand in")


def cmd_check(args):
    import proving

    labs = [find(name) for name in args.names] if args.names else all_labs()
    machines = {MACHINE_NAMES.get(one, one) for one in args.arch or ()}
    for one in machines - {machine for lab in labs for machine in lab.machines}:
        raise LabError(f"none of these labs is for {one}")
    return 0 if proving.table(labs, args.short, args.jobs, args.only, machines, args.seed) else 1


def cmd_export(args):
    import course

    course.export(args.dir, args.labs.split(",") if args.labs else None)


def cmd_seed(args):
    import course

    course.seeds(args.file, args.key)


def cmd_solve(args):
    import grading
    from workshop import Workshop

    lab = find(args.name)
    if not lab.solve:
        raise LabError(f"lab {lab.name} is code: its solution is this tree")
    if not os.path.exists(os.path.join(ROOT, lab.solve)):
        raise LabError(f"what answers lab {lab.name} was not handed out with this tree")
    workshop = Workshop("solve")
    workshop.tree(lab, start=False)
    print(grading.solve(lab, workshop, arches(lab, args.arch), args.seed), end="")


def cmd_grade_all(args):
    import course

    course.grade_all(args.name, args.dir, course.read_seeds(args.seeds) if args.seeds else {}, args.jobs)


def parse():
    parser = argparse.ArgumentParser(
        prog="lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def command(name, function, help_text):
        sub = commands.add_parser(name, help=help_text)
        sub.set_defaults(function=function)
        return sub

    command("list", cmd_list, "the labs")
    sub = command("start", cmd_start, "begin one")
    sub.add_argument("name")
    sub.add_argument("--dir", help="a folder for it, in place of this tree's branch")
    sub.add_argument("--seed", type=int, default=1, help="the numbers that your instructor gave you")
    sub = command("grade", cmd_grade, "its points")
    sub.add_argument("name", nargs="?")
    sub.add_argument("--patch", metavar="FILE", help="of this submission, in the whole tree")
    sub.add_argument("--json", metavar="FILE", help="also as Gradescope's results.json")
    sub.add_argument("--seed", type=int)
    sub.add_argument("--arch", action="append", help="only this machine")
    command("diff", cmd_diff, "what you have changed")
    command("submit", cmd_submit, "it as a patch").add_argument("file", nargs="?")
    sub = command("check", cmd_check, "whether the labs are right")
    sub.add_argument("names", nargs="*", metavar="NAME")
    sub.add_argument("--short", action="store_true", help="one wrong solution of each lab")
    sub.add_argument("--only", action="append", metavar="ROW", help="solution, start, or a wrong solution's name")
    sub.add_argument("--arch", action="append", help="only this machine")
    sub.add_argument("--seed", type=int, default=1, help="with the numbers of another student")
    sub.add_argument("-j", dest="jobs", type=count, default=2, metavar="N", help="rows at a time (2)")
    sub = command("export", cmd_export, "a repository to hand out")
    sub.add_argument("dir")
    sub.add_argument("--labs", help="only these")
    sub = command("seed", cmd_seed, "numbers for a class")
    sub.add_argument("file")
    sub.add_argument("--key", metavar="FILE", help="the key that they follow from (CLASS.key)")
    sub = command("solve", cmd_solve, "the answers of a lab without code")
    sub.add_argument("name")
    sub.add_argument("--seed", type=int, default=1)
    sub.add_argument("--arch", action="append", help="only this machine")
    sub = command("grade-all", cmd_grade_all, "grade a class")
    sub.add_argument("name")
    sub.add_argument("dir")
    sub.add_argument("--seeds", metavar="FILE", help="what `seed` printed")
    sub.add_argument("-j", dest="jobs", type=count, default=1, metavar="N")
    return parser.parse_args()


def main():
    args = parse()
    try:
        return args.function(args) or 0
    except LabError as error:
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except ModuleNotFoundError as error:
        return lacks(error.name.partition(".")[0])
    except (OSError, subprocess.CalledProcessError) as error:
        if os.environ.get("LAB_DEBUG"):
            raise
        if isinstance(error, FileNotFoundError) and os.path.basename(str(error.filename)) == error.filename:
            return lacks(error.filename)  # a program is named without a folder
        print(f"lab: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130


if __name__ == "__main__":
    sys.exit(main())
