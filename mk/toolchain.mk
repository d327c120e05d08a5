# Which compiler: the first cross toolchain that is here, or the one that CROSS= names. gcc 12 or later.

CROSS_aarch64 := aarch64-none-elf- aarch64-elf- aarch64-linux-gnu-
CROSS_x86_64  := x86_64-elf- x86_64-linux-gnu-

CROSS ?= $(firstword $(foreach p,$(CROSS_$(ARCH)),$(if $(shell command -v $(p)gcc),$(p))))

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
CC_MAJOR := $(firstword $(subst ., ,$(shell $(CC) -dumpversion)))
ifneq ($(shell test '$(CC_MAJOR)' -ge 12 2>/dev/null && echo ok),ok)
$(error $(CC) is version '$(CC_MAJOR)': gcc 12 or later is needed. CROSS=prefix- chooses another)
endif
