// A scheme in a shared object: the workers sum every k-th element, starting one further on at each step; the other
// elements count as zero. breakeven_plugin.h says what each function must do.
#include <stdlib.h>
#include <string.h>

#include "compressors/breakeven_plugin.h"

static uint64_t elements(const breakeven_shape *tensors, uint64_t count) {
  uint64_t n = 0;
  for (uint64_t i = 0; i < count; ++i) { n += tensors[i].rows * tensors[i].cols; }
  return n;
}

static void *make(const breakeven_value *values, char *error, uint64_t capacity) {
  uint64_t *k = malloc(sizeof *k);
  if (k != NULL) { *k = (uint64_t)values[0].number; } else { strncpy(error, "out of memory", capacity); }
  return k;
}

// One round for any message: an all-reduce of n / k elements, rounded up, of the gradient's own type.
static int32_t plan(const void *scheme, const breakeven_shape *tensors, uint64_t count, uint64_t workers,
                    breakeven_round *rounds, uint32_t capacity) {
  const uint64_t k = *(const uint64_t *)scheme, n = elements(tensors, count);
  if (n == 0 || workers == 0 || capacity == 0) { return 0; }
  const double width = tensors[0].element == BREAKEVEN_F32 ? 4 : 2, sent = width * (double)((n + k - 1) / k);
  const breakeven_work gather = {.touched_bytes = 2 * sent, .launches = 1, .elements = (double)n};
  const breakeven_work scatter = {.touched_bytes = sent + width * (double)n, .launches = 1, .elements = (double)n};
  rounds[0] = (breakeven_round){gather, scatter, sent, BREAKEVEN_ALL_REDUCE, tensors[0].element, {0}};
  return 1;
}

typedef struct { uint64_t k, first; double workers; float sent[]; } kernel;

static void *kernel_create(const void *scheme, const breakeven_shape *tensors, uint64_t count,
                           const breakeven_worker *worker) {
  kernel *self = malloc(sizeof *self + (elements(tensors, count) + 1) * sizeof(float));
  if (self != NULL) { *self = (kernel){*(const uint64_t *)scheme, 0, (double)worker->workers}; }
  return self;
}

static int32_t encode(void *to, uint32_t round, const float *gradient, uint64_t n, const void **data, uint64_t *bytes) {
  kernel *self = to;
  const uint64_t places = (n + self->k - 1) / self->k;
  for (uint64_t i = 0, from = self->first; i < places; ++i, from += self->k) {
    self->sent[i] = from < n ? gradient[from] : 0;
  }
  *data = self->sent;
  *bytes = places * sizeof(float);
  return round == 0 ? 0 : -1;
}

static int32_t decode(void *by, uint32_t round, const void *received, uint64_t bytes, float *mean, uint64_t n) {
  kernel *self = by;
  memset(mean, 0, n * sizeof *mean);
  for (uint64_t at = 0, i = self->first; i < n && at < bytes; at += sizeof(float), i += self->k) {
    memcpy(&mean[i], (const char *)received + at, sizeof(float));
    mean[i] = (float)(mean[i] / self->workers);
  }
  self->first = (self->first + 1) % self->k;
  return round == 0 ? 0 : -1;
}

static const breakeven_param params[] = {
    {.name = "k", .kind = BREAKEVEN_INTEGER, .fallback = "2", .low = 1, .high = 1000, .help = "one element in k"}};
static const breakeven_scheme schemes[] = {
    {.struct_size = sizeof(breakeven_scheme), .name = "every", .summary = "the sum of every k-th element",
     .source = "docs/plugins/every.c", .placement = BREAKEVEN_HOOK, .params = params, .param_count = 1,
     .make = make, .destroy = free, .plan = plan, .kernel_create = kernel_create, .kernel_destroy = free,
     .encode = encode, .decode = decode}};

const breakeven_plugin_v1_table *breakeven_plugin_v1(void) {
  static const breakeven_plugin_v1_table table = {sizeof table, schemes, 1, {0}};
  return &table;
}
