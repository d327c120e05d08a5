"""Modules: built by the five-line Makefile, loaded, traced, unloaded; what is wrong is refused with a reason."""

import os
import pathlib
import re
import subprocess

import pytest

from ko_file import KoFile
from modsum import with_sum
from stories import story
from vitrine_guest import ROOT

MAKEFILE = "obj-m += {}\nall:\n\tmake -C $(KDIR) M=$(PWD) modules\n"
RELEASE = re.search(r'UTS_RELEASE "(.*)"', pathlib.Path(ROOT, "include/kernel/utsname.h").read_text()).group(1)
DEMO = """
#include <linux/init.h>
#include <linux/module.h>
#include <linux/kernel.h>

MODULE_LICENSE("GPL");

static int times = 1;
module_param(times, int, 0644);
MODULE_PARM_DESC(times, "how often it says hello");
static char *name = "nobody";
module_param(name, charp, 0444);
static int list[4];
static unsigned listed;
module_param_array(list, int, &listed, 0444);

static int demo_init(void)
{
	if (times < 0)
		return -EDOM;
	for (int i = 0; i < times; i++)
		trace_printk("hello %s %d\\n", name, i);
	for (unsigned i = 0; i < listed; i++)
		printk(KERN_INFO "demo: %d\\n", list[i]);
	return 0;
}

static void demo_exit(void)
{
	trace_printk("bye\\n");
}

module_init(demo_init);
module_exit(demo_exit);
"""


