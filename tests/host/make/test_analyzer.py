"""gcc knows which memory is given back: the allocators say by which function (__freed_by). Each build hears of the
plain cases. The long form lets gcc's analyzer follow the ways through each function of the kernel."""

import concurrent.futures
import json
import os
import re
import subprocess

import pytest

import machines

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
KINDS = ("use-after-free", "double-free", "mismatching-deallocation", "free-of-non-heap")
# Its two false alarms: a recursion that ends after one level, and the fault that is ordered.
ALLOWED = {("kernel/fs/9p/requests.c", "use-after-free"), ("samples/lkdtm.c", "double-free")}

PLAIN = {
    "kfree(p); return *p;": "use-after-free",
    "kvfree(p); return 0;": "mismatched-dealloc",
    "kfree(p + 1); return 0;": "free-nonheap-object",
}


def commands():
    """{source: gcc's words for it} of the kernel: of sources that both machines have, for the one that was built last."""
    with open(os.path.join(ROOT, "compile_commands.json"), encoding="utf-8") as file:
        return {entry["file"]: entry["command"].split() for entry in json.load(file)}


def warnings(words, source, *more):
    """[kind] of what gcc warns of in a source."""
    drop = {"-Werror", "-c", words[-1]}
    words = [word for word in words if word not in drop] + [*more, "-c", source, "-o", os.devnull]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return re.findall(r"warning: .*\[-W(?:analyzer-)?([\w-]+)\]$", done.stderr, re.M)


@pytest.fixture(params=machines.MACHINES)
def words(request):
    """gcc's, for a source of a machine's own."""
    return next(words for source, words in commands().items() if source.startswith(f"arch/{request.param}/"))


@pytest.mark.parametrize("code", PLAIN)
def test_a_build_hears_of_it(words, tmp_path, code):
    source = tmp_path / "plain.c"
    source.write_text(f"#include <mm/slab.h>\nint f(void) {{ char *p = kmalloc(8, GFP_KERNEL); {code} }}\n")
    assert warnings(words, str(source)) == [PLAIN[code]]


def test_the_analyzer_follows_a_way(words, tmp_path):
    source = tmp_path / "way.c"
    source.write_text(
        "#include <mm/slab.h>\nstruct s { int n; };\n"
        "static void put(struct s *s) { if (s->n) kfree(s); }\n"
        "int f(int n) { struct s *s = kmalloc(8, GFP_KERNEL); if (!s) return 0; s->n = n; put(s); return s->n; }\n"
    )
    assert set(warnings(words, str(source), "-fanalyzer")) & set(KINDS) == {"use-after-free"}


@pytest.mark.soak(only=True)
def test_no_way_uses_memory_that_was_given_back():
    known = commands()

    def found(source):
        return {(source, kind) for kind in warnings(known[source], source, "-fanalyzer") if kind in KINDS}

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        everything = set().union(*pool.map(found, known))
    assert everything == ALLOWED
    assert len(known) > 550
