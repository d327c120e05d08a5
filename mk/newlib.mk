# The C library of userland: the toolchain's own newlib where it has one, else one built from newlib-source.
#
# Sets NEWLIB_CPPFLAGS, NEWLIB_LIBS (link flags) and NEWLIB_READY (what to depend on; empty when nothing is to be built).

# A bare-metal toolchain (aarch64-none-elf, x86_64-elf) that comes with newlib finds <newlib.h> by itself.
NEWLIB_OWN := $(shell $(CC) -E -x c -include newlib.h /dev/null >/dev/null 2>&1 && echo yes)
GCC_INCLUDE := $(shell $(CC) -print-file-name=include)

ifeq ($(NEWLIB_OWN),yes)
NEWLIB_READY :=
NEWLIB_CPPFLAGS :=
NEWLIB_LIBS := $(if $(findstring /,$(shell $(CC) -print-file-name=libc_nano.a)),-lc_nano,-lc)
else
NEWLIB_DIR := build/newlib/$(ARCH)
NEWLIB_READY := $(NEWLIB_DIR)/.ready
NEWLIB_CPPFLAGS := -nostdinc -isystem $(NEWLIB_DIR)/$(ARCH)-elf/include -isystem $(GCC_INCLUDE)
NEWLIB_LIBS := -L$(NEWLIB_DIR)/$(ARCH)-elf/lib -lc

$(NEWLIB_READY): userland/newlib.sh
	$(call say,NEWLIB,$(NEWLIB_DIR))
	$(Q)sh userland/newlib.sh $(ARCH) $(CROSS) $(NEWLIB_DIR)
	$(Q)touch $@
endif
