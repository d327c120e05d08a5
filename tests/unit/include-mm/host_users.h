/* Users, for tests of code that counts memory for them: there is one, who may have all. Include once. */
#pragma once

#include <lib/atomic.h>
#include <proc/cred.h>

static struct user_struct host_user;

struct user_struct *get_task_user(struct task_struct *t)
{
	atomic_inc(&host_user.refs);
	return &host_user;
}
void put_user_struct(struct user_struct *user)
{
	atomic_dec(&user->refs);
}
bool user_charge_memory(struct user_struct *user, size_t bytes)
{
	atomic64_add(bytes, &user->memory);
	return true;
}
void user_uncharge_memory(struct user_struct *user, size_t bytes)
{
	atomic64_add(-(s64)bytes, &user->memory);
}
