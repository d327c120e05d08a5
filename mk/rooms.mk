# Which rooms of the file `rooms` a kernel has.
#
# mk/variant.mk has the choice. A room whose folder is not there is left out of every kernel.
FOREIGN_ROOMS := $(filter-out arch/$(ARCH),$(wildcard arch/*))
KERNEL_ROOMS := $(filter-out $(FOREIGN_ROOMS) $(FOREIGN_ROOMS:%=%/%),$(shell awk '/^[^#]/ && $$2 != "-" {print $$1}' rooms))
LEFT_OUT :=
ifneq ($(CHOICE)$(filter-out $(wildcard $(KERNEL_ROOMS)),$(KERNEL_ROOMS)),)
LEFT_OUT := $(shell $(PYTHON) tools/rooms.py --left-out $(if $(CORE),--core) --with '$(WITH)' --without '$(WITHOUT)')
$(if $(filter 0,$(.SHELLSTATUS)),,$(error no such choice of rooms))
endif
# The tracer of branches: all code calls it in a kernel that counts them, and it is no part of any other.
ifneq ($(BRANCH),)
$(if $(wildcard trace/tracers/branch/*.c),,$(error BRANCH=$(BRANCH) needs trace/tracers/branch, which is not there))
override LEFT_OUT := $(filter-out trace/tracers/branch trace/trace_stat,$(LEFT_OUT))
endif

# What this kernel is linked of, for tools/rooms.py.
sources:
	@echo $(KSRC)
.PHONY: sources
