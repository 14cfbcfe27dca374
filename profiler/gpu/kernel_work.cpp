// SPDX-License-Identifier: Apache-2.0
#include "profiler/gpu/kernel_work.hpp"

#include "base/characters.hpp"
#include "base/pattern.hpp"
#include "profiler/kernel_names/kernel_names.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>

namespace bench {

namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";
constexpr std::string_view kDecltype = "decltype ";
constexpr std::string_view kOperator = "operator";

// Reads a demangled declaration from left to right and keeps the path of its name. Bracketed parts
// are skipped as a unit, so their content cannot be mistaken for part of the name.
class NameReader {
 public:
  explicit NameReader(std::string_view text) : rest_(text) {}

  std::string name() {
    while (!rest_.empty() && !done_) step();
    return kept_;
  }

 private:
  void step() {
    const char c = rest_.front();
    if (rest_.starts_with(kAnonymous)) {
      keep(kAnonymous.size());
    } else if (rest_.starts_with(kDecltype)) {  // a return type
      rest_.remove_prefix(kDecltype.size());
      skip('(', ')');
    } else if (at_operator()) {
      keep_operator();
    } else if (c == '<') {
      skip('<', '>');
    } else if (c == '{') {  // {lambda(int)#1}
      keep(bracket_length('{', '}'));
    } else if (c == '(') {
      skip_parentheses();
    } else if (c == ' ') {  // the text so far was the return type
      kept_.clear();
      rest_.remove_prefix(1);
    } else {
      keep(1);
    }
  }

  void keep(std::size_t count) {
    kept_ += rest_.substr(0, count);
    rest_.remove_prefix(std::min(count, rest_.size()));
  }

  bool at_operator() const {
    if (!rest_.starts_with(kOperator)) return false;
    const bool begins = kept_.empty() || !is_word(kept_.back());
    return begins && rest_.size() > kOperator.size() && !is_word(rest_[kOperator.size()]);
  }

  // Handles "operator()", "operator<<", "operator new" and "operator int".
  void keep_operator() {
    keep(kOperator.size());
    if (rest_.starts_with("()")) {
      keep(2);
    } else if (rest_.front() == ' ') {
      keep(std::min(rest_.find_first_of("(<"), rest_.size()));
    } else {
      keep(std::min(rest_.find_first_of(" ("), rest_.size()));
      if (rest_.starts_with(" <")) rest_.remove_prefix(1);
    }
  }

  // Returns the length up to the bracket that closes the one at the front. Ignores the content of
  // parentheses, such as the `>` of `(a > b)`.
  std::size_t bracket_length(char open, char close) const {
    int depth = 0, hidden = 0;
    for (std::size_t i = 0; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (open != '(' && c == '(') ++hidden;
      if (open != '(' && c == ')') --hidden;
      if (hidden > 0) continue;
      if (c == open) ++depth;
      if (c == close && --depth == 0) return i + 1;
    }
    return rest_.size();
  }

  void skip(char open, char close) { rest_.remove_prefix(bracket_length(open, close)); }

  // Whether the text consists of what can follow the parameter list of a function: " const &".
  static bool is_qualifiers(std::string_view text) {
    constexpr std::array<std::string_view, 4> kQualifiers = {" const", " volatile", " &&", " &"};
    while (!text.empty()) {
      const auto next = std::find_if(kQualifiers.begin(), kQualifiers.end(),
                                     [&](std::string_view word) { return text.starts_with(word); });
      if (next == kQualifiers.end()) return false;
      text.remove_prefix(next->size());
    }
    return true;
  }

  // The parameter list ends the name, unless it belongs to an enclosing function.
  void skip_parentheses() {
    skip('(', ')');
    const std::size_t next = rest_.find("::");
    if (next != std::string_view::npos && is_qualifiers(rest_.substr(0, next))) {
      rest_.remove_prefix(next);
    } else {
      done_ = true;
    }
  }

  std::string_view rest_;
  std::string kept_;
  bool done_ = false;
};

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? std::string(text.get()) : std::string();
}

}  // namespace

KernelName kernel_name(std::string_view symbol) {
  KernelName name{std::string(symbol), std::string(symbol)};
  // No name of a linker has these characters. The first may be that of "(no name)".
  if (symbol.find_first_of("(<", 1) != symbol.npos) return demangled_kernel_name(symbol);
  // The demangler would read other names as type names: "f" as "float".
  if (!symbol.starts_with("_Z")) return name;
  std::string text = demangled(name.long_name);
  if (text.empty()) return name;
  return demangled_kernel_name(text);
}

KernelName demangled_kernel_name(std::string_view text) {
  std::string path = NameReader(text).name();
  return {path.empty() ? std::string(text) : std::move(path), std::string(text)};
}

