"""Every machine that we name: numbers of CPUs, CPU models, interrupt controllers, exception levels, sizes of memory."""

import pytest
from vitrine_guest import ScriptRun

SCRIPT = b"""
test $(grep -c ^processor /proc/cpuinfo) = $1 || { echo "/proc/cpuinfo: not $1 processors"; exit 1; }
test $(ls -d /sys/kernel/tracing/per_cpu/cpu* | wc -l) = $1 || { echo "per_cpu: not $1 CPUs"; exit 1; }
cd /sys/kernel/tracing
echo function > current_tracer
cpu=0
while test $cpu -lt $1; do
    taskset $(printf %x $((1 << cpu))) true || { echo "nothing runs on CPU $cpu"; exit 1; }
    cpu=$((cpu + 1))
done
echo nop > current_tracer
"""


def boots(smp, timeout=120, **machine):
    run = ScriptRun(SCRIPT, [str(smp)], smp=smp, timeout=timeout, **machine)
    try:
        run.wait_start()
        assert run.wait_exit() == 0, run.guest.tail()
    finally:
        run.guest.close()
    return run.guest.console


@pytest.mark.parametrize("smp", range(1, 9))
def test_numbers_of_cpus(smp):
    boots(smp, gic=3 if smp % 2 else 2)


@pytest.mark.parametrize("cpu", ["cortex-a57", "cortex-a72", "max"])
def test_at_el2(cpu):
    """Entered as a hypervisor would be: the other CPUs by SMC."""
    assert "at EL2" in boots(2, gic=3, cpu=cpu, qemu_args=["-M", "virtualization=on"])


@pytest.mark.parametrize("cpu", ["cortex-a72", "neoverse-n1"])
def test_cpu_models(cpu):
    assert "at EL1" in boots(2, cpu=cpu)


@pytest.mark.parametrize("mem", ["64M", "3G"])
def test_memory_sizes(mem):
    boots(2, mem=mem)
