// The open subproblems of a branch and bound, best or newest first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <utility>
#include <vector>

namespace hardmargin {

// `Node` has a `bound` and size_in_memory().
template <typename Node>
class NodeQueue {
public:
    bool empty() const { return nodes_.empty(); }

    // Bytes, about.
    std::size_t memory() const { return memory_; }

    // Infinity if the queue is empty.
    double smallest_bound() const {
        return empty() ? std::numeric_limits<double>::infinity() : nodes_.begin()->first.bound;
    }

    // If there is no memory for it, nothing has changed but that the node is lost.
    void push(Node node) {
        const Key key{node.bound, created_++};
        const std::size_t size = node.size_in_memory() + overhead;
        const auto place = nodes_.emplace(key, std::move(node)).first;
        try {
            by_age_.emplace_hint(by_age_.end(), key.number, key.bound);
        } catch (...) {
            nodes_.erase(place);
            throw;
        }
        memory_ += size;
    }

    // Only from a queue that is not empty: the one with the smallest bound, of equal ones the newest.
    Node pop_best() { return take(nodes_.begin()); }

    Node pop_newest() {
        const auto& [number, bound] = *std::prev(by_age_.end());
        return take(nodes_.find({bound, number}));
    }

    // Forgets those whose bound is not below `cutoff`.
    void drop_from(double cutoff) {
        while (!empty() && nodes_.rbegin()->first.bound >= cutoff) {
            take(std::prev(nodes_.end()));
        }
    }

    // All of them, oldest first, so that another queue filled with them has the same order.
    std::vector<Node> take_all() {
        std::vector<Node> all;
        all.reserve(nodes_.size());
        for (const auto& [number, bound] : by_age_) {
            all.push_back(std::move(nodes_.find({bound, number})->second));
        }
        nodes_.clear();
        by_age_.clear();
        memory_ = 0;
        return all;
    }

private:
    // What the two maps need beside the node.
    static constexpr std::size_t overhead = 120;

    struct Key {
        double bound;
        std::uint64_t number;  // in order of creation

        bool operator<(const Key& other) const {
            return bound < other.bound || (bound == other.bound && number > other.number);
        }
    };

    Node take(typename std::map<Key, Node>::iterator place) {
        Node node = std::move(place->second);
        memory_ -= node.size_in_memory() + overhead;
        by_age_.erase(place->first.number);
        nodes_.erase(place);
        return node;
    }

    std::map<Key, Node> nodes_;
    std::map<std::uint64_t, double> by_age_;  // bounds by number
    std::uint64_t created_ = 0;
    std::size_t memory_ = 0;
};

}  // namespace hardmargin
