"""The shell's language, run on the host by qemu-user: the system-call ABI is Linux's."""

import re
import shlex
import subprocess

import pytest
from userland_run import TOP, run, userland  # noqa: F401 (a fixture)

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
    (
        'set -- a \'b c\' d; echo $# $1 "$2"; shift; echo $*; for i in "$@"; do echo [$i]; done',
        "3 a b c\nb c d\n[b c]\n[d]\n",
    ),
    ("set -- a 'b c'; IFS=:; echo \"$*\"; for i in $*; do echo [$i]; done", "a:b c\n[a]\n[b c]\n"),
    ('set --; for i in "$@"; do echo no; done; echo $#', "0\n"),
    ("echo ${u:-def} ${u-x} ${u:=set} $u ${u:+alt} ${#u}", "def x set set alt 3\n"),
    ("e=; echo [${e:-d}] [${e-d}] [${e:+a}] [${e+a}]", "[d] [] [] [a]\n"),
    ("f=/a/b.tar.gz; echo ${f##*/} ${f#*/} ${f%.*} ${f%%.*}", "b.tar.gz a/b.tar.gz /a/b.tar /a/b\n"),
    ("x=abcdef; echo ${x:2} ${x:1:3} ${x: -2}", "cdef bcd ef\n"),
    ('echo "${u:-"a  b"}"; echo ${u:-\'a  b\'}', "a  b\na  b\n"),
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
    ("x=1/0; y=z=5; z=1; echo $((0&&x)) $((1||x)) $((1?2:x)) $((0&&y)) $z", "0 1 2 0 1\n"),
    ("a=b+1; b=c*2; c=3; echo $((a)); x=x+1; (echo $((x))) 2>/dev/null; echo $?", "7\n2\n"),
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
    ("x=5; cat <<E\nv=$x $((x+1)) `echo c` \\$x\nE\n", "v=5 6 c $x\n"),
    ("cat <<'E'\n$x\nE\n", "$x\n"),
    ("cat <<-E; echo next\n\t\ttab\n\tE\n", "tab\nnext\n"),
    ("cat <<A; cat <<B\na\nA\nb\nB\n", "a\nb\n"),
    ("while read a b; do echo $b $a; done <<E\n1 2 3\n4 5\nE\n", "2 3 1\n5 4\n"),
    ("echo hi > f; read x < f; echo $x; echo >f; cat f", "hi\n\n"),
    (": > e; [ -s e ] || echo empty; echo a 1<>e; cat e", "empty\na\n"),
    # compound commands
    ("if false; then echo 1; elif true; then echo 2; else echo 3; fi", "2\n"),
    ("if false; then :; fi; echo $?", "0\n"),
    ("for i in a b c; do [ $i = b ] && continue; echo $i; done", "a\nc\n"),
    ("for i in 1 2 3; do for j in 1 2 3; do [ $j = 2 ] && break 2; echo $i$j; done; done", "11\n"),
    ('until [ "$n" = xxx ]; do n=x$n; done; echo $n', "xxx\n"),
    ("while :; do break; done; echo out", "out\n"),
    (
        "for x in abc.c b.h '*' ''; do case $x in *.c) echo c;; b* | d) echo b;; '*') echo star;; '') echo none;; esac; "
        "done",
        "c\nb\nstar\nnone\n",
    ),
    ("case a in [!b-z]) echo y;; esac; case ']' in []]) echo y;; esac", "y\ny\n"),
    # functions
    ("f() { local v=in; echo $v $1 $#; return 5; }; v=out; f a b; echo $? $v", "in a 2\n5 out\n"),
    ("f() { [ $1 -le 1 ] && { echo 1; return; }; echo $(( $1 * $(f $(($1-1))) )); }; f 6", "720\n"),
    ("g() { echo g; } >&2; f() ( cd /; exit 2 ); f; echo $?; unset -f f; f 2>/dev/null; echo $?", "2\n127\n"),
    ("f() { for i in 1 2; do return 3; done; }; f; echo $?", "3\n"),
    ("f() { while return 5; do :; done; }; f; echo $?; f() { until return 6; do :; done; }; f; echo $?", "5\n6\n"),
    ("f() { local v=in; readonly v; echo $v; }; v=out; f; v=after; echo $v", "in\nafter\n"),
    ("f() { local v=in; readonly v; }; f; echo ${v-unset}; v=1; echo $v", "unset\n1\n"),
    ("f() { local PATH=/none; }; f; basename a/b; PATH=/none :; basename a/c; PATH=/none f; basename a/d", "b\nc\nd\n"),
    ("x=$(cat <<E; cat <<-'F'\nit's $((1 << 2)) )\nE\n\ta \"(`\n\tF\n); echo \"$x\"", "it's 4 )\na \"(`\n"),
    ('echo $(echo $((1<<3)); cat <<"E E"\n)\nE E\n) $(: <<<x; echo no)', "8 )\n"),
    ('echo ${u:-{} ${u:-{a}} "${u:-{}"; u=1; echo ${u:-{} ${u+{a,b}}', "{ {a} {\n1 {a,b}\n"),
    ('echo "`echo \\"a  b\\"`" `echo \'\\"\'`', 'a  b \\"\n'),
    (
        "[ $PWD = $(pwd) ] && echo same; x=$PWD; cd /; cd - >/dev/null && [ $PWD = $x ] && echo back; cd /; PWD=/no sh -c 'echo $PWD'",
        "same\nback\n/\n",
    ),
    # file names
    (
        "mkdir d; touch d/a d/b d/.h; echo d/*; echo d/[a]; echo d/.h*; echo d/x*; echo 'd/*' d/\\*",
        "d/a d/b\nd/a\nd/.h\nd/x*\nd/* d/*\n",
    ),
    ("mkdir -p p/q p/r; touch p/q/1 p/r/1; echo p/*/1 p/*/", "p/q/1 p/r/1 p/q/ p/r/\n"),
    ("touch 'a b'; for f in a*; do echo \"[$f]\"; done; x='a*'; echo $x \"$x\"", "[a b]\na b a*\n"),
    ("set -f; touch zz; echo z*", "z*\n"),
    # builtins
    ("eval 'x=1; echo $x'; eval echo '$x'", "1\n1\n"),
    ("echo 'y=7; return 4' > s; . ./s; echo $? $y", "4 7\n"),
    ("mkdir sub; cd sub; cd ..; cd - > /dev/null; basename $(pwd); cd /nonexistent 2>/dev/null; echo $?", "sub\n1\n"),
    ("trap 'echo bye' EXIT; echo hi", "hi\nbye\n"),
    ("trap 'echo x' 40; trap; trap - 40; trap", "trap -- 'echo x' 40\n"),
    ("trap 'echo got' USR1; kill -USR1 $$; echo after; trap - USR1; trap", "got\nafter\n"),
    ("set -e; false || true; if false; then :; fi; echo alive; (false); echo dead", "alive\n", 1),
    ("set -u; echo ${x-ok}; echo $x; echo no", "ok\n", 2),
    (
        "umask 027; umask; type cd; command -v cd; type nosuch 2>/dev/null; echo $?",
        "0027\ncd is a shell builtin\ncd\n127\n",
    ),
    (
        "printf '%s-%d|%5s|%-5s|%05d|%x|%c\\n' a 1 b c 42 255 xyz; printf '%b' 'a\\tb\\n'; printf '%s\\n' 1 2 3",
        "a-1|    b|c    |00042|ff|x\na\tb\n1\n2\n3\n",
    ),
    (
        "echo -n a; echo -e 'b\\tc\\x41\\0101'; echo -ne 'x\\n'; echo -E 'a\\tb'; echo -z; echo -e 'a\\cb'; echo",
        "ab\tcAA\nx\na\\tb\n-z\na\n",
    ),
    (
        'printf \'a:b:c d\\\\e\\n\' > f; IFS=: read x y < f; echo "$x|$y"; IFS= read -r z < f; echo "$z"',
        "a|b:cd\\\\e\n".replace("cd\\\\e", "c de") + "a:b:c d\\e\n",
    ),
    ("exec echo replaced; echo never", "replaced\n"),
    ("echo 'echo script $0 $1' > s; chmod=1; sh s arg; sh -c 'echo $0 $1' n a", "script s arg\nn a\n"),
    ("exit 7", "", 7),
    ("exit 263", "", 7),
    ("f() { return 258; }; f; echo $?; set -- $(seq 300); shift 256; echo $1 $#", "2\n257 44\n"),
    ("kill -9 $$", "", -9),
    ("sh -c 'kill -SEGV $$' 2>/dev/null; echo $?", "139\n"),
    ("nosuchprogram 2>/dev/null; echo $?; ./f 2>/dev/null; echo $?", "127\n127\n"),
    ("set -x; echo a 2>/dev/null", "a\n"),
    ("x=$(echo a; exit 2); echo $? $x; time true 2>/dev/null; echo $?", "2 a\n0\n"),
    # what is larger than a pipe
    ("seq 20000 > f; x=$(cat f); echo ${#x}; printf '%s\\n' \"$x\" | cmp=1 wc -c", "108893\n108894\n"),
    ("x=$(seq 20000); cat <<E | wc -c\n$x\nE\nread y <<E\n$x\nE\necho $y", "108894\n1\n"),
    # what must not be left open, or undone
    (
        "i=0; while [ $i -lt 300 ]; do echo x < /nonexistent; { echo y; } > /none/such; i=$((i+1)); done 2>/dev/null; "
        "echo a | cat; ls /proc/self/fd | wc -l",
        "a\n4\n",
    ),
    ("{ (exec sleep 20 > /dev/null 2>&1) & echo early; kill $!; } | cat", "early\n"),
    ("echo x 10>f; echo $?; exec 3>f; echo to >&3; exec 3>&-; cat f", "1\nto\n"),
    ("(exec < /nonexistent; echo no) 2>/dev/null; echo $?", "1\n"),
    # read, wait, trap, options
    (
        "printf 'a b' > f; read x y < f; echo $? $x-$y; printf 'l1\\nl2' | while read l || [ \"$l\" ]; do echo $l; done",
        "1 a-b\nl1\nl2\n",
    ),
    (
        "(exit 3) & wait $!; echo $?; sh -c 'kill -9 $$' & wait $!; echo $?; wait 99999 2>/dev/null; echo $?",
        "3\n137\n127\n",
    ),
    (
        # The signal comes when the shell sleeps, which it does in `wait` alone.
        "trap 'echo usr1' USR1; p=$$; sleep 500 & s=$!; (sleep 0.3; until grep -q 'State:.S' /proc/$p/status; do sleep 0.05; done; "
        "kill -USR1 $p) & wait $s; echo $?; kill $s",
        "usr1\n138\n",
    ),
    (
        "trap 'trap - USR1; echo once; return 2>/dev/null' USR1; f() { kill -USR1 $$; echo in; }; f; trap; echo $?",
        "once\n0\n",
    ),
    ("trap '' TERM; sh -c 'kill -TERM $$; echo ignored'; trap - TERM", "ignored\n"),
    ("sh -c 'trap \"echo bye\" EXIT; set -e; false; echo no'; echo $?", "bye\n1\n"),
    (
        "set -e; ! true; false && true; f() { false; echo f; }; f || echo g; x=$(false) || :; echo alive; "
        "{ echo no; } < /nonexistent; echo dead",
        "f\nalive\n",
        1,
    ),
    ("sh -n -c 'echo no; touch made'; echo $?; ls; sh -n -c 'if' 2>/dev/null; echo $?", "0\n2\n"),
    ("echo $-; set -fu; echo $-", "\nfu\n"),
    ("f() { echo $1; }; . ./none 2>/dev/null", "", 2),
    (
        "f() { set -- x y; echo $#; }; set -- a; f; echo $#; echo 'set -- 1 2 3' > s; . ./s; echo $#; "
        "echo 'echo $1' > t; . ./t arg; echo $1",
        "2\n1\n3\narg\n1\n",
    ),
    ("i=0; while [ $i -lt 200 ]; do : & i=$((i+1)); done; wait; echo $?", "0\n"),
    (
        "for l in a:b: a:b:c: a: :: 'a : b : ' a::; do printf '%s\\n' \"$l\" | { IFS=': ' read x y; echo \"<$x><$y>\"; }; done",
        "<a><b>\n<a><b:c:>\n<a><>\n<><>\n<a><b>\n<a><>\n",
    ),
    (
        "echo ': b c' > f; IFS=:; read IFS x < f; echo \"<$IFS><$x>\"; IFS=:; echo a: | { read x; echo $x; }",
        "<>< b c>\na\n",
    ),
    ('trap "echo it\\\'s" USR1; trap; trap - USR1; trap', "trap -- 'echo it\\'\\''s' USR1\n"),
    ("read -z 2>/dev/null; echo no", "", 2),
    # a tilde behind a colon counts in assignments only
    ("HOME=/h; p=~/bin:~:~/x:a~:'~':\\~; echo $p; echo ~/b:~", "/h/bin:/h:/h/x:a~:~:~\n/h/b:~\n"),
    ("HOME=/h; p=~:/x sh -c 'echo $p'; q=\"a:~\"; echo $q; q=a:~b; echo $q", "/h:/x\na:~\na:~b\n"),
    # getopts
    (
        "set -- -ab -f x -fy -- -a; while getopts abf: o; do echo $o $OPTIND ${OPTARG-none}; done; echo $? $o $OPTIND",
        "a 1 none\nb 2 none\nf 4 x\nf 5 y\n0 ? 6\n",
    ),
    (
        "g() { OPTIND=1; while getopts :a:b o; do echo $o${OPTARG+=$OPTARG}; done; shift $((OPTIND-1)); echo $*; }\n"
        "g -b -x -a 1 w; g -bb -a; g -; g",
        "b\n?=x\na=1\nw\nb\nb\n:=a\n\n-\n\n",
    ),
    ("getopts ab o -ab; OPTIND=1; getopts ab o -ab; echo $o; getopts ab o -ab; echo $o", "a\nb\n"),
    (
        "getopts ab o x; echo $? $o $OPTIND; getopts a: o -a 2>&1; echo $o ${OPTARG-none}",
        "1 ? 1\n" "sh: getopts: -a: an argument is missing\n? none\n",
    ),
    ("getopts a o -: 2>&1; echo $o; getopts a 2>/dev/null; echo no", "sh: getopts: -:: no such option\n?\n", 2),
    ("times | grep -c '^[0-9]*m[0-9]*\\.[0-9][0-9][0-9]s [0-9]*m[0-9]*\\.[0-9][0-9][0-9]s$'", "2\n"),
    # a child keeps its traps until its end: its last command does not take its place
    ("(trap 'echo bye' EXIT; ls /nonexistent 2>/dev/null); echo $?", "bye\n2\n"),
    ("{ trap 'echo bye' EXIT; (echo a); } | cat; x=$(trap 'echo c' EXIT; env true); echo $x", "a\nbye\nc\n"),
    ("(trap 'echo usr1' USR1; sh -c 'kill -USR1 $PPID'); echo $?", "usr1\n0\n"),
    # return, break and continue within a child of a function or loop end the child
    ("f() { (return 3); echo $?; x=$(return 4; echo no); echo $?$x; }; f", "3\n4\n"),
    ("f() { printf 'a\\nb\\n' | while read l; do echo $l; return 5; done; echo $?; }; f", "a\n5\n"),
    ("for i in 1 2; do (continue; echo no); x=$(break; echo no); echo $i$x; done", "1\n2\n"),
    ("f() { ./s; }; echo 'return 2>/dev/null; echo no' > s; env chmod +x s; f 2>/dev/null; echo $?", "2\n"),
    # exit without a number in a trap
    ("trap 'true; exit' EXIT; exit 3", "", 3),
    ("f() { exit; }; trap 'true; f' EXIT; exit 9", "", 9),
    ("trap 'false; exit' USR1; (exit 7); kill -USR1 $$; echo no", "", 0),
    ("trap 'false; exit 4' EXIT; exit 3", "", 4),
    ("trap '(exit); echo $?; false' EXIT; exit 9", "9\n", 9),
    # $? is that of the last command until the whole command has been expanded
    ("false; echo $(true) $?; (exit 4); x=$(exit 5)$?; echo $? $x; $(exit 6); echo $?", "1\n5 4\n6\n"),
    # $* where nothing is split
    ('IFS=,; set -- a b; x=$*; echo "$x"; case $* in a,b) echo yes;; esac; x=$@; echo "$x"', "a,b\nyes\na b\n"),
    ('IFS=; set -- a b; x=$*; unset IFS; y=$*; echo "$x-$y"; for i in $*; do echo $i; done', "ab-a b\na\nb\n"),
    # patterns of case within $( )
    (
        'x=$(for i in a b; do case $i in a) echo A;; *) echo B;; esac; done); echo $x; echo "$(case b in\n  a) echo 1 ;;\n'
        '  b | c) case q in q) echo nested;; esac ;;\nesac)" end',
        "A B\nnested end\n",
    ),
    (
        "echo $(echo case a in b) $(echo esac) $( (echo a) ; (echo b) ) \"$(case 'a)' in 'a)') echo 'q)'; esac)\"",
        "case a in b esac a b q)\n",
    ),
    ("echo $(if true; then case x in (x) echo in;; esac; fi) $(echo $'it\\'s)')", "in it's)\n"),
    # NAME=VALUE of export, readonly and local is one word
    (
        "f() { local x=$1 y=$2; echo \"[$x][$y]\"; }; f 'a b' '*'; v='c  d'; export E=$v; env | grep ^E",
        "[a b][*]\nE=c  d\n",
    ),
    (
        "HOME=/h; readonly R=~/r:~; echo $R; v='q r'; for x in export a=$v; do echo $x; done",
        "/h/r:/h\nexport\na=q\nr\n",
    ),
    # here-documents whose last line goes on, a tilde as a default
    ("printf '%s\\n' 'cat <<E' 'a\\' E 'b\\\\' E | sh; printf '%s\\n' 'cat <<\\E' 'c\\' E | sh", "aE\nb\\\nc\\\n"),
    ('HOME=/h; echo ${u:-~} ${u:-~/a} "${u:-~}" ${u:-a~} ${HOME:+~}; x=${u:-~/b}; echo $x', "/h /h/a ~ a~ /h\n/h/b\n"),
    # test, cd, kill, set
    (
        '[ " 3 " -eq 3 ] && echo 3; touch f; chmod 6755 f; chmod 1777 .; [ -u f -a -g f -a -k . -a -O f -a -G f ] && echo all; '
        "chmod 755 f; [ -u f -o -g f -o -k f ] || echo no",
        "3\nall\nno\n",
    ),
    ("cd -P /tmp; pwd; cd -L -- /; pwd; cd -- -x 2>/dev/null; echo $?", "/tmp\n/\n1\n"),
    ("kill -l TERM SIGKILL 2; kill -l NOPE 2>/dev/null; echo $?", "15\n9\nINT\n1\n"),
    (
        "set -fo pipefail; echo $-; exit 3 | false | true; echo $?; true | true; echo $?; set +o noglob +o pipefail; false | true; "
        "echo $?$-; set -o | grep -c 'off$'; set -euo pipefail; false | true; echo no",
        "f\n1\n0\n0\n7\n",
        1,
    ),
    ("set -o nosuch 2>/dev/null; echo no", "", 2),
]


