#include "firn/iceberg/io/metadata_io.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/iceberg/testing/sample_table.h"
#include "firn/storage/faulty_store.h"

namespace firn::iceberg {
namespace {

using testing::HasSubstr;

TEST(MetadataIoTest, ComesBackEqual) {
  MemoryFiles files;
  const TableMetadata metadata = FlightsMetadata();
  ASSERT_TRUE(WriteTableMetadata(files.io(), "memory:///m.json", metadata).ok());
  EXPECT_EQ(ReadTableMetadata(files.io(), "memory:///m.json").ValueOrDie(), metadata);
}

TEST(MetadataIoTest, IsGzippedIfTheTableWantsIt) {
  MemoryFiles files;
  TableMetadata metadata = FlightsMetadata();
  for (const char* codec : {"gzip", "GZIP"}) {
    metadata.properties["write.metadata.compression-codec"] = codec;
    const std::string location = NextMetadataLocation(metadata, "", codec);
    EXPECT_THAT(location, testing::EndsWith(fmt::format("-{}.gz.metadata.json", codec)));
    ASSERT_TRUE(WriteTableMetadata(files.io(), location, metadata).ok());
    EXPECT_EQ(files.io().Read(location).ValueOrDie().substr(0, 2), "\x1f\x8b");
    EXPECT_EQ(ReadTableMetadata(files.io(), location).ValueOrDie(), metadata);
  }
  metadata.properties["write.metadata.compression-codec"] = "none";
  EXPECT_THAT(NextMetadataLocation(metadata, "", "u"),
              testing::EndsWith("/00000-u.metadata.json"));
  metadata.properties["write.metadata.compression-codec"] = "zstd";
  EXPECT_THAT(ErrorText(CheckWritable(metadata)),
              HasSubstr("\"zstd\" is not none or gzip"));
}

TEST(MetadataIoTest, ReadsGzip) {
  MemoryFiles files;
  // gzip of: {"format-version": 9}
  const std::string bytes =
      std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\xab\x56\x4a\xcb\x2f\xca\x4d",
                  17) +
      std::string("\x2c\xd1\x2d\x4b\x2d\x2a\xce\xcc\xcf\x53\xb2\x52\xb0\xac\x05\x00\xe8",
                  17) +
      std::string("\x08\x0c\x11\x15\x00\x00\x00", 7);
  for (const char* location :
       {"memory:///1.gz.metadata.json", "memory:///1.metadata.json.gz"}) {
    ASSERT_TRUE(files.io().WriteNew(location, bytes).ok());
    EXPECT_THAT(ReadTableMetadata(files.io(), location).status().message(),
                HasSubstr("format-version: 9 is not supported"));
  }
}

TEST(MetadataIoTest, ErrorsNameTheFile) {
  MemoryFiles files;
  ASSERT_TRUE(files.io().WriteNew("memory:///m.json", "{}").ok());
  const Status broken = ReadTableMetadata(files.io(), "memory:///m.json").status();
  EXPECT_TRUE(IsError(broken, ErrorKind::kCorruption));
  EXPECT_THAT(broken.message(), HasSubstr("memory:///m.json: format-version: missing"));
  const Status missing = ReadTableMetadata(files.io(), "memory:///none.json").status();
  EXPECT_TRUE(IsError(missing, ErrorKind::kNotFound));
  EXPECT_FALSE(ReadTableMetadata(files.io(), "s3://b/m.json").ok());
}

TEST(MetadataIoTest, WhatFirnOnlyReadsIsNotWritten) {
  MemoryFiles files;
  const auto problem = [&](const TableMetadata& metadata) {
    const Status status = WriteTableMetadata(files.io(), "memory:///m.json", metadata);
    EXPECT_FALSE(files.io().Read("memory:///m.json").ok());
    return ErrorText(status);
  };
  TableMetadata metadata = FlightsMetadata();
  metadata.format_version = 1;
  EXPECT_THAT(problem(metadata),
              testing::AllOf(HasSubstr("format version 1, which Firn only reads"),
                             HasSubstr("('format-version' = '2')")));
  metadata.format_version = 4;
  EXPECT_THAT(problem(metadata), HasSubstr("format version 4"));
  metadata.format_version = 3;
  metadata.properties["encryption.key-id"] = "key";
  EXPECT_THAT(problem(metadata), HasSubstr("is encrypted"));
}

TEST(MetadataIoTest, NamesCountUpFromThePreviousFile) {
  TableMetadata metadata = FlightsMetadata("file:///wh/t");
  const auto next = [&](std::string_view previous) {
    return NextMetadataLocation(metadata, previous, "uuid");
  };
  EXPECT_EQ(next(""), "file:///wh/t/metadata/00000-uuid.metadata.json");
  EXPECT_EQ(next("file:///a/00041-x-y.metadata.json"),
            "file:///wh/t/metadata/00042-uuid.metadata.json");
  EXPECT_EQ(next("file:///a/99999-x.metadata.json"),
            "file:///wh/t/metadata/100000-uuid.metadata.json");
  for (const char* too_large : {"2147483648", "9223372036854775807"}) {
    EXPECT_EQ(next(fmt::format("file:///a/{}-x.metadata.json", too_large)),
              "file:///wh/t/metadata/00000-uuid.metadata.json");
  }
  EXPECT_EQ(next("file:///a/v3.metadata.json"),
            "file:///wh/t/metadata/00000-uuid.metadata.json");
  metadata.properties["write.metadata.path"] = "s3://b/meta/";
  EXPECT_EQ(next(""), "s3://b/meta/00000-uuid.metadata.json");
  metadata.properties["write.metadata.path"] = "meta";
  EXPECT_EQ(next(""), "file:///wh/t/meta/00000-uuid.metadata.json");
}

TEST(FileIoTest, TheLongestPrefixWinsHoweverItIsSpelled) {
  storage::MemoryStore root(SystemRuntime()), warehouse(SystemRuntime());
  const FileIo io = FileIo::Make({{.prefix = "file:/", .store = &root},
                                  {.prefix = "/wh", .store = &warehouse}})
                        .ValueOrDie();
  ASSERT_TRUE(io.WriteNew("file:///wh//a", "1").ok());
  ASSERT_TRUE(io.WriteNew("/whale", "2").ok());
  EXPECT_EQ(warehouse.GetWhole("a").ValueOrDie(), "1");
  EXPECT_EQ(root.GetWhole("whale").ValueOrDie(), "2");
  EXPECT_EQ(io.Read("file:/wh/a").ValueOrDie(), "1");
  EXPECT_FALSE(io.Read("relative").ok());
  EXPECT_FALSE(FileIo::Make({{.prefix = "relative", .store = &root}}).ok());
}

TEST(FileIoTest, AnUnknownOutcomeOfAFileNobodyKnowsIsJustAFailure) {
  storage::MemoryStore memory(SystemRuntime());
  storage::FaultyStore faulty(SystemRuntime(), memory,
                              storage::FailNth(storage::StoreOperation::kPutWhole, 1,
                                               storage::kApplyThenUnknown));
  const FileIo io =
      FileIo::Make({{.prefix = "memory:///", .store = &faulty}}).ValueOrDie();
  EXPECT_TRUE(IsError(io.WriteNew("memory:///a", "1"), ErrorKind::kUnavailable));
}

TEST(FileIoTest, FilesInPiecesAreNewToo) {
  storage::MemoryStore memory(SystemRuntime());
  storage::FaultyStore faulty(SystemRuntime(), memory,
                              storage::FailNth(storage::StoreOperation::kPutWhole, 3,
                                               storage::kApplyThenUnknown));
  const FileIo io =
      FileIo::Make({{.prefix = "memory:///", .store = &faulty}}).ValueOrDie();
  const auto write = [&](std::string_view location) -> Status {
    FIRN_ASSIGN_OR_RETURN(const auto file, io.OpenNew(location));
    FIRN_RETURN_NOT_OK(file->Append("one "));
    FIRN_RETURN_NOT_OK(file->Append("two"));
    return file->Finish();
  };
  EXPECT_TRUE(write("memory:///a").ok());
  EXPECT_EQ(io.Read("memory:///a").ValueOrDie(), "one two");
  const Status again = write("memory:///a");
  EXPECT_TRUE(IsError(again, ErrorKind::kAlreadyExists));
  EXPECT_THAT(again.message(), HasSubstr("memory:///a"));
  EXPECT_TRUE(IsError(write("memory:///b"), ErrorKind::kUnavailable));
  EXPECT_FALSE(io.OpenNew("s3://b/a").ok());
}

}  // namespace
}  // namespace firn::iceberg
