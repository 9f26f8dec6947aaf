#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace firn::iceberg {

/// A list that only grows at its end, as a rule, and whose copies share their items: to
/// copy n of them costs n / kBlockItems pointers.
///
/// An item may have the JSON beside it that it was read from or is written as, so that
/// it is not written anew with each version of a table's metadata; who changes an item
/// loses it. Lists are equal if their items are. Items never move or change while a list
/// holds them, except through Change. Thread-safe as a std::vector is.
template <typename Item>
class SharedList {
 public:
  static constexpr std::size_t kBlockItems = 64;

  struct Entry {
    Item item;
    /// Empty if nobody has written it yet.
    std::string json = {};
  };
  using Shared = std::shared_ptr<const Entry>;

  class Iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using value_type = Item;
    using difference_type = std::ptrdiff_t;
    using reference = const Item&;
    using pointer = const Item*;

    Iterator() = default;
    Iterator(const SharedList* list, std::size_t index) : list_(list), index_(index) {}

    reference operator*() const { return (*list_)[index_]; }
    pointer operator->() const { return &**this; }
    Iterator& operator++() {
      ++index_;
      return *this;
    }
    Iterator operator++(int) { return {list_, index_++}; }
    bool operator==(const Iterator&) const = default;

   private:
    const SharedList* list_ = nullptr;
    std::size_t index_ = 0;
  };
  using value_type = Item;
  using const_iterator = Iterator;

  SharedList() = default;
  SharedList(std::initializer_list<Item> items) {
    for (const Item& item : items) push_back(item);
  }

  std::size_t size() const { return full_.size() * kBlockItems + tail_.size(); }
  bool empty() const { return size() == 0; }
  Iterator begin() const { return {this, 0}; }
  Iterator end() const { return {this, size()}; }
  const Item& operator[](std::size_t index) const { return At(index)->item; }
  const Item& front() const { return (*this)[0]; }
  const Item& back() const { return (*this)[size() - 1]; }
  /// What copies share of an item.
  const Shared& At(std::size_t index) const {
    const std::size_t block = index / kBlockItems;
    return (block < full_.size() ? *full_[block] : tail_)[index % kBlockItems];
  }

  // NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved, below
  void push_back(Item item, std::string json = {}) {
    Push(
        std::make_shared<Entry>(Entry{.item = std::move(item), .json = std::move(json)}));
  }
  /// An item of another list.
  void Push(Shared entry) {
    tail_.push_back(std::move(entry));
    if (tail_.size() < kBlockItems) return;
    full_.push_back(std::make_shared<const Block>(std::move(tail_)));
    tail_.clear();
  }
  void pop_back() {
    if (tail_.empty()) {
      tail_ = *full_.back();
      full_.pop_back();
    }
    tail_.pop_back();
  }
  void clear() { *this = {}; }

  /// `change` is given the item to change; other lists keep theirs.
  template <typename ItemChange>
  void Change(std::size_t index, const ItemChange& change) {
    auto entry = std::make_shared<Entry>(Entry{.item = (*this)[index]});
    change(entry->item);
    if (index / kBlockItems == full_.size()) {
      tail_[index % kBlockItems] = std::move(entry);
      return;
    }
    Block block = *full_[index / kBlockItems];
    block[index % kBlockItems] = std::move(entry);
    full_[index / kBlockItems] = std::make_shared<const Block>(std::move(block));
  }

  /// Takes out all items for which `predicate` is true.
  template <typename Predicate>
  void EraseIf(const Predicate& predicate) {
    const SharedList before = std::exchange(*this, {});
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (!predicate(before[i])) Push(before.At(i));
    }
  }
  void Erase(std::size_t index) {
    const Item* erased = &(*this)[index];
    EraseIf([&](const Item& item) { return &item == erased; });
  }

  friend bool operator==(const SharedList& a, const SharedList& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a.At(i) != b.At(i) && a[i] != b[i]) return false;
    }
    return true;
  }

 private:
  using Block = std::vector<Shared>;

  std::vector<std::shared_ptr<const Block>> full_;
  /// Fewer than a block.
  Block tail_;
};

}  // namespace firn::iceberg
