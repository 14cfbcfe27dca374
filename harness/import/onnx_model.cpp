// SPDX-License-Identifier: Apache-2.0
// Messages and fields: https://github.com/onnx/onnx/blob/main/onnx/onnx.proto (IR version 13). Each
// message has one function, so the depth is fixed. Subgraphs of If, Loop and Scan are skipped.
#include "harness/import/onnx_model.hpp"

#include "base/checked.hpp"
#include "base/data_type.hpp"

#include <fmt/format.h>
#include <protozero/pbf_reader.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <exception>
#include <limits>
#include <utility>

namespace bench::onnx {
namespace {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

constexpr auto kVarint = pbf_wire_type::varint;
constexpr auto kFixed32 = pbf_wire_type::fixed32;
constexpr auto kFixed64 = pbf_wire_type::fixed64;
constexpr auto kBytes = pbf_wire_type::length_delimited;

constexpr std::uint32_t field(protozero::pbf_tag_type tag, pbf_wire_type type) {
  return protozero::tag_and_type(tag, type);
}

struct TypeRow {
  int type;
  std::string_view name;
  std::size_t bytes;  // size of an element of raw_data; 0: not read
};
constexpr std::array kTypes = {
    TypeRow{kFloat, "float", 4},    TypeRow{kUint8, "uint8", 1},
    TypeRow{kInt8, "int8", 1},      TypeRow{4, "uint16", 2},
    TypeRow{5, "int16", 2},         TypeRow{kInt32, "int32", 4},
    TypeRow{kInt64, "int64", 8},    TypeRow{kString, "string", 0},
    TypeRow{kBool, "bool", 1},      TypeRow{kFloat16, "float16", 2},
    TypeRow{kDouble, "double", 8},  TypeRow{12, "uint32", 4},
    TypeRow{13, "uint64", 8},       TypeRow{kBfloat16, "bfloat16", 2},
    TypeRow{17, "float8e4m3fn", 0}, TypeRow{18, "float8e4m3fnuz", 0},
    TypeRow{19, "float8e5m2", 0},   TypeRow{20, "float8e5m2fnuz", 0},
    TypeRow{21, "uint4", 0},        TypeRow{22, "int4", 0},
    TypeRow{23, "float4e2m1", 0},
};

const TypeRow* find_type(int type) {
  const auto* row = std::ranges::find(kTypes, type, &TypeRow::type);
  return row == kTypes.end() ? nullptr : row;
}

template <class Number>
double load_number(const char* at) {
  Number number;
  std::memcpy(&number, at, sizeof number);
  return static_cast<double>(number);
}

// Reads an element of raw_data, which is little-endian as the machines of this program are.
double load_raw(int type, const char* at) {
  static_assert(std::endian::native == std::endian::little);
  switch (type) {
    case kFloat:
      return load_number<float>(at);
    case kDouble:
      return load_number<double>(at);
    case kUint8:
    case kBool:
      return load_number<std::uint8_t>(at);
    case kInt8:
      return load_number<std::int8_t>(at);
    case 4:
      return load_number<std::uint16_t>(at);
    case 5:
      return load_number<std::int16_t>(at);
    case kInt32:
      return load_number<std::int32_t>(at);
    case 12:
      return load_number<std::uint32_t>(at);
    case 13:
      return load_number<std::uint64_t>(at);
    case kFloat16:
      return load_element(DataType::f16, at, 0);
    case kBfloat16:
      return load_element(DataType::bf16, at, 0);
    default:
      return load_number<std::int64_t>(at);
  }
}

// What a limit or a rule of the format says about a field, thrown to parse_model(), which knows the
// place.
struct Violation {
  std::string what;
  std::string next;
};

class ModelDecoder {
 public:
  explicit ModelDecoder(std::string_view bytes) : begin_(bytes.data()), at_(bytes.data()) {}

