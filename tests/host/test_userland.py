"""The shell's language and the programs' options, run on the host by qemu-user: the system-call ABI is Linux's."""

import os
import pathlib
import re
import shutil
import stat
import subprocess
import time

import pytest

TOP = pathlib.Path(__file__).resolve().parents[2]


class Userland:
    """The programs of one machine, and qemu-user to run them."""

    def __init__(self, arch, starters):
        self.arch, self.path = arch, starters
        self.bin = TOP / "build" / arch / "root" / "bin"
        self.qemu = shutil.which(f"qemu-{arch}")
        assert self.qemu, f"qemu-{arch} is missing: install the package qemu-user"
        assert (self.bin / "sh").exists(), f"{self.bin}/sh is missing: build the userland first"
        for program in list(self.bin.iterdir()):  # so that one program can run another on any host
            starter = starters / program.name
            starter.write_text(f'#!/bin/sh\nexec {self.qemu} -0 {program.name} {self.bin}/{program.name} "$@"\n')
            starter.chmod(0o755)


@pytest.fixture(scope="session")
def userland(machine, tmp_path_factory):
    return Userland(machine.arch, tmp_path_factory.mktemp("bin"))


def run(userland, cwd, script, *args, stdin=b""):
    """Run a script by our shell. Returns (standard output, standard error, status)."""
    done = subprocess.run([userland.qemu, "-0", "sh", str(userland.bin / "sh"), "-c", script, "sh", *args], cwd=cwd, input=stdin,
                          capture_output=True, timeout=60, env={"PATH": str(userland.path), "HOME": "/root"})
    return done.stdout.decode("latin-1"), done.stderr.decode("latin-1"), done.returncode


