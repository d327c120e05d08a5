#!/usr/bin/python3
"""Turn lines `source<tab>command` into compile_commands.json on standard output."""

import json
import os
import sys


def main():
    entries = []
    with open(sys.argv[1], encoding="utf-8") as lines:
        for line in lines:
            source, command = line.rstrip("\n").split("\t", 1)
            entries.append({"directory": os.getcwd(), "file": source, "command": command})
    json.dump(entries, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
