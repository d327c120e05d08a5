# One archive to hand on: kernels, programs, symbols, and what starts them (tools/release).

#:
#: Hand on
#:   make release          build/vitrine.tar.xz: both kernels, their programs and symbols, tools/vrun and a script that starts them with
#:                         nothing but QEMU and python3, for a class or for a look (tools/release/README.md is its manual)
release: $(HERE)
	$(foreach m,$(HERE),$(call inner,$(ARCH_$(m))) build/$(ARCH_$(m))/pages.cpio$(newline)	)
	$(call say,PACK,build/vitrine.tar.xz)
	$(Q)$(PYTHON) tools/release/pack build/vitrine.tar.xz $(foreach m,$(HERE),$(ARCH_$(m)))

.PHONY: release
