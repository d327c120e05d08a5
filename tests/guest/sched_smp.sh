#!/bin/sh
# description: idle CPUs take work, and tasks stay where they may be
# requires: smp=4 timeout=120 progs="schedtest"
schedtest policies affinity spread
