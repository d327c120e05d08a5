# The C library of userland: the toolchain's own newlib where it is one that our programs can use, else one built from
# newlib-source.
#
# Can use: it formats as C99 wants (%zu), and calls the system by names with an underscore, behind which our functions are. A newlib
# for x86_64-elf calls open() and fstat(), which are ours and take the kernel's flags and structures, unless it is built by
# userland/newlib.sh, as that of `make toolchain` is.
#
# Sets NEWLIB_CPPFLAGS, NEWLIB_LIBS (link flags) and NEWLIB_READY (what to depend on; empty when nothing is to be built).

# A bare-metal toolchain (aarch64-none-elf, x86_64-elf) that comes with newlib finds <newlib.h> by itself.
NEWLIB_OWN := $(shell $(CC) -E -dM -x c -include newlib.h /dev/null 2>/dev/null | grep -q _WANT_IO_C99_FORMATS && \
	$(CROSS)nm -A $$($(CC) -print-file-name=libc.a) 2>/dev/null | grep -q 'U _open$$' && echo yes)

ifeq ($(NEWLIB_OWN),yes)
NEWLIB_READY :=
NEWLIB_CPPFLAGS :=
NEWLIB_LIBS := -lc
else
NEWLIB_DIR := build/newlib/$(ARCH)
NEWLIB_READY := $(NEWLIB_DIR)/.ready
NEWLIB_CPPFLAGS := -nostdinc -isystem $(NEWLIB_DIR)/$(ARCH)-elf/include -isystem $(GCC_INCLUDE)
NEWLIB_LIBS := -L$(NEWLIB_DIR)/$(ARCH)-elf/lib -lc

# Where no package has its source, `make deps` says how to get it into build/.
$(NEWLIB_READY): userland/newlib.sh
	$(call say,NEWLIB,$(NEWLIB_DIR))
	$(Q)SOURCES="$${SOURCES:-build}" sh userland/once.sh $@ $< sh userland/newlib.sh $(ARCH) $(CROSS) $(NEWLIB_DIR)
endif
