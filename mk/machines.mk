# The machines: their names in goals, and which files of the machine layer each uses. A third one is a line in each list.

MACHINES    := arm64 x86_64
ARCH_arm64  := aarch64
ARCH_x86_64 := x86_64
# What else people call them, where they may choose (make M=... ARCH=); in goals, a line says the right name (mk/qemu.mk).
ALIASES_x86_64 := amd64 x86

# Those whose machine layer is in this tree.
HERE := $(foreach m,$(MACHINES),$(if $(wildcard arch/$(ARCH_$(m))/asm-offsets.c),$(m)))

# What each machine uses of the files that are not every machine's; two may name the same. A file that no list names is every
# machine's.
USES_aarch64 := arch/aarch64/% boot/arm64% boot/fdt% drivers/irqchip/gic% drivers/timer/arm_generic% drivers/timer/sampler/arm_generic% drivers/uart/pl011% \
	drivers/uart/semihosting% drivers/rtc/pl031% drivers/virtio/virtio_mmio%
USES_x86_64  := arch/x86_64/% boot/x86% boot/pvh% boot/multiboot2% boot/acpi% boot/smbios% \
	$(foreach n,apic ioapic lapic pic,drivers/irqchip/$(n)%) \
	$(foreach n,acpi_pm calibrate hpet lapic_timer pit tsc,drivers/timer/$(n)%) drivers/timer/sampler/hpet% \
	drivers/uart/ns16550% drivers/rtc/mc146818% drivers/pci/% drivers/virtio/virtio_pci%

# What some machine names; of that, what machine $(1) leaves out.
listed  = $(sort $(foreach m,$(MACHINES),$(USES_$(ARCH_$(m)))))
foreign = $(filter-out $(USES_$(1)),$(listed))
