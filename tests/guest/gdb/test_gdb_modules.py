"""vt-symbols: gdb knows the functions of modules by their names and lines, while these are loaded."""

import re
import shutil

from gdbstub import under_gdb
from module_guest import SAMPLES
from test_modules import make

SAY = "/sys/module/trace_events_sample/parameters/say"
# Goes on to the next module's init, which is about to run, until it is that module's: no other is loaded then.
UNTIL_LOADED = (
    "python while gdb.execute('continue') or "
    "'trace_events_sample: /' not in gdb.execute('vt-symbols', to_string=True): pass"
)


def built(arch, folder, *names):
    """Samples with these names, made in a folder of their own, and the folder's files for a guest."""
    for name in (*names, *(f"{name}.h" for name in names)):
        source = f"{SAMPLES}/{name if name.endswith('.h') else name + '.c'}"
        shutil.copy(source, folder)
    lines = "".join(f"\nobj-m += {name}.o\nCFLAGS_{name}.o := -I$(src)" for name in names)
    status, said = make(folder, arch, objects=lines)
    assert status == 0, said
    return {f"{name}.ko": (0o644, (folder / f"{name}.ko").read_bytes()) for name in names}


PLAIN = """
#include <linux/module.h>
MODULE_LICENSE("GPL");
static void plain_exit(void)
{
	pr_info("%s");
}
module_exit(plain_exit);
"""


def built_plain(arch, folder, text):
    (folder / "plain.c").write_text(PLAIN % text)
    status, said = make(folder, arch, objects="plain.o")
    assert status == 0, said
    return {"plain.ko": (0o644, (folder / "plain.ko").read_bytes())}


def test_breakpoints_in_modules(tmp_path, machine):
    """By name, from the module's init on; the source's lines are listed; what has gone is dropped."""
    folder = tmp_path / "modules"
    folder.mkdir()
    files = built(machine.arch, folder, "trace_events_sample", "tracepoint_sample")
    with under_gdb(machine, tmp_path, files=files) as (guest, gdb):
        guest.run(
            f"(while :; do insmod /trace_events_sample.ko; echo text > {SAY}; rmmod trace_events_sample\n"
            "insmod /tracepoint_sample.ko; rmmod tracepoint_sample; done) > /dev/null 2>&1 &"
        )
        answers = gdb.ask(
            f"vt-symbols {folder}",
            "break do_one_initcall",
            UNTIL_LOADED,
            "vt-symbols",
            "break trace_events_sample.c:say",
            "continue",
            "backtrace 4",
            "list say",
            "print text",
            "info symbol $pc",
            "delete 2",
            "continue",
            "vt-symbols",
            "vt-symbols",
            "list trace_events_sample.c:1,2",
            "delete 1",
            "tbreak sample_init",
            "continue",
            "list sample_init,+2",
            "delete",
        )
        named = dict(zip(("init", "", "stop", "frames", "lines", "text", "symbol"), answers[3:10]))
        line = rf"trace_events_sample: {folder}/trace_events_sample.ko, .text at (0x\w+)"
        assert re.fullmatch(line, named["init"]), answers
        assert re.search(r"Breakpoint 2, say \(text=(text@entry=)?0x\w+", named["stop"]), answers
        assert re.search(
            r"^#0 +say \(.*\n(#1 .* in sample_init \(.*\n)?(#\d .* in do_one_initcall .*\n)?#\d .* in run_init .*main\.c",
            named["frames"],
        ), answers
        assert "static int say(const char *text, const struct kernel_param *kp)" in named["lines"], answers
        assert named["text"].endswith('"init"'), answers
        assert re.match(
            r"say(\.\w+)*( \+ \d+)? in section \.text of .*/trace_events_sample\.ko", named["symbol"]
        ), answers
        gone, again, source, _, _, stop, lines = answers[12:19]
        second = rf"tracepoint_sample: {folder}/tracepoint_sample.ko, .text at 0x\w+"
        assert re.fullmatch(f"trace_events_sample: gone\n{second}", gone) and re.fullmatch(second, again), answers
        assert "No source file named trace_events_sample.c" in source, answers
        assert re.search(r"Temporary breakpoint \d+, sample_init \(", stop), answers
        assert 'proc_create("tracepoint-sample"' in lines, answers


def test_the_file_that_was_loaded(tmp_path, machine):
    """Nothing is loaded; a file that was built again is not taken for the one that was loaded; a folder that is
    none."""
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
    files = built_plain(machine.arch, tmp_path / "old", "one")
    with under_gdb(machine, tmp_path, files=files) as (guest, gdb):
        new = tmp_path / "new"
        nothing, no_folder, usage = gdb.ask("vt-symbols", "vt-symbols /nowhere", "help vt-symbols")
        assert (nothing, no_folder) == ("no module is loaded", "/nowhere: no folder"), (nothing, no_folder)
        assert usage.startswith("vt-symbols, lx-symbols\nUse the symbols of all modules that are loaded"), usage
        guest.run("insmod /plain.ko")
        built_plain(machine.arch, new, "two")
        missing, found = gdb.ask(f"vt-symbols {new}", f"vt-symbols {tmp_path / 'old'}")
        assert missing.startswith(f"plain: no plain.ko with its build id below {new} "), missing
        assert found.startswith(f"plain: {tmp_path / 'old'}/plain.ko, .text at 0x"), found
        name, size, users, _, _, address, *_ = guest.run("cat /proc/modules")[1].split()
        (listed,) = gdb.ask("lx-lsmod")
        assert listed.splitlines()[1].split() == [address, name, size, users], listed
        assert guest.run("rmmod plain")[0] == 0
