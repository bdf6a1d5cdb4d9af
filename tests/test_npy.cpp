// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <limits>

#include "fansite/base/error.h"
#include "fansite/base/file.h"
#include "fansite/base/text.h"
#include "fansite/table/npy.h"
#include "properties.h"
#include "support.h"
#include "zip_writer.h"

namespace fansite {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

std::string npy_error(const std::string& bytes) {
  return message_of<DataError>([&] { parse_npy(bytes, "a.npy"); });
}

std::string npz_error(const std::string& bytes, const std::string& name) {
  return message_of<DataError>([&] { NpzFile(bytes, "a.npz").read(name); });
}

std::string dict(const std::string& type, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + type + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(std::initializer_list<T> values, bool swap = false) {
  std::string bytes;
  for (const T value : values) {
    char cell[sizeof(T)];
    std::memcpy(cell, &value, sizeof(T));
    if (swap) std::reverse(cell, cell + sizeof(T));
    bytes.append(cell, sizeof(T));
  }
  return bytes;
}

template <class T>
void expect_reads(const std::string& type) {
  const Matrix expected = (Matrix(2, 3) << 1, 2, 3, 4, 5, 6).finished();
  for (const bool big : {false, true}) {
    const std::string full = (sizeof(T) == 1 ? "|" : big ? ">" : "<") + type;
    const auto rows = bytes_of<T>({1, 2, 3, 4, 5, 6}, big), columns = bytes_of<T>({1, 4, 2, 5, 3, 6}, big);
    EXPECT_EQ(parse_npy(npy_file(dict(full, "(2, 3)"), rows), "a").values, expected) << full;
    EXPECT_EQ(parse_npy(npy_file(dict(full, "(2, 3)", true), columns), "a").values, expected) << full;
  }
}

TEST(Npy, ReadsEveryNumberTypeInBothOrders) {
  expect_reads<float>("f4");
  expect_reads<double>("f8");
  expect_reads<std::int8_t>("i1");
  expect_reads<std::int16_t>("i2");
  expect_reads<std::int32_t>("i4");
  expect_reads<std::int64_t>("i8");
  expect_reads<std::uint8_t>("u1");
  expect_reads<std::uint16_t>("u2");
  expect_reads<std::uint32_t>("u4");
  expect_reads<std::uint64_t>("u8");
}

TEST(Npy, ReadsSignsBooleansAndHalves) {
  EXPECT_EQ(parse_npy(npy_file(dict("<i2", "(1, 2)"), bytes_of<std::int16_t>({-1, -32768})), "a").values(0, 1), -32768);
  EXPECT_EQ(parse_npy(npy_file(dict("|b1", "(3,)"), std::string("\1\0\1", 3)), "a").values, Vector({{1, 0, 1}}));
  const auto halves = bytes_of<std::uint16_t>({0x3C00, 0xC000, 0x0001, 0x7BFF, 0x7C00, 0x8000, 0x3555});
  const Matrix values = parse_npy(npy_file(dict("<f2", "(7,)"), halves), "a").values;
  EXPECT_EQ(values(0), 1);
  EXPECT_EQ(values(1), -2);
  EXPECT_EQ(values(2), std::ldexp(1.0, -24));
  EXPECT_EQ(values(3), 65504);
  EXPECT_TRUE(std::isinf(values(4)));
  EXPECT_TRUE(std::signbit(values(5)) && values(5) == 0);
  EXPECT_EQ(values(6), 0.333251953125);
}

TEST(Npy, ReadsAllFormatVersionsAndSpellings) {
  const auto cells = bytes_of<double>({1, 2});
  for (const int version : {1, 2, 3})
    EXPECT_EQ(parse_npy(npy_file(dict("<f8", "(2, 1)"), cells, version), "a").values(1), 2);
  EXPECT_EQ(parse_npy(npy_file("{\"shape\":(2L,),\"fortran_order\":False,\"descr\":\"<f8\"}", cells), "a").values(1),
            2);
  EXPECT_THAT(parse_npy(npy_file(dict("<f8", "(2,)"), cells), "a").shape, ElementsAre(2));
}

TEST(Npy, TiledTranspositionCoversEveryCell) {
  const Index rows = 131, columns = 37;  // neither a multiple of a tile
  std::string cells;
  for (Index i = 0; i < rows * columns; ++i) cells += bytes_of<double>({static_cast<double>(i)});
  const Matrix values = parse_npy(npy_file(dict("<f8", "(131, 37)"), cells), "a").values;
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < columns; ++column)
      ASSERT_EQ(values(row, column), static_cast<double>(row * columns + column));
  }
}

