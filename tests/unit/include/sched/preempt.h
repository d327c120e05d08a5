/* Nothing preempts a host thread off its CPU. */
#pragma once

#define preempt_disable_notrace() barrier()
#define preempt_enable_notrace()  barrier()
#define preempt_disable()	  barrier()
#define preempt_enable()	  barrier()