# Script and what it prints. Each also has to exit with status 0 unless it says otherwise itself.
LANGUAGE = [
    # quoting
    (r"echo 'a  b' \"q\" a\ b", 'a  b "q" a b\n'),
    ('echo "a  $HOME \\$HOME \\x"', "a  /root $HOME \\x\n"),
    (r"echo $'a\tb\x41\n.'", "a\tbA\n.\n"),
    ("x='a  b'; echo $x; echo \"$x\"", "a b\na  b\n"),
    ("echo a\\\nb", "ab\n"),
    ("echo 'it'\"'\"'s'", "it's\n"),
    ("echo a#b # comment", "a#b\n"),
    ("echo '*mutex_un* _raw_spin_*lock'", "*mutex_un* _raw_spin_*lock\n"),
    # parameters
    ("set -- a 'b c' d; echo $# $1 \"$2\"; shift; echo $*; for i in \"$@\"; do echo [$i]; done",
     "3 a b c\nb c d\n[b c]\n[d]\n"),
    ("set -- a 'b c'; IFS=:; echo \"$*\"; for i in $*; do echo [$i]; done", "a:b c\n[a]\n[b c]\n"),
    ("set --; for i in \"$@\"; do echo no; done; echo $#", "0\n"),
    ("echo ${u:-def} ${u-x} ${u:=set} $u ${u:+alt} ${#u}", "def x set set alt 3\n"),
    ("e=; echo [${e:-d}] [${e-d}] [${e:+a}] [${e+a}]", "[d] [] [] [a]\n"),
    ("f=/a/b.tar.gz; echo ${f##*/} ${f#*/} ${f%.*} ${f%%.*}", "b.tar.gz a/b.tar.gz /a/b.tar /a/b\n"),
    ("x=abcdef; echo ${x:2} ${x:1:3} ${x: -2}", "cdef bcd ef\n"),
    ("echo \"${u:-\"a  b\"}\"; echo ${u:-'a  b'}", "a  b\na  b\n"),
    ("false; echo $?; true; echo $?", "1\n0\n"),
    ("[ $$ -gt 0 ] && echo $0", "sh\n"),
    ("x=1 y=2; echo $x$y", "12\n"),
    ("a='x y'; b=$a; echo \"$b\"", "x y\n"),
    ("x=1; x=2 env | grep ^x=; echo $x", "x=2\n1\n"),
    ("export v=5; sh -c 'echo $v'", "5\n"),
    ("v=1; unset v; echo ${v-unset}", "unset\n"),
    ("IFS=,; x=a,b,,c; for i in $x; do echo [$i]; done", "[a]\n[b]\n[]\n[c]\n"),
    ("readonly r=1; (r=2) 2>/dev/null; echo $? $r", "2 1\n"),
    # arithmetic
    ("echo $((1+2*3)) $(((1+2)*3)) $((7/2)) $((-7%3)) $((1<<10)) $((0x1f)) $((010))", "7 9 3 -1 1024 31 8\n"),
    ("x=3; echo $((x+=2)) $x $((x++)) $x $((--x)) $((x>4&&x<6)) $((x==5?10:20))", "5 5 5 6 5 1 10\n"),
    ("echo $((1||1/0)) $((0&&1/0)) $((~5)) $((!3)) $((5&3|8^1))", "1 0 -6 0 9\n"),
    ("i=0; while [ $i -lt 3 ]; do i=$((i+1)); done; echo $i", "3\n"),
    # command substitution
    ("echo $(echo a; echo b) \"$(printf 'x\\n\\n')\" `echo \\`echo n\\``", "a b x n\n"),
    ("x=$(false); echo $?; x=$(exit 3) || echo $?", "1\n3\n"),
    ("echo $(echo ')' \"(\" ; case a in (a) echo y;; esac)", ") ( y\n"),
    ("echo $(cat <<E\nin here\nE\n)", "in here\n"),
    # pipes and lists
    ("echo abc | cat | wc -c", "4\n"),
    ("true && echo a || echo b; false && echo a || echo b; ! true; echo $?", "a\nb\n1\n"),
    ("(exit 3); echo $?; { echo g; }; x=1; (x=2); echo $x", "3\ng\n1\n"),
    ("echo a; echo b & wait; echo c", "a\nb\nc\n"),
    ("sleep 0 & p=$!; wait $p; echo $?; (exit 4) & wait $!; echo $?", "0\n4\n"),
    ("echo x |\n  cat &&\n  echo y", "x\ny\n"),
    ("seq 3 | while read n; do echo n$n; done", "n1\nn2\nn3\n"),
    # redirection
    ("echo one > f; echo two >> f; cat < f; wc -l < f", "one\ntwo\n2\n"),
    ("ls /nonexistent 2>/dev/null || echo failed", "failed\n"),
    ("(echo out; echo err >&2) 2>&1 | sort", "err\nout\n"),
    ("{ echo a; echo b; } > g; cat g; exec 3>h; echo three >&3; exec 3>&-; cat h", "a\nb\nthree\n"),
    ("x=5; cat <<E\nv=$x $((x+1)) `echo c` \\$x\nE\ncat <<'E'\n$x\nE\ncat <<-E\n\t\ttab\n\tE\n",
     "v=5 6 c $x\n$x\ntab\n"),
    ("cat <<A; cat <<B\na\nA\nb\nB\n", "a\nb\n"),
    ("while read a b; do echo $b $a; done <<E\n1 2 3\n4 5\nE\n", "2 3 1\n5 4\n"),
    ("echo hi > f; read x < f; echo $x; echo >f; cat f", "hi\n\n"),
    (": > e; [ -s e ] || echo empty; echo a 1<>e; cat e", "empty\na\n"),
    # compound commands
    ("if false; then echo 1; elif true; then echo 2; else echo 3; fi", "2\n"),
    ("if false; then :; fi; echo $?", "0\n"),
    ("for i in a b c; do [ $i = b ] && continue; echo $i; done", "a\nc\n"),
    ("for i in 1 2 3; do for j in 1 2 3; do [ $j = 2 ] && break 2; echo $i$j; done; done", "11\n"),
    ("until [ \"$n\" = xxx ]; do n=x$n; done; echo $n", "xxx\n"),
    ("while :; do break; done; echo out", "out\n"),
    ("for x in abc.c b.h '*' ''; do case $x in *.c) echo c;; b* | d) echo b;; '*') echo star;; '') echo none;; esac; "
     "done", "c\nb\nstar\nnone\n"),
    ("case a in [!b-z]) echo y;; esac; case ']' in []]) echo y;; esac", "y\ny\n"),
    # functions
    ("f() { local v=in; echo $v $1 $#; return 5; }; v=out; f a b; echo $? $v", "in a 2\n5 out\n"),
    ("f() { [ $1 -le 1 ] && { echo 1; return; }; echo $(( $1 * $(f $(($1-1))) )); }; f 6", "720\n"),
    ("g() { echo g; } >&2; f() ( cd /; exit 2 ); f; echo $?; unset -f f; f 2>/dev/null; echo $?", "2\n127\n"),
    ("f() { for i in 1 2; do return 3; done; }; f; echo $?", "3\n"),
    # file names
    ("mkdir d; touch d/a d/b d/.h; echo d/*; echo d/[a]; echo d/.h*; echo d/x*; echo 'd/*' d/\\*",
     "d/a d/b\nd/a\nd/.h\nd/x*\nd/* d/*\n"),
    ("mkdir -p p/q p/r; touch p/q/1 p/r/1; echo p/*/1 p/*/", "p/q/1 p/r/1 p/q/ p/r/\n"),
    ("touch 'a b'; for f in a*; do echo \"[$f]\"; done; x='a*'; echo $x \"$x\"", "[a b]\na b a*\n"),
    ("set -f; touch zz; echo z*", "z*\n"),
    # builtins
    ("eval 'x=1; echo $x'; eval echo '$x'", "1\n1\n"),
    ("echo 'y=7; return 4' > s; . ./s; echo $? $y", "4 7\n"),
    ("mkdir sub; cd sub; cd ..; cd - > /dev/null; basename $(pwd); cd /nonexistent 2>/dev/null; echo $?", "sub\n1\n"),
    ("trap 'echo bye' EXIT; echo hi", "hi\nbye\n"),
    ("trap 'echo got' USR1; kill -USR1 $$; echo after; trap - USR1; trap", "got\nafter\n"),
    ("set -e; false || true; if false; then :; fi; echo alive; (false); echo dead", "alive\n", 1),
    ("set -u; echo ${x-ok}; echo $x; echo no", "ok\n", 2),
    ("umask 027; umask; type cd; command -v cd; type nosuch 2>/dev/null; echo $?",
     "0027\ncd is a shell builtin\ncd\n127\n"),
    ("printf '%s-%d|%5s|%-5s|%05d|%x|%c\\n' a 1 b c 42 255 xyz; printf '%b' 'a\\tb\\n'; printf '%s\\n' 1 2 3",
     "a-1|    b|c    |00042|ff|x\na\tb\n1\n2\n3\n"),
    ("echo -n a; echo -e 'b\\tc\\x41\\0101'; echo -ne 'x\\n'; echo -E 'a\\tb'; echo -z; echo -e 'a\\cb'; echo",
     "ab\tcAA\nx\na\\tb\n-z\na\n"),
    ("printf 'a:b:c d\\\\e\\n' > f; IFS=: read x y < f; echo \"$x|$y\"; IFS= read -r z < f; echo \"$z\"",
     "a|b:cd\\\\e\n".replace("cd\\\\e", "c de") + "a:b:c d\\e\n"),
    ("exec echo replaced; echo never", "replaced\n"),
    ("echo 'echo script $0 $1' > s; chmod=1; sh s arg; sh -c 'echo $0 $1' n a", "script s arg\nn a\n"),
    ("exit 7", "", 7),
    ("kill -9 $$", "", -9),
    ("sh -c 'kill -SEGV $$' 2>/dev/null; echo $?", "139\n"),
    ("nosuchprogram 2>/dev/null; echo $?; ./f 2>/dev/null; echo $?", "127\n127\n"),
    ("set -x; echo a 2>/dev/null", "a\n"),
    ("x=$(echo a; exit 2); echo $? $x; time true 2>/dev/null; echo $?", "2 a\n0\n"),
    # what is larger than a pipe
    ("seq 20000 > f; x=$(cat f); echo ${#x}; printf '%s\\n' \"$x\" | cmp=1 wc -c", "108893\n108894\n"),
    ("x=$(seq 20000); cat <<E | wc -c\n$x\nE\nread y <<E\n$x\nE\necho $y", "108894\n1\n"),
    # what must not be left open, or undone
    ("i=0; while [ $i -lt 300 ]; do echo x < /nonexistent; { echo y; } > /none/such; i=$((i+1)); done 2>/dev/null; "
     "echo a | cat; ls /proc/self/fd | wc -l", "a\n4\n"),
    ("{ (exec sleep 20 > /dev/null 2>&1) & echo early; kill $!; } | cat", "early\n"),
    ("echo x 10>f; echo $?; exec 3>f; echo to >&3; exec 3>&-; cat f", "1\nto\n"),
    ("(exec < /nonexistent; echo no) 2>/dev/null; echo $?", "1\n"),
    # read, wait, trap, options
    ("printf 'a b' > f; read x y < f; echo $? $x-$y; printf 'l1\\nl2' | while read l || [ \"$l\" ]; do echo $l; done",
     "1 a-b\nl1\nl2\n"),
    ("(exit 3) & wait $!; echo $?; sh -c 'kill -9 $$' & wait $!; echo $?; wait 99999 2>/dev/null; echo $?",
     "3\n137\n127\n"),
    ("trap 'echo usr1' USR1; p=$$; sleep 5 & s=$!; (sleep 0.3; kill -USR1 $p) & wait $s; echo $?; kill $s",
     "usr1\n138\n"),
    ("trap 'trap - USR1; echo once; return 2>/dev/null' USR1; f() { kill -USR1 $$; echo in; }; f; trap; echo $?",
     "once\n0\n"),
    ("trap '' TERM; sh -c 'kill -TERM $$; echo ignored'; trap - TERM", "ignored\n"),
    ("sh -c 'trap \"echo bye\" EXIT; set -e; false; echo no'; echo $?", "bye\n1\n"),
    ("set -e; ! true; false && true; f() { false; echo f; }; f || echo g; x=$(false) || :; echo alive; "
     "{ echo no; } < /nonexistent; echo dead", "f\nalive\n", 1),
    ("sh -n -c 'echo no; touch made'; echo $?; ls; sh -n -c 'if' 2>/dev/null; echo $?", "0\n2\n"),
    ("echo $-; set -fu; echo $-", "\nfu\n"),
    ("f() { echo $1; }; . ./none 2>/dev/null", "", 2),
    ("f() { set -- x y; echo $#; }; set -- a; f; echo $#; echo 'set -- 1 2 3' > s; . ./s; echo $#; "
     "echo 'echo $1' > t; . ./t arg; echo $1", "2\n1\n3\narg\n1\n"),
    ("i=0; while [ $i -lt 200 ]; do : & i=$((i+1)); done; wait; echo $?", "0\n"),
    ("read -z 2>/dev/null; echo no", "", 2),
]


