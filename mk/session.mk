# The first files of a session at the prompt: those of every guest, and behind them the pages of man and Debian's busybox.
#
# They are in an archive of their own because every byte is copied at boot: a test boots without them.

BUSYBOX := $(BUILD)/busybox
SESSION := $(BUILD)/session.cpio
# man's pages lie in one folder: docs/README.md, which lists them, would be in the way of README.md.
PAGES := README.md $(filter-out docs/README.md,$(wildcard docs/*.md))

# Once, whatever came of it: without a network nobody waits at each make. `make busybox` tries again.
$(BUSYBOX)/log: | userland/busybox.sh
	$(call say,FETCH,busybox)
	$(Q)bash userland/busybox.sh $(ARCH) $(BUSYBOX)

.PHONY: busybox
busybox:
	$(Q)rm -rf $(BUSYBOX)
	$(Q)$(MAKE) --no-print-directory ARCH=$(ARCH) $(SESSION)

# $(1): busybox, or a name of nothing.
define session_archive
	$(call say,CPIO,$@)
	$(Q)sh userland/mksession.sh $(UROOT) $(1) $@.stage $(PAGES)
	$(Q)$(PYTHON) tools/newc.py $@.stage $(INITRAMFS) > $@ && rm -rf $@.stage
endef

$(SESSION): $(INITRAMFS) $(PAGES) $(BUSYBOX)/log userland/busybox.applets userland/mksession.sh tools/newc.py
	$(call session_archive,$(BUSYBOX)/busybox)

# The same without busybox, which is not for us to hand on (mk/release.mk).
$(BUILD)/pages.cpio: $(INITRAMFS) $(PAGES) userland/mksession.sh tools/newc.py
	$(call session_archive,none)
