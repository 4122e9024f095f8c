// SPDX-License-Identifier: Apache-2.0
//
// Runs of a convolution's tiles: two positions by four channels, eight sums in the even core registers, loads and
// multiply-accumulates by turns. The requantization of a tile is woven into the multiplies of the next one, so that
// there is an instruction to issue in every cycle. No compiler does either: they spill the sums, and leave LR to their
// loops. Two to three times as fast as the intrinsics twin in conv2d_tiles_mve.cpp, which says what a run is.
//
// The order of woven instructions is that of a list scheduler that knew the M55's units and latencies; the tests
// compare it with the twin, and nothing else depends on it.
//
// r9, r11: the two positions' inputs. r5: weights. r1: the block's constants. q4: the output zero point. r7, r3: where
// codes went last. The sums are in r0, r2, r4, r6 (first position) and r8, r10, r12, lr (second).
#if defined(RUSH_ASM) && defined(__ARM_FEATURE_MVE)
  .syntax unified
  .thumb

// Fields of ConvRun (conv2d_tiles_mve.cpp), which is copied to the stack.
  .equ X, 0
  .equ OUT, 8
  .equ STEP, 16
  .equ OUT_STEP, 20
  .equ WEIGHTS, 24
  .equ CHANNELS, 28
  .equ BLOCK_BYTES, 32
  .equ BLOCKS, 36
  .equ LAST, 40
  .equ END, 44
  .equ PAIRS, 48
  .equ COUNT, 52
  .equ FIRST, 56
  .equ TILE, 60
  .equ REST, 64
  .equ THEN, 68
  .equ LIST, 72
  .equ SAVED, 112
  .equ FRAME, 116

// A chunk of sixteen inputs, the first position's loaded already; two spare cycles. 56 bytes where it loads the next.
.macro CHUNK one="", two="", three="", four=""
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  \one
  vmladava.s8 r12, q1, q2
  \two
  vmladava.s8 r6, q0, q3
  \three
  \four
  vmladava.s8 lr, q1, q3
.endm
#define NEXT three="vldrb.u8 q0, [r9], #16"

// Whether a tile was the block's last, and back to the block's weights.
#define END_OF_TILE "ldr r5, [sp, #END]", "cmp r9, r5", "ldr r5, [sp, #WEIGHTS]"

  .section .text.rush_conv2d_run_mve, "ax", %progbits
  .p2align 3
  .global rush_conv2d_run_mve
  .type rush_conv2d_run_mve, %function
rush_conv2d_run_mve:
.Lrun:
  push {r4-r11, lr}
  vpush {d8-d15}
  sub sp, #FRAME
  mov r1, sp
  movs r2, #7
  dls lr, r2