@pytest.mark.parametrize("case", LANGUAGE, ids=lambda case: case[0][:50])
def test_language(userland, tmp_path, case):
    script, expected = case[0], case[1]
    status = case[2] if len(case) > 2 else 0
    out, err, got = run(userland, tmp_path, script)
    assert (out, got) == (expected, status), err


# What goes wrong says so, in these words, with this status.
ERRORS = [
    ("irqhog 0; irqhog 1e3; preempthog 1 2", "", "irqhog: number '0' is not in 1..1000000\nirqhog: invalid number '1e3'\nUsage: preempthog USEC\n", 1),
    ("irqhog -l -l 0; irqhog -p -q 100", "", "irqhog: number '0' is not in 1..1000000\nirqhog: one of -l, -p and -q at a time\n", 1),
    ("chrt 0 true; chrt -f 100 true; chrt -o 1 true; chrt -p -- -1 $$", "", "".join(
        f"chrt: unsupported priority value for the policy: {n}: see --max for valid range\n" for n in (0, 100, 1, -1)), 1),
    ("chrt -d -T 99999999999999999999 0 true; chrt -d -D 18446744073709551616 0 true; chrt -d -P -1 0 true; chrt x true; chrt -p 1 2 3", "",
     "chrt: number '99999999999999999999' is too large\nchrt: number '18446744073709551616' is too large\n"
     "chrt: invalid number '-1'\nchrt: invalid number 'x'\nUsage: chrt [-f|-r|-o|-b|-i|-d] [-Rv] [-T NS] [-D NS] [-P NS] PRIORITY COMMAND "
     "[ARG...] | chrt [-f...] [-av] -p [PRIORITY] PID | chrt -m\n", 1),
    ("latency -l 0; latency -l 99999999999999999999; latency -l -99999999999999999999", "", "latency: number '0' is less than 1\n"
     "latency: number '99999999999999999999' is too large\nlatency: number '-99999999999999999999' is less than 1\n", 1),
    ("nproc --ignore=x; nproc 1", "", "nproc: invalid number 'x'\nUsage: nproc [--all] [--ignore=N]\n", 1),
    ("latency -P none; latency -P other -p 1; latency -t 65", "",
     "latency: 'none' is none of other, fifo, rr, deadline\nlatency: policy other has no priorities\nlatency: number '65' is not in 1..64\n", 1),
    ("echo a | sed s/a", "", "sed: missing delimiter, at ''\n", 1),
    ("echo a | sed 's/a/b/;x'", "", "sed: unknown command, at 'x'\n", 1),
    ("echo a | sed 's/a/b/k'", "", "sed: extra characters after command, at 'k'\n", 1),
    ("echo a | sed '{p'", "", "sed: a { has no }\n", 1),
    (r"echo a | sed 's/\(a\)/\1/'", "", "sed: \\1: groups are not remembered; only & is\n", 1),
    ("echo a > f; sed p none f", "a\na\n", "sed: none: No such file or directory\n", 2),
    ("echo x > /dev/full; echo $?", "1\n", "sh: echo: write error: No space left on device\n", 0),
    ("kill 99999999; env kill 99999999", "", "sh: kill: (99999999): No such process\nkill: (99999999): No such process\n", 1),
    ("printf x > /dev/full; pwd > /dev/full; echo $?; pwd > /dev/null && kill -l > /dev/full; env echo x > /dev/full", "1\n",
     "sh: printf: write error: No space left on device\nsh: pwd: write error: No space left on device\n"
     "sh: kill: write error: No space left on device\necho: write error: No space left on device\n", 1),
    ("nosuch", "", "sh: nosuch: not found\n", 127),
    ("echo hi; if", "", 'sh: line 1: syntax error: unexpected "end of file"\n', 2),
    ("echo )", "", 'sh: line 1: syntax error: unexpected ")"\n', 2),
    ("echo 'abc", "", "sh: syntax error: unterminated quoted string\n", 2),
    ("cat < /nonexistent; echo $?", "1\n", "sh: cannot open /nonexistent: No such file or directory\n", 0),
    ("echo $((1/0)); echo no", "", "sh: arithmetic: division by zero\n", 2),
    ("echo ${x?gone}", "", "sh: x: gone\n", 2),
    ("set -u; echo $nope", "", "sh: nope: parameter not set\n", 2),
    ("set -v; echo a\necho b; eval 'echo c'\nset +v\necho d", "a\nb\nc\nd\n", "echo b; eval 'echo c'\nset +v\n", 0),
    ("printf 'echo $-\\n2>&1 cat <<E\\nx\\nE\\n# end' > s; sh -v s; sh -v < s; set -v; . ./s", "v\nx\nv\nx\nv\nx\n",
     3 * "echo $-\n2>&1 cat <<E\nx\nE\n# end\n", 0),
    ("set -x; echo a 'b c'", "a b c\n", "+ echo a b c\n", 0),
    ("sh -c 'kill -SEGV $$'; echo alive", "alive\n", "Segmentation fault\n", 0),
    ("cat /nonexistent", "", "cat: /nonexistent: No such file or directory\n", 1),
    ("head -n x", "", "head: invalid number 'x'\n", 1),
    ("grep '['", "", "grep: unmatched [\n", 2),
    ("ls -Q", "", "ls: unknown option '-Q' (try ls --help)\n", 2),
    ("chmod u%r .", "", "chmod: invalid mode: 'u%r'\n", 1),
    ("chmod 99 .", "", "chmod: invalid mode: '99'\n", 1),
    ("chmod +x nosuch", "", "chmod: cannot access 'nosuch': No such file or directory\n", 1),
    ("timeout x true", "", "timeout: invalid time interval 'x'\n", 125),
    ("sleep abc", "", "sleep: invalid time interval 'abc'\n", 1),
    ("kill -NOPE 1", "", "sh: unknown signal 'NOPE'\n", 1),
    ("rm nosuch", "", "rm: cannot remove 'nosuch': No such file or directory\n", 1),
    ("mkdir d; rm d", "", "rm: cannot remove 'd': Is a directory\n", 1),
    ("test 1 -eq x", "", "sh: integer expression expected: 'x'\n", 2),
    ("dd if=/dev/zero bs=0", "", "dd: invalid block size\n", 1),
]


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: case[0][:50])
def test_errors(userland, tmp_path, case):
    script, expected, message, status = case
    out, err, got = run(userland, tmp_path, script)
    assert "qemu: uncaught target signal" not in out
    err = "".join(line for line in err.splitlines(True) if "uncaught target signal" not in line)
    assert (out, err.replace(" (core dumped)", ""), got) == (expected, message, status)


