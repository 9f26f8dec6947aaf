#include "firn/parquet_io/parquet_schema.h"

#include <unordered_map>
#include <utility>

#include <arrow/type.h>
#include <parquet/types.h>

namespace firn::parquet_io {
namespace {

using parquet::LogicalType;
using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::Node;
using parquet::schema::NodePtr;
using parquet::schema::NodeVector;
using parquet::schema::PrimitiveNode;
using types::Field;
using types::TypeKind;

struct PrimitiveLayout {
  parquet::Type::type physical = parquet::Type::BOOLEAN;
  std::shared_ptr<const LogicalType> logical = LogicalType::None();
  int length = -1;
};

PrimitiveLayout DecimalLayout(const types::Type& type) {
  PrimitiveLayout layout{.physical = parquet::Type::INT32,
                         .logical = LogicalType::Decimal(type.precision(), type.scale())};
  if (type.precision() > 9) layout.physical = parquet::Type::INT64;
  if (type.precision() > 18) {
    layout.physical = parquet::Type::FIXED_LEN_BYTE_ARRAY;
    layout.length = arrow::DecimalType::DecimalSize(type.precision());
  }
  return layout;
}

PrimitiveLayout TimestampLayout(bool adjusted_to_utc, LogicalType::TimeUnit::unit unit) {
  return {.physical = parquet::Type::INT64,
          .logical = LogicalType::Timestamp(adjusted_to_utc, unit)};
}

PrimitiveLayout LayoutOf(const types::Type& type) {
  using Unit = LogicalType::TimeUnit;
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return {.physical = parquet::Type::BOOLEAN};
    case TypeKind::kInt:
      return {.physical = parquet::Type::INT32};
    case TypeKind::kLong:
      return {.physical = parquet::Type::INT64};
    case TypeKind::kFloat:
      return {.physical = parquet::Type::FLOAT};
    case TypeKind::kDouble:
      return {.physical = parquet::Type::DOUBLE};
    case TypeKind::kDecimal:
      return DecimalLayout(type);
    case TypeKind::kDate:
      return {.physical = parquet::Type::INT32, .logical = LogicalType::Date()};
    case TypeKind::kTime:
      return {.physical = parquet::Type::INT64,
              .logical = LogicalType::Time(false, Unit::MICROS)};
    case TypeKind::kTimestamp:
      return TimestampLayout(false, Unit::MICROS);
    case TypeKind::kTimestamptz:
      return TimestampLayout(true, Unit::MICROS);
    case TypeKind::kTimestampNs:
      return TimestampLayout(false, Unit::NANOS);
    case TypeKind::kTimestamptzNs:
      return TimestampLayout(true, Unit::NANOS);
    case TypeKind::kString:
      return {.physical = parquet::Type::BYTE_ARRAY, .logical = LogicalType::String()};
    case TypeKind::kUuid:
      return {.physical = parquet::Type::FIXED_LEN_BYTE_ARRAY,
              .logical = LogicalType::UUID(),
              .length = 16};
    case TypeKind::kFixed:
      return {.physical = parquet::Type::FIXED_LEN_BYTE_ARRAY, .length = type.length()};
    case TypeKind::kBinary:
      return {.physical = parquet::Type::BYTE_ARRAY};
    case TypeKind::kStruct:
    case TypeKind::kList:
    case TypeKind::kMap:
      break;
  }
  FIRN_CHECK(false, "{} is not primitive", type.ToString());
}

Result<NodePtr> ToNode(const Field& field, const std::string& name);

/// Parquet's own names of the fields of lists and maps, whatever the table calls them.
std::string NameInFile(TypeKind parent, std::size_t index, const Field& field) {
  if (parent == TypeKind::kList) return "element";
  if (parent == TypeKind::kMap) return index == 0 ? "key" : "value";
  return field.name;
}

Result<NodeVector> ToNodes(const types::Type& parent) {
  NodeVector nodes;
  for (std::size_t i = 0; i < parent.fields().size(); ++i) {
    const Field& field = parent.fields()[i];
    FIRN_ASSIGN_OR_RETURN(NodePtr node,
                          ToNode(field, NameInFile(parent.kind(), i, field)));
    nodes.push_back(std::move(node));
  }
  return nodes;
}

Result<NodePtr> ToGroup(const Field& field, const std::string& name,
                        Repetition::type repetition) {
  FIRN_ASSIGN_OR_RETURN(NodeVector children, ToNodes(field.type));
  if (children.empty()) {
    return InvalidError("struct field '{}' has no fields: Parquet cannot hold it",
                        field.name);
  }
  if (field.type.kind() == TypeKind::kStruct) {
    return GroupNode::Make(name, repetition, children, nullptr, field.id);
  }
  const bool is_list = field.type.kind() == TypeKind::kList;
  const NodePtr repeated =
      GroupNode::Make(is_list ? "list" : "key_value", Repetition::REPEATED, children);
  return GroupNode::Make(name, repetition, {repeated},
                         is_list ? LogicalType::List() : LogicalType::Map(), field.id);
}

Result<NodePtr> ToNode(const Field& field, const std::string& name) {
  const auto repetition = field.required ? Repetition::REQUIRED : Repetition::OPTIONAL;
  if (!field.type.is_primitive()) return ToGroup(field, name, repetition);
  const PrimitiveLayout layout = LayoutOf(field.type);
  return PrimitiveNode::Make(name, repetition, layout.logical, layout.physical,
                             layout.length, field.id);
}

/// A node that was read says in another way than one that was made that it has none.
bool HasLogicalType(const Node& node) {
  const auto& type = node.logical_type();
  return type != nullptr && type->is_valid() && !type->is_none();
}

bool SameLogicalType(const Node& a, const Node& b) {
  if (!HasLogicalType(a) || !HasLogicalType(b)) {
    return HasLogicalType(a) == HasLogicalType(b);
  }
  return a.logical_type()->Equals(*b.logical_type());
}

/// Compares two nodes and all above them. A node without a field id in `target` (the
/// repeated level of lists and maps) may have any in `source`.
bool SamePath(const Node* target, const Node* source) {
  while (target->parent() != nullptr && source->parent() != nullptr) {
    if (target->field_id() >= 0 && target->field_id() != source->field_id()) return false;
    if (target->repetition() != source->repetition()) return false;
    if (!SameLogicalType(*target, *source)) return false;
    target = target->parent();
    source = source->parent();
  }
  return target->parent() == nullptr && source->parent() == nullptr;
}

bool SameColumn(const parquet::ColumnDescriptor& target,
                const parquet::ColumnDescriptor& source) {
  if (target.physical_type() != source.physical_type()) return false;
  const bool has_length = target.physical_type() == parquet::Type::FIXED_LEN_BYTE_ARRAY;
  if (has_length && target.type_length() != source.type_length()) return false;
  return SamePath(target.schema_node().get(), source.schema_node().get());
}

}  // namespace

