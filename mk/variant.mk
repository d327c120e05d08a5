# Which kernel is meant: the full one, or a variant with a folder of its own, build/ARCH$(VARIANT).
#
# NOPG=1, NOEVENTS=1, BRANCH and GCOV are for comparing. CORE=1 leaves out all rooms that are optional, WITH="NAMES" but these;
# WITHOUT="NAMES" leaves out these.
NOPG ?=
NOEVENTS ?=
# From the command line only, since an environment may well have such names that mean other things. GCOV="FILE ..." has the
# compiler count the branches of these files, too, for comparing (tests/guest/tracers/test_branch.py).
$(foreach name,BRANCH GCOV CORE WITH WITHOUT,$(if $(filter command,$(origin $(name))),,$(eval override $(name) :=)))
ifneq ($(filter-out 1 all,$(BRANCH)),)
$(error BRANCH=$(BRANCH): it is 1 (hints are counted) or all (each `if` is, too))
endif
COUNTING := $(if $(NOPG),-nopg)$(if $(NOEVENTS),-noevents)$(if $(BRANCH),-branch)$(if $(filter all,$(BRANCH)),-all)$(if $(GCOV),-gcov)

ifneq ($(filter-out 1 yes 0 no,$(CORE)),)
$(error CORE=$(CORE): it is 1 or yes (the rooms of every kernel alone), 0 or no (all rooms))
endif
override CORE := $(filter 1 yes,$(CORE))
ifneq ($(if $(CORE),,$(strip $(WITH))),)
$(error WITH=$(WITH): it is for CORE=1, which leaves out all optional rooms but these)
endif
CHOICE := $(if $(CORE),-core)$(if $(WITH),-with-$(subst $(subst ,, ),-,$(subst /,_,$(sort $(WITH)))))$(if \
	$(WITHOUT),-without-$(subst $(subst ,, ),-,$(subst /,_,$(sort $(WITHOUT)))))
override VARIANT := $(COUNTING)$(CHOICE)
