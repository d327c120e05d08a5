"""docs/tutorials.md: what tutorials name is here under the name that the page says, and what is said not to be here is
not."""

import importlib.machinery
import importlib.util
import os

import pytest
from vitrine_guest import ROOT

LOADER = importlib.machinery.SourceFileLoader("doc_tutorials", os.path.join(ROOT, "tools/doc-tutorials"))
tutorials = importlib.util.module_from_spec(importlib.util.spec_from_loader("doc_tutorials", LOADER))
LOADER.exec_module(tutorials)

LISTED = {"function": "available_filter_functions", "tracer": "available_tracers"}


@pytest.fixture(scope="module")
def names(machine):
    """(the machine's rows, {kind: names that are there}) of a running guest."""
    rows = [row for row in tutorials.rows() if row[3] in ("both", machine.arch)]
    paths = {
        kind: [name for row in rows if row[0] == kind for name in row[1:3] if name]
        for kind in tutorials.TITLES
        if kind not in LISTED
    }
    there = {}
    with machine.guest() as guest:
        for kind, file in LISTED.items():
            there[kind] = set(guest.run(f"cat /sys/kernel/tracing/{file}")[1].split())
        there["tracer"] |= {"ftrace", "none"}  # names of Linux 2.6.27, which current_tracer takes and nothing lists
        for kind, folder in (("file", ""), ("option", "options/"), ("config", "")):
            found = [name for name in paths[kind] if guest.run(f"test -e /sys/kernel/tracing/{folder}{name}")[0] == 0]
            there[kind] = set(found)
    return rows, there


def test_what_is_said_to_be_here_is(names):
    rows, there = names
    assert [(kind, ours) for kind, _, ours, _, _ in rows if ours and ours not in there[kind]] == []


def test_what_is_said_to_have_another_name_has(names):
    rows, there = names
    assert [(kind, theirs) for kind, theirs, ours, _, _ in rows if ours != theirs and theirs in there[kind]] == []


def test_the_page_is_made_from_the_table():
    with open(tutorials.PAGE, encoding="utf-8") as file:
        page = file.read()
    assert tutorials.filled(page) == page
    assert {row[0] for row in tutorials.rows()} == set(tutorials.TITLES)
