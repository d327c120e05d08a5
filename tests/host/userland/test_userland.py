"""The programs' options, run on the host by qemu-user: the system-call ABI is Linux's."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from userland_run import TOP, run, userland  # noqa: F401 (a fixture)


TOOLS = [
    ("seq 5 > f; head f -2; tail f -1; kill -9 0x 2> /dev/null; echo $?", "1\n2\n5\n1\n"),
    (
        "seq 30 | head -3; seq 30 | tail -2; seq 5 | head -c 3; seq 5 | tail -n +4; seq 9 | head -2 | tail -1",
        "1\n2\n3\n29\n30\n1\n24\n5\n2\n",
    ),
    ("seq 3 > a; seq 4 > b; head -1 a b", "==> a <==\n1\n\n==> b <==\n1\n"),
    (
        "seq 20 | grep 1; seq 20 | grep -c 1; seq 20 | grep -v 1 | wc -l; seq 20 | grep -q 7; echo $?; seq 3 | grep 9; "
        "echo $?",
        "".join(f"{n}\n" for n in (1, *range(10, 20))) + "11\n9\n0\n1\n",
    ),
    (
        "printf 'foo bar\\nFoo\\nbaz\\n' > f; grep -i foo f; grep -n ba f; grep -o 'b[a-z]*' f; grep -l foo f; "
        "grep -w foo f; grep -x baz f; grep -Fc . f; grep -e foo -e baz f",
        "foo bar\nFoo\n1:foo bar\n3:baz\nbar\nbaz\nf\nfoo bar\nbaz\n0\nfoo bar\nbaz\n",
    ),
    (
        "printf 'ab\\naab\\nb\\nabab\\na+b\\n' > f; grep -E '^(ab)+$' f; grep 'a*b$' f | wc -l; grep -E 'a{2}' f; "
        "grep 'a\\{2,3\\}b' f; grep 'a+b' f; grep -E 'b|\\+' f | wc -l; grep '^$' f; grep '^*' f; grep 'ab\\|zz' f | wc -l",
        "ab\nabab\n5\naab\naab\na+b\n5\n3\n",
    ),
    (
        "echo 'x=42;' | grep -oE '[[:digit:]]+'; echo aXb | grep -E 'a.b'; echo abc | grep -E 'a(b?)c'; "
        "echo xaaay | grep -oE 'a*' ; echo foobar | grep -oE 'foo|foobar'",
        "42\naXb\nabc\naaa\nfoobar\n",
    ),
    (
        "seq 9 > f; sed -n 2,3p f; sed '2,$d' f; sed -n '$p' f f; sed -n '/4/,/6/p' f; sed 2q f; sed -e '/[2-8]/d' -e 's/$/!/' f; "
        "sed -n '8,2p;$=' f; sed '3!d' f; sed -n -e '/3/{s/3/three/;p' -e '}' f",
        "2\n3\n1\n9\n4\n5\n6\n1\n2\n1!\n9!\n8\n9\n3\nthree\n",
    ),
    (
        "echo aaa bbb | sed 's/a/X/;s/b/Y/2g'; echo a/b | sed 's,/,[&],;s/\\//\\&/'; echo abc | sed 's/x*/-/g'; echo baac | sed 's/a*/x/g'; "
        "echo 'a b' | sed 's/ /\\n/'; echo aB | sed -n 's/b/c/Ip'; echo ab | sed -E 's/(a|b)+/<&>/'; printf 'a\\tb\\n' | sed 's/[\\t]/T/'",
        "Xaa bYY\na[&]b\n-a-b-c-\nxbxcx\na\nb\nac\n<ab>\naTb\n",
    ),
    (
        'mkdir d; printf %5000s > d/f; b=$(stat -c %b d/f); [ "$(ls -l d | head -1)" = "total $((b/2))" ]; echo $?; ls -l d | wc -l; '
        "ls -l d/f | wc -l; ls -lh d | grep -c '4.9K.* f$'; ls d",
        "0\n2\n1\n1\nf\n",
    ),
    ("seq 3 | more; seq 3 > f; less f f | wc -l; more none f 2>/dev/null; echo $?", "1\n2\n3\n6\n1\n2\n3\n1\n"),
    (
        "printf 'a b  c\\nd\\n' > f; wc f; wc -l f; wc -w < f; cat f f | wc -c",
        "      2       4       9 f\n2 f\n4\n18\n",
    ),
    (
        "printf '10\\n9\\n-1\\n2.5\\n2.25\\n' > f; sort f; echo; sort -n f; sort -nr f | head -1",
        "-1\n10\n2.25\n2.5\n9\n\n-1\n2.25\n2.5\n9\n10\n10\n",
    ),
    (
        "printf 'b 2\\na 3\\nb 1\\na 3\\n' > f; sort -u f; sort -k 2 -n f | head -1; sort f | uniq -c; sort f | uniq -d; "
        "sort -t ' ' -k2,2nr f | head -1",
        "a 3\nb 1\nb 2\nb 1\n      2 a 3\n      1 b 1\n      1 b 2\na 3\na 3\n",
    ),
    (
        "echo hello | tr a-y b-z; echo hello | tr -d l; echo aabb | tr -s a; echo 'a b' | tr ' ' '\\n'; "
        "echo Up | tr '[:upper:]' '[:lower:]'; echo a1b2 | tr -cd '0-9\\n'",
        "ifmmp\nheo\nabb\na\nb\nup\n12\n",
    ),
    (
        "echo a:b:c | cut -d: -f2; echo a:b:c | cut -d : -f 1,3; echo abcdef | cut -c 2-4; echo abcdef | cut -c 5-; "
        "echo a:b:c | cut -d: -f 2-; echo abc | cut -d: -f2",
        "b\na:c\nbcd\nef\nb:c\nabc\n",
    ),
    (
        "seq 2 4; seq 1 2 5; seq 3 -1 1; seq -s, 3; seq 0.5 0.5 1.5; seq -w 8 10",
        "2\n3\n4\n1\n3\n5\n3\n2\n1\n1,2,3\n0.5\n1.0\n1.5\n08\n09\n10\n",
    ),
    (
        "printf 'AB\\0\\377 0123456789abcdef' | hexdump -C",
        "00000000  41 42 00 ff 20 30 31 32  33 34 35 36 37 38 39 61  |AB.. 0123456789a|\n"
        "00000010  62 63 64 65 66                                    |bcdef|\n00000015\n",
    ),
    (
        "head -c 64 /dev/zero | hexdump; echo; head -c 48 /dev/zero | hexdump -C -n 33",
        "0000000 0000 0000 0000 0000 0000 0000 0000 0000\n*\n0000040\n\n"
        "00000000  00 00 00 00 00 00 00 00  00 00 00 00 00 00 00 00  |................|\n*\n"
        "00000020  00                                                |.|\n00000021\n",
    ),
    (
        "dd if=/dev/zero of=f bs=100 count=3 2>&1 | sed 's/, [0-9.e-]* s, [0-9.]* k*M*B.s$/, time and speed/'; wc -c f; printf abcdef | dd bs=2 skip=1 count=1 "
        "status=none",
        "3+0 records in\n3+0 records out\n300 bytes copied, time and speed\n300 f\ncd",
    ),
    # A block that found no room was read all the same.
    (
        "dd if=/dev/zero of=/dev/full bs=100 count=3 2>&1 | head -3; dd if=/dev/zero of=/dev/null bs=1k count=1500 2>&1 | sed -n 's/ copied.*//; $p'",
        "dd: error writing '/dev/full': No space left on device\n1+0 records in\n0+0 records out\n1536000 bytes (1.5 MB)\n",
    ),
    # Scripts take the second column for the process id. Other languages stand in the last one.
    (
        "ps aux | head -1; ps -ef | head -1; sh -c 'kill -STOP $$; :' 你好 & p=$!; for how in aux -ef; do ps $how 2> /dev/null | grep '你[好]' | sed 's/  */ /g' | "
        "cut -d ' ' -f 2; done | sort | uniq -c | sed 's/ *//' | grep -c \"^2 $p\"; kill -9 $p",
        "USER       PID %CPU %MEM    VSZ    RSS TTY      STAT START   TIME COMMAND\nUID        PID  PPID  C STIME TTY          TIME CMD\n1\n",
    ),
    (
        "mkdir -p a/b/c; touch a/f; ls a; ls -1 a/b; ls -d a; ls -R a; ls -a a | head -2; rmdir a/b/c; rm -r a; ls; "
        "rm -f none; echo $?",
        "b\nf\nc\na\na:\nb\nf\n\na/b:\nc\n\na/b/c:\n.\n..\n0\n",
    ),
    (
        "umask 022; echo hi > f; cp f g; cat g; mv g h; ls; mkdir d; cp f h d; ls d; cp -r d e; cat e/f; ln -s f l; "
        "ls -l l | cut -c 1; ls -l f | cut -c 1-10; ln f k; cat k; test -L l; echo $?",
        "hi\nf\nh\nf\nh\nhi\nl\n-rw-r--r--\nhi\n0\n",
    ),
    (
        "[ -f /nonexistent ]; echo $?; [ a = a -a 1 -lt 2 ]; echo $?; [ ! -d / ]; echo $?; [ \\( a = b -o c = c \\) ]; "
        "echo $?; test; echo $?; [ -n '' ]; echo $?; [ -z '' ]; echo $?; [ '!' = '!' ]; echo $?",
        "1\n0\n1\n0\n1\n1\n0\n0\n",
    ),
    (
        "command test 3 -ge 3; echo $?; env test x != x; echo $?; env [ 1 -ne 1 ]; echo $?; env echo -n a; env printf '%d\\n' 3",
        "0\n1\n1\na3\n",
    ),
    ("basename /a/b.c .c; basename /a/; dirname /a/b; dirname a; dirname /; basename /", "b\na\n/a\n.\n/\n/\n"),
    ("env -i A=1 /bin/false; echo $?; A=2 printenv A; printenv NOPE; echo $?", "1\n2\n1\n"),
    ("echo a b c | xargs echo x; echo a b c | xargs -n 1 echo; echo | xargs -r echo no", "x a b c\na\nb\nc\n"),
    ("echo t | tee f g; cat f g; echo u | tee -a f > /dev/null; cat f", "t\nt\nt\nt\nu\n"),
    ("yes | head -2; yes a b | head -1", "y\ny\na b\n"),
    ("true; echo $?; false; echo $?; env true; echo $?; env false; echo $?", "0\n1\n0\n1\n"),
    (
        "kill -l 9; kill -l 130; sleep 100 & kill $!; wait $!; echo $?; sleep 100 & kill -KILL $! ; wait $!; echo $?",
        "KILL\nINT\n143\n137\n",
    ),
    ("uname -s; uname -m; id -u | tr -d 0-9", "Linux\nMACHINE\n\n"),
    (
        "n=$(nice); echo $(($(nice -n 5 nice) - n)); chrt -p $$ | grep -c SCHED_OTHER; chrt -m | grep FIFO",
        "5\n1\n" "SCHED_FIFO min/max priority\t: 1/99\n",
    ),
    (
        "chrt --all-tasks --pid $$ | cut -d' ' -f3- | sort -u; chrt -o -v -R -p 0 $$ | cut -d' ' -f3-; chrt -m | tail -1; "
        "chrt -d -P 10000000 -T 20000000 0 true 2>&1 | sed 's/0/P/'; chrt -f -P 9 1 true; echo $?",
        "current scheduling policy: SCHED_OTHER\ncurrent scheduling priority: 0\n"
        "current scheduling policy: SCHED_OTHER\ncurrent scheduling priority: 0\nnew scheduling policy: SCHED_OTHER|SCHED_RESET_ON_FORK\nnew scheduling priority: 0\n"
        "SCHED_DEADLINE min/max priority\t: 0/0\nchrt: failed to set pid P's policy: Invalid argument: 1024 ns <= runtime <= deadline <= period "
        "is wanted, and a period of 100 to 4194304 us\n1\n",
    ),
    ("echo a | grep -E 'a{4294967295}' 2> /dev/null; echo $?; taskset -c 0- true 2> /dev/null; echo $?", "2\n1\n"),
    ("taskset -c 0 taskset -p $$ > /dev/null; taskset 1 sh -c 'taskset -c -p $$' | cut -d: -f2", " 0\n"),
    ("sleep 0.01; sleep 0 0s; usleep 10; echo $?; sync; echo $?", "0\n0\n"),
    (
        "umask 022; touch f; for m in 640 +x u-x go=r,u+w a=rw =r,u+X -r o+t 755 u=s,g+x; do chmod $m f; stat -c %a f; done",
        "640\n751\n651\n644\n666\n444\n0\n1000\n755\n4055\n",
    ),
    (
        "timeout 0.1 sleep 9; echo $?; timeout 9 false; echo $?; timeout -s KILL .1 sleep 9; echo $?; timeout 0 echo x",
        "124\n1\n137\nx\n",
    ),
    ("date +%Y | tr -d 0-9; date -u +%s | tr -d 0-9; touch -c none; ls", "\n\n"),
    (
        "stress --cpu 1 --yield 2 --sleep 1 --pipe 2 --fork 1 --count 3 --verbose | sort | uniq -c | tr -s ' '",
        " 1 cpu: 3 rounds\n 1 fork: 3 rounds\n 2 pipe: 3 rounds\n 1 sleep: 3 rounds\n 2 yield: 3 rounds\n",
    ),
    (
        "stress --vm 2 --fs 2 --count 2 --verbose | sort | uniq -c | tr -s ' '; "
        # Another test may have such workers at the same time: they have their folders only as long as they live.
        "for d in /tmp/stress-*; do [ -d /proc/${d##*-} ] || [ ! -d $d ] || echo $d; done",
        " 2 fs: 2 rounds\n 2 vm: 2 rounds\n",
    ),
    (
        "latency -q -l 5 -t 2 -i 2000 -h 2 | sed 's/([^)]*)//; s/Min.*//; /^00000/d; s/: [0-9 ]*$/:/'",
        "policy: other\nT: 0  P: 0 I:2000 C:\nT: 1  P: 0 I:2000 C:\n# Histogram\n# Total:\n# Histogram Overflows:\n",
    ),
    # It may not have begun yet when it is told to end: then once more, with more time.
    (
        "for t in 0.2 1 5 25; do latency -q > f & sleep $t; kill -INT $!; wait $!; s=$?; grep -q 'C: *[1-9]' f && break; done; echo $s; "
        "grep -c 'C: *[1-9]' f",
        "0\n1\n",
    ),
    (
        "ps | head -1; ps -l | head -1; pidof nosuchprocess; echo $?; which sh | tr -d '\\n' | tail -c 3",
        "  PID  PPID TTY      S PRI  NI TIME  COMMAND\n  PID  PPID S CLS RTP  NI CPU     VSZ    RSS TIME  COMMAND\n1\n/sh",
    ),
    (
        'sleep 99 & p=$!; sleep 98 & q=$!; for w in $p $p,$q "$q $p" $q,77777777; do ps -p "$w" | sed -n \'s/^ *\\([0-9][0-9]*\\) .*/\\1/p\' '
        "| sort -n | sed \"s/$p/p/; s/$q/q/\" | tr '\\n' ' '; done; ps -fp $p | wc -l; ps -p 77777777 | wc -l; ps -p 77777777 > /dev/null; echo $?; "
        "kill $p $q",
        "p p q p q q 2\n1\n1\n",
    ),
    ("free -h | tr -s ' ' | grep -cx 'Mem:\\( [0-9.]*[KMGT]\\?\\)\\{4\\}'; free -b | wc -l", "1\n2\n"),
    ("free | head -1; uptime | grep -c 'load average'", "           total        used        free  buff/cache\n1\n"),
    ("sysctl kernel.ostype; sysctl -n kernel/ostype", "kernel.ostype = Linux\nLinux\n"),
    (
        "{ time -p true; } 2>&1 | cut -d ' ' -f 1; env time true 2>&1 | cut -f 1; { time true | cat; } 2>&1 | cut -f 1",
        "real\nuser\nsys\nreal\nuser\nsys\n\nreal\nuser\nsys\n",
    ),
    (
        "mountpoint / /x 2>/dev/null; echo $?; mountpoint /; mkdir d; mountpoint d; echo $?; mountpoint -q d; echo $?; "
        "mountpoint none; echo $?",
        "1\n/ is a mountpoint\nd is not a mountpoint\n32\n32\n1\n",
    ),
    (
        "printf abc > f; chmod=1; ln -s f l; umask 022; mkdir d; stat -c '%n %s %F %h' f; stat -c %N l; stat -L -c %F l; "
        "stat -c '%a %A' d; stat f | head -2 | tail -1 | cut -c 1-9; stat none; echo $?",
        "f 3 regular file 1\n'l' -> 'f'\nregular file\n755 drwxr-xr-x\n  Size: 3\n1\n",
    ),
    (
        "chroot /nowhere true 2>&1; echo $?; chroot 2> /dev/null; echo $?",
        "chroot: /nowhere: No such file or directory\n125\n125\n",
    ),
    # A fifo is not read, but made once more.
    (
        "mkdir d; mknod d/p p; cp -r d e; stat -c '%n %F' e/p; cp d e/f 2>&1",
        "e/p fifo\ncp: -r not specified; omitting directory 'd'\n",
    ),
    ("mkdir d; touch d/f; cp -r d d/e 2>/dev/null; echo $?; ls -R d", "1\nd:\ne\nf\n\nd/e:\nf\n"),
    ("seq 5 > f; tail -c 3 f; head -c 2 f; tail -c +9 f; env -i x=1 env", "\n5\n1\n5\nx=1\n"),
    # A pattern such as .* has . and .. among its names.
    (
        "mkdir -p box/x; cd box; rm -rf x/.. 2>&1; echo $?; rm -rf . x/./ .. 2>/dev/null; echo $?; ls; rm -rf ./x ../box/none; ls",
        "rm: refusing to remove '.' or '..' directory: skipping 'x/..'\n1\n1\nx\n",
    ),
    ("touch a; touch b; touch c; ls -t; ls -tr", "c\nb\na\na\nb\nc\n"),
    (
        "seq 5 > f; (head -n 1; cat) < f; (head -c 2; cat) < f; (grep -m 2 .; cat) < f; head -v -n 1 f; seq 2 | tail -v -n 1",
        2 * "1\n2\n3\n4\n5\n" + "1\n2\n3\n4\n5\n==> f <==\n1\n==> standard input <==\n2\n",
    ),
    (
        "tail . 2>&1; echo $?; seq 3 | grep --line-buffered -e 2 -- - | cat; seq 3 > f; grep -Rh 3 .; grep x . 2>/dev/null; echo $?",
        "tail: error reading '.': Is a directory\n1\n2\n3\n2\n",
    ),
    (
        "printf '1 3\\n1 2\\n0 9\\n1 10\\n' > f; sort -k1,1n -k2,2nr f; printf 'b 1\\na 1\\na 2\\n' | sort -r -k2,2n -k1; "
        "sort -u -k1,1 f | wc -l; sort -k 0 f 2>&1",
        "0 9\n1 10\n1 3\n1 2\nb 1\na 1\na 2\n2\nsort: invalid key '0'\n",
    ),
    (
        "echo a/b/c | sed 's/[^/]*$//; s/[/]/x/'; echo a]b | sed 's/[]/]/x/; s/[[:alpha:]/]/y/g'; echo a/b | sed -n '/[/]b/p'; "
        "echo '[a/' | sed 's/\\[a/b/; s,[,/],c,'",
        "axb/\nyyy\na/b\nbc\n",
    ),
    (
        "date +%s.%N | grep -c '^[0-9]*[.][0-9]\\{9\\}$'; [ $(date +%Y-%s | cut -d- -f2) -gt 1700000000 ]; echo $?; date +%%s%%N",
        "1\n0\n%s%N\n",
    ),
    ("echo x | tee /dev/full f 2>&1; echo $?; cat f", "x\ntee: /dev/full: No space left on device\n1\nx\n"),
    ("seq 1000 | xargs | wc; seq 30000 | xargs | tr ' ' '\\n' | tail -1", "      1    1000    3893\n30000\n"),
    (
        "mkdir -p d/e; touch d/e/f; ln -s /nonexistent d/l; chmod -R 700 d; chmod -R go+rX d; stat -c %a d d/e d/e/f; chmod 1 none 2>&1",
        "755\n755\n755\nchmod: cannot access 'none': No such file or directory\n",
    ),
    (
        # What the command has started gets the signal, too; the pipe ends with the last of them. SIGWINCH is ignored by
        # itself: a command that has to ignore one first may be too late, and qemu-user writes nonsense into the rest of
        # a nanosleep() that a second SIGTERM has interrupted.
        "timeout 0.2 sh -c 'sleep 77; sleep 78' | cat; "
        "timeout -s WINCH -k 0.1 0.1 sleep 9; echo $?; timeout 50 sleep 60 & sleep 0.5; kill $!; wait $!; echo $?; "
        "timeout 9 sh -c 'kill -HUP $$'; echo $?",
        "137\n143\n129\n",
    ),
    (
        "sh -c 'echo $$ > f; exec sh -c \"echo \\$\\$\"' | cat - f | uniq | wc -l; sh -c 'env true; sh -c \"echo \\$PPID\"' > g & wait $!; "
        "[ $(cat g) = $$ ]; echo $?",
        "1\n0\n",
    ),
    ("sleep inf & sleep 0.2; kill $!; wait $!; echo $?; ps -A | head -1 | cut -c 1-5", "143\n  PID\n"),
    (
        "printf 'a b\\nab_c d\\n' > f; for p in '\\bb' 'b\\b' 'a\\Bb' '\\sb' '\\S*\\sd' '[[:alpha:]]\\b'; do echo $(grep -o \"$p\" f); done; "
        "sed 's/\\s\\+/,/; s/^\\S/X/' f; grep -L d f /dev/null; grep -c d f",
        "b\nb\nab\nb\nab_c d\na b c d\nX,b\nXb_c,d\n/dev/null\n1\n",
    ),
    ("sleep 200000d; echo $?; timeout 107000d true; echo $?; timeout 104000d true; echo $?", "1\n125\n0\n"),
    ("date +%Z; date +%%Z-%Z; date | grep -c UTC", "UTC\n%Z-UTC\n1\n"),
    (
        "echo x.ko: > modules.dep; modprobe -nv -d . x; modprobe -nv -d . x > /dev/full 2>&1; echo $?",
        "insmod ./x.ko \n1\n",
    ),
]


@pytest.mark.parametrize("case", TOOLS, ids=lambda case: case[0][:50])
def test_tools(userland, tmp_path, case):
    script, expected = case
    out, err, _ = run(userland, tmp_path, script)
    assert out == expected.replace("MACHINE", userland.arch), err


# Ours and GNU's are given the same.
GREP_CONTEXT = [
    "-A1 4",
    "-A 1 -B1 4",
    "-n -C1 '[48]'",
    "-C0 '[48]'",
    "-C 2 '[37]'",
    "-B3 2",
    "-A99 19",
    "-c -C1 1",
    "-l -C1 1 f",
    "-v -A1 '[1-8]'",
    "-m2 -A1 1",
    "-m 1 -A3 1",
    "-m0 -A1 1",
    "-n -A1 5 f g",
    "-h -B1 5 f g",
    "-H -n -C1 5 f",
    "-o -n -A1 1",
    "-o -C0 1",
    "-A1 -C3 9",
    "-C3 -B0 9",
    "-A x 1",
    "-A 1 none",
    "-q -B1 3",
]


@pytest.mark.parametrize("words", GREP_CONTEXT)
def test_grep_context(userland, tmp_path, words):
    for name in "fg":
        (tmp_path / name).write_text("".join(f"{n}\n" for n in range(1, 20)))
    words += "" if words.endswith(("f", "g")) else " f"
    theirs = subprocess.run(
        ["/bin/sh", "-c", f"{shutil.which('grep')} {words}"], cwd=tmp_path, capture_output=True, timeout=600
    )
    out, err, status = run(userland, tmp_path, f"env grep {words}")
    assert (out, status, err != "") == (theirs.stdout.decode(), theirs.returncode, theirs.stderr != b"")


def test_stress_takes_its_files_along(userland):
    """A signal ends it, and its standard output is open as long as a worker is there."""
    with subprocess.Popen(
        [userland.qemu, userland.bin / "stress", "--fs", "2"], stdout=subprocess.PIPE, start_new_session=True
    ) as stress:
        workers, end = set(), time.monotonic() + 200
        while len(workers) < 2 and time.monotonic() < end:
            for path in pathlib.Path("/tmp").glob("stress-*"):
                pid = int(path.name.partition("-")[2])
                try:
                    if os.getpgid(pid) == stress.pid:
                        workers.add(path)
                except ProcessLookupError:
                    pass
        os.killpg(stress.pid, signal.SIGINT)
        stress.communicate(timeout=600)
    assert len(workers) == 2 and not [path for path in workers if path.exists()]


def test_pwd_is_as_long_as_a_path_may_be(userland, tmp_path):
    at = tmp_path / "/".join(["x" * 200] * 6)
    at.mkdir(parents=True)
    assert run(userland, at, "env pwd")[0] == f"{at}\n"


def test_code_over_the_end_of_a_line(userland, tmp_path):
    """man lays the pages out; code that goes on in the next line of its paragraph ends there."""
    source = tmp_path / "t.c"
    source.write_text(
        "#include <stdio.h>\nvoid vt_markdown(char *text, size_t width);\n"
        'int main(void)\n{\n\tstatic char text[] = "see `one\\ntwo`, **three** and [four](f.md)\\n\\n`\\n\\n**five**\\n";\n'
        "\tvt_markdown(text, 80);\n\treturn 0;\n}\n"
    )
    sources = [TOP / "userland/lib/text" / name for name in ("markdown.c", "char_width.c")]
    stub = tmp_path / "stub.c"
    stub.write_text("#include <stdlib.h>\nvoid *vt_realloc(void *p, size_t n) { return realloc(p, n); }\n")
    words = ["-D_GNU_SOURCE", "-idirafter", TOP / "userland/include", "-idirafter", TOP / "include"]
    words += ["-Diprintf=printf", source, stub, *sources, "-o", tmp_path / "t"]
    subprocess.run(["gcc", "-std=gnu11", *words], check=True)
    out = subprocess.run([tmp_path / "t"], capture_output=True, text=True, check=True).stdout
    assert out == "see one two, three and four (f.md)\n\nfive\n"


def test_ls_of_a_folder_that_has_gone(userland, tmp_path):
    """There is nothing to show: an empty list would say that the folder is empty."""
    ls = f"{userland.qemu} -0 ls {userland.bin}/ls"
    assert run(userland, tmp_path, f"mkdir gone; cd gone; rmdir ../gone; {ls}") == (
        "",
        "ls: reading directory '.': No such file or directory\n",
        2,
    )


def test_ls_keeps_the_worst_status(userland, tmp_path):
    """2 for an operand that is not there; 1 for a folder far below, with a path too long for the kernel."""
    at = os.open(tmp_path, os.O_RDONLY)
    for _ in range(21):
        os.mkdir("n" * 200, dir_fd=at)
        below = os.open("n" * 200, os.O_RDONLY, dir_fd=at)
        os.close(at)
        at = below
    os.close(at)
    assert [run(userland, tmp_path, f"env ls {words} > /dev/null")[2] for words in ("-R .", "-R nosuch .")] == [1, 2]


def test_a_long_name_of_a_program(userland, tmp_path):
    """What argv[0] says is the caller's choice, and a message has no room for all of it."""
    words = [userland.qemu, "-0", "x" * 3000, str(userland.bin / "ls"), "nosuch"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=600)
    assert (done.returncode, done.stdout) == (2, b"") and done.stderr.endswith(
        b"x: nosuch: No such file or directory\n"
    )


