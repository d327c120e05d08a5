/*
 * Words that guides for Linux have people add to the kernel command line, and that this kernel has nothing to do for.
 * They are known, so that they do not go to the first program, and the log says why each has no effect. docs/boot.md
 * has them in a table.
 */
#include <kernel/cmdline.h>

static const struct ignored_word words[] = {
	{"nokaslr", "the kernel is not moved at boot"},
	{"kaslr", "the kernel is not moved at boot"},
	{"mitigations=", "there are no mitigations of CPU bugs"},
	{"nopti", "there are no mitigations of CPU bugs"},
	{"pti=", "there are no mitigations of CPU bugs"},
	{"kpti=", "there are no mitigations of CPU bugs"},
	{"spectre_v2=", "there are no mitigations of CPU bugs"},
	{"nospectre_v2", "there are no mitigations of CPU bugs"},
	{"lockdown=", "there is no lockdown: root may do what root may do"},
	{"splash", "there is no screen"},
	{"vga=", "there is no screen"},
	{"nomodeset", "there is no screen"},
	{"rootwait", "the root file system is the initramfs, which is there at once"},
	{"rootdelay=", "the root file system is the initramfs, which is there at once"},
	{"root=", "the root file system is the initramfs"},
	{"rootfstype=", "the root file system is the initramfs"},
	{"rootflags=", "the root file system is the initramfs"},
	{"ro", "the root file system is the initramfs, which can be written"},
	{"rw", "the root file system can be written anyway"},
	{"nowatchdog", "there is no watchdog that could be switched off"},
	{"nmi_watchdog=", "there is no watchdog by NMI"},
	{"audit=", "there is no audit"},
	{"selinux=", "there is no SELinux"},
	{"apparmor=", "there is no AppArmor"},
	{"transparent_hugepage=", "there are no huge pages"},
	{"crashkernel=", "there is no second kernel to boot after a panic"},
	{"console=", "the serial port is the console"},
	{"earlyprintk", "the log goes to the serial port from the start"},
	{"earlycon", "the log goes to the serial port from the start"},
	{"ignore_loglevel", "loglevel=15 prints every line"},
	{"mem=", "QEMU's -m says how much memory there is"},
	{"nr_cpus=", "QEMU's -smp says how many CPUs there are, and maxcpus= how many start"},
	{"isolcpus=", "no CPU is set apart at boot: taskset keeps programs away from one"},
	{"nohz_full=", "the tick stops on a CPU that is idle alone"},
	{"rcu_nocbs=", "one thread runs the callbacks of RCU of all CPUs"},
	{"kgdboc=", "gdb debugs the kernel by way of QEMU: make gdb-arm64 or gdb-x86_64"},
	{"kgdbwait", "gdb debugs the kernel by way of QEMU: make gdb-arm64 or gdb-x86_64"},
};

static const struct ignored_words habits = {.words = words, .nr = ARRAY_SIZE(words)};
REGISTER_IN(ignored_words, habits);
