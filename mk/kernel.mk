# The kernel: sources to objects, objects to a first link, tables from that, and the second link that embeds them.

# ---- Sources: every file of these folders but those that mk/machines.mk lists, and not for this machine.
OFFSETS_C := arch/$(ARCH)/asm-offsets.c
FOLDERS   := $(filter-out $(LEFT_OUT),$(KERNEL_ROOMS))
FOLDERS   += $(filter-out $(KERNEL_ROOMS),$(patsubst %/,%,$(wildcard drivers/*/)))
FOLDERS   += $(filter-out %/include $(KERNEL_ROOMS),$(patsubst %/,%,$(wildcard arch/$(ARCH)/*/)))
# The tracer of branches is a part of kernels that count them.
BRANCH_SRC := $(wildcard trace/tracers/branch/*.c)
KSRC      := $(filter-out $(call foreign,$(ARCH)) $(OFFSETS_C) $(if $(BRANCH),,$(BRANCH_SRC)),$(sort $(wildcard $(FOLDERS:%=%/*.c) $(FOLDERS:%=%/*.S))))
# A kernel that leaves rooms out is another link of the same objects, but for those that hold generated tables.
VARIED    := kernel/proc/syscall_table.c trace/syscalls/syscalls.c kernel/init/config.c
OWN       := $(if $(filter $(BUILD),$(FULL)),$(KSRC),$(filter $(VARIED),$(KSRC)))
object     = $(foreach source,$(1),$(if $(filter $(source),$(OWN)),$(BUILD),$(FULL))/$(basename $(source)).o)
KOBJ      := $(call object,$(KSRC))
ifneq ($(words $(KOBJ)),$(words $(sort $(KOBJ))))
$(error two sources make the same object: x.c and x.S in one folder)
endif

# ---- Instrumentation, decided here and nowhere else. Do not trace the tracer: the hook may not be entered from
# what it runs itself (trace/, the clock, the symbol table, the small library) nor before memory is mapped (boot/).
NOTRACE_both := patch.c stacktrace.c
NOTRACE_aarch64 := $(NOTRACE_both) prologue.c
NOTRACE_x86_64  := $(NOTRACE_both) percpu.c desc.c
NOTRACE := boot/% trace/% kernel/lib/% kernel/bootconfig/parser.c kernel/ksyms.c kernel/module/ksyms.c kernel/time/clock.c samples/preemptirq_check.c samples/fgraph_stats.c \
	$(NOTRACE_$(ARCH):%=arch/$(ARCH)/%)
# What stands among such files and is traced all the same: people look for seq_read, and it runs in tasks only.
TRACED := kernel/lib/seq_file.c
NOTRACE_OBJ := $(call object,$(filter-out $(TRACED),$(filter $(NOTRACE),$(KSRC))))

include mk/kernel_flags.mk
instrument = $(if $(NOPG)$(filter-out $(TRACED),$(filter $(NOTRACE),$(1))),,$(PG_$(ARCH)))
# A leaf function of the tracer needs no frame: a walk that starts in one leaves out its caller, the tracer's own entry.
# rbp stays that one's all the same: as a register for data it would lead an interrupt's walk anywhere.
LEAF_x86_64 := -momit-leaf-frame-pointer -ffixed-rbp
lean = $(if $(filter trace/%,$(1)),$(LEAF_$(ARCH)))
kcc = $(CC) $(KCFLAGS) $(call BRANCH_DEFINES,$(1)) $(call GCOV_FLAGS,$(1)) $(call lean,$(1)) $(call instrument,$(1))

$(eval $(call stamp,$(BUILD)/kernel.flags,$(CC) $(CC_MAJOR) $(filter-out $(HERE_IS),$(KCFLAGS) | $(KAFLAGS)) | $(PG_$(ARCH)) | $(NOTRACE) | $(GCOV)))
$(eval $(call stamp,$(BUILD)/kernel.objects,$(KLDFLAGS) | $(KOBJ)))

# ---- Objects. Order-only: the generated headers must be there before the first object wants them.
OFFSETS_H := $(BUILD)/include/generated/asm-offsets.h
SYSCALLS_H := $(BUILD)/include/generated/syscall_table.h
$(shell mkdir -p $(sort $(dir $(KOBJ) $(OFFSETS_H))) $(BUILD)/tables)

$(filter $(patsubst %.c,$(BUILD)/%.o,$(filter %.c,$(KSRC))),$(KOBJ)): $(BUILD)/%.o: %.c $(BUILD)/kernel.flags mk/kernel.mk $(wildcard arch/$(ARCH)/mcount_site.s) | $(OFFSETS_H) $(SYSCALLS_H)
	$(call say,CC,$@)
	$(Q)$(call kcc,$<) -MMD -MP -c -o $@ $<

# What the preprocessor makes of a source: make ARCH=aarch64 build/aarch64/kernel/sched/trace.i
$(patsubst %.c,$(BUILD)/%.i,$(filter %.c,$(OWN))): $(BUILD)/%.i: %.c $(BUILD)/kernel.flags | $(OFFSETS_H) $(SYSCALLS_H)
	$(call say,CPP,$@)
	$(Q)$(call kcc,$<) -E -P -o $@ $<

$(patsubst %.S,$(BUILD)/%.o,$(filter %.S,$(KSRC))): $(BUILD)/%.o: %.S $(BUILD)/kernel.flags mk/kernel.mk | $(OFFSETS_H)
	$(call say,AS,$@)
	$(Q)$(CC) $(KAFLAGS) -MMD -MP -c -o $@ $<

# Offsets that assembly uses come from C: the inline assembly of asm-offsets.c prints lines `->NAME value`.
$(BUILD)/asm-offsets.s: $(OFFSETS_C) $(BUILD)/kernel.flags
	$(Q)$(CC) $(KCFLAGS) -g0 -MMD -MP -S -o $@ $<

$(OFFSETS_H): $(BUILD)/asm-offsets.s
	$(call say,GEN,$@)
	$(Q)sed -n 's/^.*->\([A-Za-z_][A-Za-z0-9_]*\) [$$#]*\(-\{0,1\}[0-9][0-9]*\).*$$/#define \1 \2/p' $< > $@
	$(Q)grep -q '#define' $@ || { echo '$<: no line ->NAME value found' >&2; exit 1; }

# The machine's system calls, from their definitions and the table of numbers. Any source may come to define one, so all are
# looked at when one has changed; the header is written only when it becomes another.
$(BUILD)/syscalls.checked: include/uapi/syscall.tbl tools/syscall_table.py $(filter %.c,$(KSRC)) $(BUILD)/kernel.objects
	$(Q)$(PYTHON) tools/syscall_table.py --arch $(ARCH) $(if $(LEFT_OUT),--left-out) -o $(SYSCALLS_H) $< $(filter %.c,$^)
	@touch $@
$(SYSCALLS_H): $(BUILD)/syscalls.checked ;

# /proc/config.gz. A kernel without call sites or tracepoints says so.
CONFIG_H := $(BUILD)/include/generated/config_gz.h
CONFIG_TEXT := $(BUILD)/config
RELEASE := $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' $(wildcard include/kernel/utsname.h) /dev/null)
CONFIG_NOT := $(if $(NOPG),FUNCTION_TRACER DYNAMIC_FTRACE FUNCTION_GRAPH_TRACER FUNCTION_PROFILER STACK_TRACER) \
	$(if $(NOEVENTS),EVENT_TRACING FTRACE_SYSCALLS)
CONFIG_ALSO := $(if $(BRANCH),BRANCH_TRACER TRACE_BRANCH_PROFILING) \
	$(if $(filter 1,$(BRANCH)),PROFILE_ANNOTATED_BRANCHES) $(if $(filter all,$(BRANCH)),PROFILE_ALL_BRANCHES)
$(CONFIG_H): $(CONFIG_TEXT) ;
$(CONFIG_TEXT): kernel/init/config.list tools/kconfig.py include/kernel/utsname.h
	$(call say,GEN,$(CONFIG_H))
	$(Q)$(PYTHON) tools/kconfig.py --arch $(ARCH) $(CONFIG_NOT:%=--without %) $(LEFT_OUT:%=--left-out %) $(CONFIG_ALSO:%=--also %) --release $(RELEASE) \
		--text $(CONFIG_TEXT) --header $(CONFIG_H) kernel/init/config.list
$(BUILD)/kernel/init/config.o: | $(CONFIG_H)

# What a module must have been built for: the kernel's release, its machine, and a sum over all headers, since a structure
# that has changed is no longer where a module looks for it. The list of headers is a prerequisite because a header that has
# vanished cannot be newer than the sum.
$(eval $(call stamp,$(BUILD)/kernel.headers,$(KHEADERS)))
$(VERMAGIC_H): $(KHEADERS) $(BUILD)/kernel.headers $(BUILD)/kernel.flags
	$(call say,GEN,$@)
	$(Q)echo '#define VERMAGIC_STRING "$(RELEASE) SMP preempt mod_unload $(ARCH) $(abi_now)"' > $@
$(BUILD)/kernel/module/main.o: | $(VERMAGIC_H)

# ---- Two links. The tables lie behind text and before data, so that the second link moves no instruction;
# both tools check it by reading their table back out of the finished kernel.
LDS := $(BUILD)/linker.lds
$(LDS): linker.ld $(BUILD)/kernel.flags
	$(Q)$(CC) -E -P -x assembler-with-cpp $(KAFLAGS) -MMD -MP -MT $@ -MF $@.d -o $@ $<

$(BUILD)/vmlinux.1: $(KOBJ) $(LDS) $(BUILD)/kernel.objects
	$(call say,LD,$@)
	$(Q)$(LD) $(KLDFLAGS) --strip-debug --emit-relocs -T $(LDS) -o $@ $(KOBJ)

$(BUILD)/tables/mcount.S: $(BUILD)/vmlinux.1 tools/mcount.py tools/elfimage.py
	$(call say,MCOUNT,$@)
	$(Q)$(PYTHON) tools/mcount.py -o $@ --never '$(NOTRACE_OBJ)' --objects '$(KOBJ)' $<

$(BUILD)/tables/ksyms.S: $(BUILD)/vmlinux.1 tools/ksyms.py tools/elfimage.py
	$(call say,KSYMS,$@)
	$(Q)$(PYTHON) tools/ksyms.py -o $@ $<

$(BUILD)/tables/%.o: $(BUILD)/tables/%.S
	$(Q)$(CC) $(KAFLAGS) -c -o $@ $<

TABLES := $(BUILD)/tables/mcount.o $(BUILD)/tables/ksyms.o
$(BUILD)/vmlinux: $(BUILD)/vmlinux.1 $(TABLES)
	$(call say,LD,$@)
	$(Q)$(LD) $(KLDFLAGS) -T $(LDS) -o $@ $(KOBJ) $(TABLES)
	$(Q)$(PYTHON) tools/mcount.py --verify $@ $(BUILD)/vmlinux.1
	$(Q)$(PYTHON) tools/ksyms.py --verify $@ $(BUILD)/vmlinux.1

# aarch64 boots a flat image (an ELF file gets no device tree from QEMU); x86_64 boots the ELF file by its PVH note.
$(BUILD)/Image: $(BUILD)/vmlinux
	$(call say,IMAGE,$@)
	$(Q)$(OBJCOPY) -O binary $< $@

# What the kernel exports, for `make M=FOLDER modules`.
$(BUILD)/Module.symvers: $(BUILD)/vmlinux tools/modpost.py tools/elfimage.py
	$(call say,EXPORTS,$@)
	$(Q)$(PYTHON) tools/modpost.py --export $< -o $@
	$(Q)touch $@

KERNEL_aarch64 := $(BUILD)/Image
KERNEL_x86_64  := $(BUILD)/vmlinux
kernel: $(KERNEL_$(ARCH)) $(BUILD)/Module.symvers

# The same kernel behind GRUB, with its command line.
ifeq ($(ARCH),x86_64)
iso: $(BUILD)/vitrine.iso
$(eval $(call stamp,$(BUILD)/iso.append,$(APPEND) | $(BOOTCONFIG)))
$(BUILD)/vitrine.iso: $(BUILD)/vmlinux $(BUILD)/initramfs.cpio $(BUILD)/iso.append $(BOOTCONFIG) tools/mkiso
	$(call say,ISO,$@)
	$(Q)STRIP=$(CROSS)strip tools/mkiso $@ $(BUILD)/vmlinux $(BUILD)/initramfs.cpio '$(APPEND)' $(if $(BOOTCONFIG),'$(BOOTCONFIG)')
.PHONY: iso
endif

# ---- For editors and clang-tidy: one line `source<tab>command` each; tools/compdb.py makes them JSON.
$(BUILD)/commands.txt: $(BUILD)/kernel.flags $(BUILD)/kernel.objects mk/kernel.mk | $(OFFSETS_H) $(SYSCALLS_H) $(CONFIG_H)
	$(call say,GEN,$@)
	$(file >$@)$(foreach s,$(sort $(filter %.c,$(KSRC)) $(BRANCH_SRC)),$(file \
		>>$@,$(s)	$(call kcc,$(s)) $(if $(filter $(BRANCH_SRC),$(s)),-DBRANCH_PROFILE) -c $(s)))@:

.PHONY: kernel
-include $(KOBJ:.o=.d) $(BUILD)/asm-offsets.d $(LDS).d