def test_an_expression_that_is_too_large(userland, tmp_path):
    """Neither is written to behind the program of an expression, nor read there."""
    source = tmp_path / "t.c"
    source.write_text(
        '#include <vt.h>\nint main(void)\n{\n\tstatic const char *const large[] = {"(a{255}){16,}", "(a{255}){17,}", "(a{255}){17,40}",'
        ' "(a{255}){16}a{16}|b", "(((((((((((a{255}){16}a{6}|()(|b)"};\n\tconst char *error;\n\n'
        "\tfor (size_t i = 0; i < ARRAY_SIZE(large); i++)\n\t\tvt_regex_compile(large[i], true, false, &error);\n\treturn 0;\n}\n"
        "void *vt_malloc(size_t n) { return malloc(n); }\nvoid vt_die(int status, const char *format, ...) { exit(status); }\n"
    )
    words = [
        "-D_GNU_SOURCE",
        "-fsanitize=address",
        "-idirafter",
        TOP / "userland/include",
        "-idirafter",
        TOP / "include",
    ]
    words += [source, *(TOP / "userland/lib/text" / name for name in ("regex.c", "classes.c")), "-o", tmp_path / "t"]
    subprocess.run(["gcc", "-std=gnu11", *words], check=True)
    subprocess.run([tmp_path / "t"], check=True, env={"ASAN_OPTIONS": "detect_leaks=0"})


