// SPDX-License-Identifier: Apache-2.0
//
// Runs of a convolution's tiles: two positions by four channels, eight sums in the even core registers, loads and
// multiply-accumulates by turns. The requantization of a tile is woven into the multiplies of the next one, so that
// there is an instruction to issue in every cycle. No compiler does either: they spill the sums, and leave LR to their
// loops. Two to three times as fast as the intrinsics twin in conv2d_tiles_mve.cpp, which says what a run is.
//
// r1, r3: the two positions' inputs. r5: weights. r7, r9: where the codes and constants of the sums in r0, r2, r4, r6
// (first position) and r8, r10, r12, lr (second) are. r11: the output zero point, and above it how far apart the two
// positions' outputs are.
#if defined(RUSH_ASM) && defined(__ARM_FEATURE_MVE)
  .syntax unified
  .thumb

// Fields of ConvRun (conv2d_tiles_mve.cpp), which is copied to the stack.
  .equ REST, 0
  .equ TILE, 4
  .equ W_NOW, 8
  .equ W_ALL, 12
  .equ W_FIRST, 16
  .equ W_BEGIN, 20
  .equ C_BEGIN, 24
  .equ OUT, 28
  .equ OUT_STEP, 32
  .equ PAIRS, 36
  .equ SEGMENTS, 40
  .equ LAST, 44
  .equ CONSTS, 48
  .equ APART, 52
  .equ COUNT, 56
  .equ THEN, 60
  .equ STEP, 64
  .equ LIST, 80
  .equ NOWHERE, 176
  .equ FRAME, 188

// A chunk of sixteen inputs, the first position's loaded already; two spare cycles. 56 bytes where it loads the next.
.macro CHUNK one, two, three=""
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r3], #16
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
  vmladava.s8 lr, q1, q3
.endm
#define NEXT "vldrb.u8 q0, [r1], #16"