TOOLS = [
    ("seq 5 > f; head f -2; tail f -1; kill -9 0x 2> /dev/null; echo $?", "1\n2\n5\n1\n"),
    ("seq 30 | head -3; seq 30 | tail -2; seq 5 | head -c 3; seq 5 | tail -n +4; seq 9 | head -2 | tail -1",
     "1\n2\n3\n29\n30\n1\n24\n5\n2\n"),
    ("seq 3 > a; seq 4 > b; head -1 a b", "==> a <==\n1\n\n==> b <==\n1\n"),
    ("seq 20 | grep 1; seq 20 | grep -c 1; seq 20 | grep -v 1 | wc -l; seq 20 | grep -q 7; echo $?; seq 3 | grep 9; "
     "echo $?", "".join(f"{n}\n" for n in (1, *range(10, 20))) + "11\n9\n0\n1\n"),
    ("printf 'foo bar\\nFoo\\nbaz\\n' > f; grep -i foo f; grep -n ba f; grep -o 'b[a-z]*' f; grep -l foo f; "
     "grep -w foo f; grep -x baz f; grep -Fc . f; grep -e foo -e baz f",
     "foo bar\nFoo\n1:foo bar\n3:baz\nbar\nbaz\nf\nfoo bar\nbaz\n0\nfoo bar\nbaz\n"),
    ("printf 'ab\\naab\\nb\\nabab\\na+b\\n' > f; grep -E '^(ab)+$' f; grep 'a*b$' f | wc -l; grep -E 'a{2}' f; "
     "grep 'a\\{2,3\\}b' f; grep 'a+b' f; grep -E 'b|\\+' f | wc -l; grep '^$' f; grep '^*' f; grep 'ab\\|zz' f | wc -l",
     "ab\nabab\n5\naab\naab\na+b\n5\n3\n"),
    ("echo 'x=42;' | grep -oE '[[:digit:]]+'; echo aXb | grep -E 'a.b'; echo abc | grep -E 'a(b?)c'; "
     "echo xaaay | grep -oE 'a*' ; echo foobar | grep -oE 'foo|foobar'", "42\naXb\nabc\naaa\nfoobar\n"),
    ("seq 9 > f; sed -n 2,3p f; sed '2,$d' f; sed -n '$p' f f; sed -n '/4/,/6/p' f; sed 2q f; sed -e '/[2-8]/d' -e 's/$/!/' f; "
     "sed -n '8,2p;$=' f; sed '3!d' f; sed -n -e '/3/{s/3/three/;p' -e '}' f",
     "2\n3\n1\n9\n4\n5\n6\n1\n2\n1!\n9!\n8\n9\n3\nthree\n"),
    ("echo aaa bbb | sed 's/a/X/;s/b/Y/2g'; echo a/b | sed 's,/,[&],;s/\\//\\&/'; echo abc | sed 's/x*/-/g'; echo baac | sed 's/a*/x/g'; "
     "echo 'a b' | sed 's/ /\\n/'; echo aB | sed -n 's/b/c/Ip'; echo ab | sed -E 's/(a|b)+/<&>/'; printf 'a\\tb\\n' | sed 's/[\\t]/T/'",
     "Xaa bYY\na[&]b\n-a-b-c-\nxbxcx\na\nb\nac\n<ab>\naTb\n"),
    ("mkdir d; printf %5000s > d/f; b=$(stat -c %b d/f); [ \"$(ls -l d | head -1)\" = \"total $((b/2))\" ]; echo $?; ls -l d | wc -l; "
     "ls -l d/f | wc -l; ls -lh d | grep -c '4.9K.* f$'; ls d", "0\n2\n1\n1\nf\n"),
    ("seq 3 | more; seq 3 > f; less f f | wc -l; more none f 2>/dev/null; echo $?", "1\n2\n3\n6\n1\n2\n3\n1\n"),
    ("printf 'a b  c\\nd\\n' > f; wc f; wc -l f; wc -w < f; cat f f | wc -c", "      2       4       9 f\n2 f\n4\n18\n"),
    ("printf '10\\n9\\n-1\\n2.5\\n2.25\\n' > f; sort f; echo; sort -n f; sort -nr f | head -1",
     "-1\n10\n2.25\n2.5\n9\n\n-1\n2.25\n2.5\n9\n10\n10\n"),
    ("printf 'b 2\\na 3\\nb 1\\na 3\\n' > f; sort -u f; sort -k 2 -n f | head -1; sort f | uniq -c; sort f | uniq -d; "
     "sort -t ' ' -k2,2nr f | head -1", "a 3\nb 1\nb 2\nb 1\n      2 a 3\n      1 b 1\n      1 b 2\na 3\na 3\n"),
    ("echo hello | tr a-y b-z; echo hello | tr -d l; echo aabb | tr -s a; echo 'a b' | tr ' ' '\\n'; "
     "echo Up | tr '[:upper:]' '[:lower:]'; echo a1b2 | tr -cd '0-9\\n'", "ifmmp\nheo\nabb\na\nb\nup\n12\n"),
    ("echo a:b:c | cut -d: -f2; echo a:b:c | cut -d : -f 1,3; echo abcdef | cut -c 2-4; echo abcdef | cut -c 5-; "
     "echo a:b:c | cut -d: -f 2-; echo abc | cut -d: -f2", "b\na:c\nbcd\nef\nb:c\nabc\n"),
    ("seq 2 4; seq 1 2 5; seq 3 -1 1; seq -s, 3; seq 0.5 0.5 1.5; seq -w 8 10",
     "2\n3\n4\n1\n3\n5\n3\n2\n1\n1,2,3\n0.5\n1.0\n1.5\n08\n09\n10\n"),
    ("printf 'AB\\0\\377 0123456789abcdef' | hexdump -C",
     "00000000  41 42 00 ff 20 30 31 32  33 34 35 36 37 38 39 61  |AB.. 0123456789a|\n"
     "00000010  62 63 64 65 66                                    |bcdef|\n00000015\n"),
    ("head -c 64 /dev/zero | hexdump; echo; head -c 48 /dev/zero | hexdump -C -n 33",
     "0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000040\n\n"
     "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n"
     "00000020  00                                                |.|\n00000021\n"),
    ("dd if=/dev/zero of=f bs=100 count=3 2>&1 | sed 's/, [0-9.e-]* s, [0-9.]* k*M*B.s$/, time and speed/'; wc -c f; printf abcdef | dd bs=2 skip=1 count=1 "
     "status=none", "3+0 records in\n3+0 records out\n300 bytes copied, time and speed\n300 f\ncd"),
    # A block that found no room was read all the same.
    ("dd if=/dev/zero of=/dev/full bs=100 count=3 2>&1 | head -3; dd if=/dev/zero of=/dev/null bs=1k count=1500 2>&1 | sed -n 's/ copied.*//; $p'",
     "dd: error writing '/dev/full': No space left on device\n1+0 records in\n0+0 records out\n1536000 bytes (1.5 MB)\n"),
    # Scripts take the second column for the process id. Other languages stand in the last one.
    ("ps aux | head -1; ps -ef | head -1; sh -c 'sleep 5; :' 你好 & p=$!; for how in aux -ef; do ps $how 2> /dev/null | grep '你[好]' | sed 's/  */ /g' | "
     "cut -d ' ' -f 2; done | sort | uniq -c | sed 's/ *//' | grep -c \"^2 $p\"; kill $p",
     "USER       PID %CPU %MEM    VSZ    RSS TTY      STAT START   TIME COMMAND\nUID        PID  PPID  C STIME TTY          TIME CMD\n1\n"),
    ("mkdir -p a/b/c; touch a/f; ls a; ls -1 a/b; ls -d a; ls -R a; ls -a a | head -2; rmdir a/b/c; rm -r a; ls; "
     "rm -f none; echo $?", "b\nf\nc\na\na:\nb\nf\n\na/b:\nc\n\na/b/c:\n.\n..\n0\n"),
    ("umask 022; echo hi > f; cp f g; cat g; mv g h; ls; mkdir d; cp f h d; ls d; cp -r d e; cat e/f; ln -s f l; "
     "ls -l l | cut -c 1; ls -l f | cut -c 1-10; ln f k; cat k; test -L l; echo $?",
     "hi\nf\nh\nf\nh\nhi\nl\n-rw-r--r--\nhi\n0\n"),
    ("[ -f /nonexistent ]; echo $?; [ a = a -a 1 -lt 2 ]; echo $?; [ ! -d / ]; echo $?; [ \\( a = b -o c = c \\) ]; "
     "echo $?; test; echo $?; [ -n '' ]; echo $?; [ -z '' ]; echo $?; [ '!' = '!' ]; echo $?",
     "1\n0\n1\n0\n1\n1\n0\n0\n"),
    ("command test 3 -ge 3; echo $?; env test x != x; echo $?; env [ 1 -ne 1 ]; echo $?; env echo -n a; env printf '%d\\n' 3",
     "0\n1\n1\na3\n"),
    ("basename /a/b.c .c; basename /a/; dirname /a/b; dirname a; dirname /; basename /", "b\na\n/a\n.\n/\n/\n"),
    ("env -i A=1 /bin/false; echo $?; A=2 printenv A; printenv NOPE; echo $?", "1\n2\n1\n"),
    ("echo a b c | xargs echo x; echo a b c | xargs -n 1 echo; echo | xargs -r echo no", "x a b c\na\nb\nc\n"),
    ("echo t | tee f g; cat f g; echo u | tee -a f > /dev/null; cat f", "t\nt\nt\nt\nu\n"),
    ("yes | head -2; yes a b | head -1", "y\ny\na b\n"),
    ("true; echo $?; false; echo $?; env true; echo $?; env false; echo $?", "0\n1\n0\n1\n"),
    ("kill -l 9; kill -l 130; sleep 100 & kill $!; wait $!; echo $?; sleep 100 & kill -KILL $! ; wait $!; echo $?",
     "KILL\nINT\n143\n137\n"),
    ("uname -s; uname -m; id -u | tr -d 0-9", "Linux\nMACHINE\n\n"),
    ("n=$(nice); echo $(($(nice -n 5 nice) - n)); chrt -p $$ | grep -c SCHED_OTHER; chrt -m | grep FIFO", "5\n1\n"
     "SCHED_FIFO min/max priority\t: 1/99\n"),
    ("chrt --all-tasks --pid $$ | cut -d' ' -f3- | sort -u; chrt -o -v -R -p 0 $$ | cut -d' ' -f3-; chrt -m | tail -1; "
     "chrt -d -P 10000000 -T 20000000 0 true 2>&1 | sed 's/0/P/'; chrt -f -P 9 1 true; echo $?",
     "current scheduling policy: SCHED_OTHER\ncurrent scheduling priority: 0\n"
     "current scheduling policy: SCHED_OTHER\ncurrent scheduling priority: 0\nnew scheduling policy: SCHED_OTHER|SCHED_RESET_ON_FORK\nnew scheduling priority: 0\n"
     "SCHED_DEADLINE min/max priority\t: 0/0\nchrt: failed to set pid P's policy: Invalid argument: 1024 ns <= runtime <= deadline <= period "
     "is wanted, and a period of 100 to 4194304 us\n1\n"),
    ("taskset -c 0 taskset -p $$ > /dev/null; taskset 1 sh -c 'taskset -c -p $$' | cut -d: -f2", " 0\n"),
    ("sleep 0.01; sleep 0 0s; usleep 10; echo $?; sync; echo $?", "0\n0\n"),
    ("umask 022; touch f; for m in 640 +x u-x go=r,u+w a=rw =r,u+X -r o+t 755 u=s,g+x; do chmod $m f; stat -c %a f; done",
     "640\n751\n651\n644\n666\n444\n0\n1000\n755\n4055\n"),
    ("timeout 0.1 sleep 9; echo $?; timeout 9 false; echo $?; timeout -s KILL .1 sleep 9; echo $?; timeout 0 echo x",
     "124\n1\n124\nx\n"),
    ("date +%Y | tr -d 0-9; date -u +%s | tr -d 0-9; touch -c none; ls", "\n\n"),
    ("stress --cpu 1 --yield 2 --sleep 1 --pipe 2 --fork 1 --count 3 --verbose | sort | uniq -c | tr -s ' '",
     " 1 cpu: 3 rounds\n 1 fork: 3 rounds\n 2 pipe: 3 rounds\n 1 sleep: 3 rounds\n 2 yield: 3 rounds\n"),
    ("stress --vm 2 --fs 2 --count 2 --verbose | sort | uniq -c | tr -s ' '; ls -d /tmp/stress-* 2> /dev/null", " 2 fs: 2 rounds\n 2 vm: 2 rounds\n"),
    ("latency -q -l 5 -t 2 -i 2000 -h 2 | sed 's/([^)]*)//; s/Min.*//; /^00000/d; s/: [0-9 ]*$/:/'",
     "policy: other\nT: 0  P: 0 I:2000 C:\nT: 1  P: 0 I:2000 C:\n# Histogram\n# Total:\n# Histogram Overflows:\n"),
    ("latency -q > f & sleep 0.2; kill -INT $!; wait $!; echo $?; grep -c 'C: *[1-9]' f", "0\n1\n"),
    ("ps | head -1; ps -l | head -1; pidof nosuchprocess; echo $?; which sh | tr -d '\\n' | tail -c 3",
     "  PID  PPID TTY      S PRI  NI TIME  COMMAND\n  PID  PPID S CLS RTP  NI CPU     VSZ    RSS TIME  COMMAND\n1\n/sh"),
    ("free | head -1; uptime | grep -c 'load average'", "           total        used        free  buff/cache\n1\n"),
    ("sysctl kernel.ostype; sysctl -n kernel/ostype", "kernel.ostype = Linux\nLinux\n"),
    ("{ time -p true; } 2>&1 | cut -d ' ' -f 1; env time true 2>&1 | cut -f 1; { time true | cat; } 2>&1 | cut -f 1",
     "real\nuser\nsys\nreal\nuser\nsys\n\nreal\nuser\nsys\n"),
    ("mountpoint / /x 2>/dev/null; echo $?; mountpoint /; mkdir d; mountpoint d; echo $?; mountpoint -q d; echo $?; "
     "mountpoint none; echo $?", "1\n/ is a mountpoint\nd is not a mountpoint\n32\n32\n1\n"),
    ("printf abc > f; chmod=1; ln -s f l; umask 022; mkdir d; stat -c '%n %s %F %h' f; stat -c %N l; stat -L -c %F l; "
     "stat -c '%a %A' d; stat f | head -2 | tail -1 | cut -c 1-9; stat none; echo $?",
     "f 3 regular file 1\n'l' -> 'f'\nregular file\n755 drwxr-xr-x\n  Size: 3\n1\n"),
    ("mkdir d; touch d/f; cp -r d d/e 2>/dev/null; echo $?; ls -R d", "1\nd:\ne\nf\n\nd/e:\nf\n"),
    ("seq 5 > f; tail -c 3 f; head -c 2 f; tail -c +9 f; env -i x=1 env", "\n5\n1\n5\nx=1\n"),
]


