# make -C THIS_TREE M=FOLDER [ARCH=arm64|x86_64] [modules|clean]: modules that are built outside of this tree,
# by the Makefile that every tutorial prints. The work is done by an inner make (mk/modules.mk), so that the targets of the
# user's Makefile, which it reads, do not get in the way of ours.

.DEFAULT_GOAL := modules
MODULE_GOALS := modules modules_install clean module-kernel $(MACHINES:%=%-modules)
# Make has no names with a blank or a colon in them. Without quotes make sees the part before the blank, and the rest as goals.
ifneq ($(or $(filter-out 1,$(words $(M))),$(findstring :,$(M)),$(if $(wildcard $(M)/Makefile $(M)/Kbuild),,$(filter-out \
	$(MODULE_GOALS),$(MAKECMDGOALS)))),)
$(error M=$(strip $(M) $(filter-out $(MODULE_GOALS),$(MAKECMDGOALS))): the path of a module's folder cannot contain blanks or colons)
endif
ifeq ($(wildcard $(M)/Makefile $(M)/Kbuild),)
$(error M=$(M): there is no Makefile in this folder. It needs one with a line `obj-m += NAME.o`)
endif
ifeq ($(wildcard kernel/module/module.lds),)
$(error M=$(M): there is no kernel/module in $(CURDIR), and the kernel of this tree loads no modules)
endif

# The names that people use for a machine; without one, that of the host.
ARCH_GIVEN := $(if $(ARCH),$(ARCH),$(shell uname -m))
MODULE_MACHINE := $(strip $(foreach m,$(MACHINES),$(if $(filter $(ARCH_GIVEN),$(m) $(ARCH_$(m)) $(ALIASES_$(m))),$(m))))
ifeq ($(MODULE_MACHINE),)
$(error ARCH=$(ARCH_GIVEN): this kernel is for $(MACHINES))
endif
MODULE_ARCH := $(ARCH_$(MODULE_MACHINE))

inner_modules = +$(Q)$(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(cpus)) -f mk/modules.mk ARCH=$(MODULE_ARCH) \
	M=$(abspath $(M)) $(1)

# The kernel comes first: what it exports is in build/<arch>/Module.symvers.
modules: $(if $(wildcard build/$(MODULE_ARCH)/Module.symvers),,module-kernel)
	$(call inner_modules,__modules)

# In our own way: make M=FOLDER arm64-modules.
$(MACHINES:%=%-modules): %-modules:
	+$(Q)$(MAKE) M=$(M) ARCH=$* modules

clean:
	$(call inner_modules,__clean)

# There is no folder of modules to install in: a guest takes them from the host's.
modules_install:
	$(Q)echo 'make: modules_install is not needed: share the folder (make qemu-$(MODULE_MACHINE) SHARE=$(abspath $(M))), and in the guest' \
		'modprobe NAME finds it in /host (docs/modules.md)' >&2; exit 1

module-kernel:
	+$(Q)env -u M -u ARCH MAKEFLAGS= MFLAGS= $(MAKE) $(MODULE_MACHINE)

.PHONY: modules modules_install clean module-kernel $(MACHINES:%=%-modules)
