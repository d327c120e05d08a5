"""The expressions in an event's print format ("..." of `format`), as functions of a record.

That text is in the kernel for programs that read records raw, and says all there is to say; so no event needs code
here."""

import re

import gdb

from vt import kernel

TOKEN = re.compile(
    r"""\s*(?:(?P<number>0[xX][0-9a-fA-F]+|\d+)[uUlL]*|(?P<text>"(?:[^"\\]|\\.)*")|(?P<char>'(?:[^'\\]|\\.)')
                       |(?P<name>\w+)
                       |(?P<mark>->|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^~!<>?:()\[\]{},.]))""",
    re.X,
)
TYPES = {
    "void",
    "char",
    "short",
    "int",
    "long",
    "unsigned",
    "signed",
    "const",
    "struct",
    "u8",
    "u16",
    "u32",
    "u64",
    "s8",
    "s16",
    "s32",
    "s64",
    "size_t",
    "bool",
}
BITS = {"char": 8, "u8": 8, "short": 16, "u16": 16, "int": 32, "u32": 32, "s8": 8, "s16": 16, "s32": 32}
LEVELS = (
    ("||",),
    ("&&",),
    ("|",),
    ("^",),
    ("&",),
    ("==", "!="),
    ("<", ">", "<=", ">="),
    ("<<", ">>"),
    ("+", "-"),
    ("*", "/", "%"),
)
WORD = kernel.ALL
OPERATORS = {
    "||": lambda a, b: int(bool(a) or bool(b)),
    "&&": lambda a, b: int(bool(a) and bool(b)),
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "&": lambda a, b: a & b,
    "==": lambda a, b: int(a & WORD == b & WORD),
    "!=": lambda a, b: int(a & WORD != b & WORD),
    "<": lambda a, b: int(a < b),
    ">": lambda a, b: int(a > b),
    "<=": lambda a, b: int(a <= b),
    ">=": lambda a, b: int(a >= b),
    "<<": lambda a, b: a << b & WORD,
    ">>": lambda a, b: a >> b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}
ESCAPES = {"n": "\n", "t": "\t", "\\": "\\", '"': '"'}


def unescaped(text):
    return re.sub(r"\\(.)", lambda match: ESCAPES.get(match[1], match[1]), text)


def tokens(text):
    found, at = [], 0
    while at < len(text.rstrip()):
        match = TOKEN.match(text, at)
        if not match:
            raise gdb.GdbError(f"a print format that is not understood: {text[at : at + 40]}")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


# ---- What may be called there (include/trace/stages/7_print.h)


def flags_text(value, delim, names):
    found = []
    for mask, name in names:
        if not value:
            break
        if mask and value & mask == mask:
            found.append(name)
            value &= ~mask
    return delim.join(found + ([f"{value:#x}"] if value else []))


def symbol_text(value, names):
    return next((name for mask, name in names if mask == value), f"{value:#x}")


def bitmask_text(data):
    words = [int.from_bytes(data[at : at + 4], "little") for at in range(0, len(data) - 3, 4)]
    return ",".join(f"{word:08x}" for word in reversed(words))


def array_text(data, count, size):
    return (
        "{" + ",".join(f"{int.from_bytes(data[n * size : n * size + size], 'little'):#x}" for n in range(count)) + "}"
    )


CALLS = {
    "__print_flags": lambda record, value, delim, *names: flags_text(value & WORD, delim, names),
    "__print_symbolic": lambda record, value, *names: symbol_text(value & WORD, names),
    "__print_hex": lambda record, data, size: " ".join(f"{byte:02x}" for byte in data[:size]),
    "__print_hex_str": lambda record, data, size: data[:size].hex(),
    "__print_array": lambda record, data, count, size: array_text(data, count, size),
}
# Those that name a field, whose argument is no value.
FIELDS = {
    "__get_str": lambda data: data.split(b"\0", 1)[0].decode(errors="replace"),
    "__get_dynamic_array": lambda data: data,
    "__get_dynamic_array_len": len,
    "__get_bitmask": bitmask_text,
    "__get_cpumask": bitmask_text,
}


