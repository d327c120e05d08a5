# Running what was built: on this terminal, with a script, under gdb. tools/vrun starts QEMU; it knows the machines.

#:
#: Run (arm64 or x86_64)
#:   make qemu-arm64               set up, build, boot; the console is this terminal (Ctrl-A x ends QEMU, Ctrl-A c: its monitor)
#:   make run-arm64 SCRIPT=file    boot, run a shell script inside, fail if it does (tools/vrun ends with its status)
#:   make gdb-arm64                boot stopped, under gdb with symbols and our commands (`help vitrine`); make console-arm64 is its
#:                                 console; GDB=gdb chooses the program, LAYOUT=none (or a name of gdb's) its windows
#:   make attach-arm64             boot stopped; the console is this terminal, and a debugger of yours attaches at GDB_PORT (docs/editors.md)
#:   make replay-arm64 SCRIPT=file    record a script's run, then replay it under gdb, which goes backwards too (docs/time-travel.md);
#:                                 without SCRIPT: what was recorded last
#:     with SMP=1 MEM=512M CPU=(QEMU's -cpu, cortex-a57 and qemu64 by default) BOARD=(QEMU's -M, virt and q35)
#:          IRQCHIP=gicv2|gicv3 or apic|x2apic (GIC=2|3 for short) APPEND="kernel arguments" GDB_PORT=n
#:          BOOTCONFIG=file: keys for the boot, such as ftrace.events = "sched:*" (docs/bootconfig.md)
#:          FILES="here:/there ..." puts files and folders into the guest; out of a session: `tohost FILE` in it, to the folder OUT=build/ARCH/out
#:          SHARE=folder: it is /host in the guest, to read and write, as it is here at that moment (docs/host-folder.md)
#:          BRANCH=1 or all: the kernel whose hints, or all of whose branches, count themselves (docs/tracer-branch.md)
#:          CORE=1, WITH="NAMES", WITHOUT="NAMES", NOPG=1, NOEVENTS=1: the kernel that a build with these words makes
#:          ROOT=debian: the shell or the script runs in the folder of make debian-root (or ROOT=folder; docs/programs.md)
#:          ACCEL=tcg|kvm|hvf: what runs the guest, tcg by default; the others only a guest of the host's own kind (docs/hosts.md)
#:          ICOUNT=1: a guest instruction is a nanosecond, so that measured times are the guest's alone, not the host's
#:   make qemu-x86_64 BOOT=cdrom|disk|usb|uefi-cdrom|uefi-disk|uefi-usb    through GRUB, from the image of make iso
SMP     ?= 1
MEM     ?= 512M
CPU     ?=
BOARD   ?=
IRQCHIP ?=
ICOUNT  ?=
GIC     ?=
BOOT    ?= kernel
APPEND  ?=
SCRIPT  ?=
BOOTCONFIG ?=
FILES   ?=
OUT     ?=
SHARE   ?=
# From the command line only, since the environment may well have a ROOT or an ACCEL that means another thing.
ifneq ($(origin ROOT),command line)
override ROOT :=
endif
ifneq ($(origin ACCEL),command line)
override ACCEL :=
endif
LAYOUT  ?=
export GDB
# A port for each user of a shared machine.
GDB_PORT ?= $(shell echo $$((20000 + $$(id -u) % 10000)))

vrun = $(PYTHON) tools/vrun --arch $(ARCH_$(1)) --smp $(SMP) --mem $(MEM) $(if $(CPU),--cpu $(CPU)) $(if $(BOARD),--board $(BOARD)) \
	$(if $(IRQCHIP),--irqchip $(IRQCHIP)) $(FILES:%=--file '%') $(if $(GIC),--gic $(GIC)) $(if $(filter-out 0,$(ICOUNT)),--icount) \
	$(if $(ACCEL),--accel '$(ACCEL)') \
	$(if $(filter kernel,$(BOOT)),--append '$(APPEND)' $(if $(BOOTCONFIG),--bootconfig '$(BOOTCONFIG)'),--boot $(BOOT)) $(if $(SHARE),--share '$(SHARE)') \
	$(if $(VARIANT),--build build/$(ARCH_$(1))$(VARIANT)) \
	$(if $(ROOT),--root '$(if $(filter debian,$(ROOT)),build/$(ARCH_$(1))/debian,$(ROOT))')

