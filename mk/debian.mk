# A root with programs of Debian (tools/debroot). ARCH=arm64 or ARCH=x86_64 on the command line says which machine it is for;
# without it one is made for each.

#:
#: Programs of Debian (docs/programs.md)
#:   make debian-root [ARCH=arm64|x86_64] [PACKAGES="bash strace ..."]    fetches packages and what they depend on, without root,
#:                         and unpacks them into build/aarch64/debian and build/x86_64/debian; `make qemu-arm64 ROOT=debian` boots into it
PACKAGES ?=

# An ARCH of the environment is for building Linux.
DEBIAN_MACHINES := $(HERE)
ifeq ($(origin ARCH),command line)
DEBIAN_MACHINES := $(strip $(foreach m,$(HERE),$(if $(filter $(ARCH),$(m) $(ARCH_$(m)) $(ALIASES_$(m))),$(m))))
$(if $(DEBIAN_MACHINES),,$(error ARCH=$(ARCH): there is $(HERE)))
endif

debian-root: $(DEBIAN_MACHINES:%=debian-root-%)
debian-root-%:
	$(Q)$(PYTHON) tools/debroot --arch $* $(PACKAGES)

.PHONY: debian-root
