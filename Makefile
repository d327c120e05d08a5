# What there is to make. `make help` lists it; each concern has one rule file under mk/.
#
# Without ARCH this file only hands out work: `make arm64` calls itself with ARCH=aarch64, and that inner make
# includes the rules of one machine. So two machines never share a variable, and each has its build/<arch>/.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
.SUFFIXES:
SHELL := /bin/bash
PYTHON := /usr/bin/python3

# V=1 shows every command; else one line each: $(call say,CC,$@) as a recipe line of its own, $(Q) before commands.
V ?=
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(patsubst $(BUILD)/%,%,$(2))')

# Rewrite file $(1) only when the text $(2) differs from what it holds, so that what depends on it is rebuilt then.
define stamp
$(1): FORCE
	@mkdir -p $$(@D); printf '%s\n' '$(2)' | cmp -s - $$@ || printf '%s\n' '$(2)' > $$@
endef
FORCE:
.PHONY: FORCE

define newline


endef

include mk/machines.mk

# Modules outside of this tree: a make of their own.
ifneq ($(M),)
include mk/modules_outer.mk
else

ifneq ($(filter debian-root ftracetest,$(MAKECMDGOALS)),)
include mk/debian.mk
else

# From the command line only: an ARCH=arm64 in the environment is for building Linux and must not reach us.
ifeq ($(origin ARCH),command line)

NOPG ?=
NOEVENTS ?=
# From the command line only, since an environment may well have a BRANCH that means another thing.
ifneq ($(origin BRANCH),command line)
override BRANCH :=
endif
ifneq ($(filter-out 1 all,$(BRANCH)),)
$(error BRANCH=$(BRANCH): it is 1 (hints are counted) or all (each `if` is, too))
endif
# GCOV="FILE ..." has the compiler count the branches of these files, too, for comparing (tests/guest/test_branch.py).
ifneq ($(origin GCOV),command line)
override GCOV :=
endif
VARIANT := $(if $(NOPG),-nopg)$(if $(NOEVENTS),-noevents)$(if $(BRANCH),-branch)$(if $(filter all,$(BRANCH)),-all)$(if $(GCOV),-gcov)
.DEFAULT_GOAL := all
BUILD := build/$(ARCH)$(VARIANT)
include mk/toolchain.mk mk/kernel.mk mk/vdso.mk
include $(if $(VARIANT),,$(wildcard mk/userland.mk $(if $(wildcard mk/userland.mk),mk/session.mk) mk/guest_progs.mk))

# The variants of the kernel run the same programs.
all: kernel $(if $(wildcard mk/userland.mk),$(BUILD)/initramfs.cpio) $(SESSION)
ifneq ($(VARIANT),)
$(BUILD)/initramfs.cpio: FORCE
	@ln -sf ../$(ARCH)/initramfs.cpio $@; ln -sf ../$(ARCH)/session.cpio $(BUILD)/session.cpio
endif
.PHONY: all

else

# The inner make takes the user's -j, or as many jobs as there are CPUs when there was none.
inner = +$(Q)$(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc)) ARCH=$(1)

help:
	@sed -n 's/^#: \{0,1\}//p' $(firstword $(MAKEFILE_LIST)) mk/qemu.mk mk/debian.mk mk/tests.mk mk/labs.mk

#: Vitrine: a teaching kernel that traces itself.
#:
#: Build
#:   make deps             look for what is missing on this machine; install it, or name it
#:   make arm64            kernel and userland for aarch64, into build/aarch64/ (Image, vmlinux, initramfs.cpio)
#:   make x86_64           the same for x86_64, into build/x86_64/ (vmlinux, initramfs.cpio)
#:   make all              both
#:   make iso              build/x86_64/vitrine.iso: GRUB, kernel, initramfs; for CD or USB stick, BIOS or UEFI
#:                         (APPEND="kernel arguments" and BOOTCONFIG=file go into it)
#:   make busybox          fetch Debian's busybox-static again, as the first build does (a session has vi, awk, diff and others from it)
#:   make M=DIR            modules of the folder DIR, whose Makefile says `obj-m += NAME.o` (ARCH=arm64 or x86_64; W=1; docs/modules.md)
#:   make clean            remove build/ and nothing else
#:   make compile_commands.json   for clangd and other editors' helpers
deps:
	$(Q)tools/deps.sh all

deps-build deps-run deps-iso deps-test deps-labs deps-lint:
	$(Q)tools/deps.sh $(@:deps-%=%)

$(MACHINES): deps-build
	$(Q)test -n '$(filter $@,$(HERE))' || { echo 'make: there is no arch/$(ARCH_$@) in this tree; there is: $(HERE)' >&2; exit 1; }
	$(call inner,$(ARCH_$@)) all

all: $(HERE)

busybox: deps-build
	$(foreach m,$(HERE),$(call inner,$(ARCH_$(m))) busybox$(newline)	)

iso: deps-iso x86_64
	$(call inner,x86_64) iso

# A source that several machines compile appears as the first of them does.
compile_commands.json: FORCE deps-build
	$(foreach m,$(HERE),$(call inner,$(ARCH_$(m))) build/$(ARCH_$(m))/commands.txt$(newline)	)
	$(Q)$(PYTHON) tools/compdb.py $(foreach m,$(HERE),build/$(ARCH_$(m))/commands.txt) > $@

clean:
	$(Q)rm -rf build compile_commands.json

.PHONY: help deps deps-build deps-run deps-iso deps-test deps-labs deps-lint $(MACHINES) all busybox iso clean
include mk/qemu.mk mk/tests.mk mk/labs.mk

endif

endif

endif