TEST(Npy, ExplainsWhatItCannotRead) {
  const std::string eight(8, '\0');
  EXPECT_THAT(npy_error("hello"), HasSubstr("is not a NumPy array"));
  EXPECT_THAT(npy_error(npy_file(dict("<U2", "(1,)"), eight)), HasSubstr("holds text"));
  EXPECT_THAT(npy_error(npy_file(dict("|O", "(1,)"), eight)), HasSubstr("holds Python objects"));
  EXPECT_THAT(npy_error(npy_file(dict("<c16", "(1,)"), eight + eight)), HasSubstr("complex"));
  EXPECT_THAT(npy_error(npy_file(dict("<f16", "(1,)"), eight + eight)), HasSubstr("type 'f16'"));
  EXPECT_THAT(npy_error(npy_file(
                  "{'descr': [('a', '<f8'), ('b', '<i4', (2,))], 'fortran_order': False, 'shape': (1,), }", eight)),
              HasSubstr("records"));
  EXPECT_THAT(npy_error(npy_file(dict("<f8", "()"), eight)), HasSubstr("0 dimensions"));
  EXPECT_THAT(npy_error(npy_file(dict("<f8", "(1, 1, 1)"), eight)), HasSubstr("3 dimensions"));
  EXPECT_THAT(npy_error(npy_file(dict("<f8", "(0, 5)"), "")), HasSubstr("empty, 0 × 5"));
  EXPECT_THAT(npy_error(npy_file(dict("<f8", "(1, 1)"), eight + eight)), HasSubstr("8 bytes follow the array"));
  EXPECT_THAT(npy_error(npy_file(dict("<f8", "(1, 1)"), eight, 9)), HasSubstr("format 9"));
}

TEST(Npy, HeaderParserIsStrict) {
  const std::string eight(8, '\0');
  for (const char* bad :
       {"", "{", "{}", "{'descr': '<f8'}", "[1]", "{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} x",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'more': 1}",
        "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': [[[[, 'fortran_order': False, 'shape': (1,)}"}) {
    EXPECT_THAT(npy_error(npy_file(bad, eight)), HasSubstr("header is damaged")) << bad;
  }
}

TEST(Npy, ALyingHeaderAllocatesNothing) {
  const std::string eight(8, '\0');
  EXPECT_THAT(npy_error(npy_file(dict("<f8", "(1000000, 1000000)"), eight)), HasSubstr("is truncated"));
  EXPECT_THAT(npy_error(npy_file(dict("<f8", "(4611686018427387904, 4611686018427387904)"), eight)),
              HasSubstr("is truncated"));
  const std::string whole = to_npy(Matrix::Ones(3, 2));
  for (std::size_t size = 0; size < whole.size(); ++size) {
    EXPECT_THAT(npy_error(whole.substr(0, size)), testing::AnyOf(HasSubstr("truncated"), HasSubstr("not a NumPy")))
        << size;
  }
}

TEST(Npy, HeaderIsPaddedAsNumpyPads) {
  const std::string bytes = to_npy(Matrix::Ones(3, 2));
  EXPECT_EQ(bytes.size() % 64, 48u);  // six cells after whole lines of 64
  EXPECT_EQ(bytes[bytes.size() - 49], '\n');
  EXPECT_THAT(bytes, HasSubstr("{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2), }"));
}

TEST(NpyProperty, RoundTripIsBitExact) {
  EXPECT_TRUE(rc::check("parse_npy(to_npy(m)) == m", [] {
    const auto rows = *rc::gen::inRange<Index>(1, 50), columns = *rc::gen::inRange<Index>(1, 20);
    const auto bits = *rc::gen::container<std::vector<std::uint64_t>>(static_cast<std::size_t>(rows * columns),
                                                                      rc::gen::arbitrary<std::uint64_t>());
    Matrix values(rows, columns);
    std::memcpy(values.data(), bits.data(), bits.size() * sizeof(double));
    const NpyArray back = parse_npy(to_npy(values), "a");
    RC_ASSERT(back.shape == (std::vector<std::int64_t>{rows, columns}));
    RC_ASSERT(std::memcmp(back.values.data(), values.data(), bits.size() * sizeof(double)) == 0);
  }));
}

// ---- Archives -------------------------------------------------------------------------------------------------------

const Matrix kTable = (Matrix(2, 2) << 1, 2, 3, 4).finished();
const Matrix kOther = (Matrix(3, 2) << 9, 8, 7, 6, 5, 4).finished();

TEST(Npz, ReadsStoredDeflatedAndZip64) {
  for (const bool deflate : {false, true}) {
    for (const bool zip64 : {false, true}) {
      ZipWriter zip;
      zip.zip64 = zip64;
      zip.add("other.npy", to_npy(kOther), deflate).add("readme.txt", "hello").add("data.npy", to_npy(kTable), deflate);
      const std::string bytes = zip.finish("a comment");
      const NpzFile file(bytes, "a.npz");
      EXPECT_THAT(file.names(), ElementsAre("other", "data"));
      EXPECT_EQ(file.read("data").values, kTable);
      EXPECT_EQ(file.read("other").values, kOther);
    }
  }
}

