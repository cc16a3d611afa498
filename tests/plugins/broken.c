// A plugin whose scheme "plain" sends its gradient as it is, and that does wrong what -DFAULT_... says.
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "compressors/breakeven_plugin.h"

#define UNUSED(x) (void)(x)

static double workers_of_kernel;

static void *make(const breakeven_value *values, char *error, uint64_t capacity) {
  UNUSED(values);
#ifdef FAULT_MAKE_CRASH
  abort();
#endif
#ifdef FAULT_MAKE
  strncpy(error, "it does not like you", capacity);
  return NULL;
#else
  UNUSED(error);
  UNUSED(capacity);
  static char handle;
  return &handle;
#endif
}

static void leave(void *self) { UNUSED(self); }

static int32_t plan(const void *scheme, const breakeven_shape *tensors, uint64_t count, uint64_t workers,
                    breakeven_round *rounds, uint32_t capacity) {
  UNUSED(scheme);
  UNUSED(workers);
  UNUSED(capacity);
  for (uint64_t i = 0; i < count; ++i) {
    rounds[0].payload_bytes += 4 * (double)tensors[i].rows * (double)tensors[i].cols;
  }
  rounds[0].exchange = BREAKEVEN_ALL_REDUCE;
#if defined FAULT_PLAN
  return -7;
#elif defined FAULT_OVERFLOWING_PLAN
  rounds[0].payload_bytes *= 1e300;
#elif defined FAULT_UNCOUNTED
  rounds[0].payload_bytes /= 2;
#elif defined FAULT_OVERCOUNTED
  rounds[0].encode.elements = 1 + rounds[0].payload_bytes / 4;
#endif
  return rounds[0].payload_bytes > 0;
}

static void *kernel_create(const void *scheme, const breakeven_shape *tensors, uint64_t count,
                           const breakeven_worker *worker) {
  UNUSED(scheme);
  UNUSED(tensors);
  UNUSED(count);
  workers_of_kernel = (double)worker->workers;
#ifdef FAULT_NO_KERNEL
  return NULL;
#else
  return &workers_of_kernel;
#endif
}

static int32_t encode(void *kernel, uint32_t round, const float *gradient, uint64_t elements, const void **data,
                      uint64_t *bytes) {
  UNUSED(kernel);
  *data = gradient;
  *bytes = elements * sizeof(float);
#if defined FAULT_CRASH
  abort();
#elif defined FAULT_LEAVE
  exit(0);
#elif defined FAULT_ENCODE
  return 3;
#elif defined FAULT_NULL_DATA
  *data = NULL;
#elif defined FAULT_OTHER_BYTES
  *bytes += 2;
#elif defined FAULT_OVERFLOWING_BYTES
  *bytes = UINT64_MAX - 3;
#endif
  return round == 0 ? 0 : -1;
}

static int32_t decode(void *kernel, uint32_t round, const void *received, uint64_t bytes, float *mean,
                      uint64_t elements) {
  UNUSED(round);
  memcpy(mean, received, bytes);
  for (uint64_t i = 0; i < elements; ++i) {
    mean[i] = (float)(mean[i] / *(double *)kernel);
  }
#ifdef FAULT_DECODE
  return -2;
#else
  return 0;
#endif
}

static const breakeven_scheme schemes[] = {{
    .struct_size = sizeof(breakeven_scheme),
#ifndef FAULT_NULL_NAME
    .name = "plain",
#endif
    .summary = "the gradient as it is",
    .source = "tests",
    .make = make,
    .destroy = leave,
    .plan = plan,
    .kernel_create = kernel_create,
    .kernel_destroy = leave,
    .encode = encode,
    .decode = decode,
}};
static const breakeven_plugin_v1_table table = {sizeof table, schemes, 1, {0}};

#if defined FAULT_NO_ENTRY
const void *some_other_entry(void);
const void *some_other_entry(void) { return &table; }
#elif defined FAULT_VERSION_0
const void *breakeven_plugin_v0(void);
const void *breakeven_plugin_v0(void) { return &table; }
#elif defined FAULT_VERSION_2
const void *breakeven_plugin_v2(void);
const void *breakeven_plugin_v2(void) { return &table; }
#elif defined FAULT_DATA_ENTRY
extern const breakeven_plugin_v1_table breakeven_plugin_v1_data __asm__("breakeven_plugin_v1");
const breakeven_plugin_v1_table breakeven_plugin_v1_data = {sizeof table, schemes, 1, {0}};
#elif defined FAULT_NULL_TABLE
const breakeven_plugin_v1_table *breakeven_plugin_v1(void) { return schemes[0].name == NULL ? &table : NULL; }
#else
const breakeven_plugin_v1_table *breakeven_plugin_v1(void) { return &table; }
#endif
