/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_code.c - files by their names, functions by how the libraries that are linked or inlined into programs call theirs.
 */
#include "report/view/own_code.h"

#include "formats/base/compiler.h"
#include "formats/base/path.h"

#include <fnmatch.h>
#include <string.h>

/* Files whose code is not the user's own: the C library and its like, and runtimes. */
static const char *const files[] = {
	"libc.so*",	"libc-*.so",	   "libm.so*",	    "libm-*.so",    "libpthread*.so*", "libdl*.so*",
	"librt*.so*",	"ld-linux*.so*",   "ld-musl*.so*",  "ld-*.so",	    "libstdc++*.so*",  "libgcc_s*.so*",
	"libc++*.so*",	"libgomp*.so*",	   "libjemalloc*",  "libtcmalloc*", "[[]vdso]",	       "[[]vsyscall]",
	"libjvm.so",	"libpython*.so*",  "python[23]*",   "node",	    "libnode.so*",     "libv8.so*",
	"libcoreclr.so", "libclrjit.so",   "libruby*.so*",  "ruby",	    "libphp*.so*",     "php*",
	"beam.smp",	"libmonosgen*.so*", "libperl*.so*", "perl",	    "libluajit*.so*",
};

/*
 * Where packages of interpreted languages are installed, those that come with the interpreter and others. C modules among
 * them belong to them, too.
 */
static const char *const libraries[] = {
	"*/lib/python[23]*",  "*/lib64/python[23]*",  "*/site-packages/*", "*/dist-packages/*", "<frozen *",
	"/usr/share/php*",    "*/vendor/*",	      "phar://*",	   "[[]internal]",
	"*/lib/ruby/*",	      "*/gems/*",	      "/usr/share/rubygems-integration/*", "<internal:*",
	"node:*",	      "*/node_modules/*",     "/usr/share/nodejs/*",
};

/* Scripts that start such a package: gunicorn, pip, rackup. Others may be anywhere (starts_neighbours()). */
static const char *const starters[] = { "/usr/bin/*", "/usr/sbin/*", "/usr/local/bin/*", "*/.pyenv/versions/*/bin/*",
					"*/venv/bin/*", "*/.venv/bin/*" };

/* Where what they start is, from where their own folder is. */
static const char *const neighbours[] = { "/lib/python[23]*", "/lib64/python[23]*", "/lib/ruby/*", "/gems/*" };

/* Functions of languages' own libraries, which stand in the program itself. */
static const char *const functions[] = { "std::*",	  "core::*", "alloc::*", "__gnu_cxx::*", "runtime.*",
					 "operator new*", "operator delete*" };

static bool matches(const char *const *globs, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (fnmatch(globs[i], text, 0) == 0)
			return true;
	return false;
}

bool own_code_is_script(const struct profile *p, uint32_t location)
{
	return p->locations.items[location].kind == PROFILE_FRAME_INTERPRETED;
}

/*
 * Is @typed a command of an environment, however that is called: ENV/bin/NAME beside packages in ENV/lib? With a suffix it is a
 * script of a project that keeps its packages with it.
 */
static bool starts_neighbours(const struct profile *p, const char *typed)
{
	CLEANUP(arena_deinit) struct arena arena = { 0 };
	const char *path = path_without_dots(&arena, typed);
	const char *name = strrchr(path, '/');
	size_t len = name ? (size_t)(name - path) : 0;

	if (len < 4 || strncmp(name - 4, "/bin", 4) != 0 || strchr(name, '.'))
		return false;
	len -= 4;
	for (size_t i = 0; i < p->modules.len; i++) {
		const char *other = profile_text(p, p->modules.items[i].path);

		if (strncmp(other, path, len) == 0 && matches(neighbours, ARRAY_LEN(neighbours), other + len))
			return true;
	}
	return false;
}

static bool is_installed(const struct profile *p, uint32_t location)
{
	const struct profile_module *module = profile_module(p, p->locations.items[location].module);

	const char *path = profile_text(p, module->path);

	return matches(libraries, ARRAY_LEN(libraries), path) ||
	       (own_code_is_script(p, location) &&
		(matches(starters, ARRAY_LEN(starters), path) || starts_neighbours(p, path)));
}

bool own_code_is(const struct profile *p, uint32_t location, uint32_t line)
{
	const struct profile_location *at = &p->locations.items[location];
	const struct profile_module *module = profile_module(p, at->module);

	if (at->kind == PROFILE_FRAME_KERNEL || at->kind == PROFILE_FRAME_RUNTIME ||
	    at->kind == PROFILE_FRAME_MARKER || module->kind == PROFILE_KERNEL)
		return false;
	if (matches(files, ARRAY_LEN(files), profile_text(p, module->name)) &&
	    at->kind != PROFILE_FRAME_INTERPRETED)
		return false;
	if (is_installed(p, location))
		return false;
	if (line == PROFILE_NONE)
		return true;
	return !matches(functions, ARRAY_LEN(functions),
			profile_text(p, p->functions.items[p->lines.items[line].function].name));
}
