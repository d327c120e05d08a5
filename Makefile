# What there is to make. `make help` lists it; each concern has one rule file under mk/.
#
# Without ARCH this file only hands out work: `make arm64` calls itself with ARCH=aarch64, and that inner make
# includes the rules of one machine. So two machines never share a variable, and each has its build/<arch>/.

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-print-directory
.SUFFIXES:
SHELL := /bin/bash
# What `make deps PREFIX=folder` has unpacked without root.
-include build/prefix.mk
PYTHON := $(firstword $(wildcard /usr/bin/python3 $(VITRINE_PREFIX)/usr/bin/python3) python3)

# $(file <...) came with 4.2. macOS has 3.81, and Homebrew's make is gmake.
ifneq ($(filter 3.% 4.0 4.0.% 4.1 4.1.%,$(MAKE_VERSION)),)
$(error GNU make 4.2 or later is needed, and this is $(MAKE_VERSION); macOS: brew install make, and then gmake)
endif
$(if $(word 2,$(CURDIR)),$(error the path of this tree has a blank, which make takes for an end of a name: move the tree, and for WSL into its own home))
$(if $(wildcard /bin/bash),,$(error there is no /bin/bash here, which the recipes are written for: install the package bash))

# V=1 shows every command; else one line each: $(call say,CC,$@) as a recipe line of its own, $(Q) before commands.
V ?=
Q := $(if $(V),,@)
say = $(if $(V),,@printf '  %-7s %s\n' '$(1)' '$(patsubst $(BUILD)/%,%,$(2))')

# Rewrite file $(1) only when the text $(2) differs from what it holds, so that what depends on it is rebuilt then. Where this tree
# is does not count: a copy of it, with what is built there, is as good (make toolchain's compiler is in the tree).
define stamp
$(1): FORCE
	@mkdir -p $$(@D); printf '%s\n' '$(subst $(CURDIR)/,,$(2))' | cmp -s - $$@ || printf '%s\n' '$(subst $(CURDIR)/,,$(2))' > $$@
endef
FORCE:
.PHONY: FORCE

define newline


endef

include mk/machines.mk

# Modules outside of this tree: a make of their own.
# As many jobs as there are CPUs, asked for in the way that every system knows.
cpus = $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)

# In texts before Linux 5.4 the folder is SUBDIRS=.
ifeq ($(M)|$(origin SUBDIRS),|command line)
M := $(SUBDIRS)
endif

ifneq ($(M),)
include mk/modules_outer.mk
else

ifneq ($(filter debian-root ftracetest,$(MAKECMDGOALS)),)
include mk/debian.mk
else

# From the command line only: an ARCH=arm64 in the environment is for building Linux and must not reach us.
ifeq ($(origin ARCH),command line)

include mk/variant.mk
.DEFAULT_GOAL := all
FULL := build/$(ARCH)$(COUNTING)
BUILD := build/$(ARCH)$(VARIANT)
include mk/rooms.mk
include mk/toolchain.mk mk/kernel.mk mk/vdso.mk
include $(if $(VARIANT),,$(wildcard mk/userland.mk $(if $(wildcard mk/userland.mk),mk/session.mk) mk/guest_progs.mk))

# The variants of the kernel run the same programs.
all: kernel $(if $(wildcard mk/userland.mk),$(BUILD)/initramfs.cpio) $(SESSION) $(if $(VARIANT),,$(if $(wildcard mk/userland.mk),$(BUILD)/commands.txt))
ifneq ($(VARIANT),)
$(BUILD)/initramfs.cpio: FORCE
	@ln -sf ../$(ARCH)/initramfs.cpio $@; ln -sf ../$(ARCH)/session.cpio $(BUILD)/session.cpio
endif
# What a variant takes from the full kernel's folder: the programs, and of its objects those that it links.
full:
	$(if $(CHOICE),+$(Q)$(MAKE) -s ARCH=$(ARCH) CORE= WITH= WITHOUT= $(filter $(FULL)/%,$(KOBJ)))
	+$(Q)$(MAKE) -s ARCH=$(ARCH) NOPG= NOEVENTS= BRANCH= GCOV= CORE= WITH= WITHOUT= programs
programs: $(if $(wildcard mk/userland.mk),$(BUILD)/initramfs.cpio) $(SESSION)
.PHONY: all full programs

else

include mk/variant.mk

# The inner make takes the user's -j, or as many jobs as there are CPUs when there was none.
inner = +$(Q)$(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(cpus)) ARCH=$(1)

help:
	@sed -n 's/^#: \{0,1\}//p' $(firstword $(MAKEFILE_LIST)) mk/qemu.mk mk/release.mk mk/debian.mk mk/tests.mk mk/labs.mk

