/* SPDX-License-Identifier: Apache-2.0 */
/*
 * setting_names.c - options of several commands, where they say how somebody likes to work.
 */
#include "report/setting_names.h"

const struct setting_name setting_names[] = {
	{ "cache", SETTING_NO, NULL, "keep what debug information said: yes or no" },
	{ "color", SETTING_VALUE, NULL, "auto, always or never" },
	{ "debug-dir", SETTING_VALUE, NULL, "a folder of debug files, as often as you like" },
	{ "debuginfod-time", SETTING_VALUE, NULL, "seconds that servers of DEBUGINFOD_URLS may take" },
	{ "demangle", SETTING_VALUE, NULL, "full, simple or off" },
	{ "idle", SETTING_YES, NULL, "show where threads without work wait: yes or no" },
	{ "inline", SETTING_NO, NULL, "inlined calls and source lines: yes or no" },
	{ "levels", SETTING_VALUE, "default-by", "the default levels of tables" },
	{ "native", SETTING_YES, NULL, "frames that are a runtime's alone, too: yes or no" },
	{ "not-mine", SETTING_VALUE, NULL, "a glob of files that are not your own code, as often as you like" },
	{ "pager", SETTING_PAGER, NULL, "a command for long output, or no" },
	{ "progress", SETTING_NO, NULL, "a line on the terminal while it takes long: yes or no" },
	{ "symfs", SETTING_VALUE, NULL, "look for binaries below this folder" },
	{ "threads", SETTING_VALUE, NULL, "that unwind" },
	{ "vmlinux", SETTING_VALUE, NULL, "the kernel's file with debug information" },
	{ 0 },
};
