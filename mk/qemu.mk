# Running what was built: on this terminal, with a script, under gdb. tools/vrun starts QEMU; it knows the machines.

#:
#: Run
#:   make qemu-arm64               set up, build, boot; the console is this terminal (Ctrl-A x ends QEMU, Ctrl-A c: its monitor)
#:   make run-arm64 SCRIPT=file    boot, run a shell script inside, end with its status (tools/vrun --help for more)
#:   make gdb-arm64                boot stopped, under gdb-multiarch with symbols; make console-arm64 is its console
#:     with SMP=1 MEM=256M CPU=cortex-a57|cortex-a72|max GIC=2|3 APPEND="kernel arguments" GDB_PORT=n
SMP    ?= 1
MEM    ?= 256M
CPU    ?=
GIC    ?= 2
APPEND ?=
SCRIPT ?=
# A port for each user of a shared machine.
GDB_PORT ?= $(shell echo $$((20000 + $$(id -u) % 10000)))

vrun = $(PYTHON) tools/vrun --arch $(1) --smp $(SMP) --mem $(MEM) --gic $(GIC) $(if $(CPU),--cpu $(CPU)) --append '$(APPEND)'

qemu-arm64: deps-run arm64
	$(Q)$(call vrun,aarch64) --interactive

run-arm64: deps-run arm64
	$(Q)test -n '$(SCRIPT)' || { echo 'make run-arm64: SCRIPT=file names the shell script to run inside' >&2; exit 2; }
	$(Q)$(call vrun,aarch64) '$(SCRIPT)'

gdb-arm64: deps-run arm64
	$(Q)$(call vrun,aarch64) --gdb $(GDB_PORT)

console-arm64:
	$(Q)$(call vrun,aarch64) --console

.PHONY: qemu-arm64 run-arm64 gdb-arm64 console-arm64
