/* Control files of one number with limits. */
#include <lib/errno.h>
#include <lib/string.h>

#include "core/array.h"
#include "param.h"

int trace_param_show(struct seq_file *m, const struct trace_param *param)
{
	seq_printf(m, "%llu\n", (unsigned long long)READ_ONCE(*param->value));
	return 0;
}

/* The limits may be numbers of other such files, so they are read under the lock under which those change. */
int trace_param_store(const char *text, const struct trace_param *param)
{
	u64 value;
	int ret = kstrtoull(text, 10, &value);

	if (ret)
		return ret;
	mutex_lock(&trace_types_lock);
	if ((param->min && value < *param->min) || (param->max && value > *param->max))
		ret = -EINVAL;
	else
		WRITE_ONCE(*param->value, value);
	mutex_unlock(&trace_types_lock);
	return ret;
}