  Model decode(std::string_view bytes) {
    Model model;
    std::string version;
    for_each_field({bytes.data(), bytes.size()}, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(2, kBytes):
          model.producer = text(reader);
          return true;
        case field(3, kBytes):
          version = text(reader);
          return true;
        case field(8, kBytes):
          read_opset(reader.get_view(), model);
          return true;
        case field(25, kBytes):
          model.functions.insert(read_function(reader.get_view()));
          return true;
        case field(7, kBytes):
          has_graph_ = true;
          read_graph(reader.get_view(), model);
          return true;
        default:
          return false;
      }
    });
    if (!has_graph_) fail("it contains no graph");
    if (!version.empty()) model.producer += ' ' + version;
    return model;
  }
  std::size_t offset() const { return static_cast<std::size_t>(at_ - begin_); }
  // Whether the graph of a model began. Without it, the file is hardly a model.
  bool has_graph() const { return has_graph_; }

 private:
  [[noreturn]] static void fail(std::string what, std::string next = "export the model again") {
    throw Violation{std::move(what), std::move(next)};
  }

  // Calls `read` for each field of a message, which returns false for a field that it does not use.
  template <class Read>
  void for_each_field(protozero::data_view view, const Read& read) {
    pbf_reader reader(view);
    for (;;) {
      at_ = reader.data().data();
      if (!reader.next()) return;
      if (!read(reader, reader.tag_and_type())) reader.skip();
    }
  }

  static std::string text(pbf_reader& reader) {
    constexpr std::size_t kMaxText = 4096;  // a longer name is not that of a person or exporter
    const protozero::data_view view = reader.get_view();
    if (view.size() > kMaxText) fail(fmt::format("a name has {} bytes", view.size()));
    return {view.data(), view.size()};
  }

