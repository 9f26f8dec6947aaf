#include "firn/parquet_io/projection.h"

#include <charconv>
#include <set>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/builder.h>
#include <arrow/compute/cast.h>
#include <arrow/extension_type.h>
#include <arrow/record_batch.h>
#include <arrow/scalar.h>
#include <arrow/type.h>
#include <arrow/util/key_value_metadata.h>

#include "firn/parquet_io/required_columns.h"
#include "firn/types/arrow_types.h"
#include "firn/types/default_column.h"
#include "firn/types/default_value.h"
#include "firn/types/schema_union.h"

namespace firn::parquet_io {
namespace {

using parquet::arrow::SchemaField;
using types::Field;
using types::TypeKind;

void CollectIds(const std::vector<Field>& fields, std::set<FieldId>& ids) {
  for (const Field& field : fields) {
    ids.insert(field.id);
    CollectIds(field.type.fields(), ids);
  }
}

/// Chooses leaf columns in the order of the file.
class ColumnChooser {
 public:
  ColumnChooser(const parquet::SchemaDescriptor& file, std::set<FieldId> wanted)
      : file_(file), wanted_(std::move(wanted)) {}

  std::vector<int> Choose() {
    VisitFields(*file_.group_node());
    return std::move(columns_);
  }

 private:
  using Node = parquet::schema::Node;
  using GroupNode = parquet::schema::GroupNode;

  void VisitFields(const GroupNode& group) {
    for (int i = 0; i < group.field_count(); ++i) Visit(*group.field(i));
  }

  void Visit(const Node& node) {
    // The repeated levels of lists and maps have no id of their own.
    if (node.field_id() >= 0 && !wanted_.contains(node.field_id())) return;
    if (node.is_primitive()) {
      if (node.field_id() >= 0) columns_.push_back(file_.ColumnIndex(node));
      return;
    }
    const std::size_t before = columns_.size();
    VisitFields(static_cast<const GroupNode&>(node));
    if (columns_.size() == before && node.field_id() >= 0) ChooseFirstLeaf(node);
  }

  void ChooseFirstLeaf(const Node& node) {
    const Node* leaf = &node;
    while (leaf->is_group()) {
      const auto& group = static_cast<const GroupNode&>(*leaf);
      if (group.field_count() == 0) return;
      leaf = group.field(0).get();
    }
    columns_.push_back(file_.ColumnIndex(*leaf));
  }

