"""Programs that read and write what is about traces and modules, run on the host by qemu-user."""

import os
import subprocess

import dat_files
import pytest
from userland_run import TOP, run, userland  # noqa: F401 (a fixture)


def test_pieces_of_a_trace_that_lead_round(userland, tmp_path):
    """A trace.dat of version 7 whose piece of options names itself as the next one."""
    head = b"\x17\x08\x44tracing7\0\0\x08" + (4096).to_bytes(4, "little") + b"none\0\0"
    at = (len(head) + 8).to_bytes(8, "little")
    piece = bytes(16) + bytes(2) + (8).to_bytes(4, "little") + at
    (tmp_path / "round.dat").write_bytes(head + at + piece + bytes(64))
    _, err, status = run(userland, tmp_path, "trace-cmd report round.dat")
    assert status == 1 and "round.dat" in err


def test_damaged_records(userland, tmp_path):
    """Records that end before the number of their event, at the end of the file, and a stack beyond the record."""
    stack = dat_files.event_format("kernel_stack", 4, ("unsigned long caller", 2**32 - 4, 8))
    short = bytearray(dat_files.page(1000, *[dat_files.irq(1, n) for n in range(254)]))
    short[8:10] = (4080).to_bytes(2, "little")
    short[-8:] = (10 << 5).to_bytes(4, "little") + (4).to_bytes(4, "little")
    far = dat_files.page(1000, (4).to_bytes(8, "little"))
    for name, page in (("short", short), ("far", far)):
        (tmp_path / name).write_bytes(dat_files.version_6("[local]", bytes(page), ftrace=(*dat_files.FTRACE, stack)))
        _, err, status = run(userland, tmp_path, f"trace-cmd report {name}")
        assert (err, status) == ("", 0)


def test_long_texts_of_a_record(userland, tmp_path):
    """A message of more than 255 bytes, and the last name of a table of a hundred."""
    names = ", ".join(f'{{ {n}, "name{n}" }}' for n in range(100))
    event = dat_files.event_format("long_one", 70, ("int n", 8, 4), ("char text[]", 12, 0))
    event = event.replace(b'"text"', f'"%s %s", REC->text, __print_symbolic(REC->n, {names})'.encode())
    message = b"".join(b"<%03d>" % n for n in range(200))
    record = (70).to_bytes(8, "little") + (99).to_bytes(4, "little") + message + bytes(4)
    (tmp_path / "long.dat").write_bytes(
        dat_files.version_6("[local]", dat_files.page(1000, record), events={"lab": (event,)})
    )
    out, err, _ = run(userland, tmp_path, "trace-cmd report long.dat")
    assert out.endswith(message.decode() + " name99\n"), (out, err)


def test_messages_with_widths_of_their_own(userland, tmp_path):
    """A * of trace_printk() is an argument; the %s of an event that is no known text shows the pointer."""
    bprint = dat_files.event_format(
        "bprint", 6, ("unsigned long ip", 8, 8), ("const char * fmt", 16, 8), ("u32 buf[]", 24, 0)
    )
    known = dat_files.event_format("known", 70, ("const char * text", 8, 8))
    known = known.replace(b'"text"', b'"%s", REC->text')
    numbers = b"".join(n.to_bytes(4, "little", signed=True) for n in (5, 42, -4, 7, 3))
    message = (6).to_bytes(8, "little") + (1).to_bytes(8, "little") + (0x1000).to_bytes(8, "little")
    message += numbers + b"words\0\0\0" + (0x2000).to_bytes(8, "little")
    records = [message, *((70).to_bytes(8, "little") + n.to_bytes(8, "little") for n in (0x3000, 0xBEEF, 0))]
    (tmp_path / "t.dat").write_bytes(
        dat_files.version_6(
            "[local]",
            dat_files.page(1000, *records),
            ftrace=(*dat_files.FTRACE, bprint),
            events={"lab": (known,)},
            printk=b'0x1000 : "<%*d|%-*d|%.*s|%pS>"\n0x3000 : "a text"\n',
            symbols=b"2000 T there\n2100 T end\n",
        )
    )
    out, err, status = run(userland, tmp_path, "trace-cmd report t.dat")
    texts = [line.split(":", 2)[2].strip() for line in out.splitlines()[1:]]
    assert texts == ["0x1: <   42|7   |wor|there+0x0>", "a text", "beef", "(null)"], (out, err, status)


