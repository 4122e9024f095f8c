/* SPDX-License-Identifier: Apache-2.0
 *
 * Rushlight's device API: open a program image, run it, stop after any band and go on later.
 *
 * The caller owns all memory: the image (flash), the regions (RAM) and one context per instance. Nothing
 * is allocated, nothing is static, two instances never share anything but the image. */
#ifndef RUSHLIGHT_RUSHLIGHT_H
#define RUSHLIGHT_RUSHLIGHT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a call came to. Everything but RUSH_OK, RUSH_RUNNING and RUSH_NEEDS_ROWS is an error. */
typedef enum rush_status {
  RUSH_OK = 0,
  RUSH_RUNNING = 1,           /**< rush_step: there is more to do */
  RUSH_BAD_ARGUMENT = 2,      /**< null pointer, no such entry, context too small, call out of order */
  RUSH_BAD_ALIGNMENT = 3,     /**< image or region base not 16-byte aligned */
  RUSH_BAD_IMAGE = 4,         /**< not a Rushlight image, truncated, or a section that does not hold */
  RUSH_BAD_VERSION = 5,       /**< image format of another major version */
  RUSH_BAD_CRC = 6,           /**< the image was damaged on its way */
  RUSH_WRONG_TARGET = 7,      /**< compiled for another class of core (scalar, dsp, mve) */
  RUSH_WRONG_KERNELS = 8,     /**< compiled for another kernel table than the one linked */
  RUSH_BAD_STEP = 9,          /**< a step's kernel, parameters, operands or chain do not hold */
  RUSH_REGION_TOO_SMALL = 10, /**< a region given is smaller than the image asks for */
  RUSH_NEEDS_ROWS = 11        /**< no error: the next rows of a line-fed input are wanted, see rush_feed_rows */
} rush_status;

/** Element types. int4 is two per byte, low nibble first. */
typedef enum rush_dtype {
  RUSH_INT8 = 1,
  RUSH_UINT8 = 2,
  RUSH_INT16 = 3,
  RUSH_INT32 = 4,
  RUSH_INT64 = 5,
  RUSH_FLOAT32 = 6,
  RUSH_FLOAT16 = 7,
  RUSH_INT4 = 8,
  RUSH_BOOL = 9
} rush_dtype;

enum { RUSH_MAX_RANK = 6, RUSH_MAX_REGIONS = 8, RUSH_ALIGNMENT = 16 };

/** RUSH_IO_LINE_FED: `operand` is a ring of a few rows, and rush_feed_rows() the only way to fill it. RUSH_IO_KEPT: the
 *  input still has its value after a run; others may have been overwritten. */
enum rush_io_flags { RUSH_IO_LINE_FED = 1, RUSH_IO_KEPT = 2 };

/** One input or output, as it lies in memory and in the image.
 *  real = (code - zero_point) * scale, and code = clamp(round_half_even(real * inverse_scale) + zero_point, code_min,
 *  code_max), in float32. dims are in the exported model's axis order; dim_order[i] is the axis that lies at memory
 *  position i, outermost first ({0,2,3,1} is channels-last). */
typedef struct rush_io {
  uint32_t name;    /**< for rush_string() */
  uint32_t operand; /**< region << 28 | offset; for rush_input() and rush_output() */
  uint32_t bytes;
  uint8_t dtype;          /**< rush_dtype of the codes in memory */
  uint8_t exported_dtype; /**< rush_dtype of the exported model's input or output */
  uint8_t rank;
  uint8_t flags; /**< rush_io_flags */
  uint32_t dims[RUSH_MAX_RANK];
  uint8_t dim_order[8];
  float scale; /**< 0 where the values are not quantized */
  float inverse_scale;
  int32_t zero_point;
  int32_t code_min;
  int32_t code_max;
  uint32_t exact_scale[2]; /**< the scale as binary64, low word first: for tools on the host */
} rush_io;

/** The kernels that a firmware links, made by `rushlight compile` (kernel.h); opaque to C. */
typedef struct rush_kernel_table rush_kernel_table;

/** A program: its image and the kernels it runs with. `rushlight compile` writes one as a constant. */
typedef struct rush_model {
  const void* image; /**< 16-byte aligned, read only, used in place */
  uint32_t image_bytes;
  const rush_kernel_table* kernels;
} rush_model;

