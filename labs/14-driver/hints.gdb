# Lab driver, in `make gdb-arm64` or `make gdb-x86_64`: source labs/14-driver/hints.gdb
# Stops when the transport has found the device, and at each call back of its queue.
break rng_probe
break virtio_queues_interrupt
commands
  silent
  print *dev->queues[0]
  continue
end
