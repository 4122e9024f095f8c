// SPDX-License-Identifier: Apache-2.0
//
// Decoding of disassembled text. Two tables (core and FPU; Helium) give each mnemonic its class and how its operands
// are used; suffixes (width, element type, condition, flags, predication) are taken off until a table knows the rest.
#include "compiler/firmware/operation.h"

#include <array>
#include <bit>
#include <charconv>
#include <string>
#include <unordered_map>
#include <vector>

namespace rush::firmware {
namespace {

/// How a mnemonic uses its operands.
struct Form {
  OpClass op_class;
  int results = 1;           ///< leading operands that are written
  bool reads_first = false;  ///< the first operand is read too (bfi, vmla's accumulator)
  bool accumulates = false;  ///< the last core operand, or the first, is an accumulator that is needed late
  bool unary = false;        ///< with two operands the first is only written
};

using Forms = std::unordered_map<std::string_view, Form>;
using enum OpClass;

constexpr std::string_view kNames[] = {"alu",
                                       "shift_alu",
                                       "bit_field",
                                       "mul",
                                       "mac",
                                       "long_mul",
                                       "div",
                                       "load",
                                       "load_narrow",
                                       "store",
                                       "load_many",
                                       "store_many",
                                       "branch",
                                       "branch_link",
                                       "branch_indirect",
                                       "fp_move",
                                       "fp_alu",
                                       "fp_mac",
                                       "fp_div",
                                       "fp_load",
                                       "fp_store",
                                       "vector_load",
                                       "vector_store",
                                       "vector_gather",
                                       "vector_scatter",
                                       "vector_alu",
                                       "vector_shift",
                                       "vector_mul",
                                       "vector_mac_to_core",
                                       "vector_to_core",
                                       "vector_fp",
                                       "predicate",
                                       "loop_start",
                                       "loop_end",
                                       "if_then",
                                       "nop"};
static_assert(std::size(kNames) == static_cast<size_t>(kCount));

void add(Forms& forms, std::initializer_list<std::string_view> names, Form form) {
  for (const std::string_view name : names) forms.emplace(name, form);
}

Forms make_core_forms() {
  Forms f;
  add(f, {"add", "addw", "sub", "subw", "rsb", "adc", "sbc", "and", "orr", "orn", "eor", "bic"}, {kAlu});
  add(f, {"mov", "movw", "mvn", "sxtb", "sxth", "uxtb", "uxth",  "sxtb16", "uxtb16", "rev",   "rev16", "revsh", "rbit",
          "clz", "neg",  "adr", "mrs",  "csel", "cset", "csetm", "csinc",  "csinv",  "csneg", "cinc",  "cinv",  "cneg"},
      {.op_class = kAlu, .unary = true});
  add(f, {"ubfx", "sbfx"}, {kBitField});
  add(f, {"lsl", "lsr", "asr", "ror", "rrx", "ssat", "usat", "ssat16", "usat16"}, {kAlu});
  add(f, {"sxtab",   "sxtah",  "uxtab",   "uxtah",  "sxtab16", "uxtab16", "pkhbt",  "pkhtb",   "qadd",
          "qsub",    "qadd8",  "qadd16",  "qsub8",  "qsub16",  "sadd8",   "sadd16", "ssub8",   "ssub16",
          "uadd8",   "uadd16", "usub8",   "usub16", "uqadd8",  "uqadd16", "uqsub8", "uqsub16", "shadd8",
          "shadd16", "uhadd8", "uhadd16", "sel",    "sasx",    "ssax",    "qasx",   "qsax",    "lsll",
          "lsrl",    "asrl",   "sqrshr",  "sqshl",  "srshr",   "uqshl",   "urshr",  "uqrshl"},
      {kAlu});
  add(f, {"movt"}, {.op_class = kAlu, .reads_first = true});
  add(f, {"bfi", "bfc"}, {.op_class = kBitField, .reads_first = true});
  add(f, {"cmp", "cmn", "tst", "teq"}, {.op_class = kAlu, .results = 0});
  add(f,
      {"mul", "smulbb", "smulbt", "smultb", "smultt", "smulwb", "smulwt", "smuad", "smuadx", "smusd", "smusdx", "smmul",
       "smmulr"},
      {kMul});
  add(f,
      {"mla", "mls", "smlabb", "smlabt", "smlatb", "smlatt", "smlawb", "smlawt", "smlad", "smladx", "smlsd", "smlsdx",
       "smmla", "smmlar", "smmls", "smmlsr", "usada8"},
      {.op_class = kMac, .accumulates = true});
  add(f, {"umull", "smull"}, {.op_class = kLongMul, .results = 2});
  add(f,
      {"umlal", "smlal", "umaal", "smlald", "smlaldx", "smlsld", "smlsldx", "smlalbb", "smlalbt", "smlaltb", "smlaltt"},
      {.op_class = kLongMul, .results = 2, .reads_first = true});
  add(f, {"sdiv", "udiv"}, {kDiv});
  add(f, {"ldr", "ldrex", "lda"}, {kLoad});
  add(f, {"ldrb", "ldrh", "ldrsb", "ldrsh"}, {kLoadNarrow});
  add(f, {"str", "strb", "strh", "stl"}, {.op_class = kStore, .results = 0});
  add(f, {"ldrd"}, {.op_class = kLoadMany, .results = 2});
  add(f, {"strd"}, {.op_class = kStoreMany, .results = 0});
  add(f, {"ldm", "ldmia", "ldmdb", "pop"}, {.op_class = kLoadMany, .results = 0});
  add(f, {"stm", "stmia", "stmdb", "push"}, {.op_class = kStoreMany, .results = 0});
  add(f, {"b", "cbz", "cbnz"}, {.op_class = kBranch, .results = 0});
  add(f, {"bl"}, {.op_class = kBranchLink, .results = 0});
  add(f, {"bx", "blx", "tbb", "tbh"}, {.op_class = kBranchIndirect, .results = 0});
  add(f, {"wls", "dls", "wlstp", "dlstp"}, {.op_class = kLoopStart});
  add(f, {"le", "letp"}, {.op_class = kLoopEnd, .results = 0});
  add(f,
      {"nop", "dsb", "isb", "dmb", "bkpt", "cpsid", "cpsie", "udf", "lctp", "pld", "bti", "pacbti", "aut", "pac", "sg",
       "msr"},
      {.op_class = kNop, .results = 0});
  add(f, {"vmov", "vneg", "vabs", "vmrs", "vmsr"}, {.op_class = kFpMove, .unary = true});
  add(f, {"vadd",  "vsub",   "vmul",   "vnmul",  "vcvt",   "vcvtr",  "vcvtb",  "vcvtt",  "vcvta",  "vcvtn", "vcvtp",
          "vcvtm", "vrinta", "vrintn", "vrintp", "vrintm", "vrintz", "vrintr", "vrintx", "vmaxnm", "vminnm"},
      {.op_class = kFpAlu, .unary = true});
  add(f, {"vcmp", "vcmpe"}, {.op_class = kFpAlu, .results = 0});
  add(f, {"vseleq", "vselgt", "vselge", "vselvs"}, {kFpAlu});
  add(f, {"vmla", "vmls", "vnmla", "vnmls", "vfma", "vfms", "vfnma", "vfnms"},
      {.op_class = kFpMac, .reads_first = true, .accumulates = true});
  add(f, {"vdiv", "vsqrt"}, {.op_class = kFpDiv, .unary = true});
  add(f, {"vldr"}, {kFpLoad});
  add(f, {"vstr"}, {.op_class = kFpStore, .results = 0});
  add(f, {"vldm", "vldmia", "vldmdb", "vpop"}, {.op_class = kLoadMany, .results = 0});
  add(f, {"vstm", "vstmia", "vstmdb", "vpush"}, {.op_class = kStoreMany, .results = 0});
  return f;
}

Forms make_vector_forms() {
  Forms f;
  add(f, {"vldrb", "vldrh", "vldrw", "vldrd", "vldr"}, {kVectorLoad});
  add(f, {"vstrb", "vstrh", "vstrw", "vstrd", "vstr"}, {.op_class = kVectorStore, .results = 0});
  add(f, {"vld20", "vld21", "vld40", "vld41", "vld42", "vld43"}, {kVectorLoad});
  add(f, {"vst20", "vst21", "vst40", "vst41", "vst42", "vst43"}, {.op_class = kVectorStore, .results = 0});
  add(f, {"vadd", "vsub", "vqadd", "vqsub", "vhadd", "vhsub", "vrhadd", "vabd",   "vand",  "vorr", "vorn",
          "veor", "vbic", "vadc",  "vadci", "vsbc",  "vsbci", "vcadd",  "vhcadd", "vpsel", "vmax", "vmin"},
      {kVectorAlu});
  add(f, {"vshl", "vrshl", "vqshl", "vqrshl", "vshr", "vrshr", "vqshlu", "vshll", "vshllb", "vshllt", "vbrsr"},
      {kVectorShift});
  add(f,
      {"vmov", "vmvn", "vneg", "vabs", "vqneg", "vqabs", "vdup", "vmovl", "vmovlb", "vmovlt", "vrev16", "vrev32",
       "vrev64", "vcls", "vclz"},
      {.op_class = kVectorAlu, .unary = true});
  add(f, {"vmaxa", "vmina", "vmovnb", "vmovnt", "vins"}, {.op_class = kVectorAlu, .reads_first = true});
  add(f,
      {"vsli", "vsri", "vqmovnb", "vqmovnt", "vqmovunb", "vqmovunt", "vshrnb", "vshrnt", "vrshrnb", "vrshrnt",
       "vqshrnb", "vqshrnt", "vqrshrnb", "vqrshrnt", "vqshrunb", "vqshrunt", "vqrshrunb", "vqrshrunt", "vshlc"},
      {.op_class = kVectorShift, .reads_first = true});
  add(f, {"vidup", "vddup", "viwdup", "vdwdup"}, {.op_class = kVectorAlu, .results = 2, .reads_first = true});
  add(f, {"vcmp", "vpt"}, {.op_class = kVectorAlu, .results = 0});
  add(f, {"vmul", "vmulh", "vrmulh", "vmull", "vmullb", "vmullt", "vqdmulh", "vqrdmulh", "vqdmullb", "vqdmullt"},
      {kVectorMul});
  add(f,
      {"vmla", "vmlas", "vqdmlah", "vqrdmlah", "vqdmlash", "vqrdmlash", "vqdmladh", "vqrdmladh", "vqdmladhx",
       "vqrdmladhx", "vqdmlsdh", "vqrdmlsdh", "vcmla", "vcmul"},
      {.op_class = kVectorMul, .reads_first = true, .accumulates = true});
  add(f, {"vmladav", "vmladavx", "vmlsdav", "vmlav", "vmlsdavx"}, {kVectorMacToCore});
  add(f, {"vmladava", "vmladavax", "vmlsdava", "vmlava", "vmlsdavax", "vabav"},
      {.op_class = kVectorMacToCore, .reads_first = true, .accumulates = true});
  add(f, {"vmlaldav", "vmlalv", "vrmlaldavh", "vrmlalvh", "vmlaldavx"}, {.op_class = kVectorMacToCore, .results = 2});
  add(f, {"vmlaldava", "vmlalva", "vrmlaldavha", "vrmlalvha", "vmlaldavax"},
      {.op_class = kVectorMacToCore, .results = 2, .reads_first = true, .accumulates = true});
  add(f, {"vaddv", "vmaxv", "vminv", "vmaxav", "vminav", "vmaxnmv", "vminnmv"},
      {.op_class = kVectorToCore, .reads_first = true});
  add(f, {"vaddva"}, {.op_class = kVectorToCore, .reads_first = true, .accumulates = true});
  add(f, {"vaddlv", "vaddlva"}, {.op_class = kVectorToCore, .results = 2, .reads_first = true});
  add(f,
      {"vcvt", "vcvta", "vcvtn", "vcvtp", "vcvtm", "vcvtb", "vcvtt", "vrinta", "vrintn", "vrintp", "vrintm", "vrintz",
       "vrintx"},
      {.op_class = kVectorFp, .unary = true});
  add(f, {"vmaxnm", "vminnm"}, {kVectorFp});
  add(f, {"vfma", "vfms", "vfmas"}, {.op_class = kVectorFp, .reads_first = true, .accumulates = true});
  return f;
}

const Forms& core_forms() {
  static const Forms forms = make_core_forms();
  return forms;
}

const Forms& vector_forms() {
  static const Forms forms = make_vector_forms();
  return forms;
}

constexpr std::string_view kConditions = "eqnehslomiplvsvchilsgeltgtlecccsal";

bool is_condition(std::string_view text) {
  if (text.size() != 2) return false;
  for (size_t i = 0; i < kConditions.size(); i += 2) {
    if (kConditions.substr(i, 2) == text) return true;
  }
  return false;
}

struct Match {
  const Form* form = nullptr;
  bool conditional = false;
  bool sets_flags = false;
};

const Form* find(const Forms& forms, std::string_view name) {
  const auto found = forms.find(name);
  return found == forms.end() ? nullptr : &found->second;
}

std::string_view before_dot(std::string_view mnemonic) { return mnemonic.substr(0, mnemonic.find('.')); }

Match match_vector(std::string_view name) {
  if (const Form* form = find(vector_forms(), name)) return {form, false, false};
  if (name.ends_with("t") || name.ends_with("e")) name.remove_suffix(1);  // in a VPT block: then, else
  return {find(vector_forms(), name), false, false};
}

/// The table's form of a name, or of the name without the 's' that sets the flags.
Match match_plain(std::string_view name) {
  if (const Form* form = find(core_forms(), name)) return {form, false, false};
  if (!name.ends_with("s")) return {};
  return {find(core_forms(), name.substr(0, name.size() - 1)), false, true};
}

Match match_core(std::string_view name) {
  if (const Form* form = find(core_forms(), name)) return {form, false, false};
  const std::string_view tail = name.substr(name.size() < 2 ? 0 : name.size() - 2);
  Match conditional = is_condition(tail) ? match_plain(name.substr(0, name.size() - 2)) : Match{};
  conditional.conditional = true;
  return conditional.form ? conditional : match_plain(name);
}

bool has_vector_register(std::string_view operands) {
  for (size_t i = 0; i + 1 < operands.size(); ++i) {
    const bool starts = i == 0 || operands[i - 1] == ' ' || operands[i - 1] == '{' || operands[i - 1] == '[';
    if (starts && operands[i] == 'q' && operands[i + 1] >= '0' && operands[i + 1] <= '7') return true;
  }
  return false;
}

bool is_predicate(std::string_view name) {
  return name.starts_with("vpst") || name.starts_with("vctp") || name == "vpnot" || name.starts_with("vpt");
}

bool is_if_then(std::string_view name) {
  return name.starts_with("it") && name.find_first_not_of("te", 1) == std::string_view::npos && name.size() <= 5;
}

constexpr Registers bits(int first, int count) { return ((Registers{1} << count) - 1) << first; }

/// The bits of one register name; 0 for anything else.
Registers register_bits(std::string_view name) {
  if (name == "sp") return bits(13, 1);
  if (name == "lr") return bits(14, 1);
  if (name == "pc") return bits(15, 1);
  if (name == "ip") return bits(12, 1);
  if (name == "fp") return bits(11, 1);
  if (name == "sl") return bits(10, 1);
  if (name == "sb") return bits(9, 1);
  if (name == "APSR_nzcv") return bits(kFlagsBit, 1);
  if (name == "p0" || name == "vpr") return bits(kPredicateBit, 1);
  int number = 0;
  if (name.size() < 2) return 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return 0;
  if (name[0] == 'r' && number < 16) return bits(number, 1);
  if (name[0] == 's' && number < 32) return bits(kFirstSingleBit + number, 1);
  if (name[0] == 'd' && number < 16) return bits(kFirstSingleBit + 2 * number, 2);
  if (name[0] == 'q' && number < 8) return bits(kFirstSingleBit + 4 * number, 4);
  return 0;
}

int lowest(Registers r) { return std::countr_zero(r); }

/// All registers that a text names, ranges ("r4-r7") included.
Registers registers_in(std::string_view text) {
  const auto is_word = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  Registers all = 0;
  Registers range_from = 0;
  for (size_t i = 0; i < text.size();) {
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    const Registers r = end > i ? register_bits(text.substr(i, end - i)) : 0;
    if (r && range_from) all |= bits(lowest(range_from), 64 - std::countl_zero(r) - lowest(range_from));
    all |= r;
    range_from = r && end < text.size() && text[end] == '-' ? r : 0;
    i = end > i && range_from == 0 ? end : end + 1;
  }
  return all;
}

/// Top-level operands: "r0, [r1, #4]" is two.
std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && (text[i] == '[' || text[i] == '{')) ++depth;
    if (i < text.size() && (text[i] == ']' || text[i] == '}')) --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    if (i > start) parts.push_back(text.substr(start, i - start));
    start = i + 1;
  }
  return parts;
}