// Goes on to the next pair of positions, or ends the run.
.macro NEXT_PAIR
  ldr r5, [sp, #PAIRS]
  subs r5, #1
  beq.w rush_conv2d_run_end
  str r5, [sp, #PAIRS]
.endm

// The same for a window of one segment, whose inputs are in r1 and r3.
.macro NEXT_PAIR_OF_ONE
  NEXT_PAIR
  ldr r5, [sp, #STEP]
  add r1, r5
  add r3, r5
  strd r1, r3, [sp, #LIST]
  ldr r5, [sp, #W_BEGIN]
.endm

.macro NEXT_PAIR_OF_THREE
  NEXT_PAIR
  vldrw.u32 q1, [sp, #STEP]
  vldrw.u32 q0, [sp, #LIST]
  vadd.i32 q0, q0, q1
  vldrw.u32 q2, [sp, #(LIST + 16)]
  vstrw.32 q0, [sp, #LIST]
  vadd.i32 q2, q2, q1
  vldrw.u32 q3, [sp, #(LIST + 32)]
  vstrw.32 q2, [sp, #(LIST + 16)]
  vadd.i32 q3, q3, q1
  ldrd r1, r3, [sp, #LIST]
  vstrw.32 q3, [sp, #(LIST + 32)]
  ldr r5, [sp, #W_BEGIN]
.endm

  .section .text.rush_conv2d_run_mve, "ax", %progbits
  .p2align 3
  .global rush_conv2d_run_mve
  .type rush_conv2d_run_mve, %function
rush_conv2d_run_mve:
.Lrun:
  push {r4-r11, lr}
  vpush {d10-d15}
  sub sp, #FRAME
  mov r1, sp
  ldr r2, [r0, #SEGMENTS]
  adds r2, #6
  dls lr, r2
1:
  vldrw.u32 q0, [r0], #16
  vstrw.32 q0, [r1], #16
  le lr, 1b
  // Before the first tile there are no sums: what they would give goes nowhere.
  ldrd r5, r9, [sp, #W_BEGIN]
  ldr r11, [sp, #APART]
  uxth r11, r11
  add r7, sp, #NOWHERE
  ldrd r1, r3, [sp, #LIST]
  ldr pc, [sp, #TILE]

// One segment of one chunk. The first tile of a pair leaves r7 and r9 at its own codes and constants.
.Lone_next:
  NEXT_PAIR_OF_ONE
.Lone:
  vmov q5[2], q5[0], r0, r4
  vmov q6[2], q6[0], r8, r12
  vmov q5[3], q5[1], r2, r6
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r9], #16
  vadd.i32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vadd.i32 q6, q6, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q2, [r5], #16
  vrshl.s32 q5, q5, q7
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vldrb.u8 q1, [r3], #16
  vrshl.s32 q6, q6, q7
  vmladav.s8 r0, q0, q2
  vqmovnt.s32 q5, q6
  vmladav.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vqadd.s16 q5, q5, r11
  vmladav.s8 r10, q1, q3
  vqmovnb.s16 q5, q5
  vmladav.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vshr.u32 q6, q5, #16
  vstrb.32 q5, [r7], #4
  add.w r7, r7, r11, asr #16
  vstrb.32 q6, [r7]
  ldrd r7, r9, [sp, #OUT]
  ldr r1, [sp, #W_NOW]
  vldrb.u8 q3, [r5], #16
  add r9, r9, r7
  str r9, [sp, #OUT]
  cmp r5, r1
  vmladav.s8 r4, q0, q2
  ldr r9, [sp, #C_BEGIN]
  vmladav.s8 r12, q1, q2
  ldr r11, [sp, #APART]
  vmladav.s8 r6, q0, q3
  ldrd r1, r3, [sp, #LIST]
  vmladav.s8 lr, q1, q3
  beq .Lone_next
1:
  vmov q6[2], q6[0], r8, r12
  vmov q6[3], q6[1], r10, lr
  vmov q5[2], q5[0], r0, r4
  vldrw.u32 q7, [r9], #16
  vadd.i32 q6, q6, q7
  vmov q5[3], q5[1], r2, r6
  vadd.i32 q5, q5, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vrshl.s32 q5, q5, q7
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vldrb.u8 q2, [r5], #16
  vrshl.s32 q6, q6, q7
  vldrb.u8 q3, [r5], #16
  vqmovnt.s32 q5, q6
  vmladav.s8 r0, q0, q2
  vldrb.u8 q1, [r3], #16
  vqadd.s16 q5, q5, r11
  vmladav.s8 r8, q1, q2
  vqmovnb.s16 q5, q5
  vmladav.s8 r10, q1, q3
  ldr r1, [sp, #W_NOW]
  vmladav.s8 r2, q0, q3
  vstrb.32 q5, [r7], #4
  add.w r7, r7, r11, asr #16
  vldrb.u8 q2, [r5], #16
  vshr.u32 q6, q5, #16
  vstrb.32 q6, [r7]
  vmladav.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 lr, q1, q3
  sub.w r7, r7, r11, asr #16
  vmladav.s8 r6, q0, q3
  cmp r5, r1
  vmladav.s8 r4, q0, q2
  ldrd r1, r3, [sp, #LIST]
  bne 1b
  b .Lone_next

// One segment of two.
.Ltwo_next:
  NEXT_PAIR_OF_ONE
.Ltwo:
  vmov q5[2], q5[0], r0, r4
  vmov q6[2], q6[0], r8, r12
  vmov q5[3], q5[1], r2, r6
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r9], #16
  vadd.i32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vadd.i32 q6, q6, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q2, [r5], #16
  vrshl.s32 q5, q5, q7
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vldrb.u8 q1, [r3], #16
  vrshl.s32 q6, q6, q7
  vmladav.s8 r0, q0, q2
  vqmovnt.s32 q5, q6
  vmladav.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vqadd.s16 q5, q5, r11
  vmladav.s8 r10, q1, q3
  vqmovnb.s16 q5, q5
  vmladav.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r12, q1, q2
  vstrb.32 q5, [r7], #4
  vmladav.s8 r6, q0, q3
  vshr.u32 q6, q5, #16
  vmladav.s8 lr, q1, q3
  add.w r7, r7, r11, asr #16
  vstrb.32 q6, [r7]
  ldrd r7, r9, [sp, #OUT]
  vldrb.u8 q0, [r1], #16
  ldr r1, [sp, #W_NOW]
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  add r9, r9, r7
  str r9, [sp, #OUT]
  cmp r5, r1
  vmladava.s8 r4, q0, q2
  ldr r9, [sp, #C_BEGIN]
  vmladava.s8 r12, q1, q2
  ldr r11, [sp, #APART]
  vmladava.s8 r6, q0, q3
  ldrd r1, r3, [sp, #LIST]
  vmladava.s8 lr, q1, q3
  beq .Ltwo_next
1:
  vmov q6[2], q6[0], r8, r12
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r9], #16
  vmov q5[2], q5[0], r0, r4
  vmov q5[3], q5[1], r2, r6
  vadd.i32 q6, q6, q7
  vldrb.u8 q2, [r5], #16
  vadd.i32 q5, q5, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q3, [r5], #16
  vrshl.s32 q5, q5, q7
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vldrb.u8 q0, [r1], #16
  vrshl.s32 q6, q6, q7
  vmladav.s8 r0, q0, q2
  vldrb.u8 q1, [r3], #16
  vmladav.s8 r8, q1, q2
  vqmovnt.s32 q5, q6
  vmladav.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r2, q0, q3
  vqadd.s16 q5, q5, r11
  vmladav.s8 r12, q1, q2
  vqmovnb.s16 q5, q5
  vmladav.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r6, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q2
  vstrb.32 q5, [r7], #4
  vmladava.s8 r2, q0, q3
  add.w r7, r7, r11, asr #16
  ldr r1, [sp, #W_NOW]
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vshr.u32 q6, q5, #16
  vmladava.s8 lr, q1, q3
  cmp r5, r1
  vmladava.s8 r4, q0, q2
  vstrb.32 q6, [r7]
  sub.w r7, r7, r11, asr #16
  vmladava.s8 r6, q0, q3
  ldrd r1, r3, [sp, #LIST]
  bne 1b
  b .Ltwo_next

// One segment of four.
.Lfour:
  vmov q5[2], q5[0], r0, r4
  vmov q6[2], q6[0], r8, r12
  vmov q6[3], q6[1], r10, lr
  vldrb.u8 q1, [r3], #16
  vmov q5[3], q5[1], r2, r6
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r8, q1, q2
  vldrb.u8 q0, [r1], #16
  vmladav.s8 r0, q0, q2
  vldrw.u32 q7, [r9], #16
  vadd.i32 q6, q6, q7
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r10, q1, q3
  vadd.i32 q5, q5, q7
  vmladav.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r6, q0, q3
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vmladav.s8 lr, q1, q3
  vrshl.s32 q5, q5, q7
  vmladav.s8 r12, q1, q2
  vldrb.u8 q1, [r3], #16
  vmulh.s32 q6, q6, q7
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vqmovnb.s32 q5, q5
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  vrshl.s32 q6, q6, q7
  vmladava.s8 lr, q1, q3
  vqmovnt.s32 q5, q6
  vmladava.s8 r12, q1, q2
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vqadd.s16 q5, q5, r11
  vmladava.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 lr, q1, q3
  vqmovnb.s16 q5, q5
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vstrb.32 q5, [r7], #4
  vmladava.s8 r10, q1, q3
  ldr r1, [sp, #W_NOW]
  vshr.u32 q6, q5, #16
  add.w r7, r7, r11, asr #16
  vstrb.32 q6, [r7]
  vmladava.s8 r4, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r12, q1, q2
  cmp r5, r1
  ldrd r1, r3, [sp, #LIST]
  vmladava.s8 r6, q0, q3
  sub.w r7, r7, r11, asr #16
  vmladava.s8 lr, q1, q3
  bne .Lfour
  b rush_conv2d_run_edge

// One segment of three to eight: the end of six chunks. Longer ones have fours of chunks before.
.Lfew:
  vmov q5[2], q5[0], r0, r4
  vmov q6[2], q6[0], r8, r12
  vmov q5[3], q5[1], r2, r6
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r9], #16
  vadd.i32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vadd.i32 q6, q6, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q2, [r5], #16
  vrshl.s32 q5, q5, q7
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vldrb.u8 q1, [r3], #16
  vrshl.s32 q6, q6, q7
  vmladav.s8 r0, q0, q2
  vqmovnt.s32 q5, q6
  vmladav.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vqadd.s16 q5, q5, r11
  vmladav.s8 r4, q0, q2
  vqmovnb.s16 q5, q5
  vmladav.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vstrb.32 q5, [r7], #4
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vshr.u32 q6, q5, #16
  add.w r7, r7, r11, asr #16
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  vstrb.32 q6, [r7]
  vmladava.s8 r6, q0, q3
  sub.w r7, r7, r11, asr #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  ldr pc, [sp, #REST]
.Lfew_fours:
  ldr r11, [sp, #COUNT]
1:
  CHUNK "", "", NEXT
  CHUNK "", "", NEXT
  CHUNK "", "", NEXT
  CHUNK "subs r11, #1", "", NEXT
  bne 1b
  ldr r11, [sp, #APART]
  ldr pc, [sp, #THEN]
  .rept 5
  CHUNK "", "", NEXT
  .endr
.Lfew_last:
  CHUNK "ldr r1, [sp, #W_NOW]", "cmp r5, r1", "ldrd r1, r3, [sp, #LIST]"
  bne .Lfew

// After the first or the last tile of a pair, where these have no code of their own.
  .global rush_conv2d_run_edge
  .type rush_conv2d_run_edge, %function
rush_conv2d_run_edge:
  ldrd r1, r3, [sp, #W_ALL]
  str r1, [sp, #W_NOW]
  cmp r5, r3
  bne 2f
  ldrd r7, r9, [sp, #OUT]
  add r9, r7
  str r9, [sp, #OUT]
  ldr r9, [sp, #C_BEGIN]
  ldr r11, [sp, #APART]
  cmp r5, r1
  bne 4f
2:
  NEXT_PAIR
  ldr r3, [sp, #SEGMENTS]
  vldrw.u32 q1, [sp, #STEP]
  add r5, sp, #LIST
3:
  vldrw.u32 q0, [r5]
  vadd.i32 q0, q0, q1
  vstrw.32 q0, [r5], #16
  subs r3, #1
  bne 3b
  ldrd r3, r5, [sp, #W_FIRST]
  str r3, [sp, #W_NOW]
4:
  ldrd r1, r3, [sp, #LIST]
  ldr pc, [sp, #TILE]

  .global rush_conv2d_run_end
  .type rush_conv2d_run_end, %function
rush_conv2d_run_end:
  vmov q5[2], q5[0], r0, r4
  vldrw.u32 q7, [r9], #16
  vmov q5[3], q5[1], r2, r6
  vmov q6[2], q6[0], r8, r12
  vadd.i32 q5, q5, q7
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q1, [r9]
  vadd.i32 q6, q6, q7
  vmulh.s32 q5, q5, q1
  vmulh.s32 q6, q6, q1
  vrshl.s32 q5, q5, q1
  ldr r1, [sp, #LAST]
  vrshl.s32 q6, q6, q1
  vqmovnb.s32 q5, q5
  vctp.32 r1
  vqmovnt.s32 q5, q6
  vqadd.s16 q5, q5, r11
  vqmovnb.s16 q5, q5
  vshr.u32 q6, q5, #16
  vpst
  vstrbt.32 q5, [r7], #4
  add r7, r7, r11, asr #16
  vpst
  vstrbt.32 q6, [r7]
  add sp, #FRAME
  vpop {d10-d15}
  pop {r4-r11, pc}
  .size rush_conv2d_run_mve, . - rush_conv2d_run_mve

// Windows of several segments.
  .section .text.rush_conv2d_rows_mve, "ax", %progbits
  .p2align 3
  .global rush_conv2d_rows_mve
  .type rush_conv2d_rows_mve, %function
rush_conv2d_rows_mve:
.Lrows:
// Three segments of one chunk.
.Lthree_next:
  NEXT_PAIR_OF_THREE
.Lthree:
  vmov q5[2], q5[0], r0, r4
  vmov q6[2], q6[0], r8, r12
  vmov q5[3], q5[1], r2, r6
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r9], #16
  vadd.i32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vadd.i32 q6, q6, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q2, [r5], #16
  vrshl.s32 q5, q5, q7
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vldrb.u8 q1, [r3], #16
  vrshl.s32 q6, q6, q7
  vmladav.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r8, q1, q2
  vqmovnt.s32 q5, q6
  vmladav.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  ldrd r1, r3, [sp, #(LIST + 16)]
  vmladav.s8 r4, q0, q2
  vqadd.s16 q5, q5, r11
  vmladav.s8 r12, q1, q2
  vqmovnb.s16 q5, q5
  vmladav.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladav.s8 lr, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vstrb.32 q5, [r7], #4
  ldrd r1, r3, [sp, #(LIST + 32)]
  vldrb.u8 q3, [r5], #16
  vshr.u32 q6, q5, #16
  add.w r7, r7, r11, asr #16
  vmladava.s8 r4, q0, q2
  vstrb.32 q6, [r7]
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  ldrd r7, r9, [sp, #OUT]
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  ldr r1, [sp, #W_NOW]
  vldrb.u8 q3, [r5], #16
  add r9, r9, r7
  str r9, [sp, #OUT]
  cmp r5, r1
  vmladava.s8 r4, q0, q2
  ldr r9, [sp, #C_BEGIN]
  vmladava.s8 r12, q1, q2
  ldr r11, [sp, #APART]
  vmladava.s8 r6, q0, q3
  ldrd r1, r3, [sp, #LIST]
  vmladava.s8 lr, q1, q3
  beq .Lthree_next
1:
  vmov q6[2], q6[0], r8, r12
  vldrw.u32 q7, [r9], #16
  vmov q6[3], q6[1], r10, lr
  vadd.i32 q6, q6, q7
  vmov q5[2], q5[0], r0, r4
  vmov q5[3], q5[1], r2, r6
  vldrb.u8 q1, [r3], #16
  vadd.i32 q5, q5, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vrshl.s32 q5, q5, q7
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r8, q1, q2
  vqmovnb.s32 q5, q5
  vmladav.s8 r0, q0, q2
  ldrd r1, r3, [sp, #(LIST + 16)]
  vmulh.s32 q6, q6, q7
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r4, q0, q2
  vrshl.s32 q6, q6, q7
  vmladav.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vqmovnt.s32 q5, q6
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vqadd.s16 q5, q5, r11
  vmladav.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vqmovnb.s16 q5, q5
  vmladava.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  ldrd r1, r3, [sp, #(LIST + 32)]
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q0, [r1], #16
  ldr r1, [sp, #W_NOW]
  vstrb.32 q5, [r7], #4
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q0, q2
  vshr.u32 q6, q5, #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  add.w r7, r7, r11, asr #16
  vmladava.s8 r12, q1, q2
  cmp r5, r1
  ldrd r1, r3, [sp, #LIST]
  vstrb.32 q6, [r7]
  vmladava.s8 lr, q1, q3
  sub.w r7, r7, r11, asr #16
  vmladava.s8 r6, q0, q3
  bne 1b
  b .Lthree_next

// Three segments of three: two of them are woven with the requantization.
.Lnine_next:
  NEXT_PAIR_OF_THREE
.Lnine:
  vmov q5[2], q5[0], r0, r4
  vmov q6[2], q6[0], r8, r12
  vldrb.u8 q0, [r1], #16
  vmov q5[3], q5[1], r2, r6
  vldrb.u8 q2, [r5], #16
  vmov q6[3], q6[1], r10, lr
  vldrb.u8 q1, [r3], #16
  vmladav.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r10, q1, q3
  vldrw.u32 q7, [r9], #16
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r4, q0, q2
  vadd.i32 q5, q5, q7
  vmladav.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vadd.i32 q6, q6, q7
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  vrshl.s32 q5, q5, q7
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vmladava.s8 r10, q1, q3
  ldrd r1, r3, [sp, #(LIST + 16)]
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vrshl.s32 q6, q6, q7
  vmladava.s8 r4, q0, q2
  vqmovnt.s32 q5, q6
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  vqadd.s16 q5, q5, r11
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  vqmovnb.s16 q5, q5
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  vstrb.32 q5, [r7], #4
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vshr.u32 q6, q5, #16
  add.w r7, r7, r11, asr #16
  vmladava.s8 r4, q0, q2
  vstrb.32 q6, [r7]
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  ldrd r7, r9, [sp, #OUT]
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  add r9, r9, r7
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  ldrd r1, r3, [sp, #(LIST + 32)]
  str r9, [sp, #OUT]
  vmladava.s8 r4, q0, q2
  ldr r9, [sp, #C_BEGIN]
  vmladava.s8 r6, q0, q3
  ldr r11, [sp, #APART]
  vmladava.s8 r12, q1, q2
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  b 2f
1:
  vldrb.u8 q0, [r1], #16
  vmov q6[2], q6[0], r8, r12
  vmov q5[2], q5[0], r0, r4
  vldrb.u8 q1, [r3], #16
  vmov q6[3], q6[1], r10, lr
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r10, q1, q3
  vmov q5[3], q5[1], r2, r6
  vmladav.s8 r0, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r12, q1, q2
  vldrw.u32 q7, [r9], #16
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladav.s8 r4, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r6, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r2, q0, q3
  vadd.i32 q5, q5, q7
  vmladava.s8 r10, q1, q3
  vadd.i32 q6, q6, q7
  vmladava.s8 r0, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrw.u32 q7, [r9], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  ldrd r1, r3, [sp, #(LIST + 16)]
  vmulh.s32 q5, q5, q7
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r12, q1, q2
  vrshl.s32 q5, q5, q7
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmulh.s32 q6, q6, q7
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r0, q0, q2
  vqmovnb.s32 q5, q5
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vrshl.s32 q6, q6, q7
  vmladava.s8 r10, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  vqmovnt.s32 q5, q6
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vqadd.s16 q5, q5, r11
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 lr, q1, q3
  vqmovnb.s16 q5, q5
  vmladava.s8 r12, q1, q2
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r8, q1, q2
  vstrb.32 q5, [r7], #4
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vshr.u32 q6, q5, #16
  vmladava.s8 r2, q0, q3
  ldrd r1, r3, [sp, #(LIST + 32)]
  vldrb.u8 q2, [r5], #16
  add.w r7, r7, r11, asr #16
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  vstrb.32 q6, [r7]
  vmladava.s8 r6, q0, q3
  sub.w r7, r7, r11, asr #16
  vmladava.s8 lr, q1, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r12, q1, q2
2:
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r12, q1, q2
  vmladava.s8 r10, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r0, q0, q2
  vmladava.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r4, q0, q2
  vmladava.s8 r10, q1, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 lr, q1, q3
  vmladava.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  ldr r1, [sp, #W_NOW]
  vmladava.s8 r12, q1, q2
  cmp r5, r1
  vmladava.s8 lr, q1, q3
  ldrd r1, r3, [sp, #LIST]
  vmladava.s8 r6, q0, q3
  bne 1b
  b .Lnine_next

// Any number of segments: fours of chunks, then the end of six.
.Lmany:
  vmov q5[2], q5[0], r0, r4
  vmov q6[2], q6[0], r8, r12
  vmov q5[3], q5[1], r2, r6
  vmov q6[3], q6[1], r10, lr
  vldrw.u32 q7, [r9], #16
  vadd.i32 q5, q5, q7
  vldrb.u8 q0, [r1], #16
  vadd.i32 q6, q6, q7
  vldrw.u32 q7, [r9], #16
  vmulh.s32 q5, q5, q7
  vldrb.u8 q2, [r5], #16
  vrshl.s32 q5, q5, q7
  vmulh.s32 q6, q6, q7
  vqmovnb.s32 q5, q5
  vldrb.u8 q1, [r3], #16
  vrshl.s32 q6, q6, q7
  vmladav.s8 r0, q0, q2
  vqmovnt.s32 q5, q6
  vmladav.s8 r8, q1, q2
  vldrb.u8 q3, [r5], #16
  vmladav.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r2, q0, q3
  vldrb.u8 q3, [r5], #16
  vqadd.s16 q5, q5, r11
  vmladav.s8 r4, q0, q2
  vqmovnb.s16 q5, q5
  vmladav.s8 r12, q1, q2
  vldrb.u8 q2, [r5], #16
  vmladav.s8 r6, q0, q3
  vldrb.u8 q0, [r1], #16
  vmladav.s8 lr, q1, q3
  vldrb.u8 q1, [r3], #16
  vmladava.s8 r0, q0, q2
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r8, q1, q2
  vstrb.32 q5, [r7], #4
  vmladava.s8 r10, q1, q3
  vldrb.u8 q2, [r5], #16
  vmladava.s8 r2, q0, q3
  vshr.u32 q6, q5, #16
  add.w r7, r7, r11, asr #16
  vldrb.u8 q3, [r5], #16
  vmladava.s8 r4, q0, q2
  vstrb.32 q6, [r7]
  vmladava.s8 r6, q0, q3
  str r9, [sp, #CONSTS]
  sub.w r7, r7, r11, asr #16
  vmladava.s8 r12, q1, q2
  vldrb.u8 q0, [r1], #16
  vmladava.s8 lr, q1, q3
  add r9, sp, #(LIST + 16)
  ldr pc, [r9, #-8]
.Lmany_fours:
  ldr r11, [sp, #COUNT]
1:
  CHUNK "", "", NEXT
  CHUNK "", "", NEXT
  CHUNK "", "", NEXT
  CHUNK "subs r11, #1", "", NEXT
  bne 1b
  ldr pc, [r9, #-4]
  .rept 5
  CHUNK "", "", NEXT
  .endr
.Lmany_last:
  CHUNK "ldrd r1, r3, [r9], #16", "", NEXT
  ldr pc, [r9, #-8]
.Lmany_done:
  ldrd r9, r11, [sp, #CONSTS]
  ldr r1, [sp, #W_NOW]
  ldr r3, [sp, #(LIST + 4)]
  cmp r5, r1
  ldr r1, [sp, #LIST]
  bne .Lmany
  b rush_conv2d_run_edge
  .size rush_conv2d_rows_mve, . - rush_conv2d_rows_mve

// Where a run may go on, from the beginning of each.
  .section .rodata.rush_conv2d_run_entries, "a", %progbits
  .p2align 2
  .global rush_conv2d_run_entries
  .type rush_conv2d_run_entries, %object
rush_conv2d_run_entries:
  .hword .Lone - .Lrun, .Ltwo - .Lrun, .Lfour - .Lrun, .Lfew - .Lrun, .Lfew_last - .Lrun, .Lfew_fours - .Lrun
  .size rush_conv2d_run_entries, . - rush_conv2d_run_entries

  .section .rodata.rush_conv2d_rows_entries, "a", %progbits
  .p2align 2
  .global rush_conv2d_rows_entries
  .type rush_conv2d_rows_entries, %object
rush_conv2d_rows_entries:
  .hword .Lthree - .Lrows, .Lnine - .Lrows, .Lmany - .Lrows, .Lmany_last - .Lrows, .Lmany_fours - .Lrows
  .hword .Lmany_done - .Lrows
  .size rush_conv2d_rows_entries, . - rush_conv2d_rows_entries

  .section .note.GNU-stack, "", %progbits
#endif
