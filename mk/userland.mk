# Userland: libvt, the programs (one file each in a folder of userland/bin, found by wildcard), the shell, and the initramfs.
#
# Wants ARCH, CROSS, CC, BUILD, Q and say from the top Makefile. Gives the target `userland` and INITRAMFS.

include mk/newlib.mk

UOBJ := $(BUILD)/userland
UROOT := $(BUILD)/root
INITRAMFS := $(BUILD)/initramfs.cpio

UARCH_FLAGS_aarch64 := -mno-outline-atomics -mgeneral-regs-only
UARCH_FLAGS_x86_64 := -mno-red-zone

# Frame pointers, in the functions too that call nothing: the kernel's option userstacktrace goes by them.
UFRAMES := -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer

# Small first: every byte is copied at boot, and newlib knows nothing of Linux (the compiler may believe otherwise).
UFLAGS := -std=gnu11 -Os -g -ffunction-sections -fdata-sections -fno-pic $(PLAIN_CODE) \
	-fno-asynchronous-unwind-tables -fno-common -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror \
	$(UFRAMES) -U__linux__ -U__gnu_linux__ -Ulinux -U__unix__ -Uunix -D_GNU_SOURCE $(UARCH_FLAGS_$(ARCH))
# Last, so that nothing there stands in for a header of ours or of newlib's: the numbers of the ABI, <uapi/...> and what they
# include. -MD, not -MMD: gcc takes headers found by -idirafter for the system's, and a change of theirs must compile again.
UINCLUDE := -I userland/include -idirafter include -idirafter arch/$(ARCH)/include -idirafter $(BUILD)/include
UCPPFLAGS := -I userland/arch/$(ARCH) $(NEWLIB_CPPFLAGS) -MD -MP

# _realloc_r: see userland/lib/posix/realloc.c. Segments lie a page apart but are not padded in the file: -z noseparate-code leaves the layout to program.ld.
ULDFLAGS := -static -nostdlib -no-pie -Wl,--gc-sections -Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code -Wl,-z,noexecstack \
	-Wl,--build-id=none -Wl,--no-warn-rwx-segments -Wl,--wrap=_realloc_r -Wl,-T,userland/program.ld

objects_of = $(patsubst userland/%.c,$(UOBJ)/%.o,$(wildcard userland/$(1)/*.c userland/$(1)/*/*.c))
ULIB_OBJS := $(call objects_of,lib)
USH_OBJS := $(call objects_of,sh)
UBIN_OBJS := $(call objects_of,bin)
UBINS := $(addprefix $(UROOT)/bin/,$(notdir $(UBIN_OBJS:.o=)))
UPROGRAMS := $(UBINS) $(UROOT)/bin/sh
UETC := $(patsubst userland/etc/%,$(UROOT)/etc/%,$(wildcard userland/etc/*))
UBOOT := $(UROOT)/boot/config-$(RELEASE)
ULIBVT := $(UOBJ)/libvt.a
UCRT0 := $(UOBJ)/crt0.o

.PHONY: userland
userland: $(INITRAMFS)

# Another compiler or another C library: all is compiled again.
$(eval $(call stamp,$(UOBJ)/flags,$(CC) $(CC_MAJOR) $(UFLAGS) $(NEWLIB_CPPFLAGS) $(NEWLIB_LIBS)))

$(UOBJ)/lib/posix/newlib_glue.o: UINCLUDE := -idirafter userland/include -idirafter include -idirafter arch/$(ARCH)/include -idirafter $(BUILD)/include

$(UOBJ)/%.o: userland/%.c mk/userland.mk $(UOBJ)/flags | $(NEWLIB_READY) $(SYSCALLS_H)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(UFLAGS) $(UINCLUDE) $(UCPPFLAGS) -c -o $@ $<

$(UCRT0): userland/arch/$(ARCH)/crt0.S $(UOBJ)/flags
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -MMD -MP -c -o $@ $<

# Made from nothing each time, so that no member of a source that is gone stays behind.
$(ULIBVT): $(ULIB_OBJS)
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(CROSS)ar rcs $@ $^

# The program with its debugging information stays beside the objects, for gdb; the stripped copy goes into the image.
define user_link
	$(call say,LINK,$@)
	@mkdir -p $(@D) $(UOBJ)/debug
	$(Q)$(CC) $(ULDFLAGS) -o $(UOBJ)/debug/$(@F) $(UCRT0) $(1) -Wl,--start-group $(ULIBVT) $(NEWLIB_LIBS) -lgcc -Wl,--end-group
	$(Q)$(CROSS)strip -o $@ $(UOBJ)/debug/$(@F)
endef

$(foreach object,$(UBIN_OBJS),$(eval $(UROOT)/bin/$(basename $(notdir $(object))): $(object)))
$(UBINS): $(UCRT0) $(ULIBVT) userland/program.ld
	$(call user_link,$(filter $(UOBJ)/bin/%,$^))

$(UROOT)/bin/sh: $(USH_OBJS) $(UCRT0) $(ULIBVT) userland/program.ld
	$(call user_link,$(USH_OBJS))

$(UROOT)/etc/%: userland/etc/%
	$(call say,COPY,$@)
	@mkdir -p $(@D)
	$(Q)install -m $(if $(filter rc,$*),755,644) $< $@

# What the kernel was built with, where tutorials look for it.
$(UBOOT): $(CONFIG_TEXT)
	$(call say,COPY,$@)
	@mkdir -p $(@D)
	$(Q)install -m 644 $< $@

# A list of what belongs into the image: the image is made again when a program or file is added or taken away.
ULIST := $(UOBJ)/list
ULIST_NOW := $(sort $(UPROGRAMS) $(UETC) $(UBOOT))
ifneq ($(file < $(ULIST)),$(ULIST_NOW))
.PHONY: $(ULIST)
endif
$(ULIST): | $(UPROGRAMS) $(UETC) $(UBOOT)
	@mkdir -p $(@D)
	$(Q)printf '%s\n' '$(ULIST_NOW)' > $@

$(INITRAMFS): $(UPROGRAMS) $(UETC) $(UBOOT) $(ULIST) userland/mkroot.sh tools/newc.py
	$(call say,CPIO,$@)
	$(Q)sh userland/mkroot.sh $(UROOT) $(UPROGRAMS:$(UROOT)/%=%) $(UETC:$(UROOT)/%=%) $(UBOOT:$(UROOT)/%=%)
	$(Q)$(PYTHON) tools/newc.py $(UROOT) > $@

-include $(ULIB_OBJS:.o=.d) $(USH_OBJS:.o=.d) $(UBIN_OBJS:.o=.d) $(UCRT0:.o=.d)

# Objects are intermediate files of a chain of rules; make would delete them.
.SECONDARY: $(UBIN_OBJS)