/// The base register of an address that is written back: "[r1, #4]!", "[r1], #4", "r0!".
Registers written_back(std::string_view operands) {
  const size_t open = operands.find('[');
  if (open == std::string_view::npos) {
    const size_t bang = operands.find('!');
    return bang == std::string_view::npos ? 0 : registers_in(operands.substr(0, bang));
  }
  const size_t close = operands.find(']', open);
  const bool writes =
      operands.find('!', close) != std::string_view::npos || operands.find(',', close) != std::string_view::npos;
  return writes ? registers_in(operands.substr(open + 1, operands.find_first_of(",]", open) - open - 1)) : 0;
}

constexpr Registers kVectorBits = bits(kFirstSingleBit, 32);

void use_operands(Operation& op, const Form& form, const std::vector<std::string_view>& parts) {
  const size_t results = std::min<size_t>(static_cast<size_t>(form.results), parts.size());
  for (size_t i = 0; i < parts.size(); ++i) (i < results ? op.results : op.reads) |= registers_in(parts[i]);
  const bool two_operand = parts.size() == 2 && form.results == 1 && !form.unary && op.updates == 0 &&
                           form.op_class != kLoad && form.op_class != kLoadNarrow && form.op_class != kFpLoad &&
                           form.op_class != kVectorLoad;
  const bool stores = form.op_class == kStore || form.op_class == kFpStore;
  if (stores) {
    op.stored = registers_in(parts.front());
    op.reads = 0;
    for (size_t i = 1; i < parts.size(); ++i) op.reads |= registers_in(parts[i]);
  } else if (form.accumulates) {
    op.accumulates = form.reads_first ? op.results : (parts.size() == 4 ? registers_in(parts[3]) : 0);
    op.reads &= ~op.accumulates | (parts.size() == 4 ? registers_in(parts[1]) | registers_in(parts[2]) : ~Registers{0});
  } else if (form.reads_first || two_operand) {
    op.reads |= op.results;
  }
}