namespace {

constexpr std::string_view kLayout = "layout conversion";
constexpr std::string_view kOffsets = "offsets";
constexpr std::string_view kSplit = "sum of a split";
constexpr std::string_view kTransform = "transform of Winograd or Fourier";
constexpr std::string_view kScale = "scale or fill";

constexpr std::array<AuxiliaryKernel, 23> kAuxiliary = {{
    {"*nchwtonhwc*", kLayout},
    {"*nhwctonchw*", kLayout},
    {"*foldednhwc*", kLayout},
    {"*addpaddingkernel*", kLayout},
    {"*nhwcslicec*", kLayout},
    {"*tensortransform*", kLayout},
    {"*converttensor*", kLayout},
    {"*transpose_readwrite*", kLayout},
    {"*computeoffsets*", kOffsets},
    {"*computeboffsets*", kOffsets},
    {"*computewgrad*offsets*", kOffsets},
    {"*kern_precompute_indices*", kOffsets},
    {"*splitkreduce*", kSplit},
    {"*reducesplitk*", kSplit},
    {"*splitk_reduce*", kSplit},
    {"*reduce_1block_kernel*", kSplit},
    {"*generatewinogradtiles*", kTransform},
    {"*winogradforwarddata*", kTransform},
    {"*winogradforwardfilter*", kTransform},
    {"*winogradforwardoutput*", kTransform},
    {"*fft?d_*", kTransform},
    {"*scalepackedtensor*", kScale},
    {"*init_device_workspace*", kScale},
}};

// Parts of the names of kernels that compute matrix products or convolutions. The names of
// tensor-core kernels are in profiler/kernel_names.
constexpr std::array<std::string_view, 5> kProducts = {"gemm", "fprop", "dgrad", "wgrad",
                                                       "convolve"};

// Parts of the names of kernels that add a bias, apply a function or convert a type. Beside another
// kernel of the same operator, they do a small part of its work.
constexpr std::array<std::string_view, 2> kElementwise = {"elementwise", "PointwiseApply"};

bool names_elementwise(std::string_view short_name) {
  return std::ranges::any_of(kElementwise, [&](std::string_view part) {
    return short_name.find(part) != std::string_view::npos;
  });
}

using KernelTest = bool (*)(std::string_view short_name);

// Returns the only kernel that passes the test, or nullopt if none or several do.
std::optional<std::size_t> find_only(std::span<const KernelCandidate> kernels, KernelTest test) {
  std::optional<std::size_t> found;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (!test(kernels[i].short_name)) continue;
    if (found) return std::nullopt;
    found = i;
  }
  return found;
}

bool names_computation(std::string_view short_name) {
  return find_auxiliary(short_name) == nullptr;
}
bool names_main_computation(std::string_view short_name) {
  return names_computation(short_name) && !names_elementwise(short_name);
}

// Returns the kernel that does the operator's work, or nullopt if this is unclear.
std::optional<std::size_t> compute_kernel(std::span<const KernelCandidate> kernels) {
  if (kernels.size() == 1) return 0;
  // A test that no kernel or several kernels pass leaves the decision to the next one.
  for (const KernelTest test : {names_computation, names_product, names_main_computation}) {
    if (const auto found = find_only(kernels, test)) return found;
  }
  return std::nullopt;
}

// The gradients of source and weights: one product kernel each. More kernels compute parts of these
// gradients, and nothing shows which part.
constexpr std::int64_t kMaxGradients = 2;

std::vector<KernelWork> work_of_gradients(const GpuOperatorWork& work,
                                          std::span<const KernelCandidate> kernels) {
  std::vector<KernelWork> shares(kernels.size());
  const auto multiplies = [](const KernelCandidate& kernel) {
    return names_product(kernel.short_name);
  };
  const auto products = std::count_if(kernels.begin(), kernels.end(), multiplies);
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    if (find_auxiliary(kernels[i].short_name) != nullptr) {
      shares[i] = {0, kernels[i].own_bytes};
    } else if (products <= kMaxGradients && multiplies(kernels[i])) {
      shares[i] = {work.flops, work.bytes};
    }
  }
  return shares;
}

}  // namespace

std::span<const AuxiliaryKernel> auxiliary_kernels() { return kAuxiliary; }

const AuxiliaryKernel* find_auxiliary(std::string_view short_name) {
  std::string name(short_name);
  std::transform(name.begin(), name.end(), name.begin(), to_lower);
  const auto found = std::find_if(
      kAuxiliary.begin(), kAuxiliary.end(),
      [&](const AuxiliaryKernel& kernel) { return glob_matches(kernel.pattern, name); });
  return found == kAuxiliary.end() ? nullptr : &*found;
}

bool names_product(std::string_view short_name) {
  if (find_auxiliary(short_name) != nullptr) return false;
  const auto contains = [&](std::string_view part) {
    return short_name.find(part) != std::string_view::npos;
  };
  if (contains("compute_gemm_pointers")) return false;
  if (std::any_of(kProducts.begin(), kProducts.end(), contains)) return true;
  return KernelNames().tensor_cores(short_name).use == TensorCoreUse::used;
}

std::vector<KernelWork> work_of_kernels(const GpuOperatorWork& work,
                                        std::span<const KernelCandidate> kernels) {
  if (work.extent == GpuOperatorWork::Extent::each_gradient)
    return work_of_gradients(work, kernels);
  std::vector<KernelWork> shares(kernels.size());
  const auto compute = compute_kernel(kernels);
  if (!compute) return shares;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    shares[i] =
        i == *compute ? KernelWork{work.flops, work.bytes} : KernelWork{0, kernels[i].own_bytes};
  }
  return shares;
}

}  // namespace bench
