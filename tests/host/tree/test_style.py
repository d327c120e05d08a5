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


BODY = '"""One subject."""\n\nTEXT = """'


@pytest.mark.parametrize(
    "text, found",
    [
        ("echo 1 > tracing_on~ls~echo 0 > tracing_on~cat trace~", True),
        ("echo 1 > tracing_on~ls~echo 0 > tracing_on; cat trace~~", False),
        ("dmesg -c > /dev/null; true~ls~ps~grep x trace > /tmp/x~", True),
        ("x=1~while true; do y=2; done~z=3~exec 3<&-", True),
        ("#include <lib/types.h>~#define test 1~int f(void)~if (1 > 0)~for (;;)~", False),
        ("int f(int x)~{~\tfor (; x; x--)~\t\tg(x);~\tif (x)~\t\treturn 1;~}~", False),
        ("python~import gdb~for x in (1, 2):~    print(x)~if x:~    print(2)~", False),
        ("  sh-7 [000] d..1. 4.2: irq_enter <-do_irq~" * 5, False),
        ("echo is a shell builtin~a~b~c~", False),
    ],
)
@pytest.mark.parametrize("letter", ["", "f", "b", "{}"])
def test_long_shell_bodies_are_no_strings_of_python(tmp_path, monkeypatch, text, found, letter):
    """Of any kind, also with values in it; C, Python and expected output may be long, and so may a docstring.
    Checks of labs make their scripts of a seed."""
    text = text.replace("~", "\n")  # so that this file has none
    if letter == "{}":
        letter, text = "f", text.replace("{", "{{").replace("}", "}}").replace("echo 1", "echo {1}")
    elif letter == "f":
        text = text.replace("{", "{{").replace("}", "}}")
    body = BODY.replace('TEXT = "', f'TEXT = {letter}"') + text + '"""\n'
    lines = len([line for line in text.splitlines() if line.strip()])
    said = f"{lines} lines of shell in a string, 3 are the limit: a file of shell has them"
    assert breaches(tmp_path, body, "tests/file.py", monkeypatch) == ([(3, said)] if found else [])
    assert breaches(tmp_path, body, "labs/file.py", monkeypatch) == []
    assert breaches(tmp_path, f'"""One subject.\n\n{text}"""\n', "tests/file.py", monkeypatch) == []


def test_functions_are_measured():
    text = (
        "static const struct ops a = {\n\t.x = 1,\n};\n\n/* why */\nstatic int one(int a,\n\t\tint b)\n{\n\treturn a;\n}\n"
        "void two(void)\n{\n}\n\nstruct s\n{\n\tint x;\n};\n"
    )
    assert list(functions(text.splitlines())) == [(6, "one", 5), (11, "two", 3)]


def test_a_slash_in_assembly_divides_only_in_comments(tmp_path, monkeypatch):
    code = '/* One subject. */\n\n\tmov\t$(PAGE_SIZE / 8), %ecx\n\tret /* 1 / 2 */\n\t.asciz "a/b"\n'
    assert [number for number, _ in breaches(tmp_path, code, "arch/x86_64/file.S", monkeypatch)] == [3]