/// Load and store multiple: the list is what moves; push and pop name only the list.
void use_list(Operation& op, std::string_view operands) {
  const size_t open = operands.find('{');
  const Registers list = registers_in(open == std::string_view::npos ? operands : operands.substr(open));
  const Registers base = open == 0 ? bits(13, 1) : registers_in(operands.substr(0, open));
  op.registers_moved = std::popcount(list);
  op.reads = base;
  if (op.op_class == kLoadMany) op.results = list;
  if (op.op_class == kStoreMany) op.reads |= list;
  op.updates = open == 0 || operands.find('!') != std::string_view::npos ? base : 0;
}

void specialise_vector(Operation& op, const Instruction& instruction) {
  const size_t open = instruction.operands.find('[');
  const bool indexed =
      open != std::string::npos && has_vector_register(std::string_view(instruction.operands).substr(open));
  if (op.op_class == kVectorLoad && indexed) op.op_class = kVectorGather;
  if (op.op_class == kVectorStore && indexed) op.op_class = kVectorScatter;
  if (op.op_class == kVectorAlu && op.results != 0 && (op.results & kVectorBits) == 0) op.op_class = kVectorToCore;
  const bool vector_op = op.op_class == kVectorAlu || op.op_class == kVectorMul;
  if (vector_op && instruction.mnemonic.find(".f") != std::string::npos) op.op_class = kVectorFp;
}

