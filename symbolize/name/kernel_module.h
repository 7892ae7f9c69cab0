/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel_module.h - where an address of a running kernel module is in the module's file.
 *
 * The kernel loads each section of a module wherever it likes, and leaves no record of it that could be trusted
 * afterwards; but it says where each function is. So a place is a function and a distance from its beginning. The
 * image's addresses are those that image.h gives relocatable files.
 */
#ifndef SYMBOLIZE_KERNEL_MODULE_H
#define SYMBOLIZE_KERNEL_MODULE_H

#include "formats/recording.h"
#include "symbolize/elf/image.h"

struct kernel_module;

/* @img, the very file that was running, must outlive the result. */
struct kernel_module *kernel_module_new(struct image *img);
void kernel_module_free(struct kernel_module *mod);

/*
 * Where @addr, which @sym covers in the kernel, is in the file. False if the file has no function of that name, or
 * several, or a shorter one.
 */
bool kernel_module_place(const struct kernel_module *mod, const struct recording_ksym *sym,
			 uint64_t addr, uint64_t *ret_vaddr);

#endif
