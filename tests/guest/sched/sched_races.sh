#!/bin/sh
# description: tasks run where they can, whatever happens to masks at the same time
# requires: smp=6 icount timeout=120 progs="schedsmp"
# requires: rooms="procfs"
schedsmp masks
