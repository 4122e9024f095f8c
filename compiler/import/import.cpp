// SPDX-License-Identifier: Apache-2.0
//
// The importer's table of contents. A node whose operator or arguments are not supported is reported, and its
// result stands in by its recorded type, so that one run reports all of a model's errors.
#include "compiler/import/import.h"

#include <fmt/format.h>

#include "compiler/import/aten_map.h"
#include "compiler/import/borders.h"
#include "compiler/import/call.h"
#include "compiler/import/nearest.h"
#include "compiler/import/origin.h"
#include "compiler/import/prune.h"
#include "compiler/import/pt2_schema.h"
#include "compiler/import/translation.h"
#include "compiler/import/weights.h"
#include "compiler/import/zip_archive.h"

namespace rush {
namespace {

constexpr uint64_t kMaxModelBytes = uint64_t{24} << 20;
constexpr std::string_view kModels = "models/", kJson = ".json";

[[noreturn]] void fail_not_exported(const ZipArchive& archive, const std::string& what) {
  throw UserError(archive.name() + ": " + what,
                  "export the model: torch.export.save(torch.export.export(model.eval(), (x,)), \"model.pt2\")");
}

/// What a zip archive without a model may be instead.
[[noreturn]] void fail_without_model(const ZipArchive& archive) {
  if (archive.contains("constants.pkl") || !archive.entries("code/").empty())
    fail_not_exported(archive, "this is a TorchScript file (torch.jit.save), not an exported program");
  if (archive.contains("data.pkl"))
    fail_not_exported(archive, "this is a torch.save file (a pickle), not an exported program");
  fail_not_exported(archive, "not a .pt2 archive: it has no models/model.json (and no archive_format)");
}

/// The model's name inside the archive, mostly "model".
std::string model_name(const ZipArchive& archive) {
  for (const std::string& entry : archive.entries(kModels)) {
    if (entry.ends_with(kJson)) return entry.substr(kModels.size(), entry.size() - kModels.size() - kJson.size());
  }
  fail_without_model(archive);
}

void check_byte_order(const ZipArchive& archive) {
  if (!archive.contains("byteorder")) return;
  const std::vector<uint8_t> order = archive.read("byteorder", 64);
  if (std::string(order.begin(), order.end()).starts_with("big"))
    fail_not_exported(archive, "written on a big-endian machine, which is not supported");
}

Diagnostic describe_unsupported(const Call& call, const std::string& target) {
  if (is_control_flow(target))
    return call.diagnostic(fmt::format("control flow ({}) cannot be compiled ahead of time", printable(target)),
                           "make the choice before the export, or compute both sides");
  const std::string nearest = nearest_operator(target);
  return call.diagnostic(fmt::format("operator {} is not supported", printable(target)),
                         nearest.empty() ? "replace this layer by supported ones" : "nearest is " + nearest);
}

/// What has been reported for an argument is not reported again for its readers.
void translate(Call& call, const AtenOperator* op, const std::string& target) {
  const bool failed = call.reads_failed();
  if (!op) throw UserError(describe_unsupported(call, target));
  if (failed) throw UserError(std::vector<Diagnostic>{});
  op->translate(call);
  call.check_all_used();
}

void translate_node(Translation& translation, const pt2::NodeRecord& node) {
  if (is_assertion(node.target)) return;
  Call call(translation, node);
  try {
    translate(call, find_aten_operator(node.target), node.target);
  } catch (const UserError& error) {
    for (Diagnostic diagnostic : error.diagnostics()) {
      const Diagnostic here = call.diagnostic({}, {});
      if (diagnostic.op.empty()) diagnostic.op = here.op;
      if (diagnostic.origin == Origin{}) diagnostic.origin = here.origin;
      translation.errors.push_back(std::move(diagnostic));
    }
    translation.define_failed(node);
  }
}

Graph translate_model(const pt2::Model& model, Weights& weights, const ImportOptions& options) {
  Translation translation(model, weights);
  bind_batch(translation, options.batch);
  open_inputs(translation);
  open_states(translation);
  for (const pt2::NodeRecord& node : model.nodes) translate_node(translation, node);
  close_outputs(translation);
  close_states(translation);
  if (!translation.errors.empty()) throw UserError(std::move(translation.errors));
  Graph graph = prune_unused(std::move(translation.writer.graph()));
  borrow_origins(graph);
  return graph;
}

Graph import_archive(const ZipArchive& archive, const ImportOptions& options) {
  const std::string name = model_name(archive);
  check_byte_order(archive);
  const std::string entry = fmt::format("{}{}{}", kModels, name, kJson);
  const pt2::Model model = pt2::parse_model(archive.read(entry, kMaxModelBytes), entry);
  Weights weights(archive, name);
  return translate_model(model, weights, options);
}

}  // namespace

Graph import_pt2(const std::filesystem::path& file, const ImportOptions& options) {
  return import_archive(ZipArchive(file), options);
}

Graph import_pt2(std::span<const uint8_t> archive, const std::string& name, const ImportOptions& options) {
  return import_archive(ZipArchive(archive, name), options);
}

}  // namespace rush