@pytest.mark.parametrize("case", TOOLS, ids=lambda case: case[0][:50])
def test_tools(userland, tmp_path, case):
    script, expected = case
    out, err, _ = run(userland, tmp_path, script)
    assert out == expected.replace("MACHINE", userland.arch), err


# Ours and GNU's are given the same.
GREP_CONTEXT = [
    "-A1 4", "-A 1 -B1 4", "-n -C1 '[48]'", "-C0 '[48]'", "-C 2 '[37]'", "-B3 2", "-A99 19", "-c -C1 1", "-l -C1 1 f", "-v -A1 '[1-8]'",
    "-m2 -A1 1", "-m 1 -A3 1", "-m0 -A1 1", "-n -A1 5 f g", "-h -B1 5 f g", "-H -n -C1 5 f", "-o -n -A1 1", "-o -C0 1", "-A1 -C3 9", "-C3 -B0 9",
    "-A x 1", "-A 1 none", "-q -B1 3",
]


@pytest.mark.parametrize("words", GREP_CONTEXT)
def test_grep_context(userland, tmp_path, words):
    for name in "fg":
        (tmp_path / name).write_text("".join(f"{n}\n" for n in range(1, 20)))
    words += "" if words.endswith(("f", "g")) else " f"
    theirs = subprocess.run(["/bin/sh", "-c", f"{shutil.which('grep')} {words}"], cwd=tmp_path, capture_output=True, timeout=60)
    out, err, status = run(userland, tmp_path, f"env grep {words}")
    assert (out, status, err != "") == (theirs.stdout.decode(), theirs.returncode, theirs.stderr != b"")