bool is_shifted(std::string_view operands) {
  for (const std::string_view shift : {"lsl #", "lsr #", "asr #", "ror #", "rrx"}) {
    if (operands.find(shift) != std::string_view::npos) return true;
  }
  return false;
}

Operation decode_plain(const Instruction& instruction, OpClass op_class) {
  Operation op;
  op.op_class = op_class;
  op.bytes = instruction.bytes;
  op.reads = registers_in(instruction.operands);
  if (op_class == kPredicate) op.results = bits(kPredicateBit, 1);
  return op;
}

void add_flags(Operation& op, const Match& match, std::string_view name) {
  const bool compares = name == "cmp" || name == "cmn" || name == "tst" || name == "teq";
  if (match.sets_flags || compares) op.results |= bits(kFlagsBit, 1);
  const bool uses_carry = name.starts_with("adc") || name.starts_with("sbc") || name.starts_with("cs") ||
                          name == "cinc" || name == "cneg" || name == "cinv";
  if (match.conditional || uses_carry) op.reads |= bits(kFlagsBit, 1);
  if (match.conditional && op.op_class != kBranch) op.reads |= op.results;
}

Match match(const Instruction& instruction, std::string_view name) {
  const bool vector = name.starts_with("v") && has_vector_register(instruction.operands);
  const Match found = vector ? match_vector(name) : match_core(name);
  return found.form == nullptr && name.starts_with("v") ? match_vector(name) : found;
}

}  // namespace