  const parquet::SchemaDescriptor& file_;
  const std::set<FieldId> wanted_;
  std::vector<int> columns_;
};

/// The field id that the Parquet reader left in an Arrow field's metadata; -1 if none.
FieldId FieldIdOf(const arrow::Field& field) {
  if (field.metadata() == nullptr) return -1;
  const auto text = field.metadata()->Get("PARQUET:field_id");
  FieldId id = -1;
  if (text.ok()) std::from_chars(text->data(), text->data() + text->size(), id);
  return id;
}

const SchemaField* FindById(const std::vector<SchemaField>& fields, FieldId id) {
  for (const SchemaField& field : fields) {
    if (FieldIdOf(*field.field) == id) return &field;
  }
  return nullptr;
}

Status DoesNotFit(const Field& field, const arrow::DataType& type) {
  return Error(ErrorKind::kCorruption,
               "column '{}' (field id {}) should be {}, but is {} in the file",
               field.name, field.id, field.type.ToString(), type.ToString());
}

/// Values of a field that the file does not have: its initial default (Iceberg spec,
/// "Default values"), else null.
Result<std::shared_ptr<arrow::Array>> Missing(const Field& field, std::int64_t rows) {
  if (types::HasInitialDefault(field) || !field.required) {
    return types::DefaultColumn(field, types::kInitialDefault, rows);
  }
  return Error(ErrorKind::kCorruption,
               "required column '{}' (field id {}) is not in the file", field.name,
               field.id);
}

/// Whether a table may promote a column, its writer decides; here it has.
constexpr std::int32_t kFormatVersionMax = 3;

bool CanRead(const types::Type& from, const types::Type& to) {
  // Older Iceberg writers left the logical type of uuids out.
  if (to.kind() == TypeKind::kUuid && from == types::Type::Fixed(16)) return true;
  return types::MayBePromoted(from, to, kFormatVersionMax);
}

Result<std::shared_ptr<arrow::Array>> ProjectPrimitive(
    const std::shared_ptr<arrow::Array>& array, const Field& field) {
  const auto wanted = types::ToArrowType(field.type);
  if (array->type()->Equals(*wanted)) return array;
  if (array->type_id() == arrow::Type::EXTENSION) {
    const auto& extension = static_cast<const arrow::ExtensionArray&>(*array);
    return ProjectPrimitive(extension.storage(), field);
  }
  const Result<types::Type> type = types::FromArrowType(*array->type());
  if (!type.ok() || !CanRead(*type, field.type)) return DoesNotFit(field, *array->type());
  return arrow::compute::Cast(*array, wanted);
}

Result<std::shared_ptr<arrow::Array>> ProjectArray(
    const std::shared_ptr<arrow::Array>& array, const SchemaField& file,
    const Field& field);

/// A field of the structs in `parent`: by id in the file, then by name among those that
/// were read.
Result<std::shared_ptr<arrow::ArrayData>> ProjectChild(
    const arrow::ArrayData& parent, const std::vector<SchemaField>& file,
    const Field& field) {
  const SchemaField* found = FindById(file, field.id);
  if (found == nullptr) {
    FIRN_ASSIGN_OR_RETURN(const auto nulls,
                          Missing(field, parent.offset + parent.length));
    return nulls->data();
  }
  const std::string& name = found->field->name();
  const int index =
      static_cast<const arrow::StructType&>(*parent.type).GetFieldIndex(name);
  if (index < 0) {
    return Error(ErrorKind::kCorruption,
                 "the file has several columns '{}' (field id {})", name, field.id);
  }
  const auto& child = parent.child_data[static_cast<std::size_t>(index)];
  FIRN_ASSIGN_OR_RETURN(const auto projected,
                        ProjectArray(arrow::MakeArray(child), *found, field));
  return projected->data();
}

Result<std::vector<std::shared_ptr<arrow::ArrayData>>> ProjectChildren(
    const arrow::ArrayData& parent, const std::vector<SchemaField>& file,
    const types::Type& type) {
  std::vector<std::shared_ptr<arrow::ArrayData>> children;
  for (const Field& field : type.fields()) {
    FIRN_ASSIGN_OR_RETURN(auto child, ProjectChild(parent, file, field));
    children.push_back(std::move(child));
  }
  return children;
}

/// The same nulls and offsets over other children.
std::shared_ptr<arrow::Array> WithChildren(
    const arrow::Array& array, const types::Type& type,
    std::vector<std::shared_ptr<arrow::ArrayData>> children) {
  auto data = array.data()->Copy();
  data->type = types::ToArrowType(type);
  data->child_data = std::move(children);
  return arrow::MakeArray(data);
}

Result<std::shared_ptr<arrow::Array>> ProjectStruct(const arrow::Array& array,
                                                    const SchemaField& file,
                                                    const Field& field) {
  FIRN_ASSIGN_OR_RETURN(auto children,
                        ProjectChildren(*array.data(), file.children, field.type));
  return WithChildren(array, field.type, std::move(children));
}

Result<std::shared_ptr<arrow::Array>> ProjectList(const arrow::Array& array,
                                                  const SchemaField& file,
                                                  const Field& field) {
  const Field& element = field.type.fields()[0];
  const auto& elements = array.data()->child_data[0];
  const SchemaField* found = FindById(file.children, element.id);
  auto projected = found == nullptr
                       ? Missing(element, elements->length)
                       : ProjectArray(arrow::MakeArray(elements), *found, element);
  FIRN_RETURN_NOT_OK(projected.status());
  return WithChildren(array, field.type, {(*projected)->data()});
}

/// A map is a list of structs {key, value}, which have no id of their own.
Result<std::shared_ptr<arrow::Array>> ProjectMap(const arrow::Array& array,
                                                 const SchemaField& file,
                                                 const Field& field) {
  auto pairs = array.data()->child_data[0]->Copy();
  FIRN_ASSIGN_OR_RETURN(pairs->child_data,
                        ProjectChildren(*pairs, file.children[0].children, field.type));
  pairs->type = types::ToArrowType(field.type)->field(0)->type();
  return WithChildren(array, field.type, {std::move(pairs)});
}

Result<std::shared_ptr<arrow::Array>> ProjectArray(
    const std::shared_ptr<arrow::Array>& array, const SchemaField& file,
    const Field& field) {
  if (field.type.is_primitive()) return ProjectPrimitive(array, field);
  const arrow::Type::type id = array->type_id();
  if (id == arrow::Type::LARGE_LIST || id == arrow::Type::FIXED_SIZE_LIST) {
    FIRN_ASSIGN_OR_RETURN(
        const auto list,
        arrow::compute::Cast(*array, arrow::list(array->type()->field(0))));
    return ProjectArray(list, file, field);
  }
  if (field.type.kind() == TypeKind::kStruct && id == arrow::Type::STRUCT) {
    return ProjectStruct(*array, file, field);
  }
  if (field.type.kind() == TypeKind::kList && id == arrow::Type::LIST) {
    return ProjectList(*array, file, field);
  }
  if (field.type.kind() == TypeKind::kMap && id == arrow::Type::MAP) {
    return ProjectMap(*array, file, field);
  }
  return DoesNotFit(field, *array->type());
}

}  // namespace

std::vector<int> ColumnsToRead(const parquet::SchemaDescriptor& file,
                               const types::Schema& schema) {
  std::set<FieldId> wanted;
  CollectIds(schema.fields, wanted);
  return ColumnChooser(file, std::move(wanted)).Choose();
}

Result<std::shared_ptr<arrow::RecordBatch>> Project(const arrow::RecordBatch& batch,
                                                    const std::vector<SchemaField>& file,
                                                    const types::Schema& schema) {
  FIRN_ASSIGN_OR_RETURN(const auto rows, batch.ToStructArray());
  arrow::ArrayVector columns;
  for (const Field& field : schema.fields) {
    FIRN_ASSIGN_OR_RETURN(const auto data, ProjectChild(*rows->data(), file, field));
    columns.push_back(arrow::MakeArray(data));
  }
  auto projected = arrow::RecordBatch::Make(types::ToArrowSchema(schema),
                                            batch.num_rows(), std::move(columns));
  FIRN_ASSIGN_OR_RETURN(const auto null_column, FindNullOfRequired(schema, *projected));
  if (!null_column) return projected;
  return Error(ErrorKind::kCorruption, "required column '{}' has nulls", *null_column);
}

}  // namespace firn::parquet_io
