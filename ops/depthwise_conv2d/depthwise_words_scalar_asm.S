/* SPDX-License-Identifier: Apache-2.0
 *
 * The loops of Thumb-1 cores: conv2d_loops_asm.h says why and what they gain. */
#include "../conv2d/conv2d_loops_asm.h"
