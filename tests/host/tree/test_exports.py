"""docs/exported.md lists what modules may use: it is what the tool makes of the kernels as they are built."""

import re

import exports
from tree import read


def test_page_is_current():
    """`tools/exports.py --write` brings it up to date."""
    assert read("docs/exported.md") == exports.page()


def test_every_name_has_its_header():
    """Each exported name but tracepoints has one row, and stands in the header that the row names. Tracepoints have a
    header."""
    found = exports.machines()
    names = exports.listed(found)
    rows = re.findall(r"^\| `(\w+)`.*? \| `([\w/.]+)` \| ", read("docs/exported.md"), re.M)
    assert len(rows) == len(names) > 300
    for name, header in rows:
        assert re.search(rf"\b{name}\b", exports.headers()[header]), (name, header)
    assert all(exports.header_of(name) for name in set().union(*found.values()).difference(names))


def test_what_is_a_declaration():
    """Functions, arrays, variables, several in one statement, macros that declare; not what is static, nor a comment."""
    cases = {
        "int printk(const char *fmt, ...) __printf(1, 2)": "printk",
        "extern unsigned nr_cpu_ids": "nr_cpu_ids",
        "extern const char names[NR][8] __aligned(8)": "names",
        "TRACE_EVENT(module_load, TP_PROTO(int a))": "__tracepoint_module_load",
        "DEFINE_EVENT(module_refcnt, module_get, TP_PROTO(int a))": "__tracepoint_module_get",
        "DECLARE_STATIC_KEY(trace_irqs_key)": "trace_irqs_key",
    }
    for statement, name in cases.items():
        assert name in exports.declared(statement), statement
    assert not exports.declared("static inline int one(void)")
    assert exports.statements("int a; /* int b; */ int c(void) { d(); }\n#define E(x) \\\n\tint e;\n") == [
        "int a",
        "   int c(void) ",
        "\n\n",
    ]
