# How code of the kernel is compiled: its own, and that of modules (mk/modules.mk).

# mcount_site.s: a macro that spares each site an instruction.
PG_aarch64 := -pg -Wa,arch/aarch64/mcount_site.s
PG_x86_64  := -pg -mfentry -mrecord-mcount

# Distributions switch on what makes programs harder to attack: cookies and probes on the stack, signed return addresses,
# checks of lengths by the C library's headers. In a kernel they want what is not there, or cost instructions at each
# function. Our programs' C library has its own headers.
PLAIN_CODE := -fno-stack-protector -fno-stack-clash-protection -U_FORTIFY_SOURCE \
	$(if $(filter x86_64,$(ARCH)),-fcf-protection=none,-mbranch-protection=none)

# ---- Flags. Builtins are on (memcpy of a known size becomes moves), but for those whose names our <lib/string.h> declares
# in its own way. char is unsigned on both machines, as in Linux: the format files of events say so.
OUR_BUILTINS := isspace isdigit isalpha isalnum isprint isxdigit isupper islower ispunct tolower toupper
# include/compiler comes last: what some compilers lack.
KINC := -Iinclude -iquote trace -Iarch/$(ARCH)/include -I$(BUILD)/include -idirafter include/compiler
# Debugging information names files relative to the tree, so that a tree in another folder gives the same bytes.
HERE_IS := -ffile-prefix-map=$(CURDIR)=.
KCFLAGS := -std=gnu11 -O2 -g $(HERE_IS) -funsigned-char -ffreestanding -fbuiltin $(OUR_BUILTINS:%=-fno-builtin-%) \
	-nostdinc -isystem $(GCC_INCLUDE) \
	-mgeneral-regs-only -fno-omit-frame-pointer -fno-pic -fno-pie -fno-strict-aliasing -fno-common \
	$(PLAIN_CODE) -fno-asynchronous-unwind-tables -fno-unwind-tables \
	-Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror $(KINC)
KCFLAGS_aarch64 := -mno-outline-atomics
KCFLAGS_x86_64  := -mno-red-zone -mcmodel=kernel
KCFLAGS += $(KCFLAGS_$(ARCH))
KCFLAGS += $(if $(NOEVENTS),-DNO_TRACEPOINTS)
# BRANCH=1 and BRANCH=all: what include/lib/branch.h makes of likely() and `if`. Code that runs before the CPU has per-CPU
# data counts nothing, and code that the tracer runs counts but is not traced (UNTRACED of mk/kernel.mk).
BRANCH_DEFINES = $(if $(BRANCH),$(if $(filter boot/%,$(1)),,-DBRANCH_PROFILE $(if $(filter all,$(BRANCH)),-DBRANCH_PROFILE_ALL) \
	$(if $(filter $(NOTRACE),$(1)),-DBRANCH_UNTRACED)))
KAFLAGS := -g $(HERE_IS) -nostdinc $(KINC) -D__ASSEMBLY__
KLDFLAGS := -nostdlib -static --build-id=none -z noexecstack -z max-page-size=4096 --orphan-handling=error --fatal-warnings

# gcc's own counters of these files. What it would call at the end of a program to add up several runs is never called.
GCOV_FLAGS = $(if $(filter $(GCOV),$(1)),-fprofile-arcs -ftest-coverage -fprofile-update=atomic -fprofile-info-section=.data.gcov)
KLDFLAGS += $(if $(GCOV),--defsym=__gcov_merge_add=0)

# A sum over all headers, as a part of what a module must have been built for (mk/kernel.mk, mk/modules.mk).
VERMAGIC_H := $(BUILD)/include/generated/vermagic.h
KHEADERS := $(sort $(wildcard include/*/*.h include/*/*/*.h include/*/*/*/*.h arch/$(ARCH)/include/asm/*.h))
abi_now = abi$(shell cat $(KHEADERS) | cksum | cut -d" " -f1)
