#!/bin/bash
# Look for what a job needs on this machine; install what is missing with apt, or name it in one line.
#
# usage: tools/deps.sh [all | build | run | iso | test | labs | lint]...
#
# A line of the table: the job it is for, what must be there, the Debian package that has it. "What" is a command, an
# absolute path, or py:MODULE for a module of /usr/bin/python3; with | between alternatives. When all of a job's
# things were there, a stamp in build/ that is keyed by this file says so, and the next call only looks whether
# the commands and files are still there, which takes a few milliseconds (no python is started, no package is asked for).

set -u
table='
build  aarch64-none-elf-gcc|aarch64-elf-gcc|aarch64-linux-gnu-gcc  gcc-aarch64-linux-gnu
build  x86_64-elf-gcc|x86_64-linux-gnu-gcc  X86_GCC
build  gcc                            gcc
build  /usr/include/stdio.h           libc6-dev
build  /usr/bin/python3               python3
build  py:elftools                    python3-pyelftools
build  /usr/src/newlib                newlib-source
build  tar                            tar
build  xz                             xz-utils
build  bzip2                          bzip2
build  cpio                           cpio
run    qemu-system-aarch64            qemu-system-arm
run    qemu-system-x86_64             qemu-system-x86
run    gdb-multiarch                  gdb-multiarch
run    py:pexpect                     python3-pexpect
test   py:pytest                      python3-pytest
test   py:xdist                       python3-pytest-xdist
test   py:pyte                        python3-pyte
test   /usr/include/cmocka.h          libcmocka-dev
test   /usr/include/traceevent/event-parse.h  libtraceevent-dev
test   trace-cmd                      trace-cmd
test   protoc                         protobuf-compiler
test   kernelshark                    kernelshark
test   Xvfb                           xvfb
test   tesseract                      tesseract-ocr
test   node                           nodejs
test   rsync                          rsync
test   npm                            npm
test   qemu-aarch64|qemu-aarch64-static  qemu-user
test   qemu-x86_64|qemu-x86_64-static  qemu-user
test   /usr/share/ovmf/OVMF.fd        ovmf
test   /usr/aarch64-linux-gnu/lib/libc.a|/usr/lib/aarch64-linux-gnu/libc.a  libc6-dev-arm64-cross
labs   ctags                          universal-ctags
labs   py:markdown                    python3-markdown
labs   py:tomllib|py:tomli            python3-tomli
labs   rsync                          rsync
labs   patch                          patch
labs   git                            git
lint   clang-format                   clang-format
lint   clang-tidy                     clang-tidy
lint   black                          black
lint   cppcheck                       cppcheck
'
# GRUB's PC modules are packaged for x86 hosts only; elsewhere all but `make iso` works. The same hosts' own gcc makes x86_64 code.
x86_gcc=gcc-x86-64-linux-gnu
if [ "$(uname -m)" = x86_64 ]; then
	x86_gcc=gcc
	table+='
iso    grub-mkrescue                  grub-common
iso    /usr/lib/grub/i386-pc          grub-pc-bin
iso    /usr/lib/grub/x86_64-efi       grub-efi-amd64-bin
iso    xorriso                        xorriso
iso    mformat                        mtools
'
fi
table=${table/X86_GCC/$x86_gcc}
cd "$(dirname "$0")/.." || exit 1
root=${DEPS_ROOT:-}		# tests put a folder here in place of /

# Is it there? Modules are asked for only without a stamp: starting python is what costs time.
present() {
	local one
	local IFS='|'
	for one in $1; do
		case $one in
		/*)   [ -e "$root$one" ] && return 0 ;;
		py:*) [ -n "$stamped" ] && return 0
		      "$root/usr/bin/python3" -c "import ${one#py:}" 2>/dev/null && return 0 ;;
		*)    command -v "$one" >/dev/null && return 0 ;;
		esac
	done
	return 1
}

# The packages that the wanted jobs lack, into $missing.
look() {
	local job what package
	missing=
	while read -r job what package; do
		[[ -n $job && ( " $jobs " == *" $job "* ) ]] || continue
		present "$what" || [[ " $missing " == *" $package "* ]] || missing+=" $package"
	done <<<"$table"
	missing=${missing# }
}

jobs=${*:-all}
[ "$jobs" = all ] && jobs='build run iso test labs lint'
for job in $jobs; do
	case $job in
	build|run|iso|test|labs|lint) ;;
	*) echo "deps: no job '$job': all, build, run, iso, test, labs or lint" >&2; exit 2 ;;
	esac
done
stamp=${DEPS_STAMP:-build/.deps}-${jobs// /-}
stamped=
[ -e "$stamp" ] && [ "$stamp" -nt "$0" ] && stamped=yes

look
if [ -n "$missing" ]; then
	# One at a time: make -j may ask for two jobs at once, and what one lacks the other may be installing.
	mkdir -p "$(dirname "$stamp")"
	exec 9>"$(dirname "$stamp")/.deps.lock"
	flock 9
	hash -r
	look
fi
if [ -n "$missing" ]; then
	run=
	if [ "$(id -u)" != 0 ]; then
		run='sudo -n'
		sudo -n true 2>/dev/null || run=none
	fi
	if [ "$run" = none ] || ! command -v apt-get >/dev/null; then
		echo "deps: missing; as root: apt-get install $missing" >&2
		exit 1
	fi
	echo "deps: installing $missing"
	export DEBIAN_FRONTEND=noninteractive
	log=$(mktemp)
	# shellcheck disable=SC2086  # words are wanted
	if ! { $run apt-get update && $run env DEBIAN_FRONTEND=noninteractive \
		apt-get install -y --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
		tail -5 "$log" >&2
		rm -f "$log"
		echo "deps: apt-get failed; still missing: $missing" >&2
		exit 1
	fi
	rm -f "$log"
	stamped=
	hash -r
	wanted=$missing
	look
	if [ -n "$missing" ]; then
		echo "deps: installed $wanted, and yet what these have is not found: $missing" >&2
		exit 1
	fi
fi
if [ -z "$stamped" ]; then
	mkdir -p "$(dirname "$stamp")" && touch "$stamp"
fi
