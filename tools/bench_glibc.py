"""A program of Debian's glibc that tools/bench runs in its guests, linked in two ways, with the libraries that it needs."""

import os
import shutil
import subprocess
import tempfile

from vitrine_guest import GuestError

# What a fork and its exit cost, without and with an execve of itself, and a call of clock_gettime, which is the vDSO's:
# the difference of a short loop and one three times as long.
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static char *self;
static long now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}
static void fork_loop(long n)
{
	while (n-- > 0) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		waitpid(child, NULL, 0);
	}
}
static void exec(long n)
{
	while (n-- > 0) {
		pid_t child = fork();

		if (!child) {
			execl(self, self, NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	}
}
static void read_clock(long n)
{
	while (n-- > 0)
		now();
}
int main(int argc, char **argv)
{
	long n, start, few;
	void (*loop)(long);

	if (argc < 3)
		return 0;
	self = argv[0];
	loop = argv[1][0] == 'f' ? fork_loop : argv[1][0] == 'e' ? exec : read_clock;
	n = atol(argv[2]);
	loop(n);
	start = now();
	loop(n);
	few = now() - start;
	start = now();
	loop(3 * n);
	printf("%ld\n", (now() - start - few) / (2 * n));
	return 0;
}
"""
# What it needs on each machine: compiler, folder of the libraries, the dynamic linker's and the library's place.
MACHINES = {
    "aarch64": ("aarch64-linux-gnu-gcc", "/usr/aarch64-linux-gnu/lib", "lib/ld-linux-aarch64.so.1", "lib/libc.so.6"),
    "x86_64": ("gcc", "/lib/x86_64-linux-gnu", "lib64/ld-linux-x86-64.so.2", "lib/x86_64-linux-gnu/libc.so.6"),
}


def read_file(path):
    with open(path, "rb") as file:
        return file.read()


def build_glibc(arch):
    """The program in both ways with its libraries, for a guest; nothing where this computer has no glibc for it."""
    compiler, libraries, *places = MACHINES[arch]
    files = {place: f"{libraries}/{os.path.basename(place)}" for place in places}
    if not shutil.which(compiler) or not all(map(os.path.exists, files.values())):
        return {}
    found = {place: (0o755, read_file(path)) for place, path in files.items()}
    with tempfile.TemporaryDirectory() as folder:
        with open(f"{folder}/glibc.c", "w", encoding="ascii") as file:
            file.write(PROGRAM)
        for way, words in (("static", ["-static"]), ("dynamic", ["-pie", "-fPIE"])):
            out = f"{folder}/{way}"
            done = subprocess.run(
                [compiler, "-O2", *words, "-o", out, f"{folder}/glibc.c"], capture_output=True, text=True, check=False
            )
            if done.returncode:
                raise GuestError(f"the program of glibc cannot be built:\n{done.stderr}", 1)
            found[f"bin/glibc-{way}"] = (0o755, read_file(out))
    return found