TEST(Npz, LargeCompressibleMemberIsReadWhole) {
  const Matrix zeros = Matrix::Zero(2000, 500);  // 8 MB from 8 kB
  const std::string bytes = ZipWriter().add("data.npy", to_npy(zeros), true).finish();
  EXPECT_LT(bytes.size(), 20000u);
  EXPECT_EQ(NpzFile(bytes, "a.npz").read("data").values, zeros);
}

TEST(Npz, ChoosesTheTable) {
  const auto chosen = [](const std::string& bytes) { return NpzFile(bytes, "a.npz").data_name(); };
  const std::string table = to_npy(kTable), line = npy_file(dict("<f8", "(1,)"), std::string(8, '\0'));
  const std::string words = npy_file(dict("<U1", "(1,)"), "a\0\0\0");
  EXPECT_EQ(chosen(ZipWriter().add("X.npy", table).add("data.npy", table).finish()), "data");
  EXPECT_EQ(chosen(ZipWriter().add("dag.npy", table).add("X.npy", table).finish()), "X");
  EXPECT_EQ(chosen(ZipWriter().add("y.npy", line).add("names.npy", words).add("genes.npy", table, true).finish()),
            "genes");
  EXPECT_THAT(message_of<DataError>([&] { chosen(ZipWriter().add("a.npy", table).add("b.npy", table).finish()); }),
              AllOf(HasSubstr("holds 'a', 'b'"), HasSubstr("2 are 2-D"), HasSubstr("Save the table as 'data'")));
  EXPECT_THAT(message_of<DataError>([&] { chosen(ZipWriter().finish()); }), HasSubstr("holds no arrays"));
}

TEST(Npz, ExplainsWhatItCannotRead) {
  const std::string table = to_npy(kTable);
  EXPECT_THAT(npz_error(ZipWriter().add("a.npy", table).add("b.npy", table).finish(), "c"),
              HasSubstr("no array 'c', only 'a', 'b'"));
  EXPECT_THAT(npz_error(table, "a"), HasSubstr("truncated or not an .npz archive"));
  ZipWriter encrypted;
  encrypted.flags = 1;
  EXPECT_THAT(npz_error(encrypted.add("a.npy", table).finish(), "a"), HasSubstr("is encrypted"));
  ZipWriter lzma;
  lzma.method_written = 14;
  EXPECT_THAT(npz_error(lzma.add("a.npy", table).finish(), "a"), HasSubstr("zip method 14"));
  ZipWriter broken;
  broken.break_checksum = true;
  EXPECT_THAT(npz_error(broken.add("a.npy", table, true).finish(), "a"), HasSubstr("checksum does not match"));
}

TEST(Npz, ALyingSizeAllocatesNothing) {
  for (const bool deflate : {false, true}) {
    ZipWriter liar;
    liar.lie_about_size = true;
    EXPECT_THAT(npz_error(liar.add("a.npy", to_npy(kTable), deflate).finish(), "a"), HasSubstr("a.npz")) << deflate;
  }
  // A bomb: 16 MB of zeros that does not even pretend to be such an array is refused after its header.
  std::string bomb = npy_file(dict("<f8", "(1, 1)"), std::string(std::size_t{1} << 24, '\0'));
  EXPECT_THAT(npz_error(ZipWriter().add("a.npy", bomb, true).finish(), "a"), HasSubstr("bytes follow the array"));
}

TEST(Npz, TruncatedArchiveSaysSo) {
  const std::string whole = ZipWriter().add("data.npy", to_npy(kTable), true).finish();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THAT(npz_error(whole.substr(0, size), "data"), HasSubstr("truncated")) << size;
}

TEST(NpzProperty, MutatedBytesParseOrThrowDataError) {
  const std::string stored = ZipWriter().add("X.npy", to_npy(kTable)).add("o.npy", to_npy(kOther), true).finish();
  EXPECT_TRUE(rc::check("no mutation does anything but parse or throw a DataError", [&] {
    std::string bytes = *rc::gen::element(stored, to_npy(kOther));
    const int mutations = *rc::gen::inRange(1, 6);
    for (int i = 0; i < mutations; ++i)
      bytes[*rc::gen::inRange<std::size_t>(0, bytes.size())] = *rc::gen::arbitrary<char>();
    const std::string message = message_of<DataError>([&] {
      if (bytes.starts_with("PK")) {
        const NpzFile file(bytes, "a.npz");
        for (const std::string& name : file.names()) file.read(name);
        file.read(file.data_name());
      } else {
        parse_npy(bytes, "a.npy");
      }
    });
    RC_ASSERT(is_utf8(message));
  }));
}

TEST(Npz, ReadsFilesByPath) {
  const auto path = (std::filesystem::temp_directory_path() / "fansite_test_npz.npz").string();
  OutputFile out(path);
  out.write(ZipWriter().add("dag.npy", to_npy(kOther)).add("data.npy", to_npy(kTable), true).finish());
  out.commit();
  EXPECT_THAT(npz_names(path), ElementsAre("dag", "data"));
  EXPECT_EQ(load_npz_array(path, "dag"), kOther);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace fansite
