// SPDX-License-Identifier: Apache-2.0
//
// The writers of graph.h. Names come from users' tables, so they may hold anything: each format has its own escaping.
#include <algorithm>
#include <string>
#include <string_view>

#include "fansite/base/error.h"
#include "fansite/graph/dag.h"

namespace fansite {
namespace {

using Edges = std::vector<std::pair<int, int>>;

void check_shape(const char* operation, const ByteMatrix& adjacency, const std::vector<std::string>& names) {
  check(adjacency.rows() == adjacency.cols() && static_cast<std::size_t>(adjacency.rows()) == names.size(),
        "[{}] {} names for a {}×{} matrix", operation, names.size(), adjacency.rows(), adjacency.cols());
}

// By source, then by target; undirected, each linked pair once with the smaller index first.
Edges list_edges(const ByteMatrix& adjacency, bool directed) {
  const int nodes = static_cast<int>(adjacency.rows());
  Edges edges;
  for (int to = 0; to < nodes; ++to) {
    for (int from = 0; from < nodes; ++from) {
      if (adjacency(from, to) == 0) continue;
      if (directed) {
        edges.emplace_back(from, to);
      } else {
        edges.emplace_back(std::min(from, to), std::max(from, to));
      }
    }
  }
  std::sort(edges.begin(), edges.end());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  return edges;
}

// Bytes of the well-formed UTF-8 character that begins at text[i] and that XML allows; 0 if there is none (RFC 3629:
// no overlong forms, no surrogates, nothing past U+10FFFF).
std::size_t character_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const auto follows = [&](std::size_t k, unsigned low = 0x80, unsigned high = 0xBF) {
    return low <= byte(k) && byte(k) <= high;
  };
  const unsigned lead = byte(i);
  if (lead < 0x80) return lead >= 0x20 || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  if (0xC2 <= lead && lead <= 0xDF) return follows(i + 1) ? 2 : 0;
  if (0xE0 <= lead && lead <= 0xEF) {
    const bool noncharacter = lead == 0xEF && byte(i + 1) == 0xBF && byte(i + 2) >= 0xBE;  // U+FFFE, U+FFFF
    return follows(i + 1, lead == 0xE0 ? 0xA0 : 0x80, lead == 0xED ? 0x9F : 0xBF) && follows(i + 2) && !noncharacter
               ? 3
               : 0;
  }
  if (0xF0 <= lead && lead <= 0xF4) {
    return follows(i + 1, lead == 0xF0 ? 0x90 : 0x80, lead == 0xF4 ? 0x8F : 0xBF) && follows(i + 2) && follows(i + 3)
               ? 4
               : 0;
  }
  return 0;
}

// The text with every special character replaced by special(i), unless that is empty, and every byte that no XML
// character holds by U+FFFD.
template <class Special>
std::string escape(std::string_view text, Special special) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = character_length(text, i);
    const std::string_view replacement = length == 1 ? special(i) : std::string_view();
    if (length == 0) {
      result += "\xEF\xBF\xBD";
    } else if (!replacement.empty()) {
      result += replacement;
    } else {
      result += text.substr(i, length);
    }
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

// For XML text and attributes alike; line breaks as references, since attributes would lose them.
std::string escape_xml(std::string_view text) {
  return escape(text, [&](std::size_t i) -> std::string_view {
    switch (text[i]) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\t':
        return "&#9;";
      case '\n':
        return "&#10;";
      case '\r':
        return "&#13;";
      default:
        return {};
    }
  });
}

// Whether text[i] begins what Graphviz would read as an HTML entity, as in "a&lt;b".
bool begins_entity(std::string_view text, std::size_t i) {
  const std::size_t end =
      text.find_first_not_of("#0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", i + 1);
  return end != std::string_view::npos && end > i + 1 && text[end] == ';';
}

// A DOT string. Graphviz shows a node's identifier as its label, where \n breaks the line and \\ is a backslash.
std::string quote_dot(std::string_view text) {
  const std::string inside = escape(text, [&](std::size_t i) -> std::string_view {
    switch (text[i]) {
      case '\\':
        return "\\\\";
      case '"':
        return "\\\"";
      case '\n':
        return "\\n";
      case '\r':
        return "\\r";
      case '&':
        return begins_entity(text, i) ? "&amp;" : "";
      default:
        return {};
    }
  });
  return '"' + inside + '"';
}

