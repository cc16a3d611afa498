// breakeven's C interface for schemes in a shared object, version 1: frozen, a change is a new symbol. How to
// write one: docs/plugins.md.
#pragma once

// NOLINTBEGIN(modernize-deprecated-headers,modernize-use-using): C
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// What a plugin does not set in a struct must be 0, as C initialises it; reserved fields stay 0. No C++
// exception may leave a function. The functions of a scheme may be called by several threads at once, those
// of one kernel by one thread at a time.

// breakeven_param.kind: what a value is. Bytes and times are written with their unit ("64 KiB", "10us").
enum {
  BREAKEVEN_INTEGER = 0,  // not negative
  BREAKEVEN_REAL = 1,
  BREAKEVEN_FRACTION = 2,  // "0.01" or "1%"
  BREAKEVEN_BYTES = 3,
  BREAKEVEN_TIME = 4,  // in seconds
  BREAKEVEN_CHOICE = 5
};
// breakeven_round.exchange, and what a worker receives: the sum (all-reduce, push and pull), its part of the
// sum (reduce-scatter), every worker's payload by rank (all-gather), every worker's part for this one by rank
// (all-to-all).
enum {
  BREAKEVEN_NONE = 0,
  BREAKEVEN_ALL_REDUCE = 1,
  BREAKEVEN_REDUCE_SCATTER = 2,
  BREAKEVEN_ALL_GATHER = 3,
  BREAKEVEN_ALL_TO_ALL = 4,
  BREAKEVEN_PUSH_PULL = 5
};
// breakeven_shape.element: a gradient's type; breakeven_round.element: what a sum adds.
enum { BREAKEVEN_F32 = 0, BREAKEVEN_F16 = 1, BREAKEVEN_BF16 = 2, BREAKEVEN_I32 = 3, BREAKEVEN_RAW_BYTES = 4 };
// breakeven_scheme.placement: where the codec runs, unless the user says otherwise.
enum {
  BREAKEVEN_SERIAL = 0,  // after backward, the whole gradient as one message
  BREAKEVEN_HOOK = 1,    // as each message is ready, in front of the rest of backward
  BREAKEVEN_STREAM = 2,  // beside backward, slowing it
  BREAKEVEN_HOST = 3     // on the CPU
};

typedef struct breakeven_param {
  // A lower case letter, then these, digits, '_', '-'; not "encode" or "decode", which every scheme takes.
  const char* name;
  int32_t kind;          // BREAKEVEN_INTEGER ...
  int32_t above_low;     // 1: low itself is refused
  const char* fallback;  // the default, as a user writes it
  double low, high;      // inclusive, in bytes or seconds where it has a unit; 0 for choices
  const char* const* choices;
  uint64_t choice_count;  // 0 unless the kind is BREAKEVEN_CHOICE
  const char* help;
  uint64_t reserved[2];
} breakeven_param;

// A checked value of one parameter.
typedef struct breakeven_value {
  double number;     // in bytes or seconds where it has a unit; 0 for choices
  const char* text;  // as the user wrote it; the choice
} breakeven_value;

// A tensor as a matrix: rows is its first dimension, cols the product of the others.
typedef struct breakeven_shape {
  uint64_t rows, cols;
  int32_t element;  // BREAKEVEN_F32, _F16, _BF16
  int32_t reserved;
} breakeven_shape;

// Encode or decode work of a round, free of any device.
typedef struct breakeven_work {
  double touched_bytes;  // read and written
  double flops;
  double launches;       // GPU kernels started one after the other
  double elements;       // gradient elements of one coding, with padding at most 2 x the message's; 0: none
  double repeats;        // codings: as many as payloads that are decoded; 0 counts as 1
  double known_seconds;  // instead of an estimate from the above; 0: not known
  uint64_t reserved[2];
} breakeven_work;

typedef struct breakeven_round {
  breakeven_work encode, decode;
  double payload_bytes;  // what ONE worker contributes, on average over a period of steps; not 0
  int32_t exchange;      // BREAKEVEN_ALL_REDUCE ...
  int32_t element;       // of a sum: BREAKEVEN_F32 ...
  uint64_t reserved[2];
} breakeven_round;

typedef struct breakeven_worker {
  uint64_t rank, workers;
  uint64_t seed;     // the same at every worker
  uint64_t threads;  // that encode and decode may use; results must not depend on it
  uint64_t reserved[4];
} breakeven_worker;

typedef struct breakeven_scheme {
  uint64_t struct_size;                 // sizeof(breakeven_scheme)
  const char *name, *summary, *source;  // named like a parameter; one line; where its wire format comes from
  int32_t placement;                    // BREAKEVEN_SERIAL ...
  int32_t same_steps;                   // 1: training needs no more steps with it than without
  const breakeven_param* params;
  uint64_t param_count;

  // The scheme with these values, in the order of params; NULL, with a line of text in `error`, where they do
  // not fit.
  void* (*make)(const breakeven_value* values, char* error, uint64_t error_capacity);
  void (*destroy)(void* scheme);
  // Fills in the rounds of one message, which are zeroed, and returns their number, `capacity` at most;
  // negative: fails.
  int32_t (*plan)(const void* scheme, const breakeven_shape* tensors, uint64_t count, uint64_t workers,
                  breakeven_round* rounds, uint32_t capacity);
  // Bytes that a worker keeps from step to step. NULL: none.
  double (*state)(const void* scheme, const breakeven_shape* tensors, uint64_t count, uint64_t workers);
  // Steps after which a kernel's payloads repeat. NULL: 1.
  uint64_t (*period)(const void* scheme);

  // One worker's code for one message of fp32 tensors, laid end to end. All four are NULL where the scheme is
  // described only. kernel_create returns NULL for a message that it does not code, or cannot.
  void* (*kernel_create)(const void* scheme, const breakeven_shape* tensors, uint64_t count,
                         const breakeven_worker* worker);
  void (*kernel_destroy)(void* kernel);
  // Called for every round in turn, from 0; 0: done. `*data`, as long as planned, stays valid until the next
  // call.
  int32_t (*encode)(void* kernel, uint32_t round, const float* gradient, uint64_t elements, const void** data,
                    uint64_t* bytes);
  // `received` begins at a multiple of the size of the round's element; BREAKEVEN_RAW_BYTES anywhere. After
  // the last round `mean` holds the mean gradient of all workers, the same bits at each; it does not overlap
  // anything else, and keeps what earlier rounds wrote. 0: done.
  int32_t (*decode)(void* kernel, uint32_t round, const void* received, uint64_t bytes, float* mean,
                    uint64_t elements);
  uint64_t reserved[8];
} breakeven_scheme;

typedef struct breakeven_plugin_v1_table {
  uint64_t struct_size;  // sizeof(breakeven_plugin_v1_table)
  const breakeven_scheme* schemes;
  uint64_t scheme_count;
  uint64_t reserved[5];
} breakeven_plugin_v1_table;

// What a plugin exports. The table is never freed.
const breakeven_plugin_v1_table* breakeven_plugin_v1(void);  // NOLINT(modernize-redundant-void-arg): C

#ifdef __cplusplus
}
#endif
// NOLINTEND(modernize-deprecated-headers,modernize-use-using)
