# Programs of the guest tests: tests/guest/progs/ROOM/NAME.c becomes $(BUILD)/guest-tests/NAME. Built as userland is, with what
# tests/guest/progs/lib has for all of them, and kept out of the initramfs: a test names in its head what it wants.
# The program with its symbols stays in debug/.

GT := $(BUILD)/guest-tests
GT_SRC := tests/guest/progs
GT_LIB := $(patsubst $(GT_SRC)/%.c,$(GT)/obj/%.o,$(wildcard $(GT_SRC)/lib/*.c $(GT_SRC)/lib/*/*.c))
GT_OBJ := $(filter-out $(GT_LIB),$(patsubst $(GT_SRC)/%.c,$(GT)/obj/%.o,$(wildcard $(GT_SRC)/*/*.c)))
GT_PROGRAMS := $(patsubst %.o,$(GT)/%,$(notdir $(GT_OBJ)))
GTM := $(GT)/modules

.PHONY: guest-progs
guest-progs: $(GT_PROGRAMS) $(if $(wildcard kernel/module/module.lds),$(GTM)/said)

$(GT_OBJ) $(GT_LIB): $(GT)/obj/%.o: $(GT_SRC)/%.c mk/userland.mk mk/guest_progs.mk $(UOBJ)/flags | $(NEWLIB_READY) $(SYSCALLS_H)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(UFLAGS) $(UINCLUDE) -I$(GT_SRC)/lib $(UCPPFLAGS) -c -o $@ $<

# copytest has the kernel's own assembly in it.
GT_ASM := $(GT)/obj/asm/memory.o $(GT)/obj/asm/uaccess_asm.o
$(GT_ASM): $(GT)/obj/asm/%.o: arch/$(ARCH)/mm/%.S tests/unit/include-$(ARCH)/asm/assembler.h mk/guest_progs.mk
	$(call say,AS,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) -I tests/unit/include-$(ARCH) -I arch/$(ARCH)/include -I include -MMD -MP -c -o $@ $<
$(GT)/copytest: $(GT_ASM)

$(foreach o,$(GT_OBJ),$(eval $(GT)/$(notdir $(o:.o=)): $(o)))
$(GT_PROGRAMS): $(GT)/%: $(GT_LIB) $(UCRT0) $(ULIBVT) userland/program.ld
	$(call say,LINK,$@)
	@mkdir -p $(GT)/debug
	$(Q)$(CC) $(ULDFLAGS) -o $(GT)/debug/$* $(UCRT0) $(filter $(GT_OBJ) $(GT_ASM),$^) $(GT_LIB) -Wl,--start-group $(ULIBVT) $(NEWLIB_LIBS) -lgcc -Wl,--end-group
	$(Q)$(CROSS)strip -o $@ $(GT)/debug/$*

# The modules of samples/modules in a folder of their own, built by the Makefile that is there. They are built again when the
# kernel's headers or what it exports have changed, not with each kernel. The file `said` holds what their make printed: the
# tests want no warning in it.
$(GTM)/exports: $(BUILD)/Module.symvers
	@mkdir -p $(@D) && cmp -s $< $@ || cp $< $@
$(GTM)/said: $(wildcard samples/modules/*) $(GTM)/exports $(VERMAGIC_H) kernel/module/module.lds mk/modules.mk tools/modpost.py tools/mcount.py tools/modsum.py
	$(call say,MODULES,$(@D))
	$(Q)for file in samples/modules/*; do cmp -s $$file $(@D)/$${file##*/} || cp $$file $(@D) || exit 1; done; cd $(@D) && env MAKEFLAGS= MFLAGS= make KDIR=$(CURDIR) ARCH=$(ARCH) W=1 > made 2>&1 || \
		{ cat made; exit 1; }
	@mv $(@D)/made $@

-include $(GT_ASM:.o=.d) $(GT_OBJ:.o=.d) $(GT_LIB:.o=.d)
