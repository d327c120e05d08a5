/* A fence that the test sees. */
#pragma once

void mb(void);