#: Vitrine: a teaching kernel that traces itself.
#:
#: Build
#:   make deps             look for what is missing on this machine; install it, or name it; with PREFIX=folder: unpack Debian's packages
#:                         there without root, as far as builds and guests need them, and take them from there from now on
#:   make toolchain MACHINE=arm64|x86_64 [PREFIX=folder]    build aarch64-none-elf or x86_64-elf gcc with newlib, into build/toolchain
#:                         or that folder; make uses it then (docs/hosts.md: what it takes, and which other compilers will do)
#:   make arm64            kernel and userland for aarch64, into build/aarch64/ (Image, vmlinux, initramfs.cpio)
#:   make x86_64           the same for x86_64, into build/x86_64/ (vmlinux, initramfs.cpio)
#:   make all              both
#:   make arm64 CORE=1     without the rooms that can be left out; WITH="NAMES" but these. WITHOUT="NAMES" leaves out these alone
#:   make rooms            the rooms of the tree, their code and what they need (docs/architecture.md)
#:   make iso              build/x86_64/vitrine.iso: GRUB, kernel, initramfs; for CD or USB stick, BIOS or UEFI
#:                         (APPEND="kernel arguments" and BOOTCONFIG=file go into it)
#:   make busybox          fetch Debian's busybox-static again, as the first build does (a session has vi, awk, diff and others from it)
#:   make M=DIR            modules of the folder DIR, whose Makefile says `obj-m += NAME.o` (ARCH=arm64 or x86_64; W=1; docs/modules.md)
#:   make clean            remove build/ and nothing else, but for build/toolchain
#:   make compile_commands.json   for clangd and other editors' helpers, of all machines; a build writes it, too, of those that are built
#:   make tags             tags for vim, TAGS for emacs (docs/editors.md tells how to use these and others with this tree)
# A ~ that the shell has left: only some write out the one behind an =.
PREFIX_FOLDER := $(patsubst ~/%,$(HOME)/%,$(PREFIX))
deps:
	$(Q)$(if $(PREFIX),DEPS_PREFIX='$(PREFIX_FOLDER)') PYTHON=$(PYTHON) tools/deps.sh all

toolchain: deps-build
	$(Q)tools/toolchain '$(MACHINE)' $(if $(PREFIX),'$(PREFIX_FOLDER)')

deps-build deps-run deps-iso deps-test deps-labs deps-lint:
	$(Q)PYTHON=$(PYTHON) tools/deps.sh $(@:deps-%=%)

ifneq ($(VARIANT),)
$(MACHINES): %: full-%
full-%: deps-build
	$(call inner,$(ARCH_$*)) full
endif
$(MACHINES): deps-build
	$(Q)test -n '$(filter $@,$(HERE))' || { echo 'make: there is no arch/$(ARCH_$@) in this tree; there is: $(HERE)' >&2; exit 1; }
	$(call inner,$(ARCH_$@)) all
	$(Q)[ ! -e build/$(ARCH_$@)/commands.txt ] || [ compile_commands.json -nt build/$(ARCH_$@)/commands.txt ] || { $(compdb) > build/$@.json && mv build/$@.json compile_commands.json; }

all: $(HERE)

busybox: deps-build
	$(foreach m,$(HERE),$(call inner,$(ARCH_$(m))) busybox$(newline)	)

iso: deps-iso x86_64
	$(call inner,x86_64) iso

# A source that several machines compile appears as the first of them does. A build of a machine writes it, of the machines that
# were built.
compdb = $(PYTHON) tools/compdb.py $$(ls $(foreach m,$(HERE),build/$(ARCH_$(m))/commands.txt) 2>/dev/null)
compile_commands.json: FORCE deps-build
	$(foreach m,$(HERE),$(call inner,$(ARCH_$(m))) build/$(ARCH_$(m))/commands.txt$(newline)	)
	$(Q)$(compdb) > $@

# For vim and for emacs.
tags: FORCE deps-labs
	$(call say,TAGS,tags TAGS)
	$(Q)printf '%s\n' $(C_FILES) | ctags -L - -f tags && printf '%s\n' $(C_FILES) | ctags -e -L - -f TAGS

clean:
	$(Q)for made in build/* build/.??*; do [ "$$made" = build/toolchain ] || rm -rf "$$made"; done; rm -f compile_commands.json tags TAGS
	$(Q)rmdir build 2>/dev/null || true

# Goals that modules have in a tree of Linux.
modules modules_install:
	$(Q)echo 'make: $@ is for the modules of a folder: make M=FOLDER $@ (docs/modules.md)' >&2; exit 1

.PHONY: modules modules_install help toolchain deps deps-build deps-run deps-iso deps-test deps-labs deps-lint $(MACHINES) all busybox iso clean
include mk/qemu.mk mk/release.mk mk/tests.mk mk/labs.mk

endif

endif

endif
