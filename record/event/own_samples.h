/* SPDX-License-Identifier: Apache-2.0 */
/*
 * own_samples.h - an event whose samples wake a thread of ours is not to sample that thread when it goes back to sleep: that
 * sample would wake it again, and so on for ever.
 *
 * The kernel asks a small program of ours (BPF) about each sample. Where that is not allowed, or the kernel is older than
 * Linux 5.7, all is sampled.
 */
#ifndef RECORD_OWN_SAMPLES_H
#define RECORD_OWN_SAMPLES_H

#include <stdbool.h>

/* From now on the event at @fd takes no samples of this process. False: it does as before. */
bool own_samples_leave_out(int fd);

#endif
