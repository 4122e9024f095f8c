/* SPDX-License-Identifier: Apache-2.0
 *
 * One inference from a camera, line by line. */
#include "model.h"

/* Waits for the camera's next line, converts it to codes (MODEL_INPUT0_SCALE, MODEL_INPUT0_ZERO_POINT). */
void camera_next_line(int8_t* line, uint32_t bytes);

static uint32_t context[(MODEL_CONTEXT_BYTES + 3) / 4];
static uint8_t arena[MODEL_ARENA_BYTES] __attribute__((aligned(16)));

/** The scores, or NULL if the model cannot be opened. */
const int8_t* classify(void) {
  static const rush_memory memories[] = {{arena, sizeof arena}};
  rush_context* const model_context = (rush_context*)context;
  if (rush_open(model_context, sizeof context, &model, memories, 1) != RUSH_OK) return NULL;

  int8_t line[MODEL_INPUT0_ROW_BYTES];
  rush_status status = rush_begin(model_context, MODEL_ENTRY_MAIN);
  if (status == RUSH_OK) status = RUSH_NEEDS_ROWS;
  while (status == RUSH_NEEDS_ROWS) {
    camera_next_line(line, sizeof line);
    status = rush_feed_rows(model_context, line, 1);
  }
  return status == RUSH_OK ? (const int8_t*)rush_output(model_context, MODEL_ENTRY_MAIN, 0) : NULL;
}