def test_a_module_that_is_forged(userland, tmp_path):
    """The names of its sections lie before the file, and the sum of both numbers within."""
    at = 64 + 2 * 64
    head = b"\x7fELF".ljust(40, b"\0") + (64).to_bytes(8, "little")
    head = head.ljust(60, b"\0") + (2).to_bytes(2, "little") + bytes(2)

    def section(name, offset, size):
        return (
            name.to_bytes(4, "little") + bytes(20) + offset.to_bytes(8, "little") + size.to_bytes(8, "little")
        ).ljust(64, b"\0")

    for start, status in ((at, 0), (2**64 - 16, 1)):
        name = at - start if start == at else at + 16
        text = head + section(1, start, 0) + section(name, at + 9, 12) + b".modinfo\0license=GPL\0"
        (tmp_path / "forged.ko").write_bytes(text)
        out, err, found = run(userland, tmp_path, "modinfo -F license forged.ko")
        assert (out, found) == ("GPL\n" if not status else "", status), err


def test_nproc(userland, tmp_path):
    out = run(userland, tmp_path, "nproc; nproc --ignore=99999; nproc --all; taskset 1 nproc; nproc --help")[
        0
    ].splitlines()
    everywhere = sorted(os.sched_getaffinity(0))
    online = pathlib.Path("/proc/cpuinfo").read_text().count("processor")
    assert out == [str(len(everywhere)), "1", str(online), "1", "Usage: nproc [--all] [--ignore=N]"]


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


