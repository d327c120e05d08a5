"""tools/style.py: each breach is found, and nothing in a clean file."""

import pytest
from style import check, functions

CLEAN = "/* One subject. */\n\n#include <lib/types.h>\n\nint f(int x)\n{\n\treturn x;\n}\n"


def breaches(tmp_path, text, name="kernel/file.c", monkeypatch=None):
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    monkeypatch.chdir(tmp_path)
    return list(check(name))


def test_clean_file(tmp_path, monkeypatch):
    assert breaches(tmp_path, CLEAN, monkeypatch=monkeypatch) == []


LONG = "int f(int x)\n{\n" + "\tx++;\n" * 119 + "}\n"


@pytest.mark.parametrize(
    "text, line, words",
    [
        (CLEAN + "#ifdef __aarch64__\n#endif\n", 9, "machine's name"),
        (CLEAN + "#if defined(__x86_64__)\n#endif\n", 9, "machine's name"),
        (CLEAN + "/* TO" "DO: more */\n", 9, "left-over"),
        (CLEAN + "/* X" "XX: more */\n", 9, "left-over"),
        (CLEAN + "/* " + "x" * 120 + " */\n", 9, "columns"),
        (CLEAN + "\tint x; \n", 9, "white space"),
        (CLEAN + "        int x;\n", 9, "tab"),
        (CLEAN + "\t(void)call(1);\n", 9, "thrown away"),
        (CLEAN + "/* Long. */\n" + LONG, 10, "f() has 122 lines"),
        (CLEAN + "/* */\n" * 600, 600, "608 lines"),
        (CLEAN + "int last;", 9, "no newline"),
        (CLEAN + "/* Of nothing. */\n\nint x;\n", 9, "directly above"),
        ("int first;\n", 1, "first line"),
        ("#include <lib/types.h>\n\n/* Too late. */\n", 1, "first line"),
    ],
)
def test_breach(tmp_path, monkeypatch, text, line, words):
    found = breaches(tmp_path, text, monkeypatch=monkeypatch)
    assert len(found) == 1, found
    assert found[0][0] == line and words in found[0][1]


@pytest.mark.parametrize(
    "name, above, function, found",
    [
        ("kernel/mm/file.c", "/* Why. */\n", "f", 0),
        ("kernel/mm/file.c", "", "f", 1),
        ("kernel/mm/file.c", "/* Of something else. */\nint x;\n\n", "f", 1),
        ("kernel/file.c", "", "f", 1),
        ("arch/x86_64/file.c", "", "f", 1),
        ("userland/bin/file.c", "", "main", 0),
        ("tests/unit/file.c", "", "f", 1),
        ("tests/guest/progs/file.c", "", "f", 0),
    ],
)
def test_longer_function_has_a_comment(tmp_path, monkeypatch, name, above, function, found):
    text = CLEAN + f"\n{above}int {function}(int x)\n{{\n" + "\tx++;\n" * 13 + "}\n"
    assert [words.split("()")[0] for _, words in breaches(tmp_path, text, name, monkeypatch)] == [function] * found


def test_name_of_a_task_without_a_pid_is_no_note(tmp_path, monkeypatch):
    assert breaches(tmp_path, CLEAN + 'const char *nobody = "<X' 'XX>";\n', monkeypatch=monkeypatch) == []


def test_machine_layer_may_name_its_machine(tmp_path, monkeypatch):
    text = CLEAN + "#ifdef __aarch64__\n#endif\n"
    assert breaches(tmp_path, text, "drivers/file.c", monkeypatch) == []


@pytest.mark.parametrize(
    "line, too_long",
    [
        ('call("' + "x" * 140 + '")', False),
        ("call(" + "x" * 140 + ")", True),
        ('call("short", ' + "x" * 140 + ")", True),
    ],
)
def test_only_strings_of_python_may_be_long(tmp_path, monkeypatch, line, too_long):
    found = breaches(tmp_path, f'"""One subject."""\n\n{line}\n', "tests/file.py", monkeypatch)
    assert [words.split()[1] for _, words in found] == ["columns,"] * too_long, found


def test_functions_are_measured():
    text = (
        "static const struct ops a = {\n\t.x = 1,\n};\n\n/* why */\nstatic int one(int a,\n\t\tint b)\n{\n\treturn a;\n}\n"
        "void two(void)\n{\n}\n\nstruct s\n{\n\tint x;\n};\n"
    )
    assert list(functions(text.splitlines())) == [(6, "one", 5), (11, "two", 3)]
