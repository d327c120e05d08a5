# Programs of the guest tests: tests/guest/progs/NAME.c becomes $(BUILD)/guest-tests/NAME. Built as userland is, with what
# tests/guest/progs/lib has for all of them, and kept out of the initramfs: a test names in its head what it wants.

GT := $(BUILD)/guest-tests
GT_SRC := tests/guest/progs
GT_OBJ := $(patsubst $(GT_SRC)/%.c,$(GT)/obj/%.o,$(wildcard $(GT_SRC)/*.c))
GT_LIB := $(patsubst $(GT_SRC)/%.c,$(GT)/obj/%.o,$(wildcard $(GT_SRC)/lib/*.c))
GT_PROGRAMS := $(GT_OBJ:$(GT)/obj/%.o=$(GT)/%)

.PHONY: guest-progs
guest-progs: $(GT_PROGRAMS)

$(GT_OBJ) $(GT_LIB): $(GT)/obj/%.o: $(GT_SRC)/%.c mk/userland.mk mk/guest_progs.mk | $(NEWLIB_READY)
	$(call say,CC,$@)
	@mkdir -p $(@D)
	$(Q)$(CC) $(UFLAGS) $(UINCLUDE) -I$(GT_SRC)/lib $(UCPPFLAGS) -c -o $@ $<

$(GT_PROGRAMS): $(GT)/%: $(GT)/obj/%.o $(GT_LIB) $(UCRT0) $(ULIBVT) userland/program.ld
	$(call say,LINK,$@)
	$(Q)$(CC) $(ULDFLAGS) -o $@ $(UCRT0) $< $(GT_LIB) -Wl,--start-group $(ULIBVT) $(NEWLIB_LIBS) -lgcc -Wl,--end-group
	$(Q)$(CROSS)strip $@

-include $(GT_OBJ:.o=.d) $(GT_LIB:.o=.d)
