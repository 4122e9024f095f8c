// SPDX-License-Identifier: Apache-2.0
//
// The kernel contract: what a kernel is given, what it promises, and how a table of them is described.
//
// A kernel computes output rows [band.begin, band.end) from its operands. It checks nothing: the compiler
// proved the parameters, and rush_open() asked extents() for every byte that it can touch.
//
// Order. The compiler lets an output begin inside an input that dies, as far as the order of the kernel allows. A
// kernel whose host side says `rows_at_once` computes so many rows, from the band's first on, wholly before it writes
// anything of those behind them, and writes nothing else meanwhile: what lies before the first input row that the first
// of them reads may be overwritten by then. A kernel that takes the rows of a band as one long row of positions says
// how many it has in hand at once (`positions_at_once`; 0 if all). Others: inputs and outputs apart, but for in_place.
#ifndef RUSHLIGHT_KERNEL_H
#define RUSHLIGHT_KERNEL_H

#include <stddef.h>
#include <stdint.h>

namespace rush {

/// Rows of the output map, 0 <= begin < end <= the step's rows. Kernels whose output is not a map have one row.
struct Band {
  int32_t begin;
  int32_t end;
};

/// Where the rows of a feature map lie. The map may be whole, or a ring of its last `ring_rows` rows.
/// A whole map has reciprocal 0. A ring has reciprocal = ceil(2^15 / ring_rows); the compiler keeps
/// y * ring_rows < 2^15, which makes the quotient below exact.
struct Rows {
  uint32_t row_bytes;
  uint16_t ring_rows;
  uint16_t reciprocal;
};

// With three-operand instructions row_offset() is shorter than a call, which compilers do not see.
#ifdef __thumb2__
#define RUSH_SHORT __attribute__((always_inline))
#else
#define RUSH_SHORT
#endif

/// Byte offset of row y, 0 <= y < 2^15, with no division.
inline RUSH_SHORT uint32_t row_offset(const Rows& rows, uint32_t y) {
  const uint32_t quotient = (y * rows.reciprocal) >> 15;
  return (y - quotient * rows.ring_rows) * rows.row_bytes;
}

enum { kMaxOperands = 8 };

/// operands[i] is the address of the i-th operand; params points to the family's params struct in the image.
typedef void Kernel(const void* params, void* const* operands, Band band);

/// Bytes that a kernel with these params can touch, from each operand's address on, and its number of output rows.
struct Extents {
  uint32_t bytes[kMaxOperands];
  uint32_t rows;
};

/// Fills `extents` (zeroed before). False if a run with these params would not be safe or would not end.
typedef bool ExtentsOf(const void* params, Extents* extents);

/// What all variants of one kernel family share.
struct KernelContract {
  ExtentsOf* extents;
  uint16_t params_bytes;
  uint8_t operand_count;
  uint8_t written;       ///< bit i: operand i is written
  uint8_t word_aligned;  ///< bit i: operand i must be 4-byte aligned
};

struct KernelEntry {
  Kernel* run;
  const KernelContract* contract;
};

/// Parameters of a step whose kernel writes nothing (`written` is 0): it stands for rows that the caller gives, and its
/// one operand is where they go (rush_feed_rows).
struct FeedParams {
  Rows map;
  uint32_t rows;
};

// Sizes for extents(): saturate instead of wrapping, so that a huge product can never look small.
inline uint32_t saturating_multiply(uint32_t a, uint32_t b) {
  if ((a | b) < 0x10000u) return a * b;  // the common case, without a 64-bit product
  const uint64_t product = static_cast<uint64_t>(a) * b;
  return product > 0xffffffffu ? 0xffffffffu : static_cast<uint32_t>(product);
}

inline uint32_t saturating_add(uint32_t a, uint32_t b) { return a + b < a ? 0xffffffffu : a + b; }

/// Whether a Rows description keeps every row y < map_rows inside ring_rows rows.
inline bool rows_hold(const Rows& rows, uint32_t map_rows) {
  if (rows.reciprocal == 0) return rows.ring_rows == map_rows && map_rows != 0;
  const uint32_t covered = static_cast<uint32_t>(rows.reciprocal) * rows.ring_rows;
  return rows.ring_rows != 0 && covered >= 0x8000u && covered < 0x8000u + rows.ring_rows &&
         map_rows * rows.ring_rows <= 0x8000u && map_rows < 0x8000u;
}

/// Bytes of the map or ring behind `rows`.
inline uint32_t rows_bytes(const Rows& rows) { return saturating_multiply(rows.ring_rows, rows.row_bytes); }

/// For extents(): sets the bytes of a map of `map_rows` rows that use `used` bytes each, unless `rows` does not hold
/// them. Not inlined: one copy serves all families.
inline __attribute__((noinline)) bool map_holds(const Rows& rows, uint32_t map_rows, uint32_t used, uint32_t* bytes) {
  if (!rows_hold(rows, map_rows) || used > rows.row_bytes) return false;
  *bytes = rows_bytes(rows);
  return true;
}

}  // namespace rush

/// The kernels of one firmware, in the order of the image's kernel section. `id` is the CRC-32 of the list of
/// kernel ids, so an image runs only with the table that it was compiled for.
struct rush_kernel_table {
  uint32_t id;
  uint16_t count;
  uint16_t isa;  ///< rush::Isa
  const rush::KernelEntry* entries;
};

#endif