std::string_view name_of(OpClass op_class) { return kNames[static_cast<size_t>(op_class)]; }

bool known(std::string_view mnemonic) {
  const std::string_view name = before_dot(mnemonic);
  return is_predicate(name) || is_if_then(name) || match_core(name).form || match_vector(name).form;
}

Operation decode(const Instruction& instruction) {
  const std::string_view name = before_dot(instruction.mnemonic);
  if (is_if_then(name)) return decode_plain(instruction, kIfThen);
  if (is_predicate(name)) return decode_plain(instruction, kPredicate);
  const Match found = match(instruction, name);
  if (!found.form) return decode_plain(instruction, kAlu);
  Operation op;
  op.op_class = found.form->op_class;
  op.bytes = instruction.bytes;
  op.updates = written_back(instruction.operands);
  op.conditional = found.conditional || name == "cbz" || name == "cbnz";
  const bool list =
      (op.op_class == kLoadMany || op.op_class == kStoreMany) && instruction.operands.find('{') != std::string::npos;
  if (list) {
    use_list(op, instruction.operands);
  } else {
    use_operands(op, *found.form, split_operands(instruction.operands));
    if (op.op_class == kLoadMany || op.op_class == kStoreMany) op.registers_moved = 2;
  }
  if (op.op_class >= kVectorLoad && op.op_class <= kVectorFp) specialise_vector(op, instruction);
  if (op.op_class == kAlu && !found.form->unary && is_shifted(instruction.operands)) op.op_class = kShiftAlu;
  add_flags(op, found, name);
  return op;
}

}  // namespace rush::firmware