$(MACHINES:%=qemu-%): qemu-%: deps-run %
	$(Q)$(call vrun,$*) --interactive $(if $(OUT),--out '$(OUT)')

$(MACHINES:%=run-%): run-%: deps-run %
	$(Q)test -n '$(SCRIPT)' || { echo 'make $@: SCRIPT=file names the shell script to run inside' >&2; exit 2; }
	$(Q)$(call vrun,$*) --session '$(SCRIPT)'

$(MACHINES:%=gdb-%): gdb-%: deps-run %
	$(Q)$(call vrun,$*) --gdb $(GDB_PORT) $(if $(LAYOUT),--layout $(LAYOUT))

$(MACHINES:%=attach-%): attach-%: deps-run %
	@echo 'a debugger attaches at 127.0.0.1:$(GDB_PORT)'
	$(Q)$(call vrun,$*) --interactive --qemu-arg=-S --qemu-arg=-gdb --qemu-arg=tcp:127.0.0.1:$(GDB_PORT)

$(MACHINES:%=replay-%): replay-%: deps-run %
	$(Q)$(call vrun,$*) --replay $(GDB_PORT) $(if $(LAYOUT),--layout $(LAYOUT)) $(if $(SCRIPT),'$(SCRIPT)')

$(MACHINES:%=console-%): override FILES :=
$(MACHINES:%=console-%): override BOOTCONFIG :=
$(MACHINES:%=console-%): override SHARE :=
$(MACHINES:%=console-%): override ROOT :=
$(MACHINES:%=console-%): console-%:
	$(Q)$(call vrun,$*) --console

# What GRUB boots is the image, with its own command line.
ifneq ($(BOOT),kernel)
qemu-x86_64 gdb-x86_64: iso
endif

# A machine by another name; $(1): the name, $(2): the machine.
define other_name
$(1) $(foreach goal,qemu run gdb attach replay console,$(goal)-$(1)):
	$$(error $$@: goals call this machine $(2): make $$(@:%$(1)=%$(2)))
endef
$(foreach m,$(MACHINES),$(foreach a,$(filter-out $(m),$(ARCH_$(m)) $(ALIASES_$(m)) $(subst _,-,$(m))),$(eval $(call other_name,$(a),$(m)))))

.PHONY: $(foreach goal,qemu run gdb attach replay console,$(MACHINES:%=$(goal)-%))

# tools/vtrace: reads traces with the host's libtraceevent.
VTRACE_SRC := $(wildcard tools/vtrace-src/*.c)
build/host/vtrace: $(VTRACE_SRC) tools/vtrace-src/vtrace.h include/uapi/trace_dat.h mk/qemu.mk
	$(Q)test -e /usr/include/traceevent/event-parse.h || tools/deps.sh test
	@mkdir -p $(@D)
	$(Q)gcc -std=gnu11 -g -O2 -Wall -Wextra -Werror $(VTRACE_CFLAGS) -o $@ $(VTRACE_SRC) -ltraceevent

# tools/bootconfig: the kernel's own parser, and what works on files.
build/host/bootconfig: tools/bootconfig-src/bootconfig.c kernel/bootconfig/parser.c include/lib/bootconfig.h mk/qemu.mk
	@mkdir -p $(@D)/bootconfig.d
	$(Q)gcc -std=gnu11 -g -O2 -Wall -Wextra -Wno-sign-compare -Werror -ffreestanding -idirafter include -c \
		-o $(@D)/bootconfig.d/parser.o kernel/bootconfig/parser.c
	$(Q)gcc -std=gnu11 -g -O2 -Wall -Wextra -Werror -idirafter include -o $@ $< $(@D)/bootconfig.d/parser.o
