# One machine's modules of the folder M. The user's Makefile is read as Linux's Kbuild reads it:
#
#	obj-m += hello.o			a module of one source
#	obj-m += big.o
#	big-objs := one.o two.o			(or big-y) a module of two sources
#	ccflags-y := -DDEBUG -I$(src)/include	flags for all of the folder; CFLAGS_one.o := for one file
#
# A module is made in these steps: its objects, ld -r into NAME.o; tools/modpost.py proves that the kernel has all that it
# asks for and writes NAME.mod.c, which holds its struct module; ld -r of both is NAME.ko; tools/modsum.py ends it with its
# checksum.

.DELETE_ON_ERROR:
.SUFFIXES:
MAKEFLAGS += --no-print-directory
PYTHON := /usr/bin/python3
BUILD := build/$(ARCH)
V ?=
W ?=
Q := $(if $(filter 1,$(V)),,@)
say = $(if $(filter 1,$(V)),,@printf '  %-7s %s\n' '$(1)' '$(2)')

__modules:
.PHONY: __modules __clean FORCE

include mk/machines.mk mk/toolchain.mk mk/kernel_flags.mk

# ---- What the user's Makefile says. Many ask for KERNELRELEASE to see who reads them.
KERNELRELEASE := $(shell sed -n 's/^.define UTS_RELEASE "\(.*\)"/\1/p' include/kernel/utsname.h)
src := $(M)
obj := $(M)
srctree := $(CURDIR)
obj-m :=
include $(firstword $(wildcard $(M)/Kbuild) $(M)/Makefile)

# A module that was built with other headers than its kernel is refused when it is loaded: better say so now.
ifeq ($(shell grep -c '$(abi_now)' $(VERMAGIC_H) 2>/dev/null),0)
$(error the headers of this tree have changed since its kernel was built: run `make $(firstword $(foreach m,$(MACHINES),$(if \
	$(filter $(ARCH),$(ARCH_$(m))),$(m))))` in $(CURDIR) first)
endif

MODULES := $(sort $(patsubst %.o,%,$(filter %.o,$(obj-m))))
parts = $(sort $(or $(strip $($(1)-objs) $($(1)-y)),$(1).o))
ALL_PARTS := $(sort $(foreach m,$(MODULES),$(call parts,$(m))))
KO := $(MODULES:%=$(M)/%.ko)
__modules: $(KO)
ifeq ($(MODULES),)
$(error M=$(M): its Makefile names no module. It needs a line `obj-m += NAME.o`)
endif

# ---- Headers that Linux has and this kernel cannot have: each is one #error with the reason, found after all others. It
# is the only error then, as what follows would be about names that it should have declared.
ABSENT := $(BUILD)/absent
$(ABSENT)/made: mk/absent_headers mk/modules.mk
	$(Q)rm -rf $(ABSENT) && mkdir -p $(ABSENT)
	$(Q)sed '/^#/d' $< | while read -r header why; do mkdir -p $(ABSENT)/$$(dirname $$header) && \
		printf '#error "%s: %s"\n' "$$header" "$$why" > $(ABSENT)/$$header; done
	$(Q)sed '/^#/d; s/^\([^ ]*\) .*/<\1>/' $< > $@
fatal = $(shell grep -qFf $(ABSENT)/made $(1) && echo -Wfatal-errors)

# ---- Objects. trace/define_trace.h includes the header of the module's events again, by the name that TRACE_INCLUDE_PATH
# and TRACE_INCLUDE_FILE give, most often "./NAME.h": -iquote finds it beside the source without a flag in the Makefile.
# Warnings are not errors in strangers' code; W=1 asks for more of them.
# A module is where people make mistakes: a check for NULL stays in the code, also behind an access, and a call that is a
# function's last act stays a call, so that the function is in the backtrace.
MODCFLAGS = $(filter-out -Werror -Wextra,$(KCFLAGS)) $(if $(filter 1,$(W)),-Wextra -Wno-unused-parameter) -Wno-pointer-sign \
	-fno-delete-null-pointer-checks -fno-optimize-sibling-calls \
	-Werror=implicit-function-declaration -Werror=implicit-int -Werror=incompatible-pointer-types -Werror=int-conversion \
	-idirafter $(ABSENT) -D__KERNEL__ -DMODULE $(ccflags-y) $(EXTRA_CFLAGS)
