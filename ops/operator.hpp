// SPDX-License-Identifier: Apache-2.0
// An operator: a row of data and pure functions. Each built-in operator is one `extern const
// Operator <name>_operator` in ops/<name>/op.cpp. The table all_operators() is generated from
// ops/CMakeLists.txt. Plugins add others: ops/operator_registry.hpp contains all of them.
#pragma once

#include "base/result.hpp"
#include "ops/parameter.hpp"
#include "ops/problem.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bench::ops {

// Derives the sizes of a network's layer from the sizes of its inputs. Operator::inference contains
// the rule of an operator, and ops/network/network_steps.hpp applies the rule. This is not the
// inference mode of a network.
struct Inference {
  // Returns the number of inputs of a layer. `written` contains the parameters that the network
  // file sets. nullptr: the layer takes any number of inputs, from 1 on.
  std::size_t (*input_count)(const ParameterSet& written) = nullptr;
  // Sets the sizes that follow from the inputs; input_count() gives their number. Error: a size in
  // the network file contradicts them.
  Status (*infer)(ParameterSet& set, std::span<const Dims> inputs) = nullptr;
  // A flag that two inputs set before input_count() is asked. Empty: there is none.
  std::string_view set_by_two_inputs = {};
};

// Implements input_count for layers with one input: returns 1.
std::size_t one_input(const ParameterSet& written);
// Sets n, c and the spatial sizes (d, h, w, as far as the input has them). Error: the input does
// not have 1 to 3 spatial dimensions.
Status infer_image(ParameterSet& set, std::span<const Dims> inputs);
// Sets `shape` to the shape of the input.
Status infer_shape(ParameterSet& set, std::span<const Dims> inputs);

inline constexpr Inference kImageInference = {one_input, infer_image};
inline constexpr Inference kShapeInference = {one_input, infer_shape};

// Sets a parameter. Error: the parameter is already set to another value.
Status put_inferred(ParameterSet& set, std::string_view name, Value value);

// Allowed deviation of an output from the reference: |got - want| <= absolute + relative * |want|.
struct Tolerance {
  double absolute = 0;
  double relative = 0;
};

// Plain row-major inputs in the order of Model::tensors. They are doubles that the tensors' data
// types represent exactly.
using ReferenceInputs = std::span<const std::vector<double>>;

// How a layer becomes part of the layer that produces its input, in a fused network.
struct Join {
  // into_weights: an affine function per channel, which changes the producer's weights and bias.
  // post_op: a function of each element. residual: the sum of two tensors, one of them the
  // producer's.
  enum class Kind { into_weights, post_op, residual };
  Kind kind;
  PostOp post_op = {};  // of post_op and residual: what the producer does after its own work
};

// y = (x - centre)*factor + shift.
struct ChannelAffine {
  double centre;
  double factor;
  double shift;
};

struct Joining {
  // Returns nullopt if the layer stays separate. nullptr: all layers of the operator stay separate.
  std::optional<Join> (*join)(const Problem& layer) = nullptr;
  // For into_weights: the function of each channel, from the values of the layer's tensors (empty
  // for those that are not parameters).
  std::vector<ChannelAffine> (*affine)(const Problem& layer, ReferenceInputs values) = nullptr;
  // Whether such functions can join a layer of this operator: its `weights` have the output
  // channels outermost, and it has the parameter `bias`.
  bool takes_affine = false;
};

// Requirements for input data beyond the rules of ops/fill.hpp.
struct Filling {
  // Whether finite results need values of the tensor that are positive and away from 0.
  bool (*is_positive)(const Problem& problem, std::size_t tensor) = nullptr;
  // Returns all values of a tensor whose values must depend on each other. Returns nullopt if they
  // may be independent. `stream` is the seed of this tensor.
  std::optional<std::vector<double>> (*values)(const Problem& problem, std::size_t tensor,
                                               std::uint64_t stream) = nullptr;
};

// A problem of a GradientStep. `inputs` has a name for each input tensor of the problem: a tensor
// of the layer ("source", "destination"), "diff_destination", or kPartialGradient.
struct GradientProblem {
  Problem problem;
  std::vector<std::string> inputs;
};
// The first result of the step's problem before; in the first problem, the gradient of the result.
inline constexpr std::string_view kPartialGradient = "partial gradient";

