"""One-line mutations of C: what a mutation is, the curated list, and those made by rule."""

import dataclasses
import hashlib
import pathlib
import random
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
CURATED = pathlib.Path(__file__).with_name("curated.txt")
FOLDERS = ("arch", "boot", "drivers", "kernel", "samples", "trace")
SYMMETRIC = ("swap", "min", "max")
KEYWORDS = ("if", "for", "while", "switch", "return", "sizeof", "else", "do", "case", "goto")


class BadList(Exception):
    """A mutation of the curated list that does not fit the source; the text says which and why."""


@dataclasses.dataclass(frozen=True)
class Mutation:
    file: str  # relative to the tree
    line: int  # 1...
    new: str  # the line's text afterwards, without its indentation
    rule: str  # what was done to it; 'curated' for the list
    old: str  # the line's text before, without its indentation
    equivalent: str = ""  # why no test can notice, if none can

    @property
    def key(self):
        """The same for the same change at the same text, wherever the line has moved to."""
        text = "\0".join((self.file, self.old, self.new, str(occurrence(self))))
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def applied(self):
        """The file's text with this mutation in it."""
        lines = (ROOT / self.file).read_text().split("\n")
        before = lines[self.line - 1]
        indentation = before[: len(before) - len(before.lstrip())]
        lines[self.line - 1] = indentation + self.new
        return "\n".join(lines)

    def __str__(self):
        return f"{self.file}:{self.line}: {self.old}  ->  {self.new}"


def occurrence(mutation):
    """Which of the file's lines with this text it is, 0..."""
    lines = (ROOT / mutation.file).read_text().split("\n")[: mutation.line - 1]
    return sum(squeezed(line) == squeezed(mutation.old) for line in lines)


def squeezed(text):
    return " ".join(text.split())


# ---- The curated list: blocks of lines
#     kernel/sched/fair.c
#     - the line as it is          (unique in the file, or '-f': in the function f, '-f:2': the second one there)
#     + the line with the bug
#     = why no test can notice     (only where that is so)


def curated():
    """All mutations of the list. Raises BadList, which names each that does not fit its file any more."""
    found, wrong, file, old, new, where = [], [], None, None, None, ""

    def finish(equivalent=""):
        if new is not None:
            try:
                found.append(curated_one(file, old, where, new, equivalent))
            except BadList as error:
                wrong.append(str(error))

    for number, line in enumerate(CURATED.read_text().splitlines(), 1):
        mark, _, text = line.partition(" ")
        if not line.strip() or line.startswith("#"):
            continue
        if re.fullmatch(r"-(\w+(:\d+)?)?", mark):
            finish()
            old, where, new = text.strip(), mark[1:], None
        elif mark == "+":
            new = text.strip()
        elif mark == "=":
            finish(text.strip())
            new = None
        elif " " not in line:
            finish()
            file, new = line, None
        else:
            raise BadList(
                f"curated.txt:{number}: a line begins with none of '- ', '+ ', '= ', '#', and is no file: {line}"
            )
    finish()
    if wrong:
        raise BadList("\n".join(wrong))
    return found


def functions(lines):
    """For each line the name of the function in whose body it is, or None."""
    head = name = None
    for line in lines:
        # The last line of the head that has a name and is not indented; of SYSCALL_DEFINE3(read, ...) it is read.
        if found := re.match(r"(?:\w+DEFINE\d?\(|\w.*?\b(?=\w+\())(\w+)", line):
            head = found[1]
        if line == "{":
            name = head
        yield name
        if line.startswith("}"):
            name = None


def curated_one(file, old, where, new, equivalent):
    """`where`: empty, a function, or FUNCTION:N for its N-th such line."""
    path = ROOT / file
    if not path.is_file():
        raise BadList(f"curated.txt: there is no file {file}")
    lines = path.read_text().split("\n")
    function, _, nth = where.partition(":")
    places = [
        n
        for n, (line, inside) in enumerate(zip(lines, functions(lines)), 1)
        if squeezed(line) == squeezed(old) and function in ("", inside)
    ]
    if len(places) < int(nth or 1) or (not nth and len(places) > 1):
        raise BadList(
            f"curated.txt: {file} has {len(places)} lines '{old}'{' in ' + function if function else ''}"
            + (": say which by '-FUNCTION' or '-FUNCTION:N'" if places and not nth else "")
        )
    return Mutation(file, places[int(nth or 1) - 1], new, "curated", old, equivalent)


# ---- Those made by rule: each yields what a line may become


def negated(line):
    """The condition of an if, turned round."""
    if match := re.fullmatch(r"((?:\} else )?if \()(.+)(\)(?: \{)?)", line):
        if balanced(match[2]):
            yield f"{match[1]}!({match[2]}){match[3]}"


def compared(line):
    """A comparison that takes in its border, or leaves it out; == and != exchanged."""
    turned = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
    for match in re.finditer(r" (<=|>=|==|!=|<|>) ", line):
        yield f"{line[: match.start(1)]}{turned[match[1]]}{line[match.end(1):]}"


