# The suite, its parts, and what is measured; lint and formatting.

#:
#: Test
#:   make test             the whole suite on every machine: lint, unit tests on the host, guests (some 15 minutes on 2 cores)
#:   make test ONLY=text   only tests whose name matches (pytest -k), and only what they need is built: ONLY=x86_64 is one machine's
#:   make check FILE=lab.sh   only the tests of this file, or of a folder (FILE=tests/guest/sched, FILE=tests/unit/mm), and only what they
#:                         need is built; ON=arm64 or ON=x86_64: on this machine alone. With CORE=1, WITH=, WITHOUT=: scripts of
#:                         tests/guest on such a kernel, which skips those that need a room that it leaves out
#:   make unit             only the C unit tests, under sanitizers
#:   make soak SOAK_MINUTES=10    the long forms: storms and fuzzing for so many minutes; soak-arm64, soak-x86_64: on one machine
#:   make mutation N=100 [FILES=kernel/mm] [MINUTES=60]   plants one-line bugs, those of tests/mutation/curated.txt and N made by rule, and
#:                         prints which the tests have caught; it goes on where it was. tests/mutation/mutation --help says more
#:   make bench            costs in guest instructions, a column for each machine; bench-arm64, bench-x86_64: of one machine;
#:                         bench-docs writes them into docs/benchmarks.md as well
#:   make branch-report    says which likely() and unlikely() are wrong, from a run of kernels that count them (BRANCH=1)
#:   make lint             style, layout, cppcheck, clang-tidy and clang's analyzer; make format lays the tree out, or only FILES="..."
#:   make measures         lines, functions, comments; and the code of each room beside its ceiling (the file `rooms`)
#:
#: V=1 shows commands; CROSS=prefix- chooses the compiler (CROSS_x86_64=prefix-: only that machine's); NOPG=1 with ARCH=aarch64
#: or ARCH=x86_64 builds without call sites, NOEVENTS=1 without tracepoints, for comparing; BRANCH=1 with hints that count,
#: BRANCH=all with each `if` that counts (docs/tracer-branch.md). Each goes into a folder of its own, build/ARCH-nopg and so on.
SOAK_MINUTES ?= 10
ONLY ?=

# With ONLY tests/run finds out what the chosen tests need, and calls make for it. Else it calls make for all of this.
test: deps
	$(Q)tests/run $(if $(ONLY),--build -k '$(ONLY)',--make '$(HERE) guest-programs importer $(if $(filter x86_64,$(HERE)),iso)')

FILE ?=
ON   ?=
# A machine goes by the name of its goal (arm64) or by that of its folder in arch/ (aarch64), which is in the names of its tests.
on = $(foreach m,$(HERE),$(if $(filter $(ON),$(m) $(ARCH_$(m))),$(ARCH_$(m))))
check_on = $(foreach m,$(HERE),$(if $(filter $(or $(ON),$(m)),$(m) $(ARCH_$(m))),$(m)))
check: deps-build deps-run deps-test $(if $(VARIANT),$(check_on))
	$(Q)test -n '$(FILE)' || { echo 'make check: FILE=tests/guest/events/lab.sh names the file whose tests are to run' >&2; exit 2; }
	$(Q)test -z '$(ON)' -o -n '$(strip $(on))' || { echo 'make check: there is no machine $(ON); ON= takes one of: $(HERE)' >&2; exit 2; }
	$(Q)tests/run --build --file '$(FILE)' $(if $(ON),-k '$(strip $(on))')$(if $(VARIANT),$(foreach m,$(check_on), --build-of 'build/$(ARCH_$(m))$(VARIANT)'))

# speedscope itself, from npm: its own importer reads our files in tests/guest/trace-files/test_trace_dat.py. Where it cannot be fetched, that test is skipped.
SPEEDSCOPE := build/host/npm/node_modules/speedscope/package.json
speedscope: $(SPEEDSCOPE)
$(SPEEDSCOPE): | deps-test
	$(call say,FETCH,speedscope)
	$(Q)npm install --silent --no-fund --no-audit --fetch-retries=1 --fetch-timeout=60000 --prefix build/host/npm speedscope@1.25.0
importer: | deps
	$(Q)$(MAKE) --no-print-directory speedscope || echo 'speedscope cannot be fetched from npm: the test of its importer is skipped' >&2

# The long forms are the guest tests that read SOAK_MINUTES from their environment.
soak: deps $(HERE) guest-programs $(if $(filter x86_64,$(HERE)),iso)
	$(Q)SOAK_MINUTES=$(SOAK_MINUTES) tests/run --soak

$(MACHINES:%=soak-%): soak-%: deps % guest-programs-%
	$(Q)SOAK_MINUTES=$(SOAK_MINUTES) tests/run --soak -k '$(ARCH_$*)'

