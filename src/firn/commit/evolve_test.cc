// Writers that change one table's schema at once, on every kind of catalog.

#include "firn/commit/evolve.h"

#include <algorithm>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "firn/commit/test_table.h"
#include "firn/iceberg/testing/catalog_under_test.h"
#include "firn/iceberg/testing/sample_table.h"

namespace firn::commit {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using types::Field;
using types::Schema;
using types::Type;
using types::TypeKind;

const iceberg::TableIdentifier kTable{"demo", "flights"};

Field Column(std::string name, TypeKind kind) {
  return {.name = std::move(name), .type = Type(kind)};
}

/// "name: type" of every column.
std::vector<std::string> Columns(const iceberg::TableMetadata& metadata) {
  std::vector<std::string> columns;
  for (const Field& field : CurrentSchema(metadata).fields) {
    columns.push_back(fmt::format("{}: {}", field.name, field.type.ToString()));
  }
  return columns;
}

iceberg::TableCreation OneColumn() {
  return {
      .schema = {
          .fields = {
              {.id = 1, .name = "id", .type = Type(TypeKind::kInt), .required = true}}}};
}

class EvolveTest : public testing::TestWithParam<iceberg::CatalogKind> {
 protected:
  void SetUp() override {
    if (under_test_ == nullptr) GTEST_SKIP() << GetParam().skipped;
    ASSERT_TRUE(catalog().CreateNamespace("demo").ok());
    table_.uuid =
        catalog().CreateTable(kTable, OneColumn()).ValueOrDie().metadata.table_uuid;
  }

  iceberg::Catalog& catalog() { return under_test_->catalog(); }

  Result<iceberg::LoadedTable> Evolve(const std::vector<Field>& wanted) {
    return EvolveTable(catalog(), SystemRuntime(), table_, {.fields = wanted});
  }

  iceberg::TableMetadata Load() {
    return catalog().LoadTable(kTable).ValueOrDie().metadata;
  }

  EvolvedTable table_{.identifier = kTable, .uuid = {}};

 private:
  const std::unique_ptr<iceberg::CatalogUnderTest> under_test_ = GetParam().make();
};

INSTANTIATE_TEST_SUITE_P(, EvolveTest, testing::ValuesIn(iceberg::CatalogKinds()),
                         [](const auto& info) { return info.param.name; });

TEST_P(EvolveTest, ATableTakesWhatIsWanted) {
  const Field point = {.name = "point",
                       .type = Type::Struct({Column("x", TypeKind::kFloat)})};
  const auto evolved = Evolve({Column("id", TypeKind::kLong), point});
  ASSERT_TRUE(evolved.ok()) << evolved.status();
  EXPECT_THAT(Columns(Load()), ElementsAre("id: long", "point: struct<3: x: float>"));
  EXPECT_FALSE(CurrentSchema(Load()).fields[0].required);
  EXPECT_EQ(CurrentSchema(evolved->metadata), CurrentSchema(Load()));
  const Field wider = {.name = "point",
                       .type = Type::Struct({Column("y", TypeKind::kString),
                                             Column("x", TypeKind::kDouble)})};
  ASSERT_TRUE(Evolve({wider}).ok());
  EXPECT_THAT(Columns(Load()),
              ElementsAre("id: long", "point: struct<3: x: double, 4: y: string>"));
}

TEST_P(EvolveTest, NothingIsCommittedForWhatATableTakesAlready) {
  const auto before = catalog().LoadTable(kTable).ValueOrDie();
  EXPECT_EQ(Evolve({Column("id", TypeKind::kInt)})->metadata.schemas.size(), 2U);
  const auto after = catalog().LoadTable(kTable).ValueOrDie();
  EXPECT_EQ(Evolve({Column("id", TypeKind::kInt)}).ValueOrDie(), after);
  EXPECT_NE(before.metadata_location, after.metadata_location);
}

TEST_P(EvolveTest, WhatCannotBeChangesNothing) {
  const auto before = catalog().LoadTable(kTable).ValueOrDie();
  const auto refused =
      Evolve({Column("extra", TypeKind::kInt), Column("id", TypeKind::kString)});
  EXPECT_THAT(refused.status().message(),
              testing::AllOf(HasSubstr("demo.flights"), HasSubstr("'id' is int"),
                             HasSubstr("string in the input")));
  EXPECT_EQ(catalog().LoadTable(kTable).ValueOrDie(), before);
}

/// Each wants a column of its own, one that all want, and one in different widths.
TEST_P(EvolveTest, WritersThatEvolveAtOnceAllGetWhatTheyWant) {
  constexpr int kWriters = 8;
  std::vector<Status> outcomes(kWriters);
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back(SystemRuntime(), "writer", [&, i] {
        const TypeKind width = i % 2 == 0 ? TypeKind::kFloat : TypeKind::kDouble;
        outcomes[i] = Evolve({Column("shared", TypeKind::kString),
                              Column(fmt::format("own{}", i), TypeKind::kInt),
                              Column("width", width)})
                          .status();
      });
    }
  }
  for (const Status& status : outcomes) EXPECT_TRUE(status.ok()) << status;
  std::vector<std::string> expected = {"id: int", "shared: string", "width: double"};
  for (int i = 0; i < kWriters; ++i) expected.push_back(fmt::format("own{}: int", i));
  const iceberg::TableMetadata metadata = Load();
  EXPECT_THAT(Columns(metadata), testing::UnorderedElementsAreArray(expected));
  std::set<FieldId> ids;
  for (const Field& field : CurrentSchema(metadata).fields) ids.insert(field.id);
  EXPECT_EQ(ids.size(), expected.size());
  EXPECT_EQ(metadata.last_column_id, static_cast<FieldId>(expected.size()));
}