modname = $(subst -,_,$(basename $(notdir $(1))))
owner = $(firstword $(foreach m,$(MODULES),$(if $(filter $(1),$(call parts,$(m))),$(m))))
stem = $(patsubst $(M)/%,%,$(1))

# Which machine, which kernel and which flags the objects of this folder are for: when one of these changes, all are made again.
BUILT_FOR := $(M)/.built_for
built_for = $(ARCH) $(CURDIR) $(CC) $(CC_MAJOR) $(MODCFLAGS) $(foreach p,$(ALL_PARTS),$(CFLAGS_$(p)))
$(BUILT_FOR): FORCE
	$(Q)echo '$(subst ','\'',$(built_for))' | cmp -s - $@ || echo '$(subst ','\'',$(built_for))' > $@

$(ALL_PARTS:%=$(M)/%): $(M)/%.o: $(M)/%.c $(BUILT_FOR) mk/modules.mk mk/kernel_flags.mk $(BUILD)/Module.symvers $(ABSENT)/made
	$(call say,CC [M],$@)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(MODCFLAGS) $(PG_$(ARCH)) $(CFLAGS_$(notdir $@)) -DKBUILD_MODNAME='"$(call modname,$(call owner,$*.o))"' \
		-DKBUILD_BASENAME='"$(call modname,$*)"' -iquote $(<D) $(call fatal,$<) -MMD -MP -MF $(M)/.$(notdir $*).d -c -o $@ $<

# A module of several objects is linked into one; one object is it already.
define combined
$(M)/$(1).o: $(addprefix $(M)/,$(call parts,$(1)))
	$$(call say,LD [M],$$@)
	$$(Q)$$(LD) -r -o $$@ $$^
endef
$(foreach m,$(MODULES),$(if $(filter-out $(m).o,$(call parts,$(m))),$(eval $(call combined,$(m)))))

# ---- modpost looks at all modules of the folder at once, since they may use each other.
$(M)/Module.symvers: $(MODULES:%=$(M)/%.o) $(BUILD)/Module.symvers tools/modpost.py
	$(call say,MODPOST,$@)
	$(Q)$(PYTHON) tools/modpost.py --kernel $(BUILD)/Module.symvers $(KBUILD_EXTRA_SYMBOLS:%=--extra %) --write $@ $(MODULES:%=$(M)/%.o)

$(MODULES:%=$(M)/%.mod.o): $(M)/%.mod.o: $(M)/Module.symvers
	$(Q)$(CC) $(filter-out -Werror,$(KCFLAGS)) -D__KERNEL__ -DMODULE -DKBUILD_MODNAME='"$(call modname,$*)"' -c -o $@ $(M)/$*.mod.c

$(KO): $(M)/%.ko: $(M)/%.o $(M)/%.mod.o kernel/module/module.lds tools/modsum.py
	$(call say,LD [M],$@)
	$(Q)$(LD) -r --build-id=sha1 -T kernel/module/module.lds -o $@ $(M)/$*.o $(M)/$*.mod.o
	$(Q)$(PYTHON) tools/mcount.py --module $(M)/$*.o
	$(Q)$(PYTHON) tools/modsum.py $@

__clean:
	$(Q)rm -f $(foreach m,$(MODULES),$(M)/$(m).o $(M)/$(m).ko $(M)/$(m).mod.c $(M)/$(m).mod.o) $(ALL_PARTS:%=$(M)/%) \
		$(ALL_PARTS:%.o=$(M)/.%.d) $(M)/Module.symvers $(M)/modules.dep $(M)/modules.alias $(BUILT_FOR)

-include $(ALL_PARTS:%.o=$(M)/.%.d)
