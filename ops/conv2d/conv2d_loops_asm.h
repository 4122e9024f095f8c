/* SPDX-License-Identifier: Apache-2.0
 *
 * Loops for scalar cores, in Thumb-1, included by the *_scalar_asm.S of every operator that calls them (in COMDAT
 * sections, so that a firmware has one copy). Why assembly: the sums of a tile fit in the registers if six of them lie
 * in r8 to lr, where ADD reaches them and compilers do not keep them; a sum's way to its code needs all eight low
 * registers and nothing else; and ADCS after ASR is a rounding that C++ cannot say. Against their twins in C++ (GCC 12,
 * Cortex-M0+): DS-CNN takes 14.9 Mcycles instead of 27.7, the autoencoder 1.1 instead of 2.2. */
/* clang-format off */
#ifdef RUSH_ASM

  .syntax unified
  .thumb

  .macro rush_function name
  .section .text.\name, "axG", %progbits, \name, comdat
  .balign 4
  .weak \name
  .type \name, %function
  .thumb_func
\name:
  .endm

  /* Sums of u0 to u3 in r8 to r11, of u4 to u7 in r12, lr, r6, r7, as multiples of the words' parts. */
  .macro rush_eight_taps
  ldrsb r3, [r0, r2]
  ldmia r1!, {r4}
  lsrs r5, r4, #8
  muls r5, r3
  add r9, r5
  lsrs r5, r4, #16
  muls r5, r3
  add r10, r5
  lsrs r5, r4, #24
  muls r5, r3
  add r11, r5
  muls r4, r3
  add r8, r4
  ldmia r1!, {r4}
  lsrs r5, r4, #8
  muls r5, r3
  add lr, r5
  lsrs r5, r4, #16
  muls r5, r3
  adds r6, r5
  lsrs r5, r4, #24
  muls r5, r3
  adds r7, r5
  muls r4, r3
  add r12, r4
  adds r2, #1
  .endm

  /* Codes of r3 / 4 sums at r2 with the scales at r0, to r11, each r12 bytes further; r0, r2 and r11 move on. Zero
   * point, least and largest code in r8 to r10; spoils all other registers. The product's high word comes from four
   * of 16 bits, see docs/arithmetic.md. One copy serves all loops, and whatever is rare is out of its way. */
  rush_function rush_codes
  push {lr}
  adds r3, r3, r2
  mov lr, r3
1:
  ldmia r2!, {r4}
  ldmia r0!, {r3}
  mvns r1, r3 /* its low byte is the shift less one */
  lsls r5, r1, #24
  bmi 6f
2:
  uxth r5, r4
  asrs r4, r4, #16
  uxth r6, r3
  asrs r3, r3, #16
  mov r7, r5
  muls r7, r6
  lsrs r7, r7, #16
  muls r6, r4
  adds r7, r7, r6
  muls r5, r3
  muls r4, r3
  uxth r6, r7
  adds r5, r5, r6
  asrs r5, r5, #16
  asrs r7, r7, #16
  adds r4, r4, r7
  adds r4, r4, r5
  asrs r4, r1
  adds r4, #1
  asrs r4, r4, #1
  add r4, r8
  cmp r4, r9
  blt 7f
3:
  cmp r4, r10
  bgt 8f
4:
  mov r1, r11
  strb r4, [r1]
  add r11, r12
  cmp r2, lr
  bne 1b
  pop {pc}
6: /* first a shift to the left, saturating */
  sxtb r1, r1
  negs r1, r1
  mov r5, r4
  lsls r4, r1
  mov r6, r4
  asrs r6, r1
  movs r1, #0
  cmp r6, r5
  beq 2b
  mvns r5, r5
  asrs r5, r5, #31
  movs r4, #1
  lsls r4, r4, #31
  eors r4, r5
  b 2b
7:
  mov r4, r9
  b 3b