def test_nproc(userland, tmp_path):
    out = run(userland, tmp_path, "nproc; nproc --ignore=99999; nproc --all; taskset 1 nproc; nproc --help")[0].splitlines()
    everywhere = sorted(os.sched_getaffinity(0))
    online = pathlib.Path("/proc/cpuinfo").read_text().count("processor")
    assert out == [str(len(everywhere)), "1", str(online), "1", "Usage: nproc [--all] [--ignore=N]"]


# What our find and GNU's are given in the tree of find_tree().
FIND = [
    "", ".", "d d//", "none d ''", "-- d", "/dev/null -type c", "d//. l l/", "-maxdepth 1", "d -maxdepth 0", "-mindepth 2",
    "-mindepth 2 -maxdepth 2 -type d", "-mindepth 3 -maxdepth 2", "d// -name d", "/ -maxdepth 0 -name /", ". -name .",
    "-name '*.c'", "-name '.*'", "-name '[!a-d]*'", "-iname 'A*'", "-iname '*.[C-D]'", "-path './d/*'", "-path '*e/?*'", "d -path 'd/e*'",
    "-type f", "-type d", "-type l", "-type p", "-type s", "-type b", "-type c", "-type f,l", "-type d,p,s",
    "-size 0", "-size 1", "-size -2 -type f", "-size +2c", "-size 3c -o -size 1025c", "-size -1k -type f", "-size 2k", "-size +1k -type f",
    "-size -1M -type f", "-size 1M -type f", "-size 010c", "-newer old", "! -newer old", "-newer d/e/new -name n*", "-empty", "-empty -type d",
    "-type d -name d -prune -o -print", "-name e -prune", "-path ./d -prune -o -type f -name '*.c' -print", "-mindepth 2 -name e -prune -o -print",
    "! -type f", "-not -name '*.c' -type f", "! ! -type f", r"! \( -type f -o -type d \)", r"\( -name '*.c' -o -name b \) -type f",
    "-name b -o -name '*.c' -a -size -1", "-type f -name b -o -type d -empty", "-name b -and -type f -or -name old", "-type f -print -name b -print",
    "-name b -print -o -name c.c", "-name none -a -print -o -type l", r"\( \( -type l \) -o \( ! -name '*' \) \)", "-type d -print0",
    r"-name '*.c' -exec echo x{}y{} \;", r"-type f -exec test -s {} \; -print", r"-type f ! -exec grep -q x {} \; -print", r"-exec false \;",
    r"d -exec echo + \;", "-type f -exec echo a b {} +", "-exec false {} + -name b -print", "-name none -exec false {} +",
    r"d -exec echo {} + -exec echo one {} \; -print", "-name b -exec echo {} + -o -name c.c -exec echo no {} +", "l -name l", "dangling -type l",
]


