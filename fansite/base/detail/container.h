// SPDX-License-Identifier: Apache-2.0
//
// The outside of models and checkpoints: a JSON header and blocks of numbers behind it, little-endian on every machine,
// under a checksum. What they mean is the business of flow/model_file.h and causal/detail/checkpoint.h.
#pragma once

#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace fansite {

using Json = nlohmann::json;                 ///< for reading: finds one key among n in ln n, whatever the file holds
using OrderedJson = nlohmann::ordered_json;  ///< for writing: fields in the order given

enum class FileKind : std::uint32_t {
  model = 1,
  checkpoint = 2,        ///< of a training
  graph_checkpoint = 3,  ///< of a search for a graph
  search_checkpoint = 4  ///< of a search for boundaries
};

/// The file that is read, as its DataErrors call it.
struct Source {
  FileKind kind;  ///< what it should be
  const std::string& name;

  [[noreturn]] void fail(std::string_view what) const;     ///< [load_model] name: what
  [[noreturn]] void damaged(std::string_view what) const;  ///< … with the advice to get the file anew
  [[noreturn]] void cut_short() const;
};

// ---- Writing --------------------------------------------------------------------------------------------------------

/// Numbers that stay where they are until they are written.
struct Block {
  std::string name;
  std::variant<std::span<const float>, std::span<const double>, std::span<const std::uint16_t>,
               std::span<const std::uint32_t>>
      values;
};

using Sink = std::function<void(std::string_view)>;

/// Adds the list of blocks to the header and gives the file's bytes to the sink, piece by piece.
void write_container(FileKind kind, OrderedJson header, std::span<const Block> blocks, const Sink& sink);

// ---- Reading --------------------------------------------------------------------------------------------------------

/// The parts of a file that is complete and whose checksum is right. The blocks are known to fill the file, so none
/// asks for more memory than there are bytes; what the header says besides is still to be checked.
class Contents {
 public:
  /// Both must outlive this.
  Contents(std::string_view bytes, const Source& source);

  std::size_t size() const { return bytes_.size(); }
  const Source& source() const { return source_; }
  const Json& header() const { return header_; }

  enum class Allow { finite, anything };
  /// The numbers of the next block, which must have this name and type.
  template <class T>
  std::vector<T> take(std::string_view name, Allow allow = Allow::finite);
  /// To be called last: no block may be left over.
  void end() const;

 private:
  struct Place {
    std::string name, type;
    std::size_t count = 0, offset = 0;
  };

  void check_preamble() const;
  void list_blocks(std::size_t offset);

  std::string_view bytes_;
  const Source& source_;
  Json header_;
  std::vector<Place> blocks_;
  std::size_t next_ = 0;
};

}  // namespace fansite