8:
  mov r4, r10
  b 4b

  /* const int8_t* rush_eights(const InputWindow* window, const OutputLayer* layer, int8_t* out, int32_t offset):
   * blocks of eight outputs, as many as there are (at least one); returns the weights' end. On the stack: 0 eight
   * sums; 32 where the accumulators start: offset times 256^3 + 256^2 + 256 + 1 and so on, so that it remains once
   * in every sum; 48 zero point, 52 least, 56 largest code, 60 channels, 64 weights, 68 out, 72 window, 76 blocks
   * left, 80 offset of the segment, 84 segments left. */
  rush_function rush_eights
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  sub sp, #88
  str r2, [sp, #68]
  str r0, [sp, #72]
  str r3, [sp, #44]
  lsls r4, r3, #8
  adds r4, r4, r3
  str r4, [sp, #40]
  lsls r4, r4, #8
  adds r4, r4, r3
  str r4, [sp, #36]
  lsls r4, r4, #8
  adds r4, r4, r3
  str r4, [sp, #32]
  ldmia r1!, {r2, r3, r4, r5}
  str r2, [sp, #64]
  str r3, [sp, #60]
  lsrs r5, r5, #3
  str r5, [sp, #76]
  movs r5, #0
  ldrsb r5, [r4, r5]
  str r5, [sp, #48]
  movs r5, #1
  ldrsb r5, [r4, r5]
  str r5, [sp, #52]
  movs r5, #2
  ldrsb r5, [r4, r5]
  str r5, [sp, #56]
1: /* a block */
  add r0, sp, #32
  ldmia r0!, {r4-r7}
  mov r8, r4
  mov r12, r4
  mov r9, r5
  mov lr, r5
  mov r10, r6
  mov r11, r7
  ldr r3, [sp, #72]
  ldr r4, [r3, #4]
  ldr r5, [r3, #16]
  ldr r1, [sp, #64]
2: /* a segment */
  str r4, [sp, #80]
  str r5, [sp, #84]
  ldr r0, [r3, #0]
  ldr r2, [r3, #20]
  adds r0, r0, r4
  adds r0, r0, r2
  negs r2, r2
  b 4f
3:
  rush_eight_taps
4:
  lsls r3, r2, #31 /* the loop below does two at a time */
  bne 3b
  cmp r2, #0
  beq 6f
5:
  rush_eight_taps
  rush_eight_taps
  bne 5b
6:
  ldr r3, [sp, #72]
  ldr r5, [sp, #84]
  subs r5, #1
  beq 7f
  ldr r4, [r3, #8]
  ldr r0, [sp, #80]
  adds r4, r4, r0
  ldr r0, [r3, #12]
  cmp r4, r0
  blo 2b
  subs r4, r4, r0
  b 2b
7: /* the sums, biases added */
  str r1, [sp, #64]
  ldr r0, [sp, #60]
  str r6, [sp, #16]
  ldmia r0!, {r1-r4}
  mov r5, r9
  lsls r6, r5, #8
  subs r1, r1, r6
  add r1, r8
  mov r6, r10
  adds r2, r2, r5
  lsls r5, r6, #8
  subs r2, r2, r5
  mov r5, r11
  adds r3, r3, r6
  lsls r6, r5, #8
  subs r3, r3, r6
  adds r4, r4, r5
  mov r5, sp
  stmia r5!, {r1-r4}
  adds r0, #16
  ldmia r0!, {r1-r4}
  add r1, r12
  mov r6, lr
  adds r2, r2, r6
  lsls r6, r6, #8
  subs r1, r1, r6
  ldr r6, [r5, #0]
  adds r3, r3, r6
  lsls r6, r6, #8
  subs r2, r2, r6
  adds r4, r4, r7
  lsls r7, r7, #8
  subs r3, r3, r7
  stmia r5!, {r1-r4}
  /* their codes */
  adds r5, #16
  ldmia r5!, {r1-r4}
  mov r8, r1
  mov r9, r2
  mov r10, r3
  mov r0, r4
  ldr r4, [sp, #68]
  mov r11, r4
  movs r4, #1
  mov r12, r4
  mov r2, sp
8: /* four of them */
  adds r0, #16
  movs r3, #16
  bl rush_codes
  add r1, sp, #32
  cmp r2, r1
  bne 8b
  str r0, [sp, #60]
  mov r1, r11
  str r1, [sp, #68]
  ldr r1, [sp, #76]
  subs r1, #1
  str r1, [sp, #76]
  beq 10f
  b 1b
10:
  ldr r0, [sp, #64]
  add sp, #88
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}

  /* Two taps of two outputs at two positions, whose inputs are x0 + 2^16 x1: a sum p of two products has the first
   * position's sum in its low half, exactly, as both weights are not -128. r8 and r9 add up p, r7 and r10 its high
   * half, rounded: ASR leaves bit 15 in the carry; where the sum cannot lie in a low register, p begins at 2^15
   * (r11). */
  .macro rush_two_taps
  ldmia r0!, {r2, r3}
  ldmia r1!, {r4}
  sxtb r5, r4
  muls r5, r2
  asrs r6, r4, #24
  muls r6, r3
  adds r5, r5, r6
  add r8, r5
  asrs r5, r5, #16
  adcs r7, r5
  rev16 r4, r4
  sxtb r5, r4
  muls r5, r2
  asrs r4, r4, #24
  muls r4, r3
  add r5, r11
  adds r5, r5, r4
  add r9, r5
  asrs r5, r5, #16
  add r10, r5
  .endm

  /* void rush_two_positions(const TwoWindows* window, const OutputLayer* layer). On the stack: 0 eight sums of the first
   * position, 32 of the second; 64 words, 68 their end; 72 where r9 begins: 2^15 is too much for each two taps; 76
   * weights, 80 channels, 84 blocks of eight left, 88 out, 92 out of the second, 96 zero point, 100 least, 104
   * largest code, 108 where the next sum lies. */
  rush_function rush_two_positions
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  sub sp, #112
  ldmia r0!, {r2, r3, r4, r5}
  str r2, [sp, #64]
  str r4, [sp, #88]
  str r5, [sp, #92]
  lsls r4, r3, #2
  adds r4, r4, r2
  str r4, [sp, #68]
  lsls r3, r3, #14
  negs r3, r3
  str r3, [sp, #72]
  ldmia r1!, {r2, r3, r4, r5}
  str r2, [sp, #76]
  str r3, [sp, #80]
  lsrs r5, r5, #3
  str r5, [sp, #84]
  movs r5, #0
  ldrsb r5, [r4, r5]
  str r5, [sp, #96]
  movs r5, #1
  ldrsb r5, [r4, r5]
  str r5, [sp, #100]
  movs r5, #2
  ldrsb r5, [r4, r5]
  str r5, [sp, #104]
1: /* eight outputs */
  movs r3, #1
  lsls r3, r3, #15
  mov r11, r3
  mov r3, sp
  str r3, [sp, #108]
2: /* two of them */
  ldr r0, [sp, #64]
  ldr r1, [sp, #76]
  ldr r3, [sp, #68]
  mov r12, r3
  ldr r3, [sp, #72]
  mov r9, r3
  movs r7, #0
  mov r8, r7
  mov r10, r7
  b 4f
3:
  rush_two_taps
4:
  mov r3, r12
  subs r3, r3, r0
  lsls r3, r3, #27 /* the loop below does eight taps at a time */
  bne 3b
  cmp r0, r12
  beq 6f
5:
  rush_two_taps
  rush_two_taps
  rush_two_taps
  rush_two_taps
  cmp r0, r12
  bne 5b
6:
  str r1, [sp, #76]
  ldr r1, [sp, #108]
  mov r2, sp
  subs r2, r1, r2
  movs r3, #16
  ands r3, r2
  adds r2, r2, r3
  ldr r3, [sp, #80]
  adds r2, r2, r3
  ldmia r2!, {r3, r4}
  lsls r5, r7, #16
  mov r6, r8
  subs r6, r6, r5
  adds r6, r6, r3
  str r6, [r1, #0]
  adds r7, r7, r3
  str r7, [r1, #32]
  mov r7, r10
  lsls r5, r7, #16
  mov r6, r9
  subs r6, r6, r5
  adds r6, r6, r4
  str r6, [r1, #4]
  adds r7, r7, r4
  str r7, [r1, #36]
  adds r1, #8
  str r1, [sp, #108]
  add r2, sp, #32
  cmp r1, r2
  beq 12f
  b 2b
12:
  /* their codes, of one position, then of the other */
  ldr r4, [sp, #96]
  mov r8, r4
  ldr r4, [sp, #100]
  mov r9, r4
  ldr r4, [sp, #104]
  mov r10, r4
  movs r4, #1
  mov r12, r4
  mov r2, sp
  ldr r1, [sp, #88]
7:
  mov r11, r1
  ldr r0, [sp, #80]
8:
  adds r0, #16
  movs r3, #16
  bl rush_codes
  mov r1, sp
  subs r1, r2, r1
  lsls r3, r1, #27
  bne 8b
  cmp r1, #32
  bne 10f
  mov r1, r11
  str r1, [sp, #88]
  ldr r1, [sp, #92]
  b 7b
10:
  str r0, [sp, #80]
  mov r1, r11
  str r1, [sp, #92]
  ldr r1, [sp, #84]
  subs r1, #1
  str r1, [sp, #84]
  beq 11f
  b 1b
11:
  add sp, #112
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}

  /* void rush_store_sums(const ChannelBlock* block, const OutputCodes* codes, CodeSums* sums, uint32_t count) */
  rush_function rush_store_sums
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r4-r7}
  lsls r3, r3, #2
  adds r3, r3, r2
  push {r2, r3}
  adds r0, #16
  movs r4, #0
  ldrsb r4, [r1, r4]
  mov r8, r4
  movs r4, #1
  ldrsb r4, [r1, r4]
  mov r9, r4
  movs r4, #2
  ldrsb r4, [r1, r4]
  mov r10, r4
  ldr r4, [r2, #32]
  mov r11, r4
  ldr r4, [r2, #36]
  mov r12, r4
1: /* a block of four */
  ldr r1, [sp, #4]
  subs r3, r1, r2
  cmp r3, #16
  bls 2f
  movs r3, #16
2:
  bl rush_codes
  adds r0, #16
  ldr r1, [sp, #4]
  cmp r2, r1
  bne 1b
  pop {r2, r3}
  mov r4, r11
  str r4, [r2, #32]
  pop {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}

  /* void rush_depthwise_blocks(DepthwisePixel* pixel): four channels at a time. The bytes of a word are taken apart
   * with five instructions: the outer two, then, halves turned round, the inner two. */
  rush_function rush_depthwise_blocks
  push {r4-r7, lr}
  mov r4, r8
  mov r5, r9
  mov r6, r10
  mov r7, r11
  push {r0, r4-r7}
1: /* a block */
  ldmia r0!, {r2, r3} /* in, channels */
  ldmia r3!, {r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  ldmia r0!, {r1, r7} /* weights, taps */
  ldmia r0!, {r3, r4, r5} /* their ends, outside */
  mov lr, r3
  mov r12, r4
  b 4f
2: /* taps outside */
  mov lr, r12
  mov r2, r5
  b 4f
3: /* a tap */
  ldmia r7!, {r0, r6}
  ldr r3, [r2, r0]
  ldr r6, [r1, r6]
  sxtb r4, r3
  sxtb r0, r6
  muls r4, r0
  add r8, r4
  asrs r4, r3, #24
  asrs r0, r6, #24
  muls r4, r0
  add r11, r4
  rev16 r3, r3
  rev16 r6, r6
  sxtb r4, r3
  sxtb r0, r6
  muls r4, r0
  add r9, r4
  asrs r3, r3, #24
  asrs r6, r6, #24
  muls r3, r6
  add r10, r3
4:
  cmp r7, lr
  bne 3b
  cmp r7, r12
  bne 2b
  /* the codes */
  ldr r2, [sp]
  adds r2, #28
  ldmia r2!, {r0, r4, r5, r6, r7} /* out, stride, zero point, least, largest code */
  mov r3, r8
  str r3, [r2, #0]
  mov r3, r9
  str r3, [r2, #4]
  mov r3, r10
  str r3, [r2, #8]
  mov r3, r11
  str r3, [r2, #12]
  mov r11, r0
  mov r12, r4
  mov r8, r5
  mov r9, r6
  mov r10, r7
  ldr r0, [sp]
  ldr r0, [r0, #4]
  adds r0, #16
  movs r3, #16
  bl rush_codes
  ldmia r2!, {r3, r5} /* bytes of a block's weights, blocks left */
  ldr r1, [sp]
  ldr r4, [r1, #8]
  adds r4, r4, r3
  str r4, [r1, #8]
  ldr r4, [r1, #0]
  adds r4, #4
  str r4, [r1, #0]
  str r0, [r1, #4]
  mov r3, r11
  str r3, [r1, #28]
  movs r0, r1
  subs r5, #1
  str r5, [r1, #68]
  bne 1b
  pop {r0, r4-r7}
  mov r8, r4
  mov r9, r5
  mov r10, r6
  mov r11, r7
  pop {r4-r7, pc}

#endif
