/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topics.h - the texts of "preport help TOPIC", which lie in report/help/.
 */
#ifndef REPORT_TOPICS_H
#define REPORT_TOPICS_H

#include "formats/base/topic.h"

/* Ended by a topic without a name. */
extern const struct topic topics[];

#endif
