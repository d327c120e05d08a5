# The suite, its parts, and what is measured; lint and formatting.

#:
#: Test
#:   make test             the whole suite: lint, unit tests on the host, guests (at most 15 minutes on 2 cores)
#:   make test ONLY=text   only tests whose name matches (pytest -k)
#:   make unit             only the C unit tests, under sanitizers
#:   make soak SOAK_MINUTES=10    the long forms: storms and fuzzing for so many minutes
#:   make bench            costs in guest instructions, one line each
#:   make lint             style, cppcheck, clang-tidy; make format lays out FILES="a.c b.h" (clang-format)
#:   make measures         lines, functions, comments: the figures that we keep an eye on
#:
#: V=1 shows commands; CROSS=prefix- chooses the compiler; NOPG=1 with ARCH=aarch64 builds without call sites, for comparing.
SOAK_MINUTES ?= 10
ONLY ?=

test: deps arm64 guest-programs
	$(Q)tests/run $(if $(ONLY),-k '$(ONLY)')

# The long forms are the guest tests that read SOAK_MINUTES from their environment.
soak: deps arm64 guest-programs
	$(Q)SOAK_MINUTES=$(SOAK_MINUTES) tests/run --soak

# What the guest tests bring along (mk/guest_progs.mk).
guest-programs: arm64
	$(call inner,aarch64) guest-progs

bench: deps-run arm64
	$(call inner,aarch64) NOPG=1 all
	$(Q)$(PYTHON) tools/bench

# ---- C unit tests: tests/unit/NAME_test.c names in its head what it tests (/* sources: a.c b.c */). Each is built for
# the host under ASan and UBSan, and under TSan too where its head says /* sanitizers: thread */.
UNIT      := $(patsubst tests/unit/%_test.c,%,$(sort $(wildcard tests/unit/*_test.c)))
UNIT_DIR  := build/host/unit
UNIT_asan := -fsanitize=address,undefined -fno-sanitize-recover=all
UNIT_tsan := -fsanitize=thread
# Our headers come last: include/linux must not stand in for the host's own <linux/limits.h>.
UNIT_FLAGS := -std=gnu11 -g -O1 -fno-omit-frame-pointer -pthread -Wall -Wextra -Wno-unused-parameter -Wno-sign-compare \
	-Werror -idirafter include
unit_sources = $(shell sed -n 's,.*/\* sources: \(.*\) \*/.*,\1,p' tests/unit/$(1)_test.c)
unit_kinds   = asan $(shell sed -n 's,.*/\* sanitizers: thread \*/.*,tsan,p' tests/unit/$(1)_test.c)

# Stand-ins for kernel headers: tests/unit/include, or the folder that the head names (/* include: FOLDER */).
unit_include = $(or $(shell sed -n 's,.*/\* include: \(.*\) \*/.*,\1,p' tests/unit/$(1)_test.c),tests/unit/include)

define unit_rule
UNIT_BINARIES += $(UNIT_DIR)/$(1).$(2)
$(UNIT_DIR)/$(1).$(2): tests/unit/$(1)_test.c $(call unit_sources,$(1)) mk/tests.mk
	$(call say,HOSTCC,$$@)
	@mkdir -p $$(@D)
	$(Q)gcc $(UNIT_FLAGS) -I$(call unit_include,$(1)) $(UNIT_$(2)) -MMD -MP -MT $$@ -o $$@ tests/unit/$(1)_test.c $(call unit_sources,$(1)) -lcmocka
endef
$(foreach t,$(UNIT),$(foreach k,$(call unit_kinds,$(t)),$(eval $(call unit_rule,$(t),$(k)))))

unit-binaries: $(UNIT_BINARIES)
unit: deps-build deps-test
	$(Q)tests/run --unit
-include $(wildcard $(UNIT_DIR)/*.d)

# ---- Lint: one goal for each step; the suite counts each as a test.
LINTS := lint-style lint-cppcheck lint-tidy
C_FILES := $(shell find arch boot drivers include kernel modules trace userland tests/unit -name '*.[ch]' 2>/dev/null | sort)
lint: deps-lint $(LINTS)
$(LINTS): | deps-lint

lint-style:
	$(call say,LINT,style)
	$(Q)$(PYTHON) tools/style.py

lint-cppcheck:
	$(call say,LINT,cppcheck)
	$(Q)mkdir -p build/cppcheck
	$(Q)cppcheck --quiet --error-exitcode=1 --inline-suppr --enable=warning,portability,performance --std=c11 \
		--platform=unix64 -j $(shell nproc) --cppcheck-build-dir=build/cppcheck --suppressions-list=tools/cppcheck.txt \
		-D__aarch64__ -D__GNUC__=12 -D__BYTE_ORDER__=1234 -D__ORDER_LITTLE_ENDIAN__=1234 -D__SIZEOF_POINTER__=8 \
		-Iinclude -Iarch/aarch64/include $(filter-out userland/% tests/%,$(filter %.c,$(C_FILES)))

# clang reads the commands that gcc gets, but for what it does not know; headers are seen through what includes them.
lint-tidy: compile_commands.json
	$(call say,LINT,clang-tidy)
	$(Q)sed 's/ -pg \( -Wa,[^ ]*\)\? / /' compile_commands.json > build/compile_commands.json
	$(Q)sed -n 's/^  "file": "\(.*\)",$$/\1/p' compile_commands.json | xargs -r -n 4 -P $(shell nproc) \
		clang-tidy --quiet -p build --extra-arg=--target=aarch64-linux-gnu --extra-arg=-Wno-unknown-warning-option \
		2> >(grep -v 'warnings\? generated\|Suppressed\|Use -header-filter' >&2)

measures:
	$(Q)$(PYTHON) tools/style.py --measures

FILES ?= $(C_FILES)
format:
	$(Q)clang-format -i $(FILES)

.PHONY: test soak guest-programs bench unit unit-binaries lint $(LINTS) measures format