@pytest.mark.parametrize("case", LANGUAGE, ids=lambda case: case[0][:50])
def test_language(userland, tmp_path, case):
    script, expected = case[0], case[1]
    status = case[2] if len(case) > 2 else 0
    out, err, got = run(userland, tmp_path, script)
    assert (out, got) == (expected, status), err


# What goes wrong says so, in these words, with this status.
ERRORS = [
    (
        "irqhog 0; irqhog 1e3; preempthog 1 2",
        "",
        "irqhog: number '0' is not in 1..1000000\nirqhog: invalid number '1e3'\nUsage: preempthog USEC\n",
        1,
    ),
    (
        "irqhog -l -l 0; irqhog -p -q 100",
        "",
        "irqhog: number '0' is not in 1..1000000\nirqhog: one of -l, -p and -q at a time\n",
        1,
    ),
    (
        "chrt 0 true; chrt -f 100 true; chrt -o 1 true; chrt -p -- -1 $$",
        "",
        "".join(
            f"chrt: unsupported priority value for the policy: {n}: see --max for valid range\n"
            for n in (0, 100, 1, -1)
        ),
        1,
    ),
    (
        "chrt -d -T 99999999999999999999 0 true; chrt -d -D 18446744073709551616 0 true; chrt -d -P -1 0 true; chrt x true; chrt -p 1 2 3",
        "",
        "chrt: number '99999999999999999999' is too large\nchrt: number '18446744073709551616' is too large\n"
        "chrt: invalid number '-1'\nchrt: invalid number 'x'\nUsage: chrt [-f|-r|-o|-b|-i|-d] [-Rv] [-T NS] [-D NS] [-P NS] PRIORITY COMMAND "
        "[ARG...] | chrt [-f...] [-av] -p [PRIORITY] PID | chrt -m\n",
        1,
    ),
    (
        "latency -l 0; latency -l 99999999999999999999; latency -l -99999999999999999999",
        "",
        "latency: number '0' is less than 1\n"
        "latency: number '99999999999999999999' is too large\nlatency: number '-99999999999999999999' is less than 1\n",
        1,
    ),
    ("nproc --ignore=x; nproc 1", "", "nproc: invalid number 'x'\nUsage: nproc [--all] [--ignore=N]\n", 1),
    (
        "latency -P none; latency -P other -p 1; latency -t 65",
        "",
        "latency: 'none' is none of other, fifo, rr, deadline\nlatency: policy other has no priorities\nlatency: number '65' is not in 1..64\n",
        1,
    ),
    ("echo a | sed s/a", "", "sed: missing delimiter, at ''\n", 1),
    ("echo a | sed 's/a/b/;x'", "", "sed: unknown command, at 'x'\n", 1),
    ("echo a | sed 's/a/b/k'", "", "sed: extra characters after command, at 'k'\n", 1),
    ("echo a | sed '{p'", "", "sed: a { has no }\n", 1),
    (r"echo a | sed 's/\(a\)/\2/'", "", "sed: \\2: the expression has no such group\n", 1),
    ("echo a > f; sed p none f", "a\na\n", "sed: none: No such file or directory\n", 2),
    ("echo x > /dev/full; echo $?", "1\n", "sh: echo: write error: No space left on device\n", 0),
    (
        "kill 99999999; env kill 99999999",
        "",
        "sh: kill: (99999999): No such process\nkill: (99999999): No such process\n",
        1,
    ),
    (
        "printf x > /dev/full; pwd > /dev/full; echo $?; pwd > /dev/null && kill -l > /dev/full; env echo x > /dev/full",
        "1\n",
        "sh: printf: write error: No space left on device\nsh: pwd: write error: No space left on device\n"
        "sh: kill: write error: No space left on device\necho: write error: No space left on device\n",
        1,
    ),
    ("nosuch", "", "sh: nosuch: not found\n", 127),
    ("echo hi; if", "", 'sh: line 1: syntax error: unexpected "end of file"\n', 2),
    ("echo )", "", 'sh: line 1: syntax error: unexpected ")"\n', 2),
    ("echo 'abc", "", "sh: syntax error: unterminated quoted string\n", 2),
    ("cat < /nonexistent; echo $?", "1\n", "sh: cannot open /nonexistent: No such file or directory\n", 0),
    ("echo $((1/0)); echo no", "", "sh: arithmetic: division by zero\n", 2),
    ("echo ${x?gone}", "", "sh: x: gone\n", 2),
    ("set -u; echo $nope", "", "sh: nope: parameter not set\n", 2),
    ("set -v; echo a\necho b; eval 'echo c'; set +v\necho d", "a\nb\nc\nd\n", "echo b; eval 'echo c'; set +v\n", 0),
    (
        "printf 'echo $-\\n2>&1 cat <<E\\nx\\nE\\n# end' > s; sh -v s; sh -v < s; set -v; . ./s",
        "v\nx\nv\nx\nv\nx\n",
        3 * "echo $-\n2>&1 cat <<E\nx\nE\n# end\n",
        0,
    ),
    ("set -x; echo a 'b c'", "a b c\n", "+ echo a b c\n", 0),
    ("set -x; x=1 y=2; z=3 true; PS4=; x='a b'", "", "+ x=1\n+ y=2\n+ true\n+ PS4=\nx=a b\n", 0),
    ("sh -c 'kill -SEGV $$'; echo alive", "alive\n", "Segmentation fault\n", 0),
    ("cat /nonexistent", "", "cat: /nonexistent: No such file or directory\n", 1),
    ("head -n x", "", "head: invalid number 'x'\n", 1),
    ("grep '['", "", "grep: unmatched [\n", 2),
    ("ls -Q", "", "ls: unknown option '-Q' (try ls --help)\n", 2),
    ("chmod u%r .", "", "chmod: invalid mode: 'u%r'\n", 1),
    ("chmod 99 .", "", "chmod: invalid mode: '99'\n", 1),
    ("chmod +x nosuch", "", "chmod: cannot access 'nosuch': No such file or directory\n", 1),
    ("timeout x true", "", "timeout: invalid time interval 'x'\n", 125),
    ("hash -r; hash; f() { :; }; hash ls cd f; echo $?; hash ls nosuch", "0\n", "sh: hash: nosuch: not found\n", 1),
    ("ps -p 1,x", "", "ps: process ID list syntax error: '1,x'\n", 1),
    ("ps -p -1", "", "ps: process ID list syntax error: '-1'\n", 1),
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


def test_an_error_at_the_console_gives_its_memory_back(userland, tmp_path):
    """An error jumps out of the command: what was read and expanded for it must not stay, or a console grows for ever."""
    ask = "set -- $(grep VmRSS /proc/$$/status); echo grown $2.\n"  # of qemu-user, the program's memory included
    fail = ": word ${unset?} word\n"
    out, err, status = run(userland, tmp_path, "sh -i", stdin=(ask + fail * 1500 + ask).encode())
    before, after = (int(n) for n in re.findall(r"grown (\d+)\.", out))
    assert err.count("parameter not set") == 1500 and status == 0
    assert after - before < 3000, "kB; one chunk of an arena is 4 kB, and 1,500 of them would be 6,000"


# Between the look of `wait` for a signal and its sleep a signal comes.
SIGNAL_IN_BETWEEN = """
#include <vt.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
int __real_trap_first_pending(void);
pid_t __real_waitpid(pid_t pid, int *status, int options);
int __real_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask);
static bool looked;
static void send(void)
{
	if (looked)
		kill(getpid(), SIGUSR1);
	looked = false;
}
int __wrap_trap_first_pending(void)
{
	int sig = __real_trap_first_pending();
	looked = !sig;
	return sig;
}
pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
	if (!(options & WNOHANG))
		send();
	return __real_waitpid(pid, status, options);
}
int __wrap_ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
	send();
	return __real_ppoll(fds, n, limit, mask);
}
"""


def test_a_signal_just_before_wait_sleeps(userland, tmp_path):
    """The shell is linked with functions of ours around three of its own; make says how it is built."""
    shell = f"build/{userland.arch}/root/bin/sh"
    done = subprocess.run(
        ["make", "-n", "-W", "userland/sh/jobs.c", f"ARCH={userland.arch}", shell],
        cwd=TOP,
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [shlex.split(line) for line in done.stdout.splitlines() if " -o build/" in line]
    compile_words = next(words for words in lines if words[-1] == "userland/sh/jobs.c")
    link_words = next(words for words in lines if words[words.index("-o") + 1].endswith("/debug/sh"))
    (tmp_path / "between.c").write_text(SIGNAL_IN_BETWEEN)
    compile_words[compile_words.index("-o") + 1 :] = [tmp_path / "between.o", tmp_path / "between.c"]
    link_words[link_words.index("-o") + 1] = tmp_path / "sh"
    link_words += ["-Wl,--wrap=trap_first_pending,--wrap=waitpid,--wrap=ppoll", tmp_path / "between.o"]
    for words in (compile_words, link_words):
        subprocess.run(words, cwd=TOP, check=True)
    script = "trap 'echo trapped' USR1; sleep 30 & wait $!; echo $?; kill $!"
    done = subprocess.run(
        [userland.qemu, tmp_path / "sh", "-c", script],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
        env={"PATH": str(userland.path)},
    )
    assert done.stdout == "trapped\n138\n", done


@pytest.mark.parametrize("script,reads", [("[ a = a ]", False), ("echo [a", False), ("echo [a]", True)])
def test_a_bracket_that_is_not_closed_reads_no_folder(userland, tmp_path, script, reads):
    done = subprocess.run(
        [userland.qemu, "-strace", userland.bin / "sh", "-c", script], cwd=tmp_path, capture_output=True, timeout=600
    )
    assert (b"getdents" in done.stderr) == reads, done
