#!/usr/bin/python3
"""Turn files of lines `source<tab>command` into compile_commands.json on standard output; of a source that is in
several, the first line counts."""

import json
import os
import sys


def main():
    commands = {}
    for path in sys.argv[1:]:
        with open(path, encoding="utf-8") as lines:
            for line in lines:
                source, command = line.rstrip("\n").split("\t", 1)
                commands.setdefault(source, command)
    entries = [{"directory": os.getcwd(), "file": source, "command": command} for source, command in commands.items()]
    json.dump(entries, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