TEST_P(EvolveTest, OfWritersThatWantTheSameOneChangesTheSchema) {
  constexpr int kWriters = 8;
  {
    std::vector<Thread> threads;
    for (int i = 0; i < kWriters; ++i) {
      threads.emplace_back(SystemRuntime(), "writer", [&] {
        EXPECT_TRUE(Evolve({Column("extra", TypeKind::kString)}).ok());
      });
    }
  }
  EXPECT_THAT(Columns(Load()), ElementsAre("id: int", "extra: string"));
  EXPECT_EQ(Load().schemas.size(), 2U);
}

/// The catalog fails as a test says.
class EvolveFaultTest : public testing::Test {
 protected:
  EvolveFaultTest() {
    FIRN_CHECK(inner_.CreateNamespace("demo").ok());
    table_.uuid =
        inner_.CreateTable(kTable, OneColumn()).ValueOrDie().metadata.table_uuid;
  }

  Result<iceberg::LoadedTable> Evolve(const std::vector<Field>& wanted) {
    return EvolveTable(catalog_, runtime_, table_, {.fields = wanted});
  }

  FakeRuntime runtime_;
  iceberg::MemoryCatalog inner_{runtime_, "memory:///warehouse"};
  ScriptedCatalog catalog_{inner_};
  EvolvedTable table_{.identifier = kTable, .uuid = {}};
};

TEST_F(EvolveFaultTest, AnUnknownOutcomeIsResolvedByReading) {
  catalog_.script.after_commit = [&] {
    return MakeError(ErrorKind::kOutcomeUnknown, "no answer");
  };
  const auto evolved = Evolve({Column("extra", TypeKind::kString)});
  ASSERT_TRUE(evolved.ok()) << evolved.status();
  EXPECT_THAT(Columns(evolved->metadata), ElementsAre("id: int", "extra: string"));
  EXPECT_EQ(evolved->metadata.schemas.size(), 2U);
}

TEST_F(EvolveFaultTest, TheRequirementsAreThoseOfTheSchema) {
  std::vector<iceberg::TableRequirement> required;
  catalog_.script.before_commit = [&](const ScriptedCatalog::CommitCall& call) {
    required = call.requirements;
    return Status::OK();
  };
  ASSERT_TRUE(Evolve({Column("extra", TypeKind::kString)}).ok());
  EXPECT_THAT(required, ElementsAre(iceberg::AssertTableUuid{table_.uuid},
                                    iceberg::AssertCurrentSchemaId{SchemaId(0)},
                                    iceberg::AssertLastAssignedFieldId{1}));
}

TEST_F(EvolveFaultTest, AColumnThatAnotherMadeOfAnotherTypeMeanwhileIsRefused) {
  catalog_.script.before_commit = [&](const ScriptedCatalog::CommitCall&) {
    catalog_.script.before_commit = nullptr;
    const Schema theirs = {.fields = {Column("extra", TypeKind::kDate)}};
    return EvolveTable(inner_, runtime_, table_, theirs).status();
  };
  EXPECT_THAT(Evolve({Column("extra", TypeKind::kString)}).status().message(),
              HasSubstr("'extra' is date in the table and string in the input"));
}

TEST_F(EvolveFaultTest, ATableThatWasMadeAnewIsAnotherOne) {
  ASSERT_TRUE(inner_.DropTable(kTable).ok());
  ASSERT_TRUE(inner_.CreateTable(kTable, OneColumn()).ok());
  EXPECT_TRUE(IsError(Evolve({Column("extra", TypeKind::kString)}).status(),
                      ErrorKind::kNotFound));
}

TEST_F(EvolveFaultTest, ACatalogThatNeverCommitsIsGivenUp) {
  catalog_.script.before_commit = [&](const ScriptedCatalog::CommitCall&) {
    return MakeError(ErrorKind::kConflict, "not now");
  };
  EXPECT_TRUE(IsError(Evolve({Column("extra", TypeKind::kString)}).status(),
                      ErrorKind::kConflict));
}

}  // namespace
}  // namespace firn::commit
