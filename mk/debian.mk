# Goals for which ARCH=arm64 or ARCH=x86_64 on the command line says which machine, and without it all are meant: a root with
# programs of Debian (tools/debroot), and Linux's own tests of ftrace (tests/ftracetest.py).

#:
#: Programs of Debian (docs/programs.md), Linux's own tests of ftrace (docs/ftracetest.md)
#:   make debian-root [ARCH=arm64|x86_64] [PACKAGES="bash strace ..."]    fetches packages and what they depend on, without root,
#:                         and unpacks them into build/aarch64/debian and build/x86_64/debian; `make qemu-arm64 ROOT=debian` boots into it
#:   make ftracetest [ARCH=arm64|x86_64] [TESTS="00basic ..."]    runs tests of Linux, as they are, with busybox and in that root; says what
#:                         passes. Of all tests on all machines the table goes into docs/ftracetest.md
PACKAGES ?=
TESTS    ?=

# An ARCH of the environment is for building Linux.
DEBIAN_MACHINES := $(HERE)
ifeq ($(origin ARCH),command line)
DEBIAN_MACHINES := $(strip $(foreach m,$(HERE),$(if $(filter $(ARCH),$(m) $(ARCH_$(m)) $(ALIASES_$(m))),$(m))))
$(if $(DEBIAN_MACHINES),,$(error ARCH=$(ARCH): there is $(HERE)))
endif

debian-root: $(DEBIAN_MACHINES:%=debian-root-%)
debian-root-%:
	$(Q)$(PYTHON) tools/debroot --arch $* $(PACKAGES)

# What is built for the guests is made by a make of its own, to which ARCH means another thing. Without a network there is no
# root, and the tests run with busybox alone.
ftracetest:
	+$(Q)env -u ARCH MAKEFLAGS= MFLAGS= $(MAKE) deps-run deps-test $(DEBIAN_MACHINES:%=guest-programs-%)
	$(Q)for machine in $(DEBIAN_MACHINES); do $(PYTHON) tools/debroot --arch $$machine || [ $$? = 2 ] || exit 1; done
	$(Q)$(PYTHON) tests/ftracetest.py $(DEBIAN_MACHINES:%=--arch %) \
		$(if $(TESTS),$(TESTS),$(if $(filter $(words $(HERE)),$(words $(DEBIAN_MACHINES))),--write))

.PHONY: debian-root ftracetest
