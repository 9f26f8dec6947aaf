#include "firn/merge/gather.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include <arrow/array.h>
#include <arrow/array/util.h>
#include <arrow/buffer.h>
#include <arrow/record_batch.h>
#include <arrow/type.h>
#include <arrow/type_traits.h>
#include <arrow/util/bit_util.h>
#include <arrow/util/bitmap_ops.h>

namespace firn::merge {
namespace {

using arrow::ArrayData;
using arrow::Buffer;
using Sources = std::vector<std::shared_ptr<ArrayData>>;
using Spans = std::span<const Span>;

std::int64_t RowsOf(Spans spans) {
  std::int64_t rows = 0;
  for (const Span& span : spans) rows += span.count;
  return rows;
}

void CopyBits(const std::uint8_t* from, std::int64_t from_bit, std::int64_t bits,
              std::uint8_t* to, std::int64_t to_bit) {
  if (bits == 1) {
    arrow::bit_util::SetBitTo(to, to_bit, arrow::bit_util::GetBit(from, from_bit));
  } else {
    arrow::internal::CopyBitmap(from, from_bit, bits, to, to_bit);
  }
}

/// Bits of buffer `index` of the sources; all true where a source has no such buffer.
Result<std::shared_ptr<Buffer>> GatherBits(const Sources& sources, Spans spans,
                                           std::size_t index) {
  FIRN_ASSIGN_OR_RETURN(auto bits, arrow::AllocateEmptyBitmap(RowsOf(spans)));
  std::uint8_t* to = bits->mutable_data();
  std::int64_t row = 0;
  for (const Span& span : spans) {
    const ArrayData& source = *sources[span.source];
    if (source.buffers[index] == nullptr) {
      arrow::bit_util::SetBitsTo(to, row, span.count, true);
    } else {
      CopyBits(source.buffers[index]->data(), source.offset + span.from, span.count, to,
               row);
    }
    row += span.count;
  }
  return bits;
}

/// Null if no source has nulls.
Result<std::shared_ptr<Buffer>> GatherValidity(const Sources& sources, Spans spans) {
  const bool has_nulls = std::ranges::any_of(
      sources, [](const auto& source) { return source->buffers[0] != nullptr; });
  if (!has_nulls) return std::shared_ptr<Buffer>();
  return GatherBits(sources, spans, 0);
}

template <typename Value>
void CopyValues(const std::vector<const std::uint8_t*>& starts, Spans spans,
                std::uint8_t* to) {
  auto* next = reinterpret_cast<Value*>(to);
  for (const Span& span : spans) {
    const auto* from = reinterpret_cast<const Value*>(starts[span.source]) + span.from;
    if (span.count == 1) {
      *next = *from;
    } else {
      std::memcpy(next, from, static_cast<std::size_t>(span.count) * sizeof(Value));
    }
    next += span.count;
  }
}

void CopyBytes(const std::vector<const std::uint8_t*>& starts, Spans spans,
               std::int64_t width, std::uint8_t* to) {
  for (const Span& span : spans) {
    const std::int64_t bytes = span.count * width;
    std::memcpy(to, starts[span.source] + span.from * width,
                static_cast<std::size_t>(bytes));
    to += bytes;
  }
}

Result<std::shared_ptr<Buffer>> GatherFixedWidth(const Sources& sources, Spans spans,
                                                 std::int64_t width) {
  std::vector<const std::uint8_t*> starts;
  starts.reserve(sources.size());
  for (const auto& source : sources) {
    const Buffer* values = source->buffers[1].get();
    starts.push_back(values == nullptr ? nullptr
                                       : values->data() + source->offset * width);
  }
  FIRN_ASSIGN_OR_RETURN(auto out, arrow::AllocateBuffer(RowsOf(spans) * width));
  std::uint8_t* to = out->mutable_data();
  switch (width) {
    case 1:
      CopyValues<std::uint8_t>(starts, spans, to);
      break;
    case 2:
      CopyValues<std::uint16_t>(starts, spans, to);
      break;
    case 4:
      CopyValues<std::uint32_t>(starts, spans, to);
      break;
    case 8:
      CopyValues<std::uint64_t>(starts, spans, to);
      break;
    default:
      CopyBytes(starts, spans, width, to);
  }
  return out;
}

/// Offsets of the gathered rows of variable length, starting at 0. Calls `take(source,
/// from, count)` with the elements of each span.
template <typename Offset, typename Take>
Result<std::shared_ptr<Buffer>> GatherOffsets(const Sources& sources, Spans spans,
                                              Take take) {
  FIRN_ASSIGN_OR_RETURN(auto out,
                        arrow::AllocateBuffer((RowsOf(spans) + 1) *
                                              static_cast<std::int64_t>(sizeof(Offset))));
  auto* next = reinterpret_cast<Offset*>(out->mutable_data());
  std::int64_t elements = 0;
  *next++ = 0;
  for (const Span& span : spans) {
    // An array without rows may lack its offsets.
    if (span.count == 0) continue;
    const Offset* from = sources[span.source]->GetValues<Offset>(1) + span.from;
    const std::int64_t shift = elements - from[0];
    const std::int64_t count = from[span.count] - from[0];
    elements += count;
    if (elements > std::numeric_limits<Offset>::max()) {
      return InvalidError(
          "{} elements in one batch of a column of type {} are too many for its "
          "offsets: merge fewer rows at a time",
          elements, sources[span.source]->type->ToString());
    }
    for (std::int32_t row = 1; row <= span.count; ++row) {
      *next++ = static_cast<Offset>(from[row] + shift);
    }
    take(span.source, static_cast<std::int64_t>(from[0]), count);
  }
  return out;
}

template <typename Offset>
Result<std::shared_ptr<ArrayData>> GatherBinary(const Sources& sources, Spans spans,
                                                std::shared_ptr<ArrayData> out) {
  struct Piece {
    const std::uint8_t* bytes;
    std::int64_t size;
  };
  std::vector<Piece> pieces;
  pieces.reserve(spans.size());
  std::int64_t size = 0;
  const auto take = [&](std::int32_t source, std::int64_t from, std::int64_t count) {
    if (count == 0) return;
    pieces.push_back({sources[source]->buffers[2]->data() + from, count});
    size += count;
  };
  FIRN_ASSIGN_OR_RETURN(auto offsets, GatherOffsets<Offset>(sources, spans, take));
  FIRN_ASSIGN_OR_RETURN(auto bytes, arrow::AllocateBuffer(size));
  std::uint8_t* to = bytes->mutable_data();
  for (const Piece& piece : pieces) {
    std::memcpy(to, piece.bytes, static_cast<std::size_t>(piece.size));
    to += piece.size;
  }
  out->buffers.push_back(std::move(offsets));
  out->buffers.push_back(std::move(bytes));
  return out;
}

Result<std::shared_ptr<ArrayData>> GatherData(const Sources& sources, Spans spans);

Sources ChildrenOf(const Sources& sources, std::size_t child) {
  Sources children;
  children.reserve(sources.size());
  for (const auto& source : sources) children.push_back(source->child_data[child]);
  return children;
}

/// Adds `count` elements to the spans of a child, joined with what they continue. Spans
/// count in 32 bits, children of large lists in 64.
void AddSpan(std::int32_t source, std::int64_t from, std::int64_t count,
             std::vector<Span>& spans) {
  constexpr std::int64_t kCountMax = std::numeric_limits<std::int32_t>::max();
  if (!spans.empty() && count <= kCountMax) {
    Span& open = spans.back();
    if (open.source == source && open.from + open.count == from &&
        open.count + count <= kCountMax) {
      open.count += static_cast<std::int32_t>(count);
      return;
    }
  }
  while (count > 0) {
    const std::int64_t part = std::min(count, kCountMax);
    spans.push_back(
        {.source = source, .count = static_cast<std::int32_t>(part), .from = from});
    from += part;
    count -= part;
  }
}

template <typename Offset>
Result<std::shared_ptr<ArrayData>> GatherList(const Sources& sources, Spans spans,
                                              std::shared_ptr<ArrayData> out) {
  std::vector<Span> child_spans;
  const auto take = [&](std::int32_t source, std::int64_t from, std::int64_t count) {
    AddSpan(source, from, count, child_spans);
  };
  FIRN_ASSIGN_OR_RETURN(auto offsets, GatherOffsets<Offset>(sources, spans, take));
  FIRN_ASSIGN_OR_RETURN(auto child, GatherData(ChildrenOf(sources, 0), child_spans));
  out->buffers.push_back(std::move(offsets));
  out->child_data.push_back(std::move(child));
  return out;
}

Result<std::shared_ptr<ArrayData>> GatherFixedSizeList(const Sources& sources,
                                                       Spans spans,
                                                       std::shared_ptr<ArrayData> out) {
  const std::int64_t size =
      static_cast<const arrow::FixedSizeListType&>(*out->type).list_size();
  std::vector<Span> child_spans;
  for (const Span& span : spans) {
    AddSpan(span.source, (sources[span.source]->offset + span.from) * size,
            span.count * size, child_spans);
  }
  FIRN_ASSIGN_OR_RETURN(auto child, GatherData(ChildrenOf(sources, 0), child_spans));
  out->child_data.push_back(std::move(child));
  return out;
}

Result<std::shared_ptr<ArrayData>> GatherStruct(const Sources& sources, Spans spans,
                                                std::shared_ptr<ArrayData> out) {
  // Children of a struct know nothing of its offset.
  std::vector<Span> child_spans(spans.begin(), spans.end());
  for (Span& span : child_spans) span.from += sources[span.source]->offset;
  const auto children = static_cast<std::size_t>(out->type->num_fields());
  for (std::size_t child = 0; child < children; ++child) {
    FIRN_ASSIGN_OR_RETURN(auto gathered,
                          GatherData(ChildrenOf(sources, child), child_spans));
    out->child_data.push_back(std::move(gathered));
  }
  return out;
}

/// Sources whose codes all mean entries of one dictionary.
struct SharedDictionary {
  Sources sources;
  std::shared_ptr<ArrayData> dictionary;
};

Result<SharedDictionary> UnifyDictionaries(const Sources& sources) {
  const auto& type = static_cast<const arrow::DictionaryType&>(*sources[0]->type);
  FIRN_ASSIGN_OR_RETURN(auto unifier, arrow::DictionaryUnifier::Make(type.value_type()));
  std::vector<std::shared_ptr<Buffer>> transpositions;
  for (const auto& source : sources) {
    std::shared_ptr<Buffer> transposition;
    FIRN_RETURN_NOT_OK(
        unifier->Unify(*arrow::MakeArray(source->dictionary), &transposition));
    transpositions.push_back(std::move(transposition));
  }
  std::shared_ptr<arrow::Array> dictionary;
  FIRN_RETURN_NOT_OK(unifier->GetResultWithIndexType(type.index_type(), &dictionary));
  SharedDictionary shared{.sources = {}, .dictionary = dictionary->data()};
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const arrow::DictionaryArray codes(sources[i]);
    FIRN_ASSIGN_OR_RETURN(auto transposed,
                          codes.Transpose(sources[i]->type, dictionary,
                                          reinterpret_cast<const std::int32_t*>(
                                              transpositions[i]->data())));
    shared.sources.push_back(transposed->data());
  }
  return shared;
}

Result<SharedDictionary> ShareDictionary(const Sources& sources) {
  const auto& first = sources[0]->dictionary;
  const auto first_array = arrow::MakeArray(first);
  const bool is_shared = std::ranges::all_of(sources, [&](const auto& source) {
    return source->dictionary == first ||
           first_array->Equals(*arrow::MakeArray(source->dictionary));
  });
  if (is_shared) return SharedDictionary{.sources = sources, .dictionary = first};
  return UnifyDictionaries(sources);
}

Result<std::shared_ptr<ArrayData>> GatherDictionary(const Sources& sources, Spans spans) {
  FIRN_ASSIGN_OR_RETURN(const SharedDictionary shared, ShareDictionary(sources));
  const auto& type = static_cast<const arrow::DictionaryType&>(*sources[0]->type);
  FIRN_ASSIGN_OR_RETURN(auto validity, GatherValidity(shared.sources, spans));
  FIRN_ASSIGN_OR_RETURN(auto codes, GatherFixedWidth(shared.sources, spans,
                                                     type.index_type()->byte_width()));
  auto out = ArrayData::Make(sources[0]->type, RowsOf(spans),
                             {std::move(validity), std::move(codes)});
  out->dictionary = shared.dictionary;
  return out;
}

Result<std::shared_ptr<ArrayData>> GatherData(const Sources& sources, Spans spans) {
  const std::shared_ptr<arrow::DataType>& type = sources[0]->type;
  if (type->id() == arrow::Type::DICTIONARY) return GatherDictionary(sources, spans);
  if (type->id() == arrow::Type::NA) {
    return ArrayData::Make(type, RowsOf(spans), {nullptr}, RowsOf(spans));
  }
  FIRN_ASSIGN_OR_RETURN(auto validity, GatherValidity(sources, spans));
  auto out = ArrayData::Make(type, RowsOf(spans), {std::move(validity)});
  switch (type->id()) {
    case arrow::Type::BOOL: {
      FIRN_ASSIGN_OR_RETURN(auto bits, GatherBits(sources, spans, 1));
      out->buffers.push_back(std::move(bits));
      return out;
    }
    case arrow::Type::STRING:
    case arrow::Type::BINARY:
      return GatherBinary<std::int32_t>(sources, spans, std::move(out));
    case arrow::Type::LARGE_STRING:
    case arrow::Type::LARGE_BINARY:
      return GatherBinary<std::int64_t>(sources, spans, std::move(out));
    case arrow::Type::LIST:
    case arrow::Type::MAP:
      return GatherList<std::int32_t>(sources, spans, std::move(out));
    case arrow::Type::LARGE_LIST:
      return GatherList<std::int64_t>(sources, spans, std::move(out));
    case arrow::Type::FIXED_SIZE_LIST:
      return GatherFixedSizeList(sources, spans, std::move(out));
    case arrow::Type::STRUCT:
      return GatherStruct(sources, spans, std::move(out));
    default:
      break;
  }
  if (!arrow::is_fixed_width(*type)) {
    return Status::NotImplemented("rows of type ", type->ToString(), " cannot be merged");
  }
  FIRN_ASSIGN_OR_RETURN(auto values,
                        GatherFixedWidth(sources, spans, type->byte_width()));
  out->buffers.push_back(std::move(values));
  return out;
}

}  // namespace

