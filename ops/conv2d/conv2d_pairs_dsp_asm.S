// SPDX-License-Identifier: Apache-2.0
//
// The loops of conv2d_pairs_dsp.cpp. Two outputs of four positions take all 14 registers: six sums, two pointers,
// three words of inputs and two of weights, and the end. Compilers spill some of them, and unpack with twice as
// many instructions.
#if defined(RUSH_ASM)

  .syntax unified
  .thumb

  // The tile's fields as they lie on the stack, and what the loops have of their own.
  .equ kCount, 0
  .equ kBytes, 8
  .equ kPairs, 12
  .equ kGap, 24
  .equ kFrom, 28
  .equ kStep, 32
  .equ kX, 36
  .equ kW, 40
  .equ kBlock, 44
  .equ kOut, 48
  .equ kStride, 52
  .equ kRounding, 56
  .equ kOutputs, 60
  .equ kPositions, 64
  .equ kLeftShift, 68
  .equ kWindowSum, 72
  .equ kShared, 76
  .equ kXEnd, 80
  .equ kEntry, 84
  .equ kBlockNow, 88
  .equ kOutNow, 92
  .equ kLeft, 96
  .equ kSums, 100
  .equ kFrame, 116

  // Keeps the tile's fields, and where in the loop the first round begins: what pairs are too many for whole rounds, of
  // so many bytes of code, are left out.
  .macro begin_tile first, pair_bytes, unrolled, before
  push {r4-r11, lr}
  bl keep_tile
  rsb r3, r2, #\before
  and r3, r3, #(\unrolled - 1)
  movs r4, #\pair_bytes
  adr.w r5, \first + 1  // of Thumb code
  mla r5, r3, r4, r5
  str r5, [sp, #kEntry]
  .endm

  .macro end_tile
  add sp, sp, #kFrame
  pop {r4-r11, pc}
  .endm

  // The even bytes of four words, or the odd ones, to three words of 255 * high + low. r4-r7 are the positions, r12
  // 0xff00ff00; r3 points to where they go.
  .macro chain_words shift, rotation
  and r9, r12, r5, lsl #\shift
  sxtb16 r10, r5, ror #\rotation
  and r11, r12, r4, lsl #\shift
  ssub16 r9, r9, r10
  sxtb16 r10, r4, ror #\rotation
  sxtab16 r9, r9, r4, ror #\rotation
  ssub16 r11, r11, r10
  sxtb16 r10, r6, ror #\rotation
  str r9, [r3], #4
  sxtab16 r11, r11, r6, ror #\rotation
  and r9, r12, r6, lsl #\shift
  ssub16 r9, r9, r10
  str r11, [r3], #4
  sxtab16 r9, r9, r7, ror #\rotation
  str r9, [r3], #4
  .endm

  // r0-r2 are the sums of the first output, r3-r5 of the second. r6 and r7 weights, r10-r12 inputs; r8 and r9
  // point to the next.
#if defined(RUSH_DUAL_ISSUE)
  // One multiply a cycle beside a load or an unpacking; the next pair's loads begin here.
  .macro chain_pair is_last
  smlad r3, r7, r10, r3
  ldr.w r12, [r9], #4
  smlad r4, r7, r11, r4
  sxtb16 r6, lr
  smlad r5, r7, r12, r5
  .if \is_last
  ldr.w lr, [sp, #kXEnd]
  smlad r0, r6, r10, r0
  smlad r1, r6, r11, r1
  cmp r9, lr
  .else
  ldr.w lr, [r8], #4
  smlad r0, r6, r10, r0
  ldr.w r10, [r9], #4
  smlad r1, r6, r11, r1
  sxtb16 r7, lr, ror #8
  .endif
  smlad r2, r6, r12, r2
  .if \is_last == 0
  ldr.w r11, [r9], #4
  .endif
  .endm

  .macro first_pair
  ldr.w r12, [r9], #4
  smlad r4, r7, r11, r3
  sxtb16 r6, lr
  smlad r5, r7, r12, r3
  ldr.w lr, [r8], #4
  smlad r3, r7, r10, r3
  smlad r1, r6, r11, r0
  sxtb16 r7, lr, ror #8
  smlad r2, r6, r12, r0
  smlad r0, r6, r10, r0
  ldr.w r10, [r9], #4
  ldr.w r11, [r9], #4
  .endm
#else
  // Loads side by side, since the last of a row costs a cycle more. No result is used by the next instruction.
  .macro chain_pair is_last
  ldr.w r6, [r8], #4
  ldr.w r10, [r9], #4
  ldr.w r11, [r9], #4
  ldr.w r12, [r9], #4
  sxtb16 r7, r6, ror #8
  sxtb16 r6, r6
  smlad r3, r7, r10, r3
  smlad r0, r6, r10, r0
  smlad r4, r7, r11, r4
  smlad r1, r6, r11, r1
  smlad r5, r7, r12, r5
  smlad r2, r6, r12, r2
  .endm

  .macro first_pair
  ldr.w r6, [r8], #4
  ldr.w r10, [r9], #4
  ldr.w r11, [r9], #4
  ldr.w r12, [r9], #4
  sxtb16 r7, r6, ror #8
  sxtb16 r6, r6
  smlad r4, r7, r11, r3
  smlad r1, r6, r11, r0
  smlad r5, r7, r12, r3
  smlad r2, r6, r12, r0
  smlad r3, r7, r10, r3
  smlad r0, r6, r10, r0
  .endm
#endif

  // Leaves x in r1, pairs in r2.
  .section .text.keep_tile, "ax", %progbits
  .balign 4
  .type keep_tile, %function
  .thumb_func
keep_tile:
  sub sp, sp, #kFrame
  ldm r0!, {r1-r10}
  stm sp, {r1-r10}
  ldm r0, {r1-r10}
  add r0, sp, #40
  stm r0, {r1-r10}
  ldr r1, [sp, #kX]
  ldr r2, [sp, #kPairs]
  bx lr
  .size keep_tile, . - keep_tile

  .section .text.rush_conv2d_pairs_four, "ax", %progbits
  .balign 4
  .global rush_conv2d_pairs_four
  .type rush_conv2d_pairs_four, %function
  .thumb_func
rush_conv2d_pairs_four:
  begin_tile 12f, 48, 8, 1
  add r2, r2, r2, lsl #1
  add r1, r1, r2, lsl #2
  str r1, [sp, #kXEnd]

1:
  // A tile: its windows first.
  ldr r0, [sp, #kFrom]
  ldr r1, [sp, #kStep]
  ldr r3, [sp, #kX]
  ldr lr, [sp, #kCount]
  add r2, r0, r1, lsl #2
  str r2, [sp, #kFrom]
  add r2, r1, r1, lsl #1
  mov r12, #0xff00ff00
2:
  ldr r8, [sp, #kBytes]
  subs r8, r8, #4
  blt 5f
3:
  ldr r5, [r0, r1]
  ldr r6, [r0, r1, lsl #1]
  ldr r7, [r0, r2]
  ldr r4, [r0], #4
  chain_words 0, 8
4:
  chain_words 8, 0
  subs r8, r8, #4
  bge 3b
5:
  // One to three bytes more: two of them, side by side, make a pair.
  adds r8, r8, #2
  bge 6f
  adds r8, r8, #1
  blt 7f
  ldrb r5, [r0, r1]
  ldrb r6, [r0, r1, lsl #1]
  ldrb r7, [r0, r2]
  ldrb r4, [r0], #1
  b 4b
6:
  ldrh r5, [r0, r1]
  ldrh r6, [r0, r1, lsl #1]
  ldrh r7, [r0, r2]
  ldrh r4, [r0], #2
  orr r5, r5, r5, lsl #8
  orr r6, r6, r6, lsl #8
  orr r7, r7, r7, lsl #8
  orr r4, r4, r4, lsl #8
  b 4b
7:
  ldr r8, [sp, #kGap]
  subs lr, lr, #1
  add r0, r0, r8
  bne 2b

  ldr r12, [sp, #kBlock]
  ldr r5, [sp, #kOut]
  ldr r6, [sp, #kOutputs]
  ldr r8, [sp, #kW]
  // As many outputs as are left, negative; bit 0 says which half of a block is next.
  rsbs r6, r6, #0
  str r12, [sp, #kBlockNow]
  str r5, [sp, #kOutNow]
  str r6, [sp, #kLeft]
10:
  // Two outputs of the block at r12. Sums of low and high positions begin with 256 biases, which the first pair is
  // added to.
  ldr r9, [sp, #kX]
#if defined(RUSH_DUAL_ISSUE)
  ldr r0, [r12]
  ldr r3, [r12, #4]
  ldr lr, [r8], #4
  ldr r10, [r9], #4
  ldr r11, [r9], #4
#else
  ldr lr, [sp, #kXEnd]
  ldr r0, [r12]
  ldr r3, [r12, #4]
#endif
  lsls r0, r0, #8
  lsls r3, r3, #8
#if defined(RUSH_DUAL_ISSUE)
  sxtb16 r7, lr, ror #8
#endif
  first_pair
  ldr.w pc, [sp, #kEntry]
11:
#if defined(RUSH_DUAL_ISSUE)
  ldr lr, [r8], #4
  ldr r10, [r9], #4
  ldr r11, [r9], #4
  sxtb16 r7, lr, ror #8
#endif
  .balign 4
12:
  .rept 7
  chain_pair 0
  .endr
  chain_pair 1
#if !defined(RUSH_DUAL_ISSUE)
  cmp r9, lr
#endif
  bne.w 11b

  // a = s0 + 255 s1, b = s2 + 255 s0, c = s3 + 255 s2: c says s2 to within 2^15, that and b say s0 to within
  // 128, and a divided by 255 without the rest of s0 is then s1 exactly.
  // Steps of both outputs in the order that two instructions a cycle like best, found by search.
  mov r10, #0x01010101  // (2^32 - 1) / 255
  smmul r7, r5, r10
  ldr lr, [sp, #kRounding]
  ldr r9, [sp, #kBlockNow]
  smmul r6, r2, r10
  sub r7, r4, r7
  mov r11, #255
  sub r6, r1, r6
  smmul r7, r7, r10
  smmul r6, r6, r10
  sub r7, r3, r7
  smmulr r7, r7, r10
  sub r6, r0, r6
  smmulr r6, r6, r10
  ldr r12, [r9, #16]
  ldr r10, [r9, #20]
  mls r3, r7, r11, r3
  mls r0, r6, r11, r0
  mls r4, r3, r11, r4
  mls r1, r0, r11, r1
  mls r5, r4, r11, r5
  // A scale's low byte is minus its shift, so its complement is the shift but one.
  mvn r9, r12
  lsl r9, lr, r9
  mls r2, r1, r11, r2
  smmla r6, r6, r12, r9
  smmla r2, r2, r12, r9
  mvn r11, r10
  smmla r0, r0, r12, r9
  lsl r11, lr, r11
  smmla r1, r1, r12, r9
  rsb r12, r12, #0
  asrs r6, r12
  smmla r5, r5, r10, r11
  smmla r3, r3, r10, r11
  asrs r1, r12
  asrs r2, r12
  smmla r7, r7, r10, r11
  asrs r0, r12
  smmla r4, r4, r10, r11
  ssat r6, #8, r6
  rsb r10, r10, #0
  asrs r3, r10
  asrs r7, r10
  ldr r11, [sp, #kLeft]
  ldr r12, [sp, #kBlockNow]
  asrs r4, r10
  asrs r5, r10
  ssat r5, #8, r5
  // The next half of the block, or the next block.
  and r9, r11, #1
  ssat r3, #8, r3
  ldr lr, [sp, #kOutNow]
  ldr r10, [sp, #kStride]
  add r12, r12, r9, lsl #4
  eor r11, r11, #1
  ssat r0, #8, r0
  ssat r4, #8, r4
  adds r11, r11, #2
  ssat r7, #8, r7
  str r11, [sp, #kLeft]
  add r12, r12, #8
  bfi r0, r3, #8, #8
  str r12, [sp, #kBlockNow]
  ssat r2, #8, r2
  bfi r6, r7, #8, #8
  strh r0, [lr]
  ssat r1, #8, r1
  strh r6, [lr, r10]
  add r9, lr, r10, lsl #1
  add lr, lr, #2
  bfi r2, r5, #8, #8
  str lr, [sp, #kOutNow]
  bfi r1, r4, #8, #8
  strh r2, [r9, r10]
  strh r1, [r9]
  bmi.w 10b

  ldr r0, [sp, #kPositions]
  ldr r1, [sp, #kOut]
  ldr r2, [sp, #kStride]
  subs r0, r0, #4
  add r1, r1, r2, lsl #2
  str r0, [sp, #kPositions]
  str r1, [sp, #kOut]
  bne.w 1b
  end_tile
  .size rush_conv2d_pairs_four, . - rush_conv2d_pairs_four

  // One position: two pairs at a time. r0-r3 are the outputs. r8 points to the weights of the first two, lr of the
  // others.
  .macro shared_pairs
  ldr.w r4, [r8], #4
  ldr.w r6, [r8], #4
  ldr.w r5, [lr], #4
  ldr.w r7, [lr], #4
  ldr.w r10, [r9], #4
  ldr.w r11, [r9], #4
  smlad r1, r4, r10, r1
  smlad r3, r5, r10, r3
  uxtb16 r4, r4
  uxtb16 r5, r5
  smlad r1, r6, r11, r1
  smlad r3, r7, r11, r3
  uxtb16 r6, r6
  uxtb16 r7, r7
  smlad r0, r4, r10, r0
  smlad r2, r5, r10, r2
  smlad r0, r6, r11, r0
  smlad r2, r7, r11, r2
  .endm

  .macro plain_pair x
  sxtb16 r6, r4, ror #8
  sxtb16 r4, r4
  smlad r1, r6, \x, r1
  sxtb16 r7, r5, ror #8
  smlad r0, r4, \x, r0
  sxtb16 r5, r5
  smlad r3, r7, \x, r3
  smlad r2, r5, \x, r2
  .endm

  .section .text.rush_conv2d_pairs_one, "ax", %progbits
  .balign 4
  .global rush_conv2d_pairs_one
  .type rush_conv2d_pairs_one, %function
  .thumb_func
rush_conv2d_pairs_one:
  begin_tile 2f, 36, 4, 0
  add r1, r1, r2, lsl #2
  str r1, [sp, #kXEnd]
  ldr r8, [sp, #kW]
  add lr, r8, r2, lsl #2
1:
  ldr r4, [sp, #kBlock]
  ldr r5, [sp, #kShared]
  ldr r9, [sp, #kX]
  ldr r10, [sp, #kWindowSum]
  ldr r12, [sp, #kXEnd]
  ldm r4, {r0-r3}
  cmp r5, #0
  beq.w 5f
  sub r0, r0, r10, lsl #7
  sub r2, r2, r10, lsl #7
  add r1, r0, r1, lsl #8
  add r3, r2, r3, lsl #8
  ldr.w pc, [sp, #kEntry]
  .balign 4
2:
  shared_pairs
  shared_pairs
  cmp r9, r12
  bne.w 2b
  subs r1, r1, r0
  subs r3, r3, r2
  asrs r1, r1, #8
  asrs r3, r3, #8
3:
  // The next block's weights and constants.
  ldr r4, [sp, #kX]
  ldr r6, [sp, #kBlock]
  mov r8, lr
  sub r4, r9, r4
  add lr, lr, r4
  ldr r12, [sp, #kRounding]
  ldr r10, [sp, #kOutputs]
  ldr r5, [sp, #kLeftShift]
  add r9, r6, #16
  adds r6, r6, #32
  str r6, [sp, #kBlock]
  subs r10, r10, #4
  str r10, [sp, #kOutputs]
  blo 7f
  cmp r5, #0
  bne 7f
  ldm r9, {r4-r7}
  smmul r0, r0, r4
  smmul r1, r1, r5
  smmul r2, r2, r6
  smmul r3, r3, r7
  mvns r4, r4
  mvns r5, r5
  mvns r6, r6
  mvns r7, r7
  asrs r0, r4
  asrs r1, r5
  asrs r2, r6
  asrs r3, r7
  ldr r4, [sp, #kOut]
  add r0, r12
  add r1, r12
  add r2, r12
  add r3, r12
  ssat r0, #8, r0, asr #1
  ssat r1, #8, r1, asr #1
  ssat r2, #8, r2, asr #1
  ssat r3, #8, r3, asr #1
  strb r0, [r4]
  strb r1, [r4, #1]
  strb r2, [r4, #2]
  strb r3, [r4, #3]
  adds r4, r4, #4
4:
  str r4, [sp, #kOut]
  cmp r10, #0
  bgt.w 1b
  end_tile
5:
  ldr.w r4, [r8], #4
  ldr.w r5, [lr], #4
  ldr.w r10, [r9], #4
  ldr.w r11, [r9], #4
  plain_pair r10
  ldr.w r4, [r8], #4
  ldr.w r5, [lr], #4
  plain_pair r11
  cmp r9, r12
  bne 5b
  b 3b
7:
  // Fewer than four outputs, or any shift, one by one. Where scales shift left, they are 1/4 or more: sums beyond 13
  // bits saturate whatever the shift is, and so does any but 0 that is shifted by 15.
  add r7, sp, #kSums
  stm r7, {r0-r3}
  mov r6, r9
  ldr r4, [sp, #kOut]
  adds r3, r10, #4
  cmp r3, #4
  it hi
  movhi r3, #4
8:
  ldm r7!, {r0}
  ldm r6!, {r1}
  sxtb r2, r1
  adds r2, r2, #1
  ittt gt
  ssatgt r0, #13, r0
  usatgt r2, #4, r2
  lslgt r0, r2
  smmul r0, r0, r1
  it gt
  movgt r1, #255
  mvns r1, r1
  asrs r0, r1
  add r0, r12
  ssat r0, #8, r0, asr #1
  strb r0, [r4], #1
  subs r3, r3, #1
  bne 8b
  b 4b
  .size rush_conv2d_pairs_one, . - rush_conv2d_pairs_one

#endif
