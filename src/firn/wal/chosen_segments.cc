#include "firn/wal/chosen_segments.h"

#include <algorithm>
#include <utility>

namespace firn::wal {
namespace {

/// Indices, in the order of the listing.
std::vector<std::size_t> IndicesOf(const Admission& admission) {
  std::vector<std::size_t> indices;
  for (const AdmittedSegment& admitted : admission.segments) {
    indices.push_back(admitted.segment);
  }
  std::ranges::sort(indices);
  return indices;
}

class Chooser {
 public:
  Chooser(WalReader& reader, const SegmentChoice& choice, const StopToken& stop)
      : reader_(reader),
        choice_(choice),
        stop_(stop),
        objects_(SegmentsAbove(choice.from, choice.shards)),
        read_(objects_.size()) {
    for (const SegmentObject* object : objects_) listing_.push_back(ListedOf(*object));
  }

  Result<ChosenSegments> Run() && {
    // Without ranges, nothing waits: no admission can take others than this one does.
    FIRN_RETURN_NOT_OK(Read(IndicesOf(AdmitThem())));
    Admission admission = AdmitThem();
    if (MayNeedOthers(admission)) {
      FIRN_RETURN_NOT_OK(ReadAllRanges());
      admission = AdmitThem();
      FIRN_RETURN_NOT_OK(Read(IndicesOf(admission)));
    }
    ChosenSegments chosen;
    for (const AdmittedSegment& admitted : admission.segments) {
      const ListedSegment& listed = listing_[admitted.segment];
      chosen.segments.push_back({.name = listed.name,
                                 .size_bytes = listed.size_bytes,
                                 .trims = admitted.trims,
                                 .read = std::move(read_[admitted.segment])});
    }
    chosen.admission = std::move(admission);
    return chosen;
  }

 private:
  Admission AdmitThem() const { return Admit(choice_.from, listing_, choice_.limits); }

  bool IsRead(std::size_t i) const { return read_[i].footer != nullptr; }

  bool MayNeedOthers(const Admission& admission) const {
    if (!admission.waiting.empty()) return true;
    return std::ranges::any_of(admission.segments, [&](const AdmittedSegment& admitted) {
      const auto& ranges = listing_[admitted.segment].ranges;
      return std::ranges::any_of(ranges, [&](const SourceRange& range) {
        return !choice_.from.sources.contains(range.source);
      });
    });
  }

  Status Read(std::vector<std::size_t> indices) {
    std::erase_if(indices, [&](std::size_t i) { return IsRead(i); });
    std::vector<const SegmentObject*> objects;
    for (const std::size_t i : indices) objects.push_back(objects_[i]);
    FIRN_ASSIGN_OR_RETURN(std::vector<ReadSegment> footers,
                          reader_.ReadFooters(choice_.table, objects, stop_));
    for (std::size_t i = 0; i < indices.size(); ++i) {
      listing_[indices[i]].ranges = footers[i].footer->ranges;
      read_[indices[i]] = std::move(footers[i]);
    }
    return Status::OK();
  }

  Status ReadAllRanges() {
    std::vector<const SegmentObject*> others;
    for (std::size_t i = 0; i < objects_.size(); ++i) {
      if (!IsRead(i)) others.push_back(objects_[i]);
    }
    FIRN_ASSIGN_OR_RETURN(std::vector<ListedSegment> listed,
                          reader_.ReadRanges(choice_.table, others, stop_));
    for (std::size_t i = 0, next = 0; i < objects_.size(); ++i) {
      if (!IsRead(i)) listing_[i] = std::move(listed[next++]);
    }
    return Status::OK();
  }

  WalReader& reader_;
  const SegmentChoice& choice_;
  const StopToken& stop_;
  const std::vector<const SegmentObject*> objects_;
  std::vector<ListedSegment> listing_;
  /// Without a footer where none was read, or is kept.
  std::vector<ReadSegment> read_;
};

}  // namespace

Result<ChosenSegments> ChooseSegments(WalReader& reader, const SegmentChoice& choice,
                                      const StopToken& stop) {
  return Chooser(reader, choice, stop).Run();
}

}  // namespace firn::wal