@pytest.fixture(scope="session")
def find_tree(tmp_path_factory):
    top = tmp_path_factory.mktemp("find")
    for name in ("d/e/f", "d/empty", ".hidden"):
        (top / name).mkdir(parents=True)
    for name, size in (("b", 0), ("c.c", 3), ("d/A.c", 1025), ("d/e/a.D", 1024), ("d/e/b", 1), ("d/e/f/b c", 600), (".hidden/.x", 2000)):
        (top / name).write_text("x" * size)
    for name, seconds in (("old", 1000), ("d/e/new", time.time() + 9)):
        (top / name).touch()
        os.utime(top / name, (seconds, seconds))
    os.mkfifo(top / "fifo")
    os.mknod(top / "socket", 0o600 | stat.S_IFSOCK)
    (top / "l").symlink_to("d")
    (top / "dangling").symlink_to("nowhere")
    return top


def gnu_find(userland, cwd, words):
    """What GNU's find prints; the commands that it runs are ours."""
    find = shutil.which("find")
    done = subprocess.run(["/bin/sh", "-c", f"{find} {words}"], cwd=cwd, capture_output=True, timeout=60,
                          env={"PATH": str(userland.path), "LC_ALL": "C"})
    return done.stdout.decode("latin-1"), done.stderr.decode("latin-1").replace(f"{find}: ", "find: "), done.returncode


@pytest.mark.parametrize("words", FIND)
def test_find(userland, find_tree, words):
    assert run(userland, find_tree, f"env find {words}") == gnu_find(userland, find_tree, words)


FIND_ERRORS = [
    ("-name", "missing argument to `-name'"), ("-foo", "unknown predicate `-foo'"), (r"\( -print", "invalid expression; "
     "I was expecting to find a ')' somewhere but did not see one."), (r". -print \(", "invalid expression; "
     "expected to find a ')' but didn't see one. Perhaps you need an extra predicate after '('"),
    (r"-print \)", "you have too many ')'"), (r". \( \)", "invalid expression; empty parentheses are not allowed."),
    ("-o -print", "invalid expression; you have used a binary operator '-o' with nothing before it."), ("-print -o", "invalid expression"),
    ("-print -a -a -print", "invalid expression; you have used a binary operator '-a' with nothing before it."),
    ("!", "expected an expression after '!'"), (r"\( -print -o \)", "expected an expression between '-o' and ')'"),
    ("-print x", "paths must precede expression: `x'"),
    ("-name b c.c", "paths must precede expression: `c.c'\nfind: possible unquoted pattern after predicate `-name'?"),
    ("-type x", "Unknown argument to -type: x"), ("-type fd", "Must separate multiple arguments to -type using: ','"),
    ("-maxdepth -1", "Expected a positive decimal integer argument to -maxdepth, but got '-1'"),
    ("-mindepth x", "Expected a positive decimal integer argument to -mindepth, but got 'x'"),
    ("-size 1x", "invalid -size type `x'"), ("-size 1kk", "Invalid argument `1kk' to -size"), ("-size k", "Invalid argument `k' to -size"),
    ("-newer none", "'none': No such file or directory"), ("-exec echo +", "missing argument to `-exec'"),
    (r"-exec \;", "invalid argument `;' to `-exec'"), ("-exec echo {} {} +", "Only one instance of {} is supported with -exec ... +"),
]


