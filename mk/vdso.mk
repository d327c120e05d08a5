# The vDSO: vdso/ becomes $(BUILD)/vdso/vdso.so, a shared object of its own, which kernel/proc/vdso_image.S takes into the
# kernel. The second file is the same with its symbols, for debuggers.

VD := $(BUILD)/vdso
VD_SRC := $(wildcard vdso/*.c vdso/$(ARCH)/*.c vdso/$(ARCH)/*.S)
VD_OBJ := $(patsubst %,$(BUILD)/%.o,$(basename $(VD_SRC)))
VD_CFLAGS := -std=gnu11 -O2 -g $(HERE_IS) -ffreestanding -nostdinc -isystem $(GCC_INCLUDE) -Ivdso/$(ARCH) $(KINC) \
	-fPIC -fvisibility=default -ffunction-sections -fasynchronous-unwind-tables $(PLAIN_CODE) -mgeneral-regs-only \
	-Wall -Wextra -Wno-unused-parameter -Werror

$(if $(VD_OBJ),$(shell mkdir -p $(sort $(dir $(VD_OBJ)))))
$(filter $(patsubst %.c,$(BUILD)/%.o,$(filter %.c,$(VD_SRC))),$(VD_OBJ)): $(BUILD)/%.o: %.c mk/vdso.mk $(BUILD)/kernel.flags
	$(call say,CC,$@)
	$(Q)$(CC) $(VD_CFLAGS) -MMD -MP -c -o $@ $<

$(filter $(patsubst %.S,$(BUILD)/%.o,$(filter %.S,$(VD_SRC))),$(VD_OBJ)): $(BUILD)/%.o: %.S mk/vdso.mk $(BUILD)/kernel.flags
	$(call say,AS,$@)
	$(Q)$(CC) -g $(HERE_IS) -nostdinc -c -o $@ $<

$(VD)/vdso.lds: vdso/vdso.lds.S vdso/$(ARCH)/versions.lds
	$(Q)$(CC) -E -P -x assembler-with-cpp -Ivdso/$(ARCH) -o $@ $<

$(VD)/vdso.so: $(VD_OBJ) $(VD)/vdso.lds
	$(call say,VDSO,$@)
	$(Q)$(LD) -shared -Bsymbolic -soname linux-vdso.so.1 --hash-style=both --eh-frame-hdr --build-id=none --gc-sections --no-undefined \
		-z noexecstack -z max-page-size=4096 -T $(VD)/vdso.lds -o $(VD)/vdso.debug $(VD_OBJ)
	$(Q)$(OBJCOPY) -S $(VD)/vdso.debug $@

$(BUILD)/kernel/proc/vdso_image.o: $(VD)/vdso.so
$(BUILD)/kernel/proc/vdso_image.o: KAFLAGS += -Wa,-I$(VD)

-include $(VD_OBJ:.o=.d)
