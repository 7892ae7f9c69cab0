/* SPDX-License-Identifier: Apache-2.0 */
/*
 * graph_dot.h - a call graph in the language of Graphviz.
 */
#ifndef REPORT_GRAPH_DOT_H
#define REPORT_GRAPH_DOT_H

#include "formats/profile/facts.h"
#include "report/view/call_graph.h"

#include <stdio.h>

/* @clusters: functions of a module stand in a box of its own. */
void graph_dot_write(const struct call_graph *graph, const struct profile_facts *facts, bool clusters, FILE *out);

#endif