@pytest.mark.parametrize("words, message", FIND_ERRORS)
def test_find_errors(userland, find_tree, words, message):
    """The words are those of GNU 4.9; other releases have their own."""
    assert run(userland, find_tree, f"env find {words}") == ("", f"find: {message}\n", 1)
    assert gnu_find(userland, find_tree, words)[::2] == ("", 1)


def test_find_in_a_deep_tree(userland, tmp_path):
    """Few descriptors do for any depth, and a path longer than the kernel takes is told."""
    (tmp_path / ("d/" * 400)).mkdir(parents=True)
    (tmp_path / ("d/" * 400) / "end").touch()
    done = subprocess.run(["/bin/sh", "-c", f"ulimit -n 12; exec {userland.qemu} -0 find {userland.bin}/find . -type f"], cwd=tmp_path,
                          capture_output=True, timeout=60)
    assert (done.stdout.decode(), done.stderr.decode(), done.returncode) == gnu_find(userland, tmp_path, ". -type f")
    (tmp_path / "long").mkdir()
    here = os.open(tmp_path / "long", os.O_RDONLY)
    for _ in range(21):
        os.mkdir("n" * 200, dir_fd=here)
        below = os.open("n" * 200, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    out, err, status = run(userland, tmp_path, "env find long -name 'n*'")
    assert (out.count("\n"), status) == (20, 1)
    assert err.count("\n") == 1 and err.startswith("find: 'long/nnn") and len(err) == 512  # as long as messages get


def test_find_splits_long_commands(userland, tmp_path):
    names = [f"{n:0100}" for n in range(1500)]
    for name in names:
        (tmp_path / name).touch()
    out = run(userland, tmp_path, "env find . -type f -exec echo run {} +")[0]
    lines = [line.split() for line in out.splitlines()]
    assert len(lines) == 3 and all(line[0] == "run" for line in lines)
    assert sorted(path for line in lines for path in line[1:]) == [f"./{name}" for name in names]


def test_dates_of_ls(userland, tmp_path):
    (tmp_path / "new").touch()
    for name, seconds in (("old", 0), ("future", time.time() + 86400)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, (seconds, seconds))
    out = run(userland, tmp_path, "ls -l future new old")[0].splitlines()
    assert ":" not in out[0] and ":" in out[1] and out[2].endswith(" Jan  1  1970 old")


def test_every_program_has_a_usage_line(userland, tmp_path):
    quiet = {"true", "false", "echo", "printf"}  # as in POSIX, these take any word as an operand
    programs = sorted(p.name for p in userland.bin.iterdir() if not p.is_symlink() and p.name not in quiet)
    assert len(programs) > 50
    for name in programs:
        out, err, status = run(userland, tmp_path, f"env {name} --help")
        usage, *lines = out.splitlines()
        assert usage.startswith("Usage: ") and status == 0, (name, out, err)
        assert all(line.startswith("  ") and len(line) <= 120 for line in lines), (name, out)


@pytest.mark.parametrize("name, options", [
    ("chrt", "-f -r -o -b -i -d -T -D -P -R -a -p -m -v -h -V --fifo --rr --other --batch --idle --deadline --sched-runtime "
             "--sched-deadline --sched-period --reset-on-fork --all-tasks --pid --max --verbose --help --version"),
    ("latency", "-p -P -i -l -t -a -h -q"), ("irqhog", "-l -p -q USEC"), ("preempthog", "USEC"),
    ("stress", "--cpu --yield --sleep --pipe --fork --vm --fs --timeout --count --verbose -v"),
])
def test_help_has_a_line_for_each_option(userland, tmp_path, name, options):
    lines = run(userland, tmp_path, f"{name} --help")[0].splitlines()[1:]
    words = [word.strip(",") for line in lines for word in line.split("   ")[0].split() if word[0] == "-" or word == "USEC"]
    assert set(options.split()) <= set(words), words
    source = (TOP / "userland/bin" / f"{name}.c").read_text()
    taken = set(re.findall(r"[A-Za-z]", re.search(r'\.options = "([^"]*)"', source).group(1))) if ".options" in source else set()
    assert {f"-{letter}" for letter in taken} <= set(words)


def test_script_on_standard_input(userland, tmp_path):
    done = subprocess.run([userland.qemu, str(userland.bin / "sh")], input=b"read x\nvalue\necho got $x\ncat\nrest\n", cwd=tmp_path,
                          capture_output=True, timeout=60, env={"PATH": str(userland.path)})
    assert done.stdout == b"got value\nrest\n"


def test_echo_is_one_write(userland, tmp_path):
    """tracefs takes each write(2) as one command."""
    done = subprocess.run([userland.qemu, "-strace", str(userland.bin / "sh"), "-c", "echo a 'b c' d"], capture_output=True, timeout=60,
                          env={"PATH": str(userland.path)})
    writes = [line for line in done.stderr.decode("latin-1").splitlines() if " write(1," in line]
    assert done.stdout == b"a b c d\n" and len(writes) == 1, writes


def test_initramfs_is_small_and_complete(userland):
    image = userland.bin.parents[1] / "initramfs.cpio"
    assert image.stat().st_size < 2_500_000
    names = subprocess.run(["cpio", "-t", "--quiet"], stdin=image.open("rb"), capture_output=True, check=True)
    names = names.stdout.decode().split()
    for name in ("init", "sbin/init", "bin/sh", "bin/[", "etc/rc", "proc", "sys", "dev", "tmp", "root"):
        assert name in names
    assert names == sorted(names)