1:
  vldrw.u32 q0, [r0], #16
  vstrw.32 q0, [r1], #16
  le lr, 1b
  ldr r2, [r0] // the zero point, which is not copied
  vdup.16 q4, r2
  ldr r2, [sp, #LAST]
  vctp.32 r2
  ldrd r5, r1, [sp, #WEIGHTS]
  ldrd r7, r3, [sp, #OUT]
  ldrd r9, r11, [sp, #X]
  movs r0, #0
  movs r4, #0
  movs r6, #0
  mov r8, r0
  mov r10, r0
  mov r12, r0
  mov lr, r0
  b .Lblock

// One chunk.
.Lone:
  vmov q5[2], q5[0], r0, r4
  vldrw.u32 q7, [r1]
  vmov q6[2], q6[0], r8, r12
  vmov q6[3], q6[1], r10, lr
  ldrd r12, lr, [sp, #STEP]
  vldrb.u8 q2, [r5], #16
  vmov q5[3], q5[1], r2, r6
  add r11, r12
  vadd.i32 q5, q5, q7
  vldrb.u8 q1, [r11], #16
  vadd.i32 q6, q6, q7
  vldrw.u32 q7, [r1, #16]
  add r9, r12
  vmulh.s32 q5, q5, q7
  vldrb.u8 q3, [r5], #16
  add r7, lr
  vrshl.s32 q5, q5, q7
  vldrb.u8 q0, [r9], #16
  vmulh.s32 q6, q6, q7
  add r3, lr
  vmladav.s8 r8, q1, q2
  vrshl.s32 q6, q6, q7
  vmladav.s8 r0, q0, q2
  vqmovnb.s32 q5, q5
  vmladav.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vqmovnt.s32 q5, q6
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  ldr r5, [sp, #END]
  vmladav.s8 r12, q1, q2
  vqadd.s16 q5, q5, q4
  vmladav.s8 r4, q0, q2
  vqmovnb.s16 q5, q5
  vmladav.s8 lr, q1, q3
  cmp r9, r5
  vstrb.32 q5, [r7]
  vmladav.s8 r6, q0, q3
  vshr.u32 q6, q5, #16
  vstrb.32 q6, [r3]
  ldr r5, [sp, #WEIGHTS]
  bne .Lone
  b .Lblock_end
.Lone_first:
  CHUNK END_OF_TILE
  bne .Lone
  b .Lblock_end

// Two chunks or more: of six, the end. Longer windows have pairs of chunks before.
.Lfew:
  vmov q6[2], q6[0], r8, r12
  vldrw.u32 q7, [r1]
  vmov q5[2], q5[0], r0, r4
  vmov q6[3], q6[1], r10, lr
  vldrb.u8 q2, [r5], #16
  vmov q5[3], q5[1], r2, r6
  ldrd r12, lr, [sp, #STEP]
  vadd.i32 q6, q6, q7
  vldrb.u8 q3, [r5], #16
  vadd.i32 q5, q5, q7
  vldrw.u32 q7, [r1, #16]
  vmulh.s32 q6, q6, q7
  add r11, r12
  add r9, r12
  vldrb.u8 q1, [r11], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q0, [r9], #16
  vmladav.s8 r0, q0, q2
  add r3, lr
  vmladav.s8 r8, q1, q2
  vrshl.s32 q5, q5, q7
  vmladav.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r10, q1, q3
  vrshl.s32 q6, q6, q7
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r6, q0, q3
  vqmovnb.s32 q5, q5
  vmladav.s8 r4, q0, q2
  vldrb.u8 q0, [r9], #16
  vqmovnt.s32 q5, q6
  vmladav.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  add r7, lr
  vmladav.s8 lr, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r0, q0, q2
  vqadd.s16 q5, q5, q4
  vldrb.u8 q1, [r11], #16
  vqmovnb.s16 q5, q5
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q0, q2
  vshr.u32 q6, q5, #16
  vmladava.s8 r2, q0, q3
  vstrb.32 q5, [r7]
  vmladava.s8 r10, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r12, q1, q2
  vstrb.32 q6, [r3]
  vmladava.s8 lr, q1, q3
  ldr pc, [sp, #REST]
.Lfew_none:
  subs r9, #16
  ldr r5, [sp, #END]
  cmp r9, r5
  ldr r5, [sp, #WEIGHTS]
  bne .Lfew
  b .Lblock_end
.Lfew_pairs:
  str r3, [sp, #SAVED]
  ldr r3, [sp, #COUNT]
  b .Lpairs
.Lfew_pairs_first:
  str r3, [sp, #SAVED]
  ldr r3, [sp, #COUNT]
  adds r3, #1
.Lpairs: // r3 of them
  CHUNK NEXT
  CHUNK "subs r3, #1", NEXT
  bne .Lpairs
  ldr r3, [sp, #SAVED]
  ldr pc, [sp, #THEN]
  .rept 5
  CHUNK NEXT
  .endr
.Lfew_last:
  CHUNK END_OF_TILE
  bne .Lfew

// After the last tile of a block: its codes, and on to the next block, whose first tile has no requantization to do.
  .global rush_conv2d_block_end
  .type rush_conv2d_block_end, %function
rush_conv2d_block_end:
.Lblock_end:
  vmov q5[2], q5[0], r0, r4
  vmov q5[3], q5[1], r2, r6
  ldrd r0, r2, [sp, #BLOCK_BYTES]
  vldrw.u32 q7, [r1], #16
  ldr r4, [sp, #OUT_STEP]
  vadd.i32 q5, q5, q7
  vmov q6[2], q6[0], r8, r12
  vldrw.u32 q0, [r1], #16
  vmov q6[3], q6[1], r10, lr
  add r5, r0
  add r3, r4
  vmulh.s32 q5, q5, q0
  add r7, r4
  vrshl.s32 q5, q5, q0
  ldrd r0, r4, [sp, #OUT]
  adds r0, #4
  adds r4, #4
  vadd.i32 q6, q6, q7
  vmulh.s32 q6, q6, q0
  strd r5, r1, [sp, #WEIGHTS]
  vqmovnb.s32 q5, q5
  strd r0, r4, [sp, #OUT]
  vrshl.s32 q6, q6, q0
  movs r0, #0
  movs r4, #0
  vqmovnt.s32 q5, q6
  mov lr, r0
  movs r6, #0
  vqadd.s16 q5, q5, q4
  mov r10, r0
  mov r12, r0
  vqmovnb.s16 q5, q5
  mov r8, r0
  subs r2, #1
  str r2, [sp, #BLOCKS]
  vpst
  vstrbt.32 q5, [r7]
  ldrd r9, r11, [sp, #X]
  vshr.u32 q6, q5, #16
  vpst
  vstrbt.32 q6, [r3]
  ldrd r7, r3, [sp, #OUT]
  beq 1f
.Lblock:
  movs r2, #0
  vldrb.u8 q0, [r9], #16
  ldr pc, [sp, #FIRST]
1:
  add sp, #FRAME
  vpop {d8-d15}
  pop {r4-r11, pc}
  .size rush_conv2d_run_mve, . - rush_conv2d_run_mve

// Windows of several segments. r1 and r3 are needed for the list of segments.
  .section .text.rush_conv2d_rows_mve, "ax", %progbits
  .p2align 3
  .global rush_conv2d_rows_mve
  .type rush_conv2d_rows_mve, %function
rush_conv2d_rows_mve:
.Lrows:
// Any number of segments of three chunks or more: of six, the end, after pairs of chunks.
.Lmany_first:
  str r3, [sp, #SAVED]
  add r1, sp, #LIST
  ldr pc, [r1, #4]
.Lmany:
  vmov q5[2], q5[0], r0, r4
  vldrb.u8 q2, [r5], #16
  vmov q6[2], q6[0], r8, r12
  vmov q5[3], q5[1], r2, r6
  vldrb.u8 q1, [r11], #16
  vmladav.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r1]
  ldr lr, [sp, #OUT_STEP]
  vmladav.s8 r0, q0, q2
  vadd.i32 q6, q6, q7
  vmladav.s8 r10, q1, q3
  add r3, lr
  vmladav.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  add r7, lr
  vadd.i32 q5, q5, q7
  vldrw.u32 q7, [r1, #16]
  vmulh.s32 q5, q5, q7
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r12, q1, q2
  add r1, sp, #LIST
  vmulh.s32 q6, q6, q7
  vrshl.s32 q5, q5, q7
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r11], #16
  vmladav.s8 r4, q0, q2
  vqmovnb.s32 q5, q5
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r6, q0, q3
  vrshl.s32 q6, q6, q7
  vmladava.s8 r8, q1, q2
  vqmovnt.s32 q5, q6
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  vqadd.s16 q5, q5, q4
  vmladava.s8 r4, q0, q2
  str r3, [sp, #SAVED]
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  vqmovnb.s16 q5, q5
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r12, q1, q2
  vstrb.32 q5, [r7]
  vshr.u32 q6, q5, #16
  vmladava.s8 lr, q1, q3
  vstrb.32 q6, [r3]
  ldr pc, [sp, #REST]
.Lmany_pairs_less:
  ldr r3, [sp, #COUNT]
  subs r3, #1
  ldr pc, [sp, #PAIRS]
.Lmany_pairs:
  ldr r3, [sp, #COUNT]
  ldr pc, [sp, #PAIRS]
  .rept 5
  CHUNK NEXT
  .endr
.Lmany_last:
  CHUNK "ldr r3, [r1], #8", "add r9, r3", "add r11, r3", "vldrb.u8 q0, [r9], #16"
  ldr pc, [r1, #-4]
.Lmany_done:
  ldr r1, [sp, #CHANNELS]
  ldr r5, [sp, #END]
  ldr r3, [sp, #SAVED]
  cmp r9, r5
  ldr r5, [sp, #WEIGHTS]
  it ne
  ldrne pc, [sp, #TILE]
  b.w rush_conv2d_block_end

// Three segments of three chunks. The first tile of a block is one of any segments.
.Lnine:
  vldrb.u8 q1, [r11], #16
  vmov q6[2], q6[0], r8, r12
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r8, q1, q2
  vmov q5[2], q5[0], r0, r4
  vmov q5[3], q5[1], r2, r6
  vldrw.u32 q7, [r1]
  vmov q6[3], q6[1], r10, lr
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r2, q0, q3
  vadd.i32 q5, q5, q7
  vmladav.s8 r0, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r10, q1, q3
  vadd.i32 q6, q6, q7
  vmladav.s8 r12, q1, q2
  vldrw.u32 q7, [r1, #16]
  vmladav.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  ldr lr, [sp, #OUT_STEP]
  vmladav.s8 r6, q0, q3
  vldrb.u8 q2, [r5], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q0, [r9], #16
  add r3, lr
  vmladava.s8 r0, q0, q2
  add r7, lr
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vrshl.s32 q5, q5, q7
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q0, q2
  ldr r1, [sp, #LIST]
  vmladava.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r11], #16
  vqmovnb.s32 q5, q5
  vmladava.s8 r8, q1, q2
  vldrb.u8 q0, [r9], #16
  vmulh.s32 q6, q6, q7
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  vmladava.s8 r4, q0, q2
  add r11, r1
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  add r9, r1
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r2, q0, q3
  vrshl.s32 q6, q6, q7
  vmladava.s8 r0, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vmladava.s8 r8, q1, q2
  vmladava.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  ldr r1, [sp, #(LIST + 8)]
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q1, q3
  vqmovnt.s32 q5, q6
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r0, q0, q2
  add r9, r1
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  add r11, r1
  vmladava.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 lr, q1, q3
  vqadd.s16 q5, q5, q4
  vmladava.s8 r4, q0, q2
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vqmovnb.s16 q5, q5
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q1, q3
  vshr.u32 q6, q5, #16
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  ldr r1, [sp, #(LIST + 16)]
  vmladava.s8 r10, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  vstrb.32 q6, [r3]
  vmladava.s8 r4, q0, q2
  vldrb.u8 q0, [r9], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r11], #16
  vmladava.s8 r10, q1, q3
  add r11, r1
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  add r9, r1
  vmladava.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  ldr r1, [sp, #CHANNELS]
  vldrb.u8 q0, [r9], #16
  ldr r5, [sp, #END]
  vmladava.s8 r12, q1, q2
  vstrb.32 q5, [r7]
  cmp r9, r5
  ldr r5, [sp, #WEIGHTS]
  vmladava.s8 lr, q1, q3
  bne .Lnine
  b.w rush_conv2d_block_end
  .size rush_conv2d_rows_mve, . - rush_conv2d_rows_mve

// Where a run may go on, from the beginning of each.
// Bytes to r0, from r1 or all of value r1; r2 of them. Compilers take three times the code for the tails.
  .section .text.rush_copy_mve, "ax", %progbits
  .p2align 2
  .global rush_copy_mve
  .type rush_copy_mve, %function
rush_copy_mve:
  push {r4, lr}
  wlstp.8 lr, r2, 2f
1:
  vldrb.8 q0, [r1], #16
  vstrb.8 q0, [r0], #16
  letp lr, 1b
2:
  pop {r4, pc}
  .size rush_copy_mve, . - rush_copy_mve

  .section .text.rush_fill_mve, "ax", %progbits
  .p2align 2
  .global rush_fill_mve
  .type rush_fill_mve, %function
rush_fill_mve:
  push {r4, lr}
  vdup.8 q0, r1
  wlstp.8 lr, r2, 2f
1:
  vstrb.8 q0, [r0], #16
  letp lr, 1b
2:
  pop {r4, pc}
  .size rush_fill_mve, . - rush_fill_mve

  .section .rodata.rush_conv2d_run_entries, "a", %progbits
  .p2align 2
  .global rush_conv2d_run_entries
  .type rush_conv2d_run_entries, %object
rush_conv2d_run_entries:
  .hword .Lone - .Lrun, .Lone_first - .Lrun, .Lfew_none - .Lrun, .Lfew_last - .Lrun, .Lfew_pairs - .Lrun
  .hword .Lfew_pairs_first - .Lrun, .Lpairs - .Lrun
  .size rush_conv2d_run_entries, . - rush_conv2d_run_entries

  .section .rodata.rush_conv2d_rows_entries, "a", %progbits
  .p2align 2
  .global rush_conv2d_rows_entries
  .type rush_conv2d_rows_entries, %object
rush_conv2d_rows_entries:
  .hword .Lmany_first - .Lrows, .Lmany - .Lrows, .Lmany_last - .Lrows, .Lmany_pairs - .Lrows
  .hword .Lmany_pairs_less - .Lrows, .Lmany_done - .Lrows, .Lnine - .Lrows
  .size rush_conv2d_rows_entries, . - rush_conv2d_rows_entries

  .section .note.GNU-stack, "", %progbits
#endif