def host_program(tmp_path, source, sources):
    """A program of the host with sources of the library, and what they want of it beside."""
    (tmp_path / "t.c").write_text(
        "#include <vt_trace.h>\n#include <err.h>\n#include <stdarg.h>\n" + source + "\n"
        "void *vt_malloc(size_t n) { return malloc(n); }\nchar *vt_strdup(const char *s) { return strdup(s); }\n"
        'void vt_die(int status, const char *format, ...) { errx(status, "%s", format); }\n'
        'void vt_die_errno(int status, const char *what) { err(status, "%s", what); }\n'
        "int vt_write_all(int fd, const void *buf, size_t size) { return write(fd, buf, size) == (ssize_t)size ? 0 : -1; }\n"
    )
    words = ["-D_GNU_SOURCE", "-idirafter", TOP / "userland/include", "-idirafter", TOP / "include"]
    words += [f"-D{name.replace('printf', 'iprintf')}={name}" for name in ("printf", "sprintf", "snprintf")]
    words += [tmp_path / "t.c", *(TOP / "userland/lib/trace" / name for name in sources), "-o", tmp_path / "t"]
    subprocess.run(["gcc", "-std=gnu11", *words], check=True)
    return tmp_path / "t"


def test_a_recording_to_where_a_link_leads(tmp_path):
    """The link stays one, also when what it leads to is not there yet."""
    program = host_program(
        tmp_path,
        "int main(int argc, char **argv)\n{\n\tstruct vt_out out;\n\n\tvt_out_open(&out, argv[1]);\n"
        '\tprintf("%d", access("there/new.dat", F_OK));\n'
        "\tvt_out_reserve(&out, 100);\n\twrite(out.part_fd, argv[1], 1);\n\treturn vt_out_rename(&out, out.dest);\n}",
        ("traceout.c",),
    )
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there/second")
    (tmp_path / "there/second").symlink_to("new.dat")
    for content in ("l", "d"):
        done = subprocess.run(
            [program, content == "l" and "link" or "d"], cwd=tmp_path, capture_output=True, check=True
        )
        assert done.stdout == b"-1" if content == "l" else done.stdout == b"0"
    assert (tmp_path / "link").is_symlink() and (tmp_path / "there/second").is_symlink()
    assert ((tmp_path / "there/new.dat").read_text(), (tmp_path / "d").read_text()) == ("l", "d")
    (tmp_path / "link2").symlink_to("nowhere/x")
    assert subprocess.run([program, "link2"], cwd=tmp_path, capture_output=True, check=False).returncode == 1


@pytest.mark.skipif(not os.access("/run", os.W_OK), reason="the lock of trace-fn is in /run")
def test_long_names_in_a_profile(userland, tmp_path):
    """qemu-user opens the files of a folder of ours in place of the host's tracefs."""
    tracing = tmp_path / "sys/kernel/tracing"
    (tracing / "trace_stat").mkdir(parents=True)
    names = ["f" * 63 + "_one", "f" * 63 + "_two"]
    for cpu in range(2):
        (tracing / f"per_cpu/cpu{cpu}").mkdir(parents=True)
        rows = "".join(f"  {name}  {n + 1}  {n + 2}.500 us  1 us  0 us\n" for n, name in enumerate(names))
        (tracing / f"trace_stat/function{cpu}").write_text(f"  Function  Hit  Time  Avg  s^2\n  --------\n{rows}")
    (tracing / "current_tracer").write_text("nop\n")
    (tracing / "function_profile_enabled").write_text("0\n")
    done = subprocess.run(
        [userland.qemu, "-L", tmp_path, userland.bin / "trace-fn", "--profile", "true"],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={"PATH": "/bin:/usr/bin"},
    )
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    assert rows == [
        [names[1], "4", "7.000", "us", "1.750", "us"],
        [names[0], "2", "5.000", "us", "2.500", "us"],
    ], done
    assert (tracing / "function_profile_enabled").read_text() == "0\n"


def test_modules_with_many_users(userland, tmp_path):
    """qemu-user opens files of a folder of ours in place of the host's, so there are modules to be listed."""
    users = [f"user_{n:03d}" for n in range(100)]
    lines = (f"lab 4096 100 {','.join(users)}, Live 0x0", "idle_one 8192 0 - Live 0x0", "held 4096 2 - Live 0x0")
    (tmp_path / "proc").mkdir()
    (tmp_path / "proc/modules").write_text("".join(f"{line}\n" for line in lines))
    done = subprocess.run(
        [userland.qemu, "-L", tmp_path, userland.bin / "lsmod"], capture_output=True, text=True, timeout=600, check=True
    )
    assert done.stdout.splitlines() == [
        "Module                  Size  Used by",
        f"lab                     4096  100 {','.join(users)}",
        "idle_one                8192  0",
        "held                    4096  2",
    ]


@pytest.mark.skipif(os.access("/sys/kernel/tracing/current_tracer", os.R_OK), reason="this host's tracefs is there")
def test_status_of_kmem_stat(userland, tmp_path):
    assert run(userland, tmp_path, "kmem-stat true")[2] == 125
