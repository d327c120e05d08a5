# Which compiler: the one that CROSS= names; else what `make toolchain` has built, as soon as it is whole; else the first cross
# toolchain on PATH. gcc 12 or later.

CROSS_aarch64 := aarch64-none-elf- aarch64-elf- aarch64-linux-gnu-
CROSS_x86_64  := x86_64-elf- x86_64-linux-gnu-

BUILT_PREFIX := $(abspath $(or $(patsubst ~/%,$(HOME)/%,$(PREFIX)),build/toolchain))
BUILT_CROSS := $(foreach p,$(CROSS_$(ARCH)),$(if $(wildcard $(BUILT_PREFIX)/share/vitrine/$(p)newlib),$(BUILT_PREFIX)/bin/$(p)))
# The host's own gcc, where the host is such a machine: by its folder, since each distribution calls it by another name.
NATIVE = $(filter $(ARCH)-%,$(shell gcc -dumpmachine 2>/dev/null))
NATIVE_CROSS = $(if $(findstring linux,$(NATIVE)),$(dir $(shell command -v gcc)))
ifndef CROSS
CROSS := $(firstword $(BUILT_CROSS) $(foreach p,$(CROSS_$(ARCH)),$(if $(shell command -v $(p)gcc),$(p))))
CROSS := $(or $(CROSS),$(NATIVE_CROSS))
endif

ifeq ($(CROSS_$(ARCH)),)
$(error there is no machine '$(ARCH)': ARCH is aarch64 or x86_64)
endif
ifeq ($(CROSS),)
$(error no compiler for $(ARCH): none of $(CROSS_$(ARCH):%=%gcc) is here. Try make deps, or CROSS=prefix-)
endif

CC      := $(CROSS)gcc
LD      := $(CROSS)ld
OBJCOPY := $(CROSS)objcopy
OBJDUMP := $(CROSS)objdump

ifeq ($(shell command -v $(CC)),)
$(error there is no $(CC) on PATH, which CROSS=$(CROSS) asks for)
endif
# Of clang's -pg this kernel can make nothing: see the message.
ifneq ($(findstring clang,$(shell $(CC) --version 2>/dev/null)),)
$(error $(CC) is clang, whose -pg does not list call sites on x86_64 (-mrecord-mcount) and does not pass the caller's address on \
	aarch64: gcc 12 or later is needed. CROSS=prefix- chooses one)
endif
CC_MAJOR := $(firstword $(subst ., ,$(shell $(CC) -dumpversion)))
ifneq ($(shell test '$(CC_MAJOR)' -ge 12 2>/dev/null && echo ok),ok)
$(error $(CC) is version '$(CC_MAJOR)': gcc 12 or later is needed. CROSS=prefix- chooses another, make toolchain builds one)
endif
# The compiler's own headers. A compiler that has been moved names them by way of its bin/, which another folder is compared with.
GCC_INCLUDE := $(abspath $(shell $(CC) -print-file-name=include))