// What computes gradients of a layer, for a training step.
struct GradientStep {
  // In order. None: the gradient of each output is that of the result, with other sizes at most.
  std::vector<GradientProblem> problems;
  // "diff_" and the name of an input, for each result of the last problem.
  std::vector<std::string> outputs;
};

class CompiledDescription;  // ops/description.hpp
struct LibraryCopies;       // ops/tensor_core/eligibility.hpp
struct Platform;            // ops/tensor_core/architecture.hpp
struct ProblemFacts;        // ops/tensor_core/facts.hpp
struct TensorCoreFacts;     // ops/tensor_core/rules.hpp

// What the rules about tensor cores need of an operator.
struct MatrixProduct {
  // Set for an operator that multiplies matrices. `copies` returns the copies that the library
  // makes around the kernel of an eligible problem; nullptr: none are known.
  ProblemFacts (*facts)(const Problem& problem, const Platform& platform) = nullptr;
  std::optional<LibraryCopies> (*copies)(const Problem& problem,
                                         const TensorCoreFacts& facts) = nullptr;
  // Set for any other operator: the id of its rule ("op-pool") and a sentence that states why it
  // does not multiply matrices.
  std::string_view rule = {};
  std::string_view sentence = {};
};

// The lists that rows of Operator::cpu and Operator::cuda share: oneDNN or loops of this program;
// cuDNN with native kernels, or the two libraries for matrix products.
inline constexpr std::string_view kOnOnednn[] = {"onednn"};
inline constexpr std::string_view kOnNative[] = {"native"};
inline constexpr std::string_view kOnCudnn[] = {"cudnn"};
inline constexpr std::string_view kOnCublas[] = {"cublaslt", "cublas"};

struct Operator {
  std::string_view name = {};
  std::string_view help = {};  // one line
  std::span<const Parameter> parameters = {};
  std::span<const Direction> directions = {};
  bool takes_post_ops = false;  // in direction forward

  // Fills in defaults ("w = h") and expands scalars to one entry per spatial dimension (missing
  // dimensions stay missing). Then checks conditions on several values (groups divide channels,
  // output sizes >= 1). Errors: `where` is the parameter's name.
  std::function<Result<ParameterSet>(const ParameterSet& given)> complete = {};

  // Tensors, work and formulas of a problem with complete parameters. Does not read the problem's
  // derived fields. Errors: overflow.
  std::function<Result<Model>(const Problem& problem)> model = {};

  // The plain implementation. Returns the elements of output number `output` (0 = first output) at
  // the flat row-major `positions`, or all elements in order if `positions` is empty. Does not
  // apply post-ops (ops/post_op.hpp does). Accumulates in double. Called only in workers. Only a
  // plugin's function can fail.
  std::function<Result<std::vector<double>>(const Problem& problem, ReferenceInputs inputs,
                                            std::size_t output,
                                            std::span<const std::int64_t> positions)>
      reference = {};

  // For inputs filled by ops/fill.hpp.
  std::function<Tolerance(const Problem& problem)> tolerance = {};

  // For layers of networks. Without a rule, sizes are inferred from the description, or else from
  // the parameters with the usual names (`shape`, or n, c, d, h, w).
  Inference inference = {};

  Joining joining = {};
  Filling filling = {};

  // Returns the steps of a layer's gradients besides those in the operator's own directions, whose
  // tensors have the names of GradientStep. nullptr: there are no others.
  std::vector<GradientStep> (*gradient)(const Problem& layer) = nullptr;

  // If `facts` and `rule` are not set, the tensor-core rules do not cover the operator.
  MatrixProduct product = {};

  // Small problems as in case ids, one per kind of shape. Checks sweep over them in all data types,
  // directions and layouts.
  std::span<const std::string_view> examples = {};

  // The backends that serve it, in order of preference: those on the CPU, and those of the CUDA
  // plugin.
  std::span<const std::string_view> cpu = kOnOnednn;
  std::span<const std::string_view> cuda = {};

  // Set by describe(); complete and model are made from it.
  std::shared_ptr<const CompiledDescription> description = {};
};

// The built-in operators.
std::span<const Operator* const> all_operators();
// Returns nullptr if the name is unknown. Also finds the alias `inner_product` of gemm.
const Operator* find_operator(std::string_view name);
std::vector<std::string_view> operator_names();
// The names of the built-in operators whose row lists this backend.
std::vector<std::string> operators_on(std::string_view backend);

}  // namespace bench::ops
