# Course labs (tools/lab, docs/labs.md).

#:
#: Labs
#:   make grade            in the tree of a lab that `tools/lab start NAME` has begun: its points; JSON=file: also as Gradescope's results
#:   make labs             whether each lab's points say what they should (LABS="names"; SHORT=1: one wrong solution of each)
JSON  ?=
LABS  ?=
SHORT ?=
grade: deps-build deps-run deps-test deps-labs
	$(Q)tools/lab grade $(if $(JSON),--json '$(JSON)')
labs: deps-build deps-run deps-test deps-labs
	$(Q)tools/lab check $(if $(SHORT),--short) $(LABS)
.PHONY: grade labs