Result<std::shared_ptr<GroupNode>> ToParquetSchema(const types::Schema& schema) {
  FIRN_ASSIGN_OR_RETURN(NodeVector nodes, ToNodes(types::Type::Struct(schema.fields)));
  return std::static_pointer_cast<GroupNode>(
      GroupNode::Make("table", Repetition::REQUIRED, nodes));
}

std::optional<std::vector<int>> MatchColumns(const parquet::SchemaDescriptor& target,
                                             const parquet::SchemaDescriptor& source) {
  std::unordered_map<FieldId, int> by_id;
  for (int i = 0; i < source.num_columns(); ++i) {
    by_id.emplace(source.Column(i)->schema_node()->field_id(), i);
  }
  std::vector<int> columns;
  for (int i = 0; i < target.num_columns(); ++i) {
    const auto found = by_id.find(target.Column(i)->schema_node()->field_id());
    if (found == by_id.end()) return std::nullopt;
    if (!SameColumn(*target.Column(i), *source.Column(found->second)))
      return std::nullopt;
    columns.push_back(found->second);
  }
  return columns;
}

std::optional<int> FindColumn(const parquet::SchemaDescriptor& schema, FieldId id) {
  for (int i = 0; i < schema.num_columns(); ++i) {
    if (schema.Column(i)->schema_node()->field_id() == id) return i;
  }
  return std::nullopt;
}

}  // namespace firn::parquet_io