/** RAM given to an instance. Region 1 of the image is memories[0], and so on (region 0 is the image). */
typedef struct rush_memory {
  void* base; /**< 16-byte aligned */
  uint32_t bytes;
} rush_memory;

/** One running instance. rows_done really has as many elements as the longest chain of the image has
 *  steps: allocate RUSH_CONTEXT_BYTES(n) bytes (model.h has the constant), aligned for a pointer. */
typedef struct rush_context {
  const uint8_t* image; /**< NULL unless rush_open() returned RUSH_OK */
  const rush_kernel_table* kernels;
  uint8_t* regions[RUSH_MAX_REGIONS];
  uint16_t chain; /**< next chain to run */
  uint16_t chain_end;
  uint16_t in_chain; /**< not 0 while rows_done belongs to a chain that has begun: where to look for what is ready */
  uint16_t rows_done[3];
} rush_context;

#define RUSH_CONTEXT_BYTES(chain_steps) (sizeof(rush_context) + ((chain_steps) > 3 ? ((chain_steps) - 2) / 2 * 4 : 0))

/** Verifies the whole image against `memories` and prepares `context`. After RUSH_OK no run of any entry
 *  touches memory outside the image, the regions and the context, and every run ends.
 *  Weights that the compiler placed in faster memory are copied there.
 *  Time: one CRC over the image and one pass over its steps. */
rush_status rush_open(rush_context* context, size_t context_bytes, const rush_model* model, const rush_memory* memories,
                      uint32_t memory_count);

/** Number of entry points; entry 0 is the inference. An entry named "init" prepares the state region: run it first. */
uint32_t rush_entry_count(const rush_context* context);
const char* rush_entry_name(const rush_context* context, uint32_t entry);

/** The entry's i-th input or output, or NULL. */
const rush_io* rush_input_info(const rush_context* context, uint32_t entry, uint32_t i);
const rush_io* rush_output_info(const rush_context* context, uint32_t entry, uint32_t i);

/** Where to write the i-th input before a run, where to read the i-th output after it; NULL if there is none, or if the
 *  input is line-fed. Inputs and outputs share memory: read outputs before writing the next inputs, and write every
 *  input before every run (but see RUSH_IO_KEPT). */
void* rush_input(const rush_context* context, uint32_t entry, uint32_t i);
const void* rush_output(const rush_context* context, uint32_t entry, uint32_t i);

/** The i-th label (class name) that the image carries, or NULL. */
const char* rush_label(const rush_context* context, uint32_t i);

/** The image's string at an offset (rush_io.name), or NULL. Zero-terminated UTF-8. */
const char* rush_string(const rush_context* context, uint32_t offset);

/** Begins a run of an entry; rush_step then does one band of one step and returns RUSH_RUNNING, or RUSH_OK at
 *  the end. A run may be given up at any time by beginning another one. */
rush_status rush_begin(rush_context* context, uint32_t entry);
rush_status rush_step(rush_context* context);

/** rush_begin, then rush_step to the end. */
rush_status rush_run(rush_context* context, uint32_t entry);

/** The index of the step that the next rush_step() runs a band of, RUSH_NO_STEP at the end of a run. So a caller that
 *  drives a run with rush_step can do something before and after each: profile.h does. */
uint32_t rush_next_step(rush_context* context);
#define RUSH_NO_STEP 0xffffffffu

/** Steps of the image, those of all entries. */
uint32_t rush_step_count(const rush_context* context);

/** Goes on with a run that rush_begin began, for about that many modelled cycles, and returns RUSH_RUNNING at the next
 *  row's end, or RUSH_OK at the end of the run. It does at least one row, so a row's time is the least that a caller
 *  must have; images compiled without costs do one row, or one step of a chain, a call. */
rush_status rush_run_some(rush_context* context, uint32_t cycles);

/** Line-fed inputs (`rushlight compile --line-input`) never exist as a whole. After rush_begin, give rows as they come,
 *  densely packed, in order: each call runs the model as far as the rows reach. RUSH_NEEDS_ROWS: the next rows, please;
 *  RUSH_OK: that was the last one, the outputs are there. Rows that are given beyond the last are ignored. */
rush_status rush_feed_rows(rush_context* context, const void* rows, uint32_t count);

#ifdef __cplusplus
}
#endif
#endif
