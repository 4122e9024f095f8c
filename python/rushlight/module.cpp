// SPDX-License-Identifier: Apache-2.0
//
// The compiler for Python: paths and NumPy arrays in, NumPy arrays out. Errors of the user become rushlight.Error.
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <cstring>

#include "compiler/compare/compare.h"
#include "compiler/emit/image_reader.h"
#include "compiler/emit/write_model.h"
#include "compiler/explorer/explorer.h"
#include "compiler/import/aten_map.h"
#include "compiler/pipeline.h"
#include "compiler/report/report.h"
#include "compiler/run/run.h"

namespace py = pybind11;

namespace rush {
namespace {

DType dtype_of(const py::array& array) {
  const auto dtype = parse_dtype(py::cast<std::string>(array.dtype().attr("name")));
  if (!dtype)
    throw UserError("an array of " + py::cast<std::string>(array.dtype().attr("name")) + " cannot be an input",
                    "give float32 or int8");
  return *dtype;
}

HostTensor from_numpy(const py::array& given) {
  const py::array array = py::array::ensure(given, py::array::c_style);
  HostTensor tensor(dtype_of(array), Shape(array.shape(), array.shape() + array.ndim()));
  std::memcpy(tensor.raw(), array.data(), tensor.bytes());
  return tensor;
}

py::array to_numpy(const HostTensor& tensor) {
  py::array array(py::dtype(std::string(dtype_name(tensor.dtype()))), tensor.shape());
  std::memcpy(array.mutable_data(), tensor.raw(), tensor.bytes());
  return array;
}

std::vector<HostTensor> from_numpy(const std::vector<py::array>& given) {
  std::vector<HostTensor> tensors;
  for (const py::array& array : given) tensors.push_back(from_numpy(array));
  return tensors;
}

std::vector<py::array> run(const Runner& runner, const std::vector<py::array>& inputs, bool raw) {
  const std::vector<HostTensor> stacked = from_numpy(inputs);
  std::vector<HostTensor> outputs;
  {
    const py::gil_scoped_release release;
    outputs = stack_outputs(runner.outputs, runner.run(unstack_inputs(runner.inputs, stacked)), raw);
  }
  std::vector<py::array> arrays;
  for (const HostTensor& output : outputs) arrays.push_back(to_numpy(output));
  return arrays;
}

std::vector<py::array> run_stage(const Compilation& made, const std::string& stage,
                                 const std::vector<py::array>& inputs, bool raw) {
  if (stage == "torch") return run(graph_runner(made.torch), inputs, raw);
  if (stage == "quantized") return run(graph_runner(made.quantized), inputs, raw);
  if (stage == "program") return run(program_runner(made.image), inputs, raw);
  throw UserError("there is no stage \"" + stage + "\"", "choose torch, quantized or program");
}

/// The JSON of `rushlight compare`.
std::string compare(const Compilation& made, const std::vector<py::array>& inputs, const py::dict& options) {
  CompareRequest request{.made = made,
                         .inputs = from_numpy(inputs),
                         .expected = from_numpy(options["expected"].cast<std::vector<py::array>>())};
  if (!options["float_model"].is_none())
    request.float_model = torch_stage(options["float_model"].cast<std::filesystem::path>(), {});
  if (!options["board"].is_none()) request.on_board = CompareBoard{options["board"].cast<std::string>()};
  const py::gil_scoped_release release;
  return comparison_json(compare_stages(request));
}

std::string_view rule_name(QuantRule rule) {
  switch (rule) {
    case QuantRule::kFloat:
      return "float";
    case QuantRule::kWeighted:
      return "weighted";
    case QuantRule::kRescaled:
      return "rescaled";
    case QuantRule::kMoved:
      return "moved";
    case QuantRule::kProbability:
      return "probability";
    case QuantRule::kAbsorbed:
      return "absorbed";
  }
  throw InternalError("a rule without a name");
}

/// (ATen operator, what it becomes, rule, takes a clamp) of all that the importer takes.
std::vector<std::tuple<std::string_view, std::string_view, std::string_view, bool>> operators() {
  std::vector<std::tuple<std::string_view, std::string_view, std::string_view, bool>> rows;
  for (const AtenOperator& row : aten_operators())
    rows.emplace_back(row.target, row.op->name, rule_name(row.op->quant), row.op->takes_clamp);
  return rows;
}

/// rushlight.Error(message, diagnostics): one dict with what, op, layer, source, details, fix for each fault.
void raise_user_error(const py::object& type, const UserError& error) {
  py::list diagnostics;
  for (const Diagnostic& d : error.diagnostics()) {
    diagnostics.append(py::dict(py::arg("what") = d.what, py::arg("op") = d.op, py::arg("layer") = d.origin.layer,
                                py::arg("source") = d.origin.source, py::arg("details") = d.details,
                                py::arg("fix") = d.fix));
  }
  PyErr_SetObject(type.ptr(), py::make_tuple(error.what(), diagnostics).ptr());
}

}  // namespace
}  // namespace rush