@pytest.mark.parametrize(
    "name, options",
    [
        (
            "chrt",
            "-f -r -o -b -i -d -T -D -P -R -a -p -m -v -h -V --fifo --rr --other --batch --idle --deadline --sched-runtime "
            "--sched-deadline --sched-period --reset-on-fork --all-tasks --pid --max --verbose --help --version",
        ),
        ("latency", "-p -P -i -l -t -a -h -q"),
        ("irqhog", "-l -p -q USEC"),
        ("preempthog", "USEC"),
        ("stress", "--cpu --yield --sleep --pipe --fork --vm --fs --timeout --count --verbose -v"),
    ],
)
def test_help_has_a_line_for_each_option(userland, tmp_path, name, options):
    lines = run(userland, tmp_path, f"{name} --help")[0].splitlines()[1:]
    words = [
        word.strip(",") for line in lines for word in line.split("   ")[0].split() if word[0] == "-" or word == "USEC"
    ]
    assert set(options.split()) <= set(words), words
    source = next(TOP.glob(f"userland/bin/*/{name}.c")).read_text()
    taken = (
        set(re.findall(r"[A-Za-z]", re.search(r'\.options = "([^"]*)"', source).group(1)))
        if ".options" in source
        else set()
    )
    assert {f"-{letter}" for letter in taken} <= set(words)


def test_script_on_standard_input(userland, tmp_path):
    done = subprocess.run(
        [userland.qemu, str(userland.bin / "sh")],
        input=b"read x\nvalue\necho got $x\ncat\nrest\n",
        cwd=tmp_path,
        capture_output=True,
        timeout=6000,
        env={"PATH": str(userland.path)},
    )
    assert done.stdout == b"got value\nrest\n"


def test_echo_is_one_write(userland, tmp_path):
    """tracefs takes each write(2) as one command."""
    done = subprocess.run(
        [userland.qemu, "-strace", str(userland.bin / "sh"), "-c", "echo a 'b c' d"],
        capture_output=True,
        timeout=6000,
        env={"PATH": str(userland.path)},
    )
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
