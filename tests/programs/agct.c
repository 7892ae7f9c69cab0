/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agct.c - an agent that has HotSpot itself say what a thread executes (AsyncGetCallTrace), at each tick of a clock of CPU time.
 *
 *	java -agentpath:./libagct.so=FILE ...
 *
 * The clock's signal is an event that precord can record (signal:signal_deliver), at the very instruction that the machine is asked
 * about. FILE gets, when the machine ends, a line for each tick: time (ns, CLOCK_MONOTONIC), thread, the number of frames or why there
 * are none, and for each frame, innermost first, its method and line (0: none is known).
 */
#include <jvmti.h>

#include <dlfcn.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define TICK_US	   10000
#define DEPTH_MAX  1024
#define TICKS_MAX  32768

/* As HotSpot's forte.cpp has them. */
struct call_frame {
	jint bci;
	jmethodID method;
};

struct call_trace {
	JNIEnv *env;
	jint count;
	struct call_frame *frames;
};

struct tick {
	uint64_t time_ns;
	jint count;
	pid_t tid;
};

static struct {
	JavaVM *vm;
	jvmtiEnv *jvmti;
	void (*get_trace)(struct call_trace *trace, jint depth, void *context);
	struct tick ticks[TICKS_MAX];
	struct call_frame (*frames)[DEPTH_MAX]; /* of each tick; what is not used is never touched */
	atomic_uint nticks;
	char path[4096];
} agent;

static void on_tick(int signal, siginfo_t *info, void *context)
{
	unsigned number = atomic_fetch_add(&agent.nticks, 1);
	struct call_trace trace = { .frames = agent.frames[number] };
	struct timespec now;

	(void)signal, (void)info;
	if (number >= TICKS_MAX)
		return;
	clock_gettime(CLOCK_MONOTONIC, &now);
	agent.ticks[number].time_ns = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	agent.ticks[number].tid = (pid_t)syscall(SYS_gettid);
	if ((*agent.vm)->GetEnv(agent.vm, (void **)&trace.env, JNI_VERSION_1_6) != JNI_OK)
		return;
	agent.get_trace(&trace, DEPTH_MAX, context);
	agent.ticks[number].count = trace.count;
}

/* Methods have a number from now on. */
static void JNICALL on_class_prepare(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	jmethodID *methods;
	jint count;

	(void)env, (void)thread;
	if ((*jvmti)->GetClassMethods(jvmti, class, &count, &methods) == JVMTI_ERROR_NONE)
		(*jvmti)->Deallocate(jvmti, (unsigned char *)methods);
}

/* The machine answers only where it has to tell of classes that are loaded. */
static void JNICALL on_class_load(jvmtiEnv *jvmti, JNIEnv *env, jthread thread, jclass class)
{
	(void)jvmti, (void)env, (void)thread, (void)class;
}

static void JNICALL on_start(jvmtiEnv *jvmti, JNIEnv *env, jthread thread)
{
	struct sigaction action = { .sa_sigaction = on_tick, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct itimerval every = { { 0, TICK_US }, { 0, TICK_US } };
	jclass *classes;
	jint count;

	if ((*jvmti)->GetLoadedClasses(jvmti, &count, &classes) == JVMTI_ERROR_NONE) {
		for (jint i = 0; i < count; i++)
			on_class_prepare(jvmti, env, thread, classes[i]);
		(*jvmti)->Deallocate(jvmti, (unsigned char *)classes);
	}
	sigaction(SIGPROF, &action, NULL);
	setitimer(ITIMER_PROF, &every, NULL);
}

/* The line of bytecode @bci; 0: none. Of native methods there is no bytecode. */
static int line_of(jmethodID method, jint bci)
{
	jvmtiLineNumberEntry *lines;
	jint count, best = -1;
	int line = 0;

	if (bci < 0 || (*agent.jvmti)->GetLineNumberTable(agent.jvmti, method, &count, &lines) != JVMTI_ERROR_NONE)
		return 0;
	for (jint i = 0; i < count; i++) {
		if (lines[i].start_location <= bci && lines[i].start_location >= best) {
			best = (jint)lines[i].start_location;
			line = lines[i].line_number;
		}
	}
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)lines);
	return line;
}

static void write_frame(FILE *out, const struct call_frame *frame)
{
	char *name, *class;
	jclass declaring;

	if (!frame->method || (*agent.jvmti)->GetMethodName(agent.jvmti, frame->method, &name, NULL, NULL) != JVMTI_ERROR_NONE) {
		fputs(" ?:0", out);
		return;
	}
	(*agent.jvmti)->GetMethodDeclaringClass(agent.jvmti, frame->method, &declaring);
	(*agent.jvmti)->GetClassSignature(agent.jvmti, declaring, &class, NULL);
	class[strlen(class) - 1] = '\0';
	fprintf(out, " %s.%s:%d", class + 1, name, line_of(frame->method, frame->bci));
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)name);
	(*agent.jvmti)->Deallocate(agent.jvmti, (unsigned char *)class);
}

static void JNICALL on_end(jvmtiEnv *jvmti, JNIEnv *env)
{
	struct itimerval never = { 0 };
	FILE *out = fopen(agent.path, "w");

	(void)jvmti, (void)env;
	setitimer(ITIMER_PROF, &never, NULL);
	for (unsigned i = 0; out && i < agent.nticks && i < TICKS_MAX; i++) {
		const struct tick *tick = &agent.ticks[i];

		fprintf(out, "%" PRIu64 " %d %d", tick->time_ns, tick->tid, tick->count);
		for (jint j = 0; j < tick->count; j++)
			write_frame(out, &agent.frames[i][j]);
		fputc('\n', out);
	}
	if (out)
		fclose(out);
}

JNIEXPORT jint JNICALL Agent_OnLoad(JavaVM *vm, char *options, void *reserved)
{
	jvmtiEventCallbacks callbacks = {
		.ClassLoad = on_class_load, .ClassPrepare = on_class_prepare, .VMInit = on_start, .VMDeath = on_end
	};
	static const jvmtiEvent events[] = { JVMTI_EVENT_CLASS_LOAD, JVMTI_EVENT_CLASS_PREPARE, JVMTI_EVENT_VM_INIT,
					     JVMTI_EVENT_VM_DEATH };
	jvmtiCapabilities wanted = { .can_get_line_numbers = 1 };

	(void)reserved;
	snprintf(agent.path, sizeof(agent.path), "%s", options ? options : "agct.txt");
	agent.vm = vm;
	agent.frames = calloc(TICKS_MAX, sizeof(*agent.frames));
	*(void **)&agent.get_trace = dlsym(RTLD_DEFAULT, "AsyncGetCallTrace");
	if (!agent.get_trace || !agent.frames || (*vm)->GetEnv(vm, (void **)&agent.jvmti, JVMTI_VERSION_1_2) != JNI_OK)
		return JNI_ERR;
	(*agent.jvmti)->AddCapabilities(agent.jvmti, &wanted);
	(*agent.jvmti)->SetEventCallbacks(agent.jvmti, &callbacks, sizeof(callbacks));
	for (unsigned i = 0; i < sizeof(events) / sizeof(*events); i++)
		(*agent.jvmti)->SetEventNotificationMode(agent.jvmti, JVMTI_ENABLE, events[i], NULL);
	return JNI_OK;
}