  void read_opset(protozero::data_view view, Model& model) {
    std::string domain;
    std::int64_t version = 0;
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kBytes):
          domain = text(reader);
          return true;
        case field(2, kVarint):
          version = reader.get_int64();
          return true;
        default:
          return false;
      }
    });
    model.opsets[domain == "ai.onnx" ? "" : domain] = version;
  }

  std::string read_function(protozero::data_view view) {
    std::string name;
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      if (which != field(1, kBytes)) return false;
      name = text(reader);
      return true;
    });
    return name;
  }

  void read_graph(protozero::data_view view, Model& model) {
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kBytes):
          add(model.nodes, read_node(reader.get_view()));
          return true;
        case field(5, kBytes):
          add(model.tensors, read_tensor(reader.get_view()));
          return true;
        case field(11, kBytes):
          add(model.inputs, read_value(reader.get_view()));
          return true;
        case field(12, kBytes):
          add(model.outputs, read_value(reader.get_view()));
          return true;
        case field(13, kBytes):
          add(model.values, read_value(reader.get_view()));
          return true;
        case field(15, kBytes):
          add(model.tensors, read_sparse(reader.get_view()));
          return true;
        default:
          return false;
      }
    });
  }

  template <class Item>
  static void add(std::vector<Item>& items, Item item) {
    if (items.size() >= kMaxNodes)
      fail(fmt::format("the graph has more than {} nodes or tensors", kMaxNodes),
           "import a part of the model");
    items.push_back(std::move(item));
  }

  Node read_node(protozero::data_view view) {
    Node node;
    node.offset = static_cast<std::size_t>(view.data() - begin_);
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kBytes):
          add(node.inputs, text(reader));
          return true;
        case field(2, kBytes):
          add(node.outputs, text(reader));
          return true;
        case field(3, kBytes):
          node.name = text(reader);
          return true;
        case field(4, kBytes):
          node.op = text(reader);
          return true;
        case field(7, kBytes):
          node.domain = text(reader);
          return true;
        case field(5, kBytes):
          read_attribute(reader.get_view(), node);
          return true;
        default:
          return false;
      }
    });
    if (node.domain == "ai.onnx") node.domain.clear();
    return node;
  }

  void read_attribute(protozero::data_view view, Node& node) {
    std::string name;
    Attribute attribute;
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kBytes):
          name = text(reader);
          return true;
        case field(2, kFixed32):
          attribute.real = reader.get_float();
          return true;
        case field(3, kVarint):
          attribute.integer = reader.get_int64();
          return true;
        case field(4, kBytes):
          attribute.text = shortened(reader.get_view());
          return true;
        case field(5, kBytes):
          attribute.tensor = read_tensor(reader.get_view());
          return true;
        case field(6, kBytes):
        case field(11, kBytes):
          reader.skip();
          attribute.has_graph = true;
          return true;
        case field(7, kFixed32):
          attribute.reals.push_back(reader.get_float());
          return true;
        case field(7, kBytes):
          for (const float value : reader.get_packed_float()) attribute.reals.push_back(value);
          return true;
        case field(8, kVarint):
          attribute.integers.push_back(reader.get_int64());
          return true;
        case field(8, kBytes):
          for (const std::int64_t value : reader.get_packed_int64())
            attribute.integers.push_back(value);
          return true;
        case field(9, kBytes):
          attribute.texts.push_back(shortened(reader.get_view()));
          return true;
        default:
          return false;
      }
    });
    node.attributes.insert_or_assign(std::move(name), std::move(attribute));
  }

  // A text attribute may be a whole document (of a custom operator); only words are used.
  static std::string shortened(protozero::data_view view) {
    constexpr std::size_t kMaxWord = 256;
    return {view.data(), std::min(view.size(), kMaxWord)};
  }

  // The fields of a tensor that has content.
  struct TensorData {
    protozero::data_view raw;
    std::vector<double> numbers;
    bool is_external = false;
  };

  Tensor read_tensor(protozero::data_view view) {
    Tensor tensor;
    TensorData data;
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kVarint):
          add_size(tensor, reader.get_int64());
          return true;
        case field(1, kBytes):
          for (const std::int64_t size : reader.get_packed_int64()) add_size(tensor, size);
          return true;
        case field(2, kVarint):
          tensor.type = reader.get_int32();
          return true;
        case field(8, kBytes):
          tensor.name = text(reader);
          return true;
        case field(9, kBytes):
          data.raw = reader.get_view();
          return true;
        case field(14, kVarint):
          data.is_external = reader.get_int32() != 0;
          return true;
        default:
          return read_numbers(reader, which, data.numbers);
      }
    });
    set_content(data, tensor);
    return tensor;
  }

  static void add_size(Tensor& tensor, std::int64_t size) {
    if (size < 0) fail(fmt::format("a tensor has the size {}", size));
    if (tensor.dims.size() >= kMaxRank)
      fail(fmt::format("a tensor has more than {} dimensions", kMaxRank));
    tensor.dims.push_back(size);
  }

  template <class Range>
  static void add_numbers(const Range& range, std::vector<double>& numbers) {
    for (const auto value : range) {
      if (std::ssize(numbers) > kMaxContent) return;
      numbers.push_back(static_cast<double>(value));
    }
  }

  // float_data, int32_data, int64_data, double_data and uint64_data, packed as exporters write
  // them.
  static bool read_numbers(pbf_reader& reader, std::uint32_t which, std::vector<double>& numbers) {
    switch (which) {
      case field(4, kBytes):
        add_numbers(reader.get_packed_float(), numbers);
        return true;
      case field(5, kBytes):
        add_numbers(reader.get_packed_int32(), numbers);
        return true;
      case field(7, kBytes):
        add_numbers(reader.get_packed_int64(), numbers);
        return true;
      case field(10, kBytes):
        add_numbers(reader.get_packed_double(), numbers);
        return true;
      case field(11, kBytes):
        add_numbers(reader.get_packed_uint64(), numbers);
        return true;
      case field(4, kFixed32):
        add_numbers(std::array{reader.get_float()}, numbers);
        return true;
      case field(5, kVarint):
        add_numbers(std::array{reader.get_int32()}, numbers);
        return true;
      case field(7, kVarint):
        add_numbers(std::array{reader.get_int64()}, numbers);
        return true;
      case field(10, kFixed64):
        add_numbers(std::array{reader.get_double()}, numbers);
        return true;
      case field(11, kVarint):
        add_numbers(std::array{reader.get_uint64()}, numbers);
        return true;
      default:
        return false;
    }
  }

  static void set_content(const TensorData& data, Tensor& tensor) {
    const auto count = ops::element_count(tensor.dims);
    if (!count) fail("a tensor has more than 2^63 - 1 elements");
    if (*count > kMaxContent || data.is_external) return;
    const auto elements = static_cast<std::size_t>(*count);
    const TypeRow* row = find_type(tensor.type);
    if (row == nullptr || row->bytes == 0) return;
    if (data.raw.size() == elements * row->bytes && data.numbers.empty()) {
      Content content;
      for (std::size_t i = 0; i < elements; ++i)
        content.push_back(load_raw(tensor.type, data.raw.data() + i * row->bytes));
      tensor.content = std::move(content);
    } else if (data.numbers.size() == elements && !is_packed_half(tensor.type)) {
      tensor.content = data.numbers;
    }
  }

  // int32_data holds the bits of these types, whose values no shape needs.
  static bool is_packed_half(int type) { return type == kFloat16 || type == kBfloat16; }

  Tensor read_sparse(protozero::data_view view) {
    Tensor sparse;
    Tensor values;
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kBytes):
          values = read_tensor(reader.get_view());
          return true;
        case field(3, kVarint):
          add_size(sparse, reader.get_int64());
          return true;
        case field(3, kBytes):
          for (const std::int64_t size : reader.get_packed_int64()) add_size(sparse, size);
          return true;
        default:
          return false;
      }
    });
    if (!ops::element_count(sparse.dims)) fail("a tensor has more than 2^63 - 1 elements");
    sparse.name = values.name;
    sparse.type = values.type;
    return sparse;
  }

  ValueInfo read_value(protozero::data_view view) {
    ValueInfo value;
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kBytes):
          value.name = text(reader);
          return true;
        case field(2, kBytes):
          read_type(reader.get_view(), value);
          return true;
        default:
          return false;
      }
    });
    return value;
  }

  void read_type(protozero::data_view view, ValueInfo& value) {
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      if (which != field(1, kBytes)) return false;  // sequences, maps, optionals
      for_each_field(reader.get_view(), [&](pbf_reader& tensor, std::uint32_t inner) {
        switch (inner) {
          case field(1, kVarint):
            value.type = tensor.get_int32();
            return true;
          case field(2, kBytes):
            read_shape(tensor.get_view(), value);
            return true;
          default:
            return false;
        }
      });
      return true;
    });
  }

  void read_shape(protozero::data_view view, ValueInfo& value) {
    value.dims.emplace();
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      if (which != field(1, kBytes)) return false;
      if (value.dims->size() >= kMaxRank)
        fail(fmt::format("a tensor has more than {} dimensions", kMaxRank));
      value.dims->push_back(read_dimension(reader.get_view()));
      return true;
    });
  }

  Dimension read_dimension(protozero::data_view view) {
    Dimension dimension;
    for_each_field(view, [&](pbf_reader& reader, std::uint32_t which) {
      switch (which) {
        case field(1, kVarint):
          dimension.size = reader.get_int64();
          return true;
        case field(2, kBytes):
          dimension.symbol = text(reader);
          return true;
        default:
          return false;
      }
    });
    // Old exporters write -1 or 0 for a size that is not known.
    if (dimension.size && *dimension.size <= 0) dimension.size.reset();
    return dimension;
  }

  const char* begin_;
  const char* at_;  // where the field that is being read begins
  bool has_graph_ = false;
};

}  // namespace