# What the guest tests bring along (mk/guest_progs.mk).
guest-programs: $(HERE:%=guest-programs-%)
$(MACHINES:%=guest-programs-%): guest-programs-%: %
	$(call inner,$(ARCH_$*)) guest-progs

# Each machine's kernel without call sites, for what the nops cost.
$(MACHINES:%=nopg-%): nopg-%: %
	$(call inner,$(ARCH_$*)) NOPG=1 all
# And without tracepoints, for what these cost.
$(MACHINES:%=noevents-%): noevents-%: %
	$(call inner,$(ARCH_$*)) NOEVENTS=1 all

# And without the rooms that can be left out.
$(MACHINES:%=core-%): core-%: %
	$(call inner,$(ARCH_$*)) CORE=1 all

# What the tests notice: one-line bugs, one at a time. The first time each machine's guest tests run once, to learn which lines they run.
N ?= 0
MINUTES ?= 1440
mutation: deps $(HERE) guest-programs unit-binaries
	$(Q)for arch in $(foreach m,$(HERE),$(ARCH_$(m))); do \
		[ -e build/mutation/$$arch.map.gz ] || tests/mutation/mutation learn $$arch || exit 1; done
	$(Q)tests/mutation/mutation run -n $(N) --minutes $(MINUTES) $(if $(FILES),--files $(FILES))

bench: deps-run $(foreach v,nopg noevents branch core,$(HERE:%=$(v)-%))
	$(Q)$(PYTHON) tools/bench $(foreach m,$(HERE),--arch $(ARCH_$(m)))
$(MACHINES:%=bench-%): bench-%: deps-run nopg-% noevents-% branch-% core-%
	$(Q)$(PYTHON) tools/bench --arch $(ARCH_$*)
bench-docs: deps-run $(foreach v,nopg noevents branch core,$(HERE:%=$(v)-%))
	$(Q)$(PYTHON) tools/bench --write docs/benchmarks.md $(foreach m,$(HERE),--arch $(ARCH_$(m)))

# Kernels that count branches, and what their hints have to say.
$(MACHINES:%=branch-%): branch-%: %
	$(call inner,$(ARCH_$*)) BRANCH=$(or $(BRANCH),1) all
branch-report: deps-run $(HERE:%=branch-%)
	$(Q)tools/branch-report $(foreach m,$(HERE),--arch $(ARCH_$(m)))

