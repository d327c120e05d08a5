#!/usr/bin/python3
"""Make what /proc/config.gz and /boot/config-RELEASE hold, from kernel/init/config.list, whose head says what stands
there.

    kconfig.py --arch x86_64 [--without NAME]... [--also NAME]... [--left-out ROOM]... --release 6.12 --text config
               --header config_gz.h LIST

The header is an array of the bytes of the compressed text. The same list gives the same bytes.
"""

import argparse
import gzip
import re
from collections import namedtuple
from pathlib import Path

Option = namedtuple("Option", "name value evidence room")


def read_list(path, arch):
    """The options of one machine, in order."""
    options = []
    for number, line in enumerate(Path(path).read_text().splitlines(), 1):
        line, _, room = line.partition("#")[0].partition("@")
        words = line.split()
        if not words:
            continue
        if (
            len(words) not in (3, 4)
            or not re.fullmatch(r"[A-Z0-9_]+", words[0])
            or not re.fullmatch(r"y|n|\d+", words[1])
        ):
            raise SystemExit(f"{path}:{number}: '{line}' is not NAME y|n|NUMBER EVIDENCE [MACHINE]")
        if len(words) == 3 or words[3] == arch:
            options.append(Option(*words[:3], room.strip()))
    return options


def config_text(options, release, without=(), also=(), left_out=()):
    lines = ["#", f"# Vitrine {release}: made from kernel/init/config.list", "#"]
    for option in options:
        missing = (option.value == "n" or option.name in without) and option.name not in also or option.room in left_out
        value = "y" if option.name in also else option.value
        lines.append(f"# CONFIG_{option.name} is not set" if missing else f"CONFIG_{option.name}={value}")
    return "\n".join(lines) + "\n"


def header_text(data):
    rows = (", ".join(f"0x{byte:02x}" for byte in data[at : at + 16]) for at in range(0, len(data), 16))
    return (
        "/* Made by tools/kconfig.py. */\nstatic const unsigned char config_gz[] = {\n\t"
        + ",\n\t".join(rows)
        + ",\n};\n"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("arch", "release", "text", "header"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--without", action="append", default=[])
    parser.add_argument("--also", action="append", default=[])
    parser.add_argument("--left-out", action="append", default=[])
    parser.add_argument("list")
    args = parser.parse_args()
    text = config_text(read_list(args.list, args.arch), args.release, args.without, args.also, args.left_out)
    Path(args.text).write_text(text)
    Path(args.header).write_text(header_text(gzip.compress(text.encode(), 9, mtime=0)))


if __name__ == "__main__":
    main()