def off_by_one(line):
    for match in re.finditer(r" ([+-]) 1\b(?![.<])", line):
        yield line[: match.start()] + line[match.end() :]
    for match in re.finditer(r"(?<= = )[01](?=;)", line):
        yield f"{line[: match.start()]}{1 - int(match[0])}{line[match.end():]}"


def dropped(line):
    """A statement that is not there: a call, an assignment, a barrier, a lock or its release."""
    if re.fullmatch(r"[A-Za-z_]\w*\([^{}]*\);", line) and not line.startswith(KEYWORDS):
        yield ";"
    elif re.fullmatch(r"[A-Za-z_*(][\w\->.\[\]*() ]* (?:[|&+\-^]|<<|>>)?= [^={}]*;", line) and not re.match(
        r"[a-z_0-9]+(?: [a-z_0-9*]+)+ \*?\w+ =|(?:const|struct|unsigned|u\d+|int|long|bool|char|size_t|static) ", line
    ):
        yield ";"
    elif re.fullmatch(r"[\w\->.\[\]*()]+(?:\+\+|--);|(?:\+\+|--)[\w\->.\[\]]+;", line):
        yield ";"


def swapped(line):
    """The first two arguments of a call, exchanged."""
    for match in re.finditer(r"\b([a-z_]\w*)\(([\w\->.&*]+), ([\w\->.&*]+)(?=[,)])", line):
        if match[1] not in (*KEYWORDS, *SYMMETRIC) and match[2] != match[3]:
            yield f"{line[: match.start()]}{match[1]}({match[3]}, {match[2]}{line[match.end():]}"


def joined(line):
    turned = {"&&": "||", "||": "&&"}
    for match in re.finditer(r" (&&|\|\|) ", line):
        yield f"{line[: match.start(1)]}{turned[match[1]]}{line[match.end(1):]}"


def answered(line):
    """An error that is not told, or a truth turned round."""
    if re.fullmatch(r"return -E[A-Z0-9]+;", line):
        yield "return 0;"
    for match in re.finditer(r"\b(true|false)\b", line):
        yield f"{line[: match.start()]}{'false' if match[0] == 'true' else 'true'}{line[match.end():]}"


def masked(line):
    """Bits that are set where they should be cleared, or the other way round."""
    turned = {" |= ": " &= ", " &= ~": " |= ", " & ~": " & ", " << ": " >> ", " >> ": " << "}
    for before, after in turned.items():
        for match in re.finditer(re.escape(before), line):
            yield line[: match.start()] + after + line[match.end() :]


RULES = (negated, compared, off_by_one, dropped, swapped, joined, answered, masked)


def balanced(text):
    depth = 0
    for char in text:
        depth += {"(": 1, ")": -1}.get(char, 0)
        if depth < 0:
            return False
    return depth == 0


def body_lines(text):
    """(number, line) of what stands in functions' bodies, comments and strings' lines left out."""
    inside = comment = False
    for number, line in enumerate(text.split("\n"), 1):
        if line == "{":
            inside = True
        elif line.startswith("}"):
            inside = False
        stripped = line.strip()
        starts = stripped.startswith("/*")
        if (
            inside
            and not comment
            and not starts
            and stripped
            and not stripped.startswith(("#", "{", "//", '"', "*"))
            and not stripped.endswith("\\")
        ):
            yield number, re.sub(r"\s*/\*.*\*/$", "", stripped)
        if starts or comment:
            comment = "*/" not in stripped


def generated(file):
    """All mutations that the rules make of a file."""
    path = ROOT / file
    for number, line in body_lines(path.read_text()):
        if "WARN_ON" in line or "BUG_ON" in line or "static_assert" in line or "asm" in line:
            continue  # they look after the rest, and never act in a healthy kernel
        for rule in RULES:
            for new in dict.fromkeys(rule(line)):
                yield Mutation(file, number, new, rule.__name__, line)


def sources(words):
    """The C files that these files, folders or glob patterns name; all of the kernel when there is none. Modules are
    built by make M=, and are not the kernel."""
    every = sorted(str(path.relative_to(ROOT)) for folder in FOLDERS for path in (ROOT / folder).rglob("*.c"))
    every = [file for file in every if not file.startswith("samples/modules/")]
    if not words:
        return every
    found = [
        file
        for file in every
        if any(
            file == word or file.startswith(word.rstrip("/") + "/") or pathlib.PurePath(file).match(word)
            for word in words
        )
    ]
    if not found:
        raise BadList(f"no C file of {', '.join(FOLDERS)} is named by {' '.join(words)}")
    return found


def sample(files, count, seed):
    """So many mutations by rule, the same for the same seed and text; every rule has its turn, so that the frequent do
    not crowd out the rare."""
    rng = random.Random(seed)
    by_rule = {rule.__name__: [] for rule in RULES}
    for file in files:
        for mutation in generated(file):
            by_rule[mutation.rule].append(mutation)
    for pool in by_rule.values():
        rng.shuffle(pool)
    found = []
    while len(found) < count and any(by_rule.values()):
        for pool in by_rule.values():
            if pool and len(found) < count:
                found.append(pool.pop())
    return found