PYBIND11_MODULE(_rushlight, module) {
  using namespace rush;
  static py::exception<UserError> error_type(module, "Error");
  error_type.doc() =
      "The user's mistake. args[0] is the message, args[1] a list with one dict for each fault: what, op, layer, "
      "source "
      "(file and line of the model), details, fix.";
  py::register_exception_translator([](std::exception_ptr raised) {
    try {
      if (raised) std::rethrow_exception(raised);
    } catch (const UserError& error) {
      raise_user_error(error_type, error);
    }
  });

  py::class_<Compilation, std::shared_ptr<Compilation>>(module, "Compilation")
      .def_property_readonly("image",
                             [](const Compilation& made) {
                               return py::bytes(reinterpret_cast<const char*>(made.image.data()), made.image.size());
                             })
      .def("report_text", [](const Compilation& made) { return report_text(made.program, made.image); })
      .def("report_json", [](const Compilation& made) { return report_json(made.program, made.image); })
      .def("save",
           [](const Compilation& made, const std::filesystem::path& directory, const std::string& made_from) {
             write_model(made.program, made.image, {.directory = directory, .made_from = made_from});
           })
      .def("run", run_stage, py::arg("stage"), py::arg("inputs"), py::arg("raw"))
      .def("compare", compare);

  py::class_<ByteInput>(module, "ByteInput")
      .def(py::init<double, std::vector<double>, std::vector<double>>(), py::arg("scale"), py::arg("mean"),
           py::arg("std"));

  module.def(
      "compile",
      [](const std::filesystem::path& model, const std::string& target, const std::string& opt, int64_t batch,
         std::optional<uint64_t> ram, const std::map<std::string, uint64_t>& limits, std::optional<ByteInput> bytes,
         const std::vector<std::string>& labels) {
        const std::optional<Opt> chosen = parse_opt(opt);
        if (!chosen) throw UserError("there is no opt \"" + opt + "\"", "choose balanced, speed or size");
        std::vector<MemoryLimit> memory_limits;
        for (const auto& [memory, most] : limits) memory_limits.push_back({memory, most});
        const py::gil_scoped_release release;
        return std::make_shared<Compilation>(compile_model(model, {.target = target,
                                                                   .opt = *chosen,
                                                                   .batch = batch,
                                                                   .most_ram = ram,
                                                                   .bytes = std::move(bytes),
                                                                   .limits = std::move(memory_limits),
                                                                   .labels = labels}));
      },
      py::arg("model"), py::arg("target"), py::arg("opt"), py::arg("batch"), py::arg("ram"), py::arg("limits"),
      py::arg("bytes"), py::arg("labels"));
  module.def("run_image", [](const py::bytes& image, const std::vector<py::array>& inputs, bool raw) {
    const std::string_view bytes = image;
    return run(program_runner({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}), inputs, raw);
  });
  module.def("explore_image", [](const py::bytes& image, const std::string& name) {
    const std::string_view bytes = image;
    return explore_image({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, name, {});
  });
  module.def("labels", [](const py::bytes& image) {
    const std::string_view bytes = image;
    const ImageReader reader({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()}, "the image");
    return reader.labels();
  });
  module.def("operators", operators);
  module.def("targets", target_names);
}
