/* SPDX-License-Identifier: Apache-2.0 */
#include "symbolize/unwind/v8_frames.h"

#include <string.h>

bool v8_frames_interprets(const char *name)
{
	static const char builtin[] = "Builtins_", entry[] = "Interpreter", handler[] = "Handler";
	size_t len = strlen(name);

	if (strncmp(name, builtin, sizeof(builtin) - 1) != 0)
		return false;
	if (strncmp(name + sizeof(builtin) - 1, entry, sizeof(entry) - 1) == 0)
		return true;
	return len >= sizeof(handler) - 1 && strcmp(name + len - (sizeof(handler) - 1), handler) == 0;
}
