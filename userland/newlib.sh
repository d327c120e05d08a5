#!/bin/sh
# Build newlib from Debian's newlib-source: newlib.sh ARCH CROSS OUTDIR [TARGET], e.g. newlib.sh aarch64 aarch64-linux-gnu- build/newlib/aarch64
#
# It is installed in OUTDIR/TARGET, which is ARCH-elf otherwise. SOURCES: where the package is unpacked when it is not installed.
set -e

arch=$1 cross=$2 out=$3 target=${4:-$1-elf}
tarball=$(ls /usr/src/newlib/newlib-*.tar.* "${SOURCES:-/nowhere}"/usr/src/newlib/newlib-*.tar.* 2>/dev/null | sort | tail -n 1)
if [ -z "$tarball" ]; then
	echo "newlib.sh: no /usr/src/newlib/newlib-*.tar.*: install the package newlib-source" >&2
	exit 1
fi

mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$out/work
rm -rf "$work"
mkdir -p "$work/src" "$work/obj"
tar -xf "$tarball" -C "$work/src" --strip-components=1

# Where the machine has no system calls in newlib, its functions would call open() and fstat() by those names, which are
# ours and take the kernel's flags and structures. We want _open() and _fstat() everywhere: see lib/posix/newlib_glue.c.
sed 's/-DMISSING_SYSCALL_NAMES//g' "$work/src/newlib/configure.host" >"$work/configure.host"
cat "$work/configure.host" >"$work/src/newlib/configure.host"

# Our programs compute with integers: for them the mathematical functions, two of five files, are left out. An empty libm.a is where
# newlib's rules take some of them from for libc.a. A compiler that is to be installed (TARGET) has all.
mathless=
if [ -z "$4" ]; then
	sed 's/^SUBDIRS = libc libm/SUBDIRS = libc/' "$work/src/newlib/Makefile.in" >"$work/Makefile.in"
	cat "$work/Makefile.in" >"$work/src/newlib/Makefile.in"
	mkdir "$work/obj/libm"
	"${cross}ar" rc "$work/obj/libm/libm.a"
	mathless='MATHOBJS_IN_LIBC='
fi

# The compiler may be one for Linux with glibc: hide that it says so, or newlib takes itself for a guest of glibc.
# Outline atomics would call into libgcc's glibc-only start-up. No stack protector: there is no TLS to keep the cookie. The
# rest that distributions switch on is off as in our own programs, too (PLAIN_CODE in mk/kernel_flags.mk).
# Frame pointers, as in our own programs (UFRAMES in mk/userland.mk). Its assertions name files: not by where they are here.
cflags="-std=gnu17 -Wno-implicit-function-declaration -Wno-implicit-int -Wno-int-conversion -Wno-incompatible-pointer-types -ffile-prefix-map=$work/src=newlib -Os -w -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -ffunction-sections -fdata-sections -fno-pic -fno-stack-protector -fno-stack-clash-protection -U_FORTIFY_SOURCE -U__linux__ -U__gnu_linux__ -Ulinux -U__unix__ -Uunix"
case $arch in
aarch64) cflags="$cflags -mno-outline-atomics -mbranch-protection=none" ;;
x86_64) cflags="$cflags -fcf-protection=none" ;;
esac

# newlib's small variants of printf and malloc: each program carries its own copy of what it uses. The only program for this
# computer would be one for the manual, which is not made: the host needs no C library's headers.
cd "$work/obj"
{
	"$work/src/newlib/configure" --host="$target" --prefix="$out" \
		--disable-multilib --disable-newlib-supplied-syscalls \
		--enable-newlib-io-c99-formats --enable-newlib-io-long-long \
		--enable-newlib-nano-malloc --enable-newlib-nano-formatted-io \
		--enable-lite-exit --enable-newlib-global-atexit --disable-newlib-wide-orient \
		--disable-newlib-fvwrite-in-streamio --disable-newlib-unbuf-stream-opt \
		--disable-newlib-fseek-optimization \
		CC="${cross}gcc" CCAS="${cross}gcc" AR="${cross}ar" AS="${cross}as" \
		RANLIB="${cross}ranlib" CFLAGS="$cflags" &&
	make -j2 CC_FOR_BUILD=true $mathless && make CC_FOR_BUILD=true $mathless install
} >"$out/build.log" 2>&1 || {
	tail -n 20 "$out/build.log" >&2
	echo "newlib.sh: newlib did not build; all output is in $out/build.log" >&2
	exit 1
}
rm -rf "$work"
