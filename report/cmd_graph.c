/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_graph.c - the call graph, in the language of Graphviz or as the picture that Graphviz makes of it.
 */
#include "report/commands.h"
#include "report/export/export.h"
#include "report/view/call_graph.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define DEFAULT_PICTURE "graph.svg"
#define GRAPHVIZ	"dot" /* its program for hierarchies */

struct graph_args {
	struct export_args export;
	struct call_graph_limits limits;
	bool svg, clusters;
};

static struct err *parse_share(void *field, const char *value)
{
	char *end;
	double percent = strtod(value, &end);

	if (end == value || *end || !isfinite(percent) || percent < 0 || percent > 100)
		return err_new(ERR_USAGE, "'%s' is not a number from 0 to 100", value);
	*(double *)field = percent / 100;
	return NULL;
}

static const struct opt graph_opts[] = {
	OPT_FLAG(struct graph_args, svg, "svg", 0, "an SVG picture, as with -o FILE.svg; needs Graphviz"),
	OPT_UINT(struct graph_args, limits.nodes, "nodes", 'n', "N", "at most N functions, 0 for all (default 80)"),
	OPT_PARSE(struct graph_args, limits.node_share, "min-node", 0, "PERCENT",
		  "leave out functions whose total is less (default 0.5)", parse_share),
	OPT_PARSE(struct graph_args, limits.edge_share, "min-edge", 0, "PERCENT",
		  "leave out calls that carry less (default 0.1)", parse_share),
	OPT_NOT(struct graph_args, clusters, "no-clusters", 0, "no box around the functions of each module"),
	OPT_GROUP(struct graph_args, export, export_opts),
	OPT_END,
};

static void graph_defaults(void *args)
{
	struct graph_args *graph = args;

	graph->limits = (struct call_graph_limits){ .nodes = 80, .node_share = 0.005, .edge_share = 0.001 };
	graph->clusters = true;
}

static struct err *wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_system(errno, "cannot wait for '" GRAPHVIZ "'");
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return err_remedy(err_new(ERR_SYSTEM, "Graphviz made no picture of the graph"),
				  "'preport graph -o graph.dot' writes what it was given; fewer functions (--nodes) are easier");
	return NULL;
}

/* Have Graphviz read @from and write to @to. */
static struct err *run_graphviz(int from, int to)
{
	static const char *const argv[] = { GRAPHVIZ, "-Tsvg", NULL };
	posix_spawn_file_actions_t actions;
	pid_t pid;
	int error;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
	error = posix_spawnp(&pid, GRAPHVIZ, &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (error)
		return err_remedy(err_system(error, "cannot run Graphviz's '" GRAPHVIZ "', which draws the picture"),
				  "install graphviz, or write its language instead: preport graph -o graph.dot");
	return wait_for(pid);
}

static struct err *write_picture(const struct call_graph *graph, const struct profile_facts *facts, bool clusters, FILE *out)
{
	FILE *text = tmpfile();
	struct err *err;

	if (!text)
		return err_system(errno, "cannot create a temporary file");
	graph_dot_write(graph, facts, clusters, text);
	if (fflush(text) != 0 || fflush(out) != 0 || lseek(fileno(text), 0, SEEK_SET) < 0)
		err = err_system(errno, "cannot write to a temporary file");
	else
		err = run_graphviz(fileno(text), fileno(out));
	fclose(text);
	return err;
}

static struct err *write_graph(void *args, const struct profile *p, const struct profile_facts *facts, FILE *out)
{
	const struct graph_args *how = args;
	struct call_graph graph;
	struct err *err = NULL;

	call_graph_build(&graph, p, facts->first_type, &how->limits);
	if (how->svg)
		err = write_picture(&graph, facts, how->clusters, out);
	else
		graph_dot_write(&graph, facts, how->clusters, out);
	call_graph_deinit(&graph);
	return err;
}

static struct err *graph_run(void *args, char **operands, int noperands, int *ret_status)
{
	static const struct export_file picture = { DEFAULT_PICTURE, "xdg-open" };
	struct graph_args *graph = args;
	const char *output = graph->export.output;
	size_t len = output ? strlen(output) : 0;

	(void)operands;
	(void)noperands;
	(void)ret_status;
	if (len > 4 && strcmp(output + len - 4, ".svg") == 0)
		graph->svg = true;
	graph->export.warns_losses = true;
	if (graph->svg)
		return export_run_file(&cmd_graph, args, write_graph, &picture);
	return export_run(&cmd_graph, args, write_graph);
}

const struct command cmd_graph = {
	.name = "graph",
	.summary = "the call graph, for Graphviz or as an SVG picture",
	.operands = "",
	.details = "Writes Graphviz's language (DOT); with --svg or -o FILE.svg a picture.",
	.examples = "  preport graph -o graph.svg\n"
		    "  preport graph --nodes 30 --min-node 2 | dot -Tpdf -o graph.pdf\n",
	.manual = "preport(1)",
	.opts = graph_opts,
	.args_size = sizeof(struct graph_args),
	.defaults = graph_defaults,
	.run = graph_run,
};