class Parser:
    """Makes functions of a record (a mapping from names of fields to values) from the tokens of expressions."""

    def __init__(self, text):
        self.tokens, self.at = tokens(text), 0

    def peek(self, ahead=0):
        return self.tokens[self.at + ahead][1] if self.at + ahead < len(self.tokens) else None

    def take(self, wanted=None):
        if self.at >= len(self.tokens) or wanted and self.peek() != wanted:
            raise gdb.GdbError(f"a print format that is not understood: {wanted} is wanted, {self.peek()} is there")
        self.at += 1
        return self.tokens[self.at - 1]

    def separated(self, end):
        """Expressions up to a closing mark."""
        found = []
        while self.peek() != end:
            found.append(self.expression())
            if self.peek() != end:
                self.take(",")
        self.take(end)
        return found

    def expression(self):
        value = self.binary(0)
        if self.peek() != "?":
            return value
        self.take("?")
        yes = self.expression()
        self.take(":")
        no = self.expression()
        return lambda record: yes(record) if value(record) else no(record)

    def binary(self, level):
        if level == len(LEVELS):
            return self.unary()
        left = self.binary(level + 1)
        while self.peek() in LEVELS[level]:
            left = self._applied(OPERATORS[self.take()[1]], left, self.binary(level + 1))
        return left

    @staticmethod
    def _applied(operator, left, right):
        return lambda record: operator(left(record), right(record))

    def unary(self):
        mark = self.peek()
        if mark == "(" and self.peek(1) in TYPES:
            return self.cast()
        if mark in ("~", "!", "-", "+"):
            self.take()
            inner = self.unary()
            return {
                "~": lambda record: ~inner(record) & WORD,
                "!": lambda record: int(not inner(record)),
                "-": lambda record: -inner(record),
                "+": inner,
            }[mark]
        return self.postfix()

    def cast(self):
        self.take("(")
        names = []
        while self.peek() != ")":
            names.append(self.take()[1])
        self.take(")")
        inner = self.unary()
        bits = 64 if "*" in names or "long" in names else next((BITS[name] for name in names if name in BITS), 64)
        signed = not {"unsigned", "*", "u8", "u16", "u32", "u64", "size_t"} & set(names)

        def value(record):
            number = inner(record)
            if not isinstance(number, int):
                return number
            number &= (1 << bits) - 1
            return number - (1 << bits) if signed and number >> bits - 1 else number

        return value

    def postfix(self):
        value = self.primary()
        while self.peek() == "[":
            self.take()
            index = self.expression()
            self.take("]")
            value = self._element(value, index)
        return value

    @staticmethod
    def _element(value, index):
        return lambda record: value(record)[index(record)]

    def primary(self):
        kind, text = self.take()
        if kind == "number":
            number = (
                int(text, 0) if not text.startswith("0") or text[1:2] in ("x", "X") or text == "0" else int(text, 8)
            )
            return lambda record: number
        if kind == "text":
            constant = unescaped(text[1:-1])
            while self.at < len(self.tokens) and self.tokens[self.at][0] == "text":
                constant += unescaped(self.take()[1][1:-1])
            return lambda record: constant
        if kind == "char":
            code = ord(unescaped(text[1:-1]))
            return lambda record: code
        if text == "(":
            value = self.expression()
            self.take(")")
            return value
        if text == "{":
            pair = self.separated("}")
            return lambda record: tuple(one(record) for one in pair)
        return self.named(text)

    def named(self, name):
        if name == "REC":
            self.take("->")
            field = self.take()[1]
            return lambda record: record[field]
        if name in FIELDS:
            self.take("(")
            field = self.take()[1]
            self.take(")")
            return lambda record: FIELDS[name](record.data(field))
        if name in CALLS:
            self.take("(")
            arguments = self.separated(")")
            return lambda record: CALLS[name](record, *(one(record) for one in arguments))
        return lambda record: int(kernel.variable(name))


def print_format(text):
    """("format", [functions of a record]) of a print format."""
    end = text.index('"', 1)
    parser = Parser(text[end + 1 :].lstrip(", \t"))
    arguments = []
    while parser.peek() is not None:
        arguments.append(parser.expression())
        if parser.peek() is not None:
            parser.take(",")
    return text[1:end], arguments
