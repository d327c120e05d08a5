"""printf as the kernel has it (kernel/lib/vsprintf.c), for arguments that are Python's: numbers, strings, addresses."""

import re

from vt import kernel

SPEC = re.compile(r"%([-+ #0]*)(\*|\d+)?(?:\.(\*|\d+)?)?(hh|h|ll|l|L|q|j|z|t)?([a-zA-Z%])")
BITS = {"hh": 8, "h": 16, None: 32}
UNSIGNED = {"u": "d", "x": "x", "X": "X", "o": "o"}


def text_of(value):
    """What %s shows: a text that we have, or one in memory."""
    if isinstance(value, bytes):
        return value.split(b"\0", 1)[0].decode(errors="replace")
    if isinstance(value, str):
        return value
    return kernel.constant_text(value) if value else "(null)"


def pointer(value, kind):
    """%p and its kinds: (text, letters used up)."""
    places = {
        "s": kernel.symbols().name,
        "S": kernel.symbols().place,
        "B": lambda address: kernel.symbols().place(address, 1),
    }
    if kind[:1] in places:
        return places[kind[0]](value), 1
    return f"{value:016x}", 1 if kind[:1] == "x" else 0


def integer(value, letter, length):
    bits = BITS.get(length, 64)
    value &= (1 << bits) - 1
    if letter in "di" and value >> bits - 1:
        value -= 1 << bits
    return value


def padded(text, flags, width):
    return text.ljust(width) if "-" in flags else text.rjust(width)


def number(value, flags, width, precision, letter):
    digits = format(abs(value), UNSIGNED.get(letter, "d"))
    digits = digits.rjust(int(precision or 0), "0")
    prefix = "0x" if "#" in flags and letter in "xX" and value else ""
    sign = "-" if value < 0 else "+" if "+" in flags else " " if " " in flags else ""
    if "0" in flags and "-" not in flags and precision is None:
        digits = digits.rjust(width - len(prefix + sign), "0")
    return padded(sign + prefix + digits, flags, width)


def parsed(fmt):
    """Texts and conversions in turn: strings, and (flags, width, precision, length, letter, what stands behind)."""
    at = 0
    for match in SPEC.finditer(fmt):
        if match.start() < at:
            continue
        if match.start() > at:
            yield fmt[at : match.start()]
        dotted = "." in match.group(0)
        yield match[1], match[2], (match[3] or "0") if dotted else None, match[4], match[5], fmt[
            match.end() : match.end() + 1
        ]
        at = match.end()
    yield fmt[at:]


def sprintf(fmt, next_argument):
    """next_argument(letter, length): the argument for a conversion; letter "*" for a width."""
    out, skip = [], 0
    for part in parsed(fmt):
        if isinstance(part, str):
            out.append(part[skip:])
            skip = 0
            continue
        flags, width, precision, length, letter, behind = part
        if letter == "%":
            out.append("%")
            continue
        width = integer(next_argument("*", None), "d", None) if width == "*" else int(width or 0)
        precision = str(next_argument("*", None)) if precision == "*" else precision
        value = next_argument(letter, length)
        if letter == "s":
            text = text_of(value)
            out.append(padded(text if precision is None else text[: int(precision)], flags, width))
        elif letter == "c":
            out.append(padded(chr(value & 0xFF), flags, width))
        elif letter == "p":
            text, skip = pointer(value & kernel.ALL, behind)
            out.append(padded(text, flags, width))
        else:
            out.append(number(integer(value, letter, length), flags, width, precision, letter))
    return "".join(out)