// A CSV cell (RFC 4180), quoted when a reader would else cut or trim it.
std::string csv_cell(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_of(",;\t\"\r\n") == std::string::npos && text.front() != ' ' &&
                     text.back() != ' ' && text.front() != '#';
  if (plain) return text;
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

std::string to_csv(const ByteMatrix& adjacency, const std::vector<std::string>& names) {
  check_shape("to_csv", adjacency, names);
  std::string text;
  text.reserve(static_cast<std::size_t>(2 * adjacency.size()) + 16 * names.size());
  for (const std::string& name : names) {
    if (!text.empty()) text += ',';
    text += csv_cell(name);
  }
  text += '\n';
  for (Index from = 0; from < adjacency.rows(); ++from) {
    for (Index to = 0; to < adjacency.cols(); ++to) {
      text += adjacency(from, to) != 0 ? '1' : '0';
      text += to + 1 < adjacency.cols() ? ',' : '\n';
    }
  }
  return text;
}

std::string to_dot(const ByteMatrix& adjacency, const std::vector<std::string>& names, bool directed) {
  check_shape("to_dot", adjacency, names);
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(quote_dot(name));
  std::string text = directed ? "digraph fansite {\n" : "graph fansite {\n";
  for (const std::string& name : quoted) text += "  " + name + ";\n";
  for (const auto& [from, to] : list_edges(adjacency, directed)) {
    text += "  " + quoted[static_cast<std::size_t>(from)] + (directed ? " -> " : " -- ") +
            quoted[static_cast<std::size_t>(to)] + ";\n";
  }
  return text + "}\n";
}

std::string to_graphml(const ByteMatrix& adjacency, const std::vector<std::string>& names, bool directed) {
  check_shape("to_graphml", adjacency, names);
  std::vector<std::string> escaped;
  for (const std::string& name : names) escaped.push_back(escape_xml(name));
  std::string text =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
      "  <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n";
  text += std::string("  <graph id=\"fansite\" edgedefault=\"") + (directed ? "directed" : "undirected") + "\">\n";
  // The name is the identifier, which networkx and Cytoscape show, and an attribute, which igraph looks up.
  for (const std::string& name : escaped) {
    text += "    <node id=\"" + name + "\"><data key=\"name\">" + name + "</data></node>\n";
  }
  for (const auto& [from, to] : list_edges(adjacency, directed)) {
    text += "    <edge source=\"" + escaped[static_cast<std::size_t>(from)] + "\" target=\"" +
            escaped[static_cast<std::size_t>(to)] + "\"/>\n";
  }
  return text + "  </graph>\n</graphml>\n";
}

std::string to_dot(const ByteMatrix& directed, const ByteMatrix& undirected, const std::vector<std::string>& names,
                   const std::vector<std::pair<int, int>>& hidden_causes) {
  std::string text = to_dot(directed, names);
  check_shape("to_dot", undirected, names);
  text.resize(text.size() - std::string_view("}\n").size());
  const auto add = [&](int i, int j, const char* attributes) {
    text += "  " + quote_dot(names[static_cast<std::size_t>(i)]) + " -> " +
            quote_dot(names[static_cast<std::size_t>(j)]) + attributes;
  };
  for (const auto& [i, j] : list_edges(undirected, false)) add(i, j, " [dir=none];\n");
  for (const auto& [i, j] : hidden_causes) add(i, j, " [dir=both, style=dashed, constraint=false];\n");
  return text + "}\n";
}

std::string to_graphml(const ByteMatrix& directed, const ByteMatrix& undirected, const std::vector<std::string>& names,
                       const std::vector<std::pair<int, int>>& hidden_causes) {
  std::string text = to_graphml(directed, names);
  check_shape("to_graphml", undirected, names);
  // Readers refuse undirected edges in a directed graph, so that it is an attribute.
  const std::string_view graph = "  <graph ", end = "  </graph>\n</graphml>\n";
  text.insert(text.find(graph),
              "  <key id=\"directed\" for=\"edge\" attr.name=\"directed\" attr.type=\"boolean\">"
              "<default>true</default></key>\n"
              "  <key id=\"hidden_cause\" for=\"edge\" attr.name=\"hidden_cause\" attr.type=\"boolean\">"
              "<default>false</default></key>\n");
  text.resize(text.size() - end.size());
  const auto add = [&](int i, int j, const char* data) {
    text += "    <edge source=\"" + escape_xml(names[static_cast<std::size_t>(i)]) + "\" target=\"" +
            escape_xml(names[static_cast<std::size_t>(j)]) + "\">" + data + "</edge>\n";
  };
  constexpr const char* kOpen = "<data key=\"directed\">false</data>";
  constexpr const char* kHidden = "<data key=\"directed\">false</data><data key=\"hidden_cause\">true</data>";
  for (const auto& [i, j] : list_edges(undirected, false)) add(i, j, kOpen);
  for (const auto& [i, j] : hidden_causes) add(i, j, kHidden);
  return text + std::string(end);
}

}  // namespace fansite