def make(folder, arch, *words, objects="demo.o", makefile=MAKEFILE):
    """The user's make, which calls ours as every tutorial's does. (status, what it said)"""
    (folder / "Makefile").write_text(makefile.format(objects))
    environment = {key: value for key, value in os.environ.items() if key not in ("MAKEFLAGS", "MFLAGS", "ARCH")}
    environment["PWD"] = str(folder)  # as a shell has it: the Makefile asks for it
    done = subprocess.run(
        ["make", f"KDIR={ROOT}", f"ARCH={arch}", *words],
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=600,
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="module", params=["aarch64", "x86_64"])
def demo(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    (folder / "demo.c").write_text(DEMO)
    status, said = make(folder, request.param)
    assert status == 0, said
    return request.param, folder / "demo.ko"


def run(arch, files, script, tmp_path, *options):
    (tmp_path / "script").write_text(script)
    words = [word for file in files for word in ("--file", f"{file}:/{pathlib.Path(file).name}")]
    done = subprocess.run(
        [os.path.join(ROOT, "tools/vrun"), "--arch", arch, "--timeout", "300", *options, *words, tmp_path / "script"],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    return re.sub(r"^\[ .*\n", "", done.stdout, flags=re.M)  # what the console shows of the kernel's log


def test_the_session_of_the_tutorial(demo, tmp_path):
    """A filter by module holds while it is loaded, and shows nothing afterwards; one that waits holds for the init, too."""
    arch, ko = demo
    out = run(
        arch,
        [ko],
        story("modules", "session"),
        tmp_path,
    )
    parts = dict(re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", out, re.M | re.S))
    assert parts["set"].split("\n")[:-1] == ["demo_init [demo]", "demo_exit [demo]"]
    assert parts["kept"] == ""
    lines = [line.partition("|")[2].strip() for line in parts["trace"].splitlines() if line[:1] == " " and "|" in line]
    assert lines == [
        "demo_init [demo]() {",
        "/* hello a b 0 */",
        "/* hello a b 1 */",
        "}",
        "demo_exit [demo]() {",
        "/* bye */",
        "}",
    ]
    assert parts["enabled"] == "" and parts["formats"] == "1\n"


def test_what_is_loaded_is_shown(demo, tmp_path):
    arch, ko = demo
    out = run(
        arch,
        [ko],
        "insmod /demo.ko list=3,-4; lsmod; grep -c '\\[demo\\]' /sys/kernel/tracing/available_filter_functions\n"
        "dmesg | grep -o 'demo: .*'; insmod /demo.ko; echo $?; rmmod demo; rmmod demo; echo $?; lsmod; cat /proc/modules\n"
        "grep -c '\\[demo\\]' /sys/kernel/tracing/available_filter_functions; true",
        tmp_path,
    )
    size = {"aarch64": 12288, "x86_64": 12288}[arch]
    assert out.splitlines() == [
        "Module                  Size  Used by",
        f"demo                {size:8}  0",
        "2",
        "demo: 3",
        "demo: -4",
        "insmod: could not insert /demo.ko: a module of this name is loaded already (lsmod, rmmod)",
        "1",
        "rmmod: Module demo is not currently loaded",
        "1",
        "Module                  Size  Used by",
        "0",
    ]


def test_sys_module_and_kallsyms(demo, tmp_path):
    """Parameters are read and set where they have a file; a file that is open when its module goes says so."""
    arch, ko = demo
    out = run(
        arch,
        [ko],
        story("modules", "sys_module"),
        tmp_path,
    )
    lines = out.splitlines()
    at = lines.index("initstate live")
    names = set(lines[:at])
    assert {"coresize", "holders", "initsize", "initstate", "parameters", "refcnt", "sections", "taint"} <= names
    assert {".text", ".data", "list", "name", "times"} <= names and ".init.text" not in names
    assert lines[at : at + 8] == [
        "initstate live",
        "refcnt 0",
        "initsize 0",
        "coresize 12288",
        "taint",
        "parameters/times 0",
        "parameters/name nobody",
        "parameters/list 5,6",
    ]
    assert lines[at + 8 :] == [
        "7",
        "sh: echo: write error: Invalid argument",
        "1",
        "sh: cannot create refcnt: Permission denied",
        "1",
        "644",
        "444",
        "demo: 5",
        "demo: 6",
        "demo: `x' invalid for parameter `times'",
        "demo: `99999999999' invalid for parameter `times'",
        " D __this_module\t[demo]",
        " T cleanup_module\t[demo]",
        " T init_module\t[demo]",
        " b list\t[demo]",
        "same",
        "cat: -: No such device",
        "0",
        "1",
        "1",
    ]


def test_trace_dat_names_functions_of_modules_that_have_gone(demo, tmp_path):
    arch, ko = demo
    out = run(
        arch,
        [ko],
        "echo 'insmod /demo.ko; rmmod demo' > /load; cd /tmp\n"
        "trace-cmd record -p function -l 'demo_*:mod:demo' -o t.dat sh /load > /dev/null; trace-cmd report t.dat | grep demo_",
        tmp_path,
    )
    assert [line.split(maxsplit=3)[3] for line in out.splitlines()[1:]] == [
        "function:             demo_init",
        "bprint:               demo_init: hello nobody 0",
        "function:             demo_exit",
        "bprint:               demo_exit: bye",
    ]


def test_the_profiler_counts_functions_of_modules(demo, tmp_path):
    """It is on while a module comes and goes, and the next one has the same places: each counts what it did itself."""
    arch, ko = demo
    out = run(
        arch,
        [ko],
        "cd /sys/kernel/tracing; echo '*:mod:demo' > set_ftrace_filter; echo 1 > function_profile_enabled\n"
        "insmod /demo.ko; rmmod demo; echo ':mod:demo' > set_ftrace_filter; insmod /demo.ko; echo 0 > function_profile_enabled\n"
        "cat trace_stat/function0 | grep demo_; echo none; rmmod demo; cat trace_stat/function0 | grep -c demo_; true",
        tmp_path,
    )
    first, *rest = out.splitlines()
    assert first.split()[:2] == ["demo_init", "1"] and rest == ["none", "0"]
    out = run(
        arch,
        [ko],
        "cd /sys/kernel/tracing; insmod /demo.ko; rmmod demo; echo '*:mod:demo' > set_ftrace_filter\n"
        "echo function > current_tracer; echo 1 > function_profile_enabled; insmod /demo.ko times=3; rmmod demo\n"
        "cat trace | grep -c 'demo_init <-do_one_initcall'",
        tmp_path,
    )
    assert out == "1\n"


@pytest.mark.parametrize(
    "args, log",
    [
        ("times=x", ["demo: `x' invalid for parameter `times'"]),
        ("times=99999999999", ["demo: `99999999999' invalid for parameter `times'"]),
        (
            "list=1,2,3,4,5",
            ["list: can only take 4 arguments", "demo: `1,2,3,4,5' invalid for parameter `list'"],
        ),
        ("times=-1", []),
    ],
)
def test_an_init_that_fails_leaves_nothing(demo, tmp_path, args, log):
    arch, ko = demo
    out = run(
        arch,
        [ko],
        f"insmod /demo.ko {args} 2>&1 | head -1; cat /proc/modules; dmesg | grep -E 'demo: |list: ' | cut -d] -f2\n"
        "grep -c '\\[demo\\]' /sys/kernel/tracing/available_filter_functions; insmod /demo.ko && rmmod demo && echo good",
        tmp_path,
    )
    lines = out.splitlines()
    assert lines[0].startswith("insmod: could not insert /demo.ko: ") and lines[-2:] == ["0", "good"]
    assert lines[1:-2] == [f" {line}" for line in log]


def test_a_damaged_file_is_refused_with_a_reason(demo, tmp_path):
    """Cut off, of another machine, of another kernel: one line says what, and nothing is left."""
    arch, ko = demo
    whole = ko.read_bytes()
    other = b"for another machine", bytes([0xB7 ^ 0x3E ^ whole[18]]), 18
    theirs, ours = {"aarch64": ("x86_64", "arm64"), "x86_64": ("aarch64", "x86_64")}[arch]
    foreign = f"machine.ko: it is for another machine ({theirs}, and this is {arch}): make ARCH={ours}"
    bad = {
        "cut.ko": (with_sum(whole[: len(whole) // 2]), "its table of sections is not in it"),
        "short_by.ko": (whole[: len(whole) // 2], "no checksum ends it: it was cut off"),
        "flipped.ko": (whole[:999] + bytes([whole[999] ^ 1]) + whole[1000:], "its checksum is wrong"),
        "sum.ko": (whole[:-3] + (b"x~\n"), "its checksum is wrong"),
        "empty.ko": (b"", "it is empty, or not a regular file"),
        "short.ko": (b"hello\n", "a file of 6 bytes cannot be a module"),
        "text.ko": (b"no module\n" * 50, "no checksum ends it"),
        "summed.ko": (with_sum(b"no module\n" * 50), "it is no ELF file"),
        "machine.ko": (with_sum(whole[: other[2]] + other[1] + whole[other[2] + 1 :]), foreign),
        "magic.ko": (
            with_sum(whole.replace(b"vermagic=6.12.0", b"vermagic=6.11.0")),
            "it was built for another kernel",
        ),
        "names.ko": (with_sum(whole[:62] + b"\xff\x7f" + whole[64:]), "the names of its sections are damaged"),
    }
    for name, (data, _) in bad.items():
        (tmp_path / name).write_bytes(data)
    out = run(
        arch,
        [tmp_path / name for name in bad] + [ko],
        "".join(f"insmod /{name} 2>/dev/null; echo {name} $?; dmesg -c | cut -d] -f2\n" for name in bad)
        + "cat /proc/modules; insmod /demo.ko && rmmod demo && echo good",
        tmp_path,
    )
    for name, (_, reason) in bad.items():
        said = out.partition(f"{name} 1\n")[2].partition(".ko ")[0]
        assert f"{name} 1\n" in out and reason in said, (name, said)
    assert out.endswith("good\n")


def test_a_hostile_file_is_refused(demo, tmp_path):
    """Parts that overlap would change under the loader's hands, so would what it keeps in the struct module, and a site
    that is no call would be patched as one."""
    arch, ko = demo
    whole = ko.read_bytes()
    hook = {"aarch64": "_mcount", "x86_64": "__fentry__"}[arch]
    this = ".gnu.linkonce.this_module"
    info, symbols = KoFile(whole).section(".modinfo"), KoFile(whole).section(".symtab")
    sites = list(KoFile(whole).relocations(hook))
    assert len(sites) == 2  # in the texts of init and exit
    (init,) = KoFile(whole).relocations("init_module")
    bad = {
        "header": (KoFile(whole).put_shoff(16), "its table of sections lies across its header"),
        "table": (
            KoFile(whole).put_header(".modinfo", offset=KoFile(whole).shoff),
            "section .modinfo lies across the headers",
        ),
        "overlap": (
            KoFile(whole).put_header(".modinfo", offset=symbols["offset"] + symbols["size"] - info["size"]),
            "sections .modinfo and .symtab overlap",
        ),
        "align": (KoFile(whole).put_header(this, addralign=1), "it has no struct module"),
        "type": (KoFile(whole).put_relocation(sites[0][0], kind=0), f"a use of {hook} that is no call"),
        "field": (KoFile(whole).put_relocation(init[0], offset=0), "a relocation inside of its struct module"),
    }
    if arch == "aarch64":
        bad["place"] = (
            KoFile(whole).put_relocation(sites[0][0], offset=sites[0][1] + 2),
            "a use of _mcount that is no call",
        )
    else:
        bad["place"] = KoFile(whole).put_relocation(sites[0][0], offset=0), "a use of __fentry__ that is no call"
    for name, (file, _) in bad.items():
        (tmp_path / f"{name}.ko").write_bytes(file.file())
    out = run(
        arch,
        [tmp_path / f"{name}.ko" for name in bad] + [ko],
        "dmesg -c > /dev/null\n"
        + "".join(f"insmod /{name}.ko 2>/dev/null; echo == {name} $?; dmesg -c | cut -d] -f2\n" for name in bad)
        + "cat /proc/modules; insmod /demo.ko && rmmod demo && echo == good",
        tmp_path,
    )
    said = dict(re.findall(r"^== (\w+) 1\n(.*)\n", out, re.M))
    assert {name: reason in said.get(name, "") for name, (_, reason) in bad.items()} == dict.fromkeys(bad, True), out
    assert out.endswith("== good\n")


def test_filters_lose_the_functions_of_a_module_that_goes(demo, tmp_path):
    """Another module at the same place is not taken for it, neither by function_graph nor by a file that was open."""
    arch, ko = demo
    (tmp_path / "next.c").write_text(DEMO.replace("demo_", "next_").replace('"demo', '"next'))
    status, said = make(tmp_path, arch, objects="next.o")
    assert status == 0, said
    out = run(
        arch,
        [ko, tmp_path / "next.ko"],
        story("modules", "filters"),
        tmp_path,
    )
    parts = dict(re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", out, re.M | re.S))
    assert parts == {"graph": "", "filter": "schedule\n", "trace": ""}


def test_a_filter_whose_functions_have_gone_traces_nothing(demo, tmp_path):
    """As on Linux it names functions still, though none that is there, until it is cleared. The filter of an array keeps
    what it has lost for the next load of the module; the stack tracer's does not."""
    arch, ko = demo
    out = run(
        arch,
        [ko],
        story("modules", "no_functions"),
        tmp_path,
    )
    parts = dict(re.findall(r"^== (\w+)\n(.*?)(?=^== |\Z)", out, re.M | re.S))
    assert parts == {
        "loaded": "1\n",
        "filter": "",
        "gone": "0\n",
        "more": "schedule\n",
        "less": "0\n",
        "clear": "#### all functions enabled ####\nall\n",
    }


def test_modprobe_goes_by_modules_dep(tmp_path):
    """The build writes which module needs which; modprobe loads and unloads by it, modinfo shows what a file says."""
    head = '#include <linux/module.h>\nMODULE_LICENSE("GPL");\n'
    tail = "static int f(void)\n{\n\treturn NEXT;\n}\nmodule_init(f);\nstatic void g(void)\n{\n}\nmodule_exit(g);\n"
    for name, needed in (("base", "0"), ("mid-dle", "base()"), ("top", "middle()")):
        own = name.replace("-", "")
        (tmp_path / f"{name}.c").write_text(
            head
            + f"int {own}(void)\n{{\n\treturn 0;\n}}\nEXPORT_SYMBOL({own});\n"
            + (f"int {needed[:-2]}(void);\n" if "(" in needed else "")
            + (
                'static char *who;\nmodule_param(who, charp, 0444);\nMODULE_PARM_DESC(who, "a b");\n'
                "static int age;\nmodule_param(age, int, 0444);\n"
                if own == "top"
                else ""
            )
            + tail.replace("NEXT", needed)
        )
    status, said = make(tmp_path, "x86_64", "EXTRA_CFLAGS=-Wno-missing-prototypes", objects="base.o mid-dle.o top.o")
    assert status == 0, said
    dep = (tmp_path / "modules.dep").read_text()
    assert dep == "base.ko:\nmid-dle.ko: base.ko\ntop.ko: mid-dle.ko base.ko\n"
    out = run(
        "x86_64",
        [tmp_path / name for name in ("base.ko", "mid-dle.ko", "top.ko", "modules.dep")],
        story("modules", "modprobe"),
        tmp_path,
    )
    lib = f"/lib/modules/{RELEASE}"
    assert out.splitlines() == [
        f"insmod {lib}/base.ko ",
        f"insmod {lib}/mid-dle.ko ",
        f"insmod {lib}/top.ko age=4 ",
        f"insmod {lib}/base.ko ",
        f"insmod {lib}/mid-dle.ko ",
        f'insmod {lib}/top.ko who="x y" ',
        "Module  ",
        "top     ",
        "mid_dle ",
        "base    ",
        "x y",
        "0",
        "modprobe: could not remove mid_dle: it is in use (lsmod)",
        *("rmmod top", "rmmod mid_dle", "rmmod base") * 2,
        "3",
        "modprobe: Module nobody not found: no modules.dep of /lib/modules and /host names it",
        "1",
        "depends:        mid_dle",
        "filename:       top.ko",
        "license:        GPL",
        "name:           top",
        "parm:           age:int",
        "parm:           who:a b (charp)",
        "modinfo: modules.dep: it is not a module",
        "age:int",
        "who:a b (charp)",
        "mid_dle",
        f"{lib}/base.ko",
        "0",
        "base",
        "depends:        base",
        f"filename:       {lib}/mid-dle.ko",
        "license:        GPL",
        "name:           mid_dle",
        "modinfo: Module nobody not found: no file, nor does a modules.dep of /lib/modules or /host name it",
        "base",
        "mid_dle",
        "top",
        "modprobe: /else/none.ko: no such file",
        "0",
        "modprobe: Module base not found: no modules.dep of /lib/modules and /host names it",
        "1",
    ]


@pytest.mark.parametrize("arch", ["aarch64", "x86_64"])
def test_modules_that_use_each_other(arch, tmp_path):
    """One of two files exports, another uses: neither can go before the other, and the symbol is found by name."""
    (tmp_path / "part.c").write_text("int answer(void);\nint answer(void)\n{\n\treturn 42;\n}\n")
    (tmp_path / "main.c").write_text(
        '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nint answer(void);\nEXPORT_SYMBOL(answer);\n'
    )
    (tmp_path / "user.c").write_text(
        '#include <linux/module.h>\nMODULE_LICENSE("GPL");\nint answer(void);\n'
        'static int f(void)\n{\n\tprintk("the answer is %d\\n", answer());\n\treturn 0;\n}\nmodule_init(f);\n'
        "static void g(void)\n{\n}\nmodule_exit(g);\n"
    )
    status, said = make(tmp_path, arch, objects="both.o user.o\nboth-objs := main.o part.o")
    assert status == 0, said
    out = run(
        arch,
        [tmp_path / "both.ko", tmp_path / "user.ko"],
        "insmod /user.ko 2>/dev/null; echo $?; dmesg | grep -o 'Unknown symbol .*'; insmod /both.ko; insmod /user.ko\n"
        "dmesg | grep -o 'the answer.*'; lsmod | grep both; cat /sys/module/both/holders/user/initstate; ls /sys/module/both/holders; rmmod both; echo $?; rmmod user; ls /sys/module/both/holders; rmmod both; cat /proc/modules",
        tmp_path,
    )
    assert out.splitlines() == [
        "1",
        "Unknown symbol answer",
        "the answer is 42",
        "both                   12288  1 user",
        "live",
        "user",
        "rmmod: Module both is in use by: user",
        "1",
    ]
