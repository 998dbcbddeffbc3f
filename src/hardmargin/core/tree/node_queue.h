// The open subproblems of a branch and bound, best or newest first.
#pragma once

#include <cassert>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace hardmargin {

// `Node` has a `bound` and size_in_memory().
template <typename Node>
class NodeQueue {
public:
    bool empty() const { return nodes_.empty(); }

    // Bytes, approximately.
    std::size_t memory() const { return memory_; }

    // Infinity if the queue is empty.
    double smallest_bound() const {
        return empty() ? std::numeric_limits<double>::infinity() : order_.begin()->bound;
    }

    // If memory runs out, the queue is unchanged and the node is lost.
    void push(Node node) {
        assert(!std::isnan(node.bound));
        const auto place = order_.insert({node.bound, created_++}).first;
        const std::size_t size = node.size_in_memory() + overhead;
        try {
            nodes_.emplace_hint(nodes_.end(), place->number, std::move(node));
        } catch (...) {
            order_.erase(place);
            throw;
        }
        memory_ += size;
    }

    // The node with the smallest bound, the newest one among equals. The queue must not be empty.
    Node pop_best() {
        assert(!empty());
        return take(nodes_.find(order_.begin()->number));
    }

    // The queue must not be empty.
    Node pop_newest() {
        assert(!empty());
        return take(std::prev(nodes_.end()));
    }

    // Discards nodes whose bound is not below `cutoff`.
    void drop_from(double cutoff) {
        while (!empty() && order_.rbegin()->bound >= cutoff) {
            take(nodes_.find(order_.rbegin()->number));
        }
    }

    // All nodes, oldest first, so that another queue filled with them has the same order.
    std::vector<Node> take_all() {
        std::vector<Node> all;
        all.reserve(nodes_.size());
        for (auto& [number, node] : nodes_) {
            all.push_back(std::move(node));
        }
        nodes_.clear();
        order_.clear();
        memory_ = 0;
        return all;
    }

private:
    // Bytes that map and set need in addition to the node.
    static constexpr std::size_t overhead = 120;

    struct Key {
        double bound;
        std::uint64_t number;  // in order of creation

        bool operator<(const Key& other) const {
            return bound < other.bound || (bound == other.bound && number > other.number);
        }
    };

    Node take(typename std::map<std::uint64_t, Node>::iterator place) {
        order_.erase({place->second.bound, place->first});
        Node node = std::move(place->second);
        memory_ -= node.size_in_memory() + overhead;
        nodes_.erase(place);
        return node;
    }

    std::map<std::uint64_t, Node> nodes_;  // by number
    std::set<Key> order_;
    std::uint64_t created_ = 0;
    std::size_t memory_ = 0;
};

}  // namespace hardmargin
