// SPDX-License-Identifier: Apache-2.0
//
// The program image as it lies in flash: little endian, position independent, executed in place.
// docs/image-format.md is the specification; this file is its one transcription, shared by compiler and device.
#ifndef RUSHLIGHT_IMAGE_H
#define RUSHLIGHT_IMAGE_H

#include <stdint.h>

#include "rushlight/rushlight.h"

namespace rush {

enum : uint32_t { kMagic = 0x48535552u };  // "RUSH"
enum : uint16_t { kVersionMajor = 2, kVersionMinor = 0 };

/// The classes of cores that kernels are written for.
enum class Isa : uint16_t { kScalar = 0, kDsp = 1, kMve = 2 };

/// First bytes of an image. The CRC-32 (polynomial 0xEDB88320) covers everything behind the crc field.
struct ImageHeader {
  uint32_t magic;
  uint32_t crc;
  uint16_t version_major;  ///< a reader refuses another one
  uint16_t version_minor;  ///< a reader accepts any; what it adds lies in sections that may be skipped
  uint32_t image_bytes;
  uint16_t isa;
  uint16_t section_count;
  uint32_t kernel_table_id;
  uint32_t stack_bytes;  ///< bound of the stack that a run needs, kernels and core
  uint32_t max_chain_steps;
};

/// Section kinds. The first kFixedSections are present in every image, empty or not, as the first elements of the
/// section table, in this order: a device finds them without a search. Others follow in any order. A reader skips
/// a kind that it does not know, unless kSectionRequired is set in `flags`.
enum class SectionKind : uint16_t {
  kRegions = 1,     ///< ImageRegion[]: region 1, 2, ... (region 0 is the image)
  kEntries = 2,     ///< ImageEntry[]
  kIo = 3,          ///< rush_io[]
  kChains = 4,      ///< ImageChain[]
  kLinks = 5,       ///< ImageLink[]: one for each step of each chain of two or more steps, in order
  kSteps = 6,       ///< ImageStep[]
  kOperands = 7,    ///< uint32_t[]: region << 28 | offset
  kParams = 8,      ///< the kernels' parameter structs
  kStrings = 9,     ///< zero-terminated UTF-8: I/O, entry and region names, labels
  kLabels = 10,     ///< uint32_t[]: offsets of strings, e.g. the class names
  kConstants = 11,  ///< weights, tables: what operands of region 0 point into (offsets from the image's start)
  kKernels = 12,    ///< uint16_t[]: kernel ids, in the order of the kernel table
  kDebug = 13,      ///< ImageDebug[]: one for each step; layer names and source lines
  kCommands = 14,   ///< command streams of an NPU, operands of the kernel that drives it
  kCosts = 15       ///< uint32_t[]: modelled cycles of each step, for rush_run_some()
};
enum : uint16_t { kFixedSections = 10, kKnownSections = 15, kSectionRequired = 1 };

struct ImageSection {
  uint16_t kind;
  uint16_t flags;
  uint32_t offset;  ///< from the image's start, 4-byte aligned
  uint32_t bytes;
  uint32_t count;  ///< elements, below 2^24 in the fixed sections; bytes where the elements are bytes
};

enum class RegionKind : uint8_t {
  kArena = 1,   ///< tensors and scratch of one run: contents do not outlive it
  kState = 2,   ///< survives between runs; an "init" entry sets it
  kWeights = 3  ///< a copy of bytes of the image, which rush_open() makes: constants in faster memory
};

struct ImageRegion {
  uint32_t name;  ///< string offset, or 0xffffffff
  uint32_t bytes;
  uint8_t kind;
  uint8_t reserved[3];
  uint32_t source;  ///< kWeights: where in the image the bytes are
};

/// An entry point: chains [first_chain, first_chain + chain_count), run in order.
struct ImageEntry {
  uint32_t name;
  uint16_t first_chain;
  uint16_t chain_count;
  uint16_t first_input;  ///< indices into the I/O section
  uint16_t input_count;
  uint16_t first_output;
  uint16_t output_count;
};

/// Steps that run together, band by band. Most chains are one step, which runs as a whole. Chains cover the steps
/// one behind the other, and links the steps of the longer chains.
struct ImageChain {
  uint16_t first_step;
  uint16_t step_count;
  uint32_t first_link;  ///< in the link section; that of the next longer chain where step_count is 1
};

/// How a step of a longer chain advances, band_rows rows at a time, first_rows the first time if that is not 0. Before
/// output rows [done, y) are computed, producer p (an earlier step of the same chain, by its place in it) must have
/// done min(its rows, y * row_stride + row_lead) rows. The runtime always runs the last step of the chain that is
/// ready, until all have done all their rows; the compiler proves that this order never overwrites a ring row still
/// needed. Producers come first, so one is always ready.
struct ImageLink {
  uint8_t band_rows;
  uint8_t first_rows;
  uint16_t producer[2];  ///< 0xffff: none
  uint16_t row_stride[2];
  int16_t row_lead[2];
  /// Place of the last step that reads this step's rows, or its own: no step behind that one can become ready by a band
  /// of this one. 0: not known.
  uint16_t last_reader;
};
enum : uint16_t { kNoProducer = 0xffff };

struct ImageStep {
  uint16_t kernel;         ///< index into the kernel table
  uint16_t rows;           ///< output rows
  uint32_t params;         ///< byte offset in the params section, 4-byte aligned
  uint32_t first_operand;  ///< index into the operand section
};

struct ImageDebug {
  uint32_t layer;   ///< string offset: the user's layer
  uint32_t source;  ///< string offset: "model.py:41"
};

enum : uint32_t { kOperandRegionShift = 28, kOperandOffsetMask = 0x0fffffffu };

static_assert(sizeof(ImageHeader) == 32 && sizeof(ImageSection) == 16 && sizeof(ImageRegion) == 16, "layout");
static_assert(sizeof(ImageEntry) == 16 && sizeof(ImageChain) == 8 && sizeof(ImageLink) == 16, "layout");
static_assert(sizeof(ImageStep) == 12 && sizeof(rush_io) == 76, "layout");

}  // namespace rush
#endif