# ---- C unit tests: tests/unit/ROOM/NAME_test.c names in its head what it tests (/* sources: a.c b.c */). Each is built for
# the host under ASan and UBSan, and under TSan too where its head says /* sanitizers: thread */.
# What runs a machine's own assembly is for hosts of that kind. A source that several tests have is compiled once for all that
# see the same stand-ins and have the same sanitizer: an object lies in obj/FOLDER.SANITIZER. -MD, not -MMD: gcc takes headers
# found by -idirafter for the system's. BINARY.d is for tests/mutation: all that a binary is made of. A binary goes by the NAME alone,
# which no two tests may share.
UNIT_FILES := $(sort $(wildcard tests/unit/*/*_test.c))
UNIT      := $(filter-out $(if $(filter x86_64,$(shell uname -m)),,x86_64_%),$(patsubst %_test.c,%,$(notdir $(UNIT_FILES))))
unit_file  = $(filter %/$(1)_test.c,$(UNIT_FILES))
UNIT_DIR  := build/host/unit
UNIT_asan := -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_tsan := -fsanitize=thread
# -g1, lines and functions, is what a sanitizer's report shows; -g takes a third more time to compile.
# cmocka 2 has new names for some of its checks, which cmocka 1 does not know. Our headers come last: no folder of include/ may stand in for one of the host's, such as <linux/limits.h>.
UNIT_FLAGS := -std=gnu11 -g1 -fno-omit-frame-pointer -pthread -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Wno-deprecated-declarations -Werror -iquote trace -idirafter include
# From the heads (tests/unit/heads.awk): unit_sources_NAME, unit_kinds_NAME, and unit_include_NAME, the folder of stand-ins for
# kernel headers: tests/unit/include, or another one (/* include: FOLDER */).
$(foreach word,$(shell awk -f tests/unit/heads.awk $(foreach t,$(UNIT),$(call unit_file,$(t)))),$(eval $(subst |, ,$(word))))

unit_folder  = $(UNIT_DIR)/obj/$(notdir $(firstword $(unit_include_$(1)))).$(2)

define unit_rule
UNIT_BINARIES += $(UNIT_DIR)/$(1).$(2)
UNIT_FOLDER_$(call unit_folder,$(1),$(2)) := $(unit_include_$(1))
$(UNIT_DIR)/$(1).$(2): $(patsubst %,$(call unit_folder,$(1),$(2))/%.o,$(call unit_file,$(1)) $(unit_sources_$(1)))
	$(call say,HOSTLINK,$$@)
	$(Q)gcc -pthread $(UNIT_$(2)) -o $$@ $$^ -lcmocka
	@cat $$(^:.o=.d) > $$@.d
endef
$(foreach t,$(UNIT),$(foreach k,$(unit_kinds_$(t)),$(eval $(call unit_rule,$(t),$(k)))))

# Compiling without optimisation takes half as long, and that is most of what a test takes; these compute for seconds.
UNIT_COMPUTE := trace/ring_buffer/% tests/unit/ring_buffer/% kernel/mm/pages/slab% tests/unit/mm/mm_slab%

define unit_objects
$(1)/%.o: % mk/tests.mk
	$(call say,HOSTCC,$$@)
	@mkdir -p $$(@D)
	$(Q)gcc $(UNIT_FLAGS) $$(if $$(filter $(UNIT_COMPUTE),$$<),-O1,-O0) -I$(UNIT_FOLDER_$(1)) $(UNIT_$(2)) -MD -MP -c -o $$@ $$<
endef
$(foreach v,$(filter UNIT_FOLDER_%,$(.VARIABLES)),$(eval $(call unit_objects,$(v:UNIT_FOLDER_%=%),$(lastword $(subst ., ,$(v))))))

unit-binaries: $(UNIT_BINARIES)
unit: deps-build deps-test
	$(Q)tests/run --unit
-include $(shell find $(UNIT_DIR)/obj -name '*.d' 2>/dev/null)

# ---- Guest programs on the host's own Linux: those of tests/guest/progs that say /* also on Linux */ become build/host/linux/NAME,
# over the host's C library, with what tests/guest/progs/lib and libvt have of plain C. tests/host/userland/test_same_on_linux.py runs them.
LINUX_DIR   := build/host/linux
LINUX_SRC   := $(shell grep -l '^/\* also on Linux \*/$$' tests/guest/progs/*/*.c)
LINUX_PROGS := $(patsubst %.c,$(LINUX_DIR)/%,$(notdir $(LINUX_SRC)))
LINUX_LIB   := $(wildcard tests/host/linux/*.c) $(patsubst %,tests/guest/progs/lib/%.c,check posix sleepers thread) \
	$(patsubst %,userland/lib/%.c,io message options path posix/signames text/classes text/regex text/regex_search)
# The host's headers say which arguments are good. These programs pass bad ones on purpose, and gcc is not to mind.
LINUX_FLAGS := -std=gnu11 -O1 -g -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare -Werror -pthread \
	-Wno-nonnull -Wno-stringop-overread -Wno-stringop-overflow -Wno-array-bounds -Wno-unused-result \
	-I tests/host/linux -I tests/guest/progs/lib -I userland/arch/$(shell uname -m) -idirafter include \
	-idirafter arch/$(shell uname -m)/include -idirafter build/$(shell uname -m)/include

# The numbers of system calls come with a build for this computer's machine.
LINUX_MACHINE := $(foreach m,$(HERE),$(if $(filter $(shell uname -m),$(ARCH_$(m))),$(m)))

$(LINUX_DIR)/obj/%.o: %.c mk/tests.mk | $(LINUX_MACHINE)
	$(call say,HOSTCC,$@)
	@mkdir -p $(@D)
	$(Q)gcc $(LINUX_FLAGS) -MD -MP -c -o $@ $<
$(foreach s,$(LINUX_SRC),$(eval $(LINUX_DIR)/$(notdir $(s:.c=)): $(LINUX_DIR)/obj/$(s:.c=.o)))
$(LINUX_PROGS): $(LINUX_LIB:%.c=$(LINUX_DIR)/obj/%.o)
	$(call say,HOSTLINK,$@)
	$(Q)gcc -pthread -o $@ $^
linux-programs: $(LINUX_PROGS)
-include $(wildcard $(LINUX_LIB:%.c=$(LINUX_DIR)/obj/%.d) $(LINUX_SRC:%.c=$(LINUX_DIR)/obj/%.d))

# ---- Lint: one goal for each step; the suite counts each as a test, but for cppcheck and clang's analyzer, which are make
# soak's: they take twice and four times as long as all other checks of clang-tidy.
comma := ,
LINTS := lint-style lint-format lint-cppcheck lint-tidy lint-analyzer
C_FILES := $(shell find arch boot drivers include kernel samples trace userland vdso tests tools -name '*.[ch]' 2>/dev/null | sort)
# Events that labs plant are laid out by hand, as those of include/trace/events are (.clang-format there).
LAB_FILES := $(shell find labs -name '*.[ch]' ! -path '*/trace/events/*' 2>/dev/null | sort)
lint: deps-lint $(LINTS)
$(LINTS): | deps-lint

lint-style:
	$(call say,LINT,style)
	$(Q)$(PYTHON) tools/style.py

# Debian 12 has clang 14. Later ones lay out a few lines otherwise, and have more checks: what they say is left out.
clang_14 = $(if $(shell $(1) --version 2>/dev/null | grep 'version 14\.'),$(2),@echo "lint: $(1) 14 is wanted, as others judge otherwise: left out")

# The layout is what clang-format and black make of a file (.clang-format, pyproject.toml); `make format` makes it so.
PY_FILES = $(shell find labs tests tools -name '*.py' -o -type f ! -name '*.*' -exec grep -lE '^\#!.*python' {} +)
lint-format:
	$(call say,LINT,layout)
	$(call clang_14,clang-format,$(layout))
define layout
$(Q)clang-format --dry-run -Werror $(C_FILES) $(LAB_FILES) && black -q --check $(PY_FILES) || \
		{ echo "lint: 'make format' lays these files out (all; FILES=...: some)" >&2; exit 1; }
endef

# Generic code is looked at as the first machine sees it, each machine's own files as it does.
own_files     = $(filter $(USES_$(1)),$(C_FILES))
generic_files = $(filter-out $(listed) userland/% tests/% tools/%,$(C_FILES))
# What is built as a module has headers and flags of its own (make M=samples/modules W=1).
lint_files    = $(filter-out samples/modules/%,$(filter %.c,$(call own_files,$(1)) $(if $(filter $(1),$(ARCH_$(firstword $(HERE)))),$(generic_files))))

define cppcheck
	$(Q)mkdir -p build/cppcheck/$(1)
	$(Q)cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability,performance --std=c11 \
		--platform=unix64 -j $(cpus) --cppcheck-build-dir=build/cppcheck/$(1) --suppressions-list=tools/cppcheck.txt \
		-D__$(1)__ -D__GNUC__=12 -D__BYTE_ORDER__=1234 -D__ORDER_LITTLE_ENDIAN__=1234 -D__SIZEOF_POINTER__=8 \
		-Iinclude -Itrace -Iarch/$(1)/include $(call lint_files,$(1))

endef
lint-cppcheck:
	$(call say,LINT,cppcheck)
	$(foreach m,$(HERE),$(call cppcheck,$(ARCH_$(m))))

# clang reads the commands that gcc gets, but for what it does not know; headers are seen through what includes them.
# The vDSO has commands of its own, which are not in the list. $(2): which checks of .clang-tidy, and more options.
define clang_tidy
	$(Q)printf '%s\n' $(filter-out arch/%/asm-offsets.c vdso/%,$(call lint_files,$(1))) | xargs -n 16 -P $(cpus) \
		clang-tidy --quiet -p build --extra-arg=--target=$(1)-linux-gnu --extra-arg=-Wno-unknown-warning-option --extra-arg=-Wno-error $(2) \
		2> >(grep -v 'warnings\? generated\|Suppressed\|Use -header-filter' >&2)

endef
build/compile_commands.json: compile_commands.json
	$(Q)sed 's/ -pg\( -Wa,[^ ]*\| -mfentry\| -mrecord-mcount\)* / /' $< > $@
lint-tidy: build/compile_commands.json
	$(call say,LINT,clang-tidy)
	$(call clang_14,clang-tidy,$(foreach m,$(HERE),$(call clang_tidy,$(ARCH_$(m)),--checks=-clang-analyzer-*)))
# The analyzer gives a function up after so many states: with its own 225,000 some ten functions take as long as all others,
# with 50,000 a few dozen do.
ANALYZER := $(foreach word,-Xclang -analyzer-config -Xclang max-nodes=15000,--extra-arg=$(word))
lint-analyzer: build/compile_commands.json
	$(call say,LINT,clang-analyzer)
	$(call clang_14,clang-tidy,$(foreach m,$(HERE),$(call clang_tidy,$(ARCH_$(m)),--checks=-bugprone-*$(comma)-misc-* $(ANALYZER))))

rooms:
	$(Q)$(PYTHON) tools/rooms.py

measures:
	$(Q)$(PYTHON) tools/style.py --measures
	@echo
	$(Q)$(PYTHON) tools/rooms.py

LAY_OUT = $(or $(FILES),$(C_FILES) $(LAB_FILES) $(PY_FILES))
format: | deps-lint
	$(Q)$(if $(filter %.c %.h,$(LAY_OUT)),clang-format -i $(filter %.c %.h,$(LAY_OUT)))
	$(Q)$(if $(filter-out %.c %.h,$(LAY_OUT)),black -q $(filter-out %.c %.h,$(LAY_OUT)))

.PHONY: test check mutation branch-report speedscope importer soak guest-programs linux-programs bench bench-docs unit unit-binaries lint $(LINTS) measures rooms format \
	$(foreach goal,soak guest-programs nopg noevents branch core bench,$(MACHINES:%=$(goal)-%))
