// SPDX-License-Identifier: Apache-2.0
//
// The planes of depthwise_rows_dsp.cpp in blocks of 2x2 outputs. Weights, four sums, inputs and two pointers are 14
// registers; compilers spill the weights, which costs a third more, and GCC does not form PKHBT.
#if defined(RUSH_ASM)

  .syntax unified
  .thumb

  .equ kPlaneBytes, 72
  .equ kColumnsBytes, 288
  .equ kScales, 16  // from a channel's bias to its scale

  // The tile's fields as they lie on the stack, and what each channel, column and block has of its own.
  .equ kX, 0
  .equ kW, 4
  .equ kChannels, 8
  .equ kOut, 12
  .equ kOutStep, 16
  .equ kRowBytes, 20
  .equ kPixelBytes, 24
  .equ kRows, 28
  .equ kColumns, 32
  .equ kCount, 36
  .equ kRounding, 40
  .equ kStride, 44
  .equ kBias, 48
  .equ kScale, 52
  .equ kAddend, 56
  .equ kShift, 60
  .equ kRowStep, 64    // 0 in a block without a second row
  .equ kPixelStep, 68  // 0 in a block without a second column
  .equ kBothSteps, 72
  .equ kXEnd, 76
  .equ kLeft, 80
  .equ kColumnX, 84
  .equ kColumnOut, 88
  .equ kFirstRows, 92  // the weights of registers that something else takes for a while
  .equ kRowsEnd, 92    // or kXEnd of the last block
  .equ kOutNow, 108
  .equ kFrame, 116

  // Where one instruction is issued a cycle, loads stand side by side, since the last of them costs a cycle more; where
  // they are issued beside multiplies, as early as their registers allow.
  .macro load_column register, row, column
  ldr.w \register, [r12, #(4 * \row + \column * kColumnsBytes)]
  .endm

  .macro load_row row, first, second, third
  load_column \first, \row, 0
  load_column \second, \row, 1
  .ifnb \third
  load_column \third, \row, 2
  .endif
  .endm

  // r0-r5 weights (w0, w1) and (w1, w2) of the three kernel rows; r6, r7 the sums of the first output row, r8, r9 of
  // the second; r10 and r11 two pairs of columns; r12 inputs, lr outputs.
  .macro add_left first, second, left
  smlad \first, r10, \left, \first
  smlatb \second, r10, \left, \second
  .endm

  .macro add_right first, second, right
  smlabt \first, r11, \right, \first
  smlad \second, r11, \right, \second
  .endm

#if defined(RUSH_DUAL_ISSUE)
  // The first output row's codes are made beside the products of the second one, in registers of weights that are not
  // needed any more.
  .macro block_of_stride_1
  ldr r9, [sp, #kBias]
  load_column r10, 0, 0
  load_column r11, 0, 1
  smlad r6, r10, r0, r9
  smlatb r7, r10, r0, r9
  load_column r10, 1, 0
  add_right r6, r7, r1
  load_column r11, 1, 1
  smlad r8, r10, r0, r9
  smlatb r9, r10, r0, r9
  add_left r6, r7, r2
  load_column r10, 2, 0
  add_right r8, r9, r1
  ldrd r0, r1, [sp, #kScale]
  add_right r6, r7, r3
  load_column r11, 2, 1
  add_left r6, r7, r4
  add_left r8, r9, r2
  load_column r10, 3, 0
  add_right r6, r7, r5
  ldr r2, [sp, #kShift]
  add_right r8, r9, r3
  load_column r11, 3, 1
  smmla r6, r6, r0, r1
  smmla r7, r7, r0, r1
  add_left r8, r9, r4
  asrs r6, r6, r2
  smlad r9, r11, r5, r9
  asrs r7, r7, r2
  smlabt r8, r11, r5, r8
  ssat r6, #8, r6
  smmla r9, r9, r0, r1
  ssat r7, #8, r7
  smmla r8, r8, r0, r1
  ldrd r10, r11, [sp, #kPixelStep]
  asr r9, r9, r2
  ldrd r0, r1, [sp, #kFirstRows]
  asr r8, r8, r2
  ldr r3, [sp, #kRowStep]
  ssat r9, #8, r9
  ldr r2, [sp, #kXEnd]
  ssat r8, #8, r8
  adds r12, r12, #8
  strb r9, [lr, r11]
  cmp r12, r2
  strb r8, [lr, r3]
  strb r7, [lr, r10]
  strb r6, [lr]
  add lr, lr, r3, lsl #1
  ldrd r2, r3, [sp, #(kFirstRows + 8)]
  .endm
#else
  // The codes of a block's two rows of two sums. What has no place of its own is stored first, in the place of
  // another. Moves lr to the next rows; equal if r12 is at their end.
  .macro store_block
  ldr r10, [sp, #kScale]
  ldr r11, [sp, #kAddend]
  smmla r6, r6, r10, r11
  smmla r7, r7, r10, r11
  smmla r8, r8, r10, r11
  smmla r9, r9, r10, r11
  ldr r10, [sp, #kShift]
  asr r6, r6, r10
  asr r7, r7, r10
  asr r8, r8, r10
  asr r9, r9, r10
  ssat r9, #8, r9
  ssat r8, #8, r8
  ssat r7, #8, r7
  ssat r6, #8, r6
  ldr r10, [sp, #kBothSteps]
  ldr r11, [sp, #kRowStep]
  strb r9, [lr, r10]
  ldr r10, [sp, #kPixelStep]
  strb r8, [lr, r11]
  ldr r9, [sp, #kXEnd]
  strb r7, [lr, r10]
  strb r6, [lr]
  add lr, lr, r11, lsl #1
  cmp r12, r9
  .endm

  .macro block_of_stride_1
  ldr r9, [sp, #kBias]
  load_row 0, r10, r11
  smlad r6, r10, r0, r9
  smlatb r7, r10, r0, r9
  add_right r6, r7, r1
  load_row 1, r10, r11
  smlad r8, r10, r0, r9
  smlatb r9, r10, r0, r9
  add_left r6, r7, r2
  add_right r8, r9, r1
  add_right r6, r7, r3
  load_row 2, r10, r11
  add_left r8, r9, r2
  add_left r6, r7, r4
  add_right r8, r9, r3
  add_right r6, r7, r5
  load_row 3, r10, r11
  add_left r8, r9, r4
  add_right r8, r9, r5
  add r12, r12, #8
  .endm
#endif

  // r0-r2 weights (w0, w1) of the three kernel rows, r3 w2 of the first two, r4 of the third; the rest as above, but for
  // three pairs of columns in r5, r10 and r11, or, where two instructions issue together, sums in r5, r6 and r7, r8 and
  // pairs of columns in r9-r11.
#if defined(RUSH_DUAL_ISSUE)
  .macro block_of_stride_2
  ldr r8, [sp, #kBias]
  load_column r9, 0, 0
  load_column r10, 0, 1
  load_column r11, 0, 2
  smlad r5, r9, r0, r8
  load_column r9, 1, 0
  smlad r6, r10, r0, r8
  str lr, [sp, #kOutNow]
  smlabb r5, r10, r3, r5
  load_column r10, 1, 1
  smlabb r6, r11, r3, r6
  load_column r11, 1, 2
  smlad r5, r9, r1, r5
  load_column r9, 2, 0
  smlad r6, r10, r1, r6
  smlabt r5, r10, r3, r5
  load_column r10, 2, 1
  smlabt r6, r11, r3, r6
  load_column r11, 2, 2
  smlad r7, r9, r0, r8
  smlad r8, r10, r0, r8
  ldr r0, [sp, #kScale]
  smlad r5, r9, r2, r5
  load_column r9, 3, 0
  smlad r6, r10, r2, r6
  ldr lr, [sp, #kAddend]
  smlabb r5, r10, r4, r5
  smlabb r6, r11, r4, r6
  smlabb r7, r10, r3, r7
  load_column r10, 3, 1
  smlabb r8, r11, r3, r8
  load_column r11, 3, 2
  smmla r5, r5, r0, lr
  smmla r6, r6, r0, lr
  smlad r7, r9, r1, r7
  load_column r9, 4, 0
  smlad r8, r10, r1, r8
  ldr r1, [sp, #kShift]
  smlabt r7, r10, r3, r7
  load_column r10, 4, 1
  smlabt r8, r11, r3, r8
  load_column r11, 4, 2
  asrs r5, r5, r1
  smlad r7, r9, r2, r7
  asrs r6, r6, r1
  smlad r8, r10, r2, r8
  ssat r5, #8, r5
  smlabb r7, r10, r4, r7
  ldrd r9, r10, [sp, #kPixelStep]
  smlabb r8, r11, r4, r8
  ssat r6, #8, r6
  smmla r7, r7, r0, lr
  ldr r11, [sp, #kRowStep]
  smmla r8, r8, r0, lr
  ldr lr, [sp, #kOutNow]
  asrs r7, r7, r1
  ldr r3, [sp, #kXEnd]
  asr r8, r8, r1
  ldrd r0, r1, [sp, #kFirstRows]
  ssat r8, #8, r8
  adds r12, r12, #16
  ssat r7, #8, r7
  cmp r12, r3
  ldr r3, [sp, #(kFirstRows + 12)]
  strb r8, [lr, r10]
  strb r7, [lr, r11]
  strb r6, [lr, r9]
  strb r5, [lr]
  add lr, lr, r11, lsl #1
  .endm
#else
  // Both outputs of a row, of one kernel row: (w0, w1) in \left, w2 in a half of \right.
  .macro add_strided first, second, left, half, right
  smlad \first, r5, \left, \first
  smlad \second, r10, \left, \second
  smlab\half \first, r10, \right, \first
  smlab\half \second, r11, \right, \second
  .endm

  // The same of the first kernel row, added to r9, which may be \second.
  .macro begin_strided first, second
  smlad \first, r5, r0, r9
  smlad \second, r10, r0, r9
  smlabb \first, r10, r3, \first
  smlabb \second, r11, r3, \second
  .endm

  // Its codes are made by the end of the other block, which would go on with that: so the end of each block is made the
  // end of the rows.
  .macro block_of_stride_2
  ldr r9, [sp, #kBias]
  load_row 0, r5, r10, r11
  begin_strided r6, r7
  load_row 1, r5, r10, r11
  add_strided r6, r7, r1, t, r3
  load_row 2, r5, r10, r11
  begin_strided r8, r9
  add_strided r6, r7, r2, b, r4
  load_row 3, r5, r10, r11
  add_strided r8, r9, r1, t, r3
  load_row 4, r5, r10, r11
  add_strided r8, r9, r2, b, r4
  adds r12, r12, #16
  str r12, [sp, #kXEnd]
  .endm
#endif

  .section .text.rush_depthwise_rows, "ax", %progbits
  .balign 4
  .global rush_depthwise_rows
  .type rush_depthwise_rows, %function
  .thumb_func
rush_depthwise_rows:
  push {r4-r11, lr}
  sub sp, sp, #kFrame
  ldm r0, {r1-r12}
  stm sp, {r1-r12}
1:
  // A channel. A scale's low byte is minus its shift, so its complement is the shift but one.
  ldr r12, [sp, #kChannels]
  ldr r9, [sp, #kW]
  ldr r11, [sp, #kRounding]
  ldr r6, [r12, #kScales]
  ldr r7, [r12], #4
  ldr r0, [r9], #4
  ldr r2, [r9], #4
  ldr r4, [r9], #4
  ldr r10, [sp, #kStride]
  str r12, [sp, #kChannels]
  str r9, [sp, #kW]
  mvns r8, r6
  lsl r11, r11, r8
  rsbs r8, r6, #0
  strd r7, r6, [sp, #kBias]
  strd r11, r8, [sp, #kAddend]
  sxtb16 r1, r0, ror #8
  sxtb16 r3, r2, ror #8
  sxtb16 r5, r4, ror #8
  sxtb16 r0, r0
  sxtb16 r2, r2
  sxtb16 r4, r4
  cmp r10, #1
  beq 2f
  pkhtb r3, r3, r1, asr #16
  mov r1, r2
  mov r2, r4
  asrs r4, r5, #16
2:
#if defined(RUSH_DUAL_ISSUE)
  add r6, sp, #kFirstRows
  stm r6, {r0-r3}
#endif
  ldr r6, [sp, #kColumns]
  ldr r12, [sp, #kX]
  ldr lr, [sp, #kOut]
3:
  // The columns of a block, all rows.
  ldr r7, [sp, #kPixelBytes]
  ldr r8, [sp, #kRows]
  ldr r9, [sp, #kRowBytes]
  ldr r10, [sp, #kStride]
  str r6, [sp, #kLeft]
  cmp r6, #1
  it eq
  moveq r7, #0
  str r7, [sp, #kPixelStep]
  add r11, lr, r7, lsl #1
  str r11, [sp, #kColumnOut]
  mov r11, #kColumnsBytes
  mla r11, r11, r10, r12
  str r11, [sp, #kColumnX]
  lsrs r8, r8, #1
  beq 6f
  mul r8, r8, r10
  add r7, r7, r9
4:
  add r8, r12, r8, lsl #3
  cmp r10, #1
  str r9, [sp, #kRowStep]
  str r7, [sp, #kBothSteps]
  str r8, [sp, #kXEnd]
#if defined(RUSH_DUAL_ISSUE)
  bne.w 8f
5:
  block_of_stride_1
  bne 5b
  b 7f
#else
  str r8, [sp, #kRowsEnd]
  bne.w 8f
5:
  block_of_stride_1
9:
  store_block
  bne 5b
  ldr r8, [sp, #kRowsEnd]
  cmp r12, r8
  bne 8f
  b 7f
#endif
6:
  // A last row of its own.
  movs r9, #0
  mov r8, r10
  b 4b
8:
  block_of_stride_2
#if defined(RUSH_DUAL_ISSUE)
  bne 8b
#else
  b 9b
#endif
7:
  ldr r8, [sp, #kRows]
  ldrd r9, r7, [sp, #kRowStep]
  ldr r10, [sp, #kStride]
  lsls r8, r8, #31
  it ne
  cmpne r9, #0
  bne 6b
  ldr r6, [sp, #kLeft]
  ldrd r12, lr, [sp, #kColumnX]
  subs r6, r6, #2
  bgt 3b
  ldr r8, [sp, #kCount]
  ldr r9, [sp, #kX]
  ldrd r10, r11, [sp, #kOut]
  subs r8, r8, #1
  add r9, r9, #kPlaneBytes
  add r10, r10, r11
  str r8, [sp, #kCount]
  str r9, [sp, #kX]
  str r10, [sp, #kOut]
  bne.w 1b
  add sp, sp, #kFrame
  pop {r4-r11, pc}
  .size rush_depthwise_rows, . - rush_depthwise_rows

  // r3 rows (at least one) from r0 on, to words side by side from r1 on. r2 points to the cut: the first column, the
  // map's last one, the bytes of a pixel, what lies outside the map, how many pairs of columns, and the bytes of a row.
  .section .text.rush_depthwise_unpack, "ax", %progbits
  .balign 4
  .global rush_depthwise_unpack
  .type rush_depthwise_unpack, %function
  .thumb_func
rush_depthwise_unpack:
  push {r0-r11, lr}
1:
  ldm r2, {r4-r7, r11}
2:
  // Two columns, as unsigned numbers: those on the left are beyond the last one too.
  cmp r4, r5
  bhs 4f
  ldr r8, [r0]
  ldr r9, [r0, r6]
3:
  // Four channels of them, words r8 and r9, to a word of each plane.
  sxtb16 r3, r8
  sxtb16 r12, r9
  sxtb16 r8, r8, ror #8
  pkhbt r10, r3, r12, lsl #16
  sxtb16 r9, r9, ror #8
  pkhtb r3, r12, r3, asr #16
  str r10, [r1]
  pkhbt r12, r8, r9, lsl #16
  str r3, [r1, #(2 * kPlaneBytes)]
  pkhtb r8, r9, r8, asr #16
  str r12, [r1, #kPlaneBytes]
  adds r4, r4, #2
  str r8, [r1, #(3 * kPlaneBytes)]
  add r0, r0, r6, lsl #1
  add r1, r1, #kColumnsBytes
  subs r11, r11, #1
  bne 2b
  ldm sp, {r0-r3}
  ldr r4, [r2, #20]
  adds r1, r1, #4
  add r0, r0, r4
  subs r3, r3, #1
  stm sp, {r0-r3}
  bne 1b
  pop {r0-r11, pc}
4:
  mov r8, r7
  mov r9, r7
  it ls
  ldrls r8, [r0]
  adds r3, r4, #1
  cmp r3, r5
  it ls
  ldrls r9, [r0, r6]
  b 3b
  .size rush_depthwise_unpack, . - rush_depthwise_unpack

#endif