Result<std::shared_ptr<arrow::Array>> GatherColumn(
    const std::vector<std::shared_ptr<arrow::Array>>& sources, Spans spans) {
  if (sources.empty()) return InvalidError("no sources to gather from");
  if (spans.size() == 1) {
    return sources[spans[0].source]->Slice(spans[0].from, spans[0].count);
  }
  Sources data;
  data.reserve(sources.size());
  for (const auto& source : sources) {
    if (!source->type()->Equals(*sources[0]->type())) {
      return InvalidError("a column of type {} cannot be merged with one of type {}",
                          source->type()->ToString(), sources[0]->type()->ToString());
    }
    data.push_back(source->data());
  }
  FIRN_ASSIGN_OR_RETURN(const auto out, GatherData(data, spans));
  return arrow::MakeArray(out);
}

Result<std::shared_ptr<arrow::RecordBatch>> GatherRows(
    const std::vector<std::shared_ptr<arrow::RecordBatch>>& sources, Spans spans) {
  if (sources.empty()) return InvalidError("no sources to gather from");
  const std::shared_ptr<arrow::Schema>& schema = sources[0]->schema();
  for (const auto& source : sources) {
    if (source->schema() == schema) continue;
    if (!source->schema()->Equals(*schema, /*check_metadata=*/false)) {
      return InvalidError(
          "record batches of different schemas cannot be merged: {} and {}",
          schema->ToString(), source->schema()->ToString());
    }
  }
  std::vector<std::shared_ptr<arrow::Array>> columns;
  std::vector<std::shared_ptr<arrow::Array>> column(sources.size());
  for (int i = 0; i < schema->num_fields(); ++i) {
    for (std::size_t source = 0; source < sources.size(); ++source) {
      column[source] = sources[source]->column(i);
    }
    FIRN_ASSIGN_OR_RETURN(auto gathered, GatherColumn(column, spans));
    columns.push_back(std::move(gathered));
  }
  return arrow::RecordBatch::Make(schema, RowsOf(spans), std::move(columns));
}

}  // namespace firn::merge