bool is_floating(int type) {
  return type == kFloat || type == kFloat16 || type == kDouble || type == kBfloat16;
}

std::string_view type_name(int type) {
  const TypeRow* row = find_type(type);
  return row == nullptr ? "unknown" : row->name;
}

Result<Model> parse_model(const std::string& path, std::string_view bytes) {
  constexpr std::string_view kGiveModel = "name the file NAME.onnx that a framework exported";
  if (bytes.empty()) return Error{"is empty", path, std::string(kGiveModel)};
  ModelDecoder decoder(bytes);
  const auto place = [&] { return fmt::format("{}: byte {}", path, decoder.offset()); };
  const auto not_a_model = [&](std::string_view reason) {
    return Error{fmt::format("is not an ONNX model: {}", reason), path, std::string(kGiveModel)};
  };
  try {
    return decoder.decode(bytes);
  } catch (const Violation& violation) {
    if (!decoder.has_graph()) return not_a_model(violation.what);
    return Error{violation.what, place(), violation.next};
  } catch (const protozero::exception& exception) {
    if (!decoder.has_graph())
      return not_a_model(fmt::format("byte {} begins no field of one", decoder.offset()));
    const bool is_cut =
        dynamic_cast<const protozero::end_of_buffer_exception*>(&exception) != nullptr;
    return Error{is_cut
                     ? "the field that begins here ends behind its message: the file is truncated"
                     : "the field that begins here is malformed",
                 place(), "copy or export the model again"};
  }
}

}  // namespace bench::onnx
