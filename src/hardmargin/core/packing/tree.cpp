#include "packing/tree.h"

#include <algorithm>
#include <cassert>
#include <memory>
#include <span>
#include <utility>

namespace hardmargin {

namespace {

// Subproblems without the cover bound are about this much cheaper, so a slice may have more of them.
constexpr std::uint64_t work_of_node = 16;
// Inverses of bases may use this part of the memory of the pool of sets, in addition to it.
constexpr std::size_t inverse_share = 4;
// Values of the cover bound up to this are rounding.
constexpr double negligible_value = 1e-6;

PackingOptions with_knowledge(const Samples& samples, PackingOptions options) {
    options.traces = options.traces || options.proof;
    if (options.uses_cover() && !options.knowledge) {
        options.knowledge = std::make_shared<PackingKnowledge>(samples, options.traces);
    }
    return options;
}

bool contains(const std::vector<std::uint32_t>& samples, std::size_t sample) {
    return std::binary_search(samples.begin(), samples.end(), sample);
}

}  // namespace

PackingTree::PackingTree(const Samples& samples, const PackingOptions& options, ImproveFunction improve)
    : samples_(samples),
      options_(with_knowledge(samples, options)),
      state_(samples, options_, std::move(improve)) {}

std::vector<PackingNode> PackingTree::search(const PackingNode& root, double upper, std::uint64_t node_limit,
                                             const std::function<bool()>& stop,
                                             const std::function<bool()>& pause) {
    state_.set_stop(stop);
    state_.load(root, upper);
    if (state_.trace() != nullptr) {
        state_.trace()->expect(options_.objective.needed(upper, 0) + options_.budget.credit());
        state_.trace()->begin(root);
        for (std::size_t i = 0; i < samples_.count(); ++i) {
            if (samples_.certain(i) && !contains(root.kept, i) && !contains(root.given_up, i)) {
                state_.trace()->keep_dear(i);
            }
        }
    }
    depth_ = 0;
    episodes_.clear();
    current_bound_ = root.bound;
    std::uint64_t count = 0;
    for (std::uint64_t nodes = 0;; ++nodes) {
        if (count >= node_limit * work_of_node || stop() || (nodes > 0 && pause())) {
            return open_nodes();
        }
        ++nodes_;
        lose_patience();
        count += searches_without_cover() ? 1 : work_of_node;
        bool closed = state_.tighten() == Verdict::closed;
        begin_episode();
        if (!closed) {
            // After a stop the subproblem stays open as it is; all conclusions so far are valid.
            current_bound_ = std::max(current_bound_, state_.bound());
            if (stop()) {
                return open_nodes();
            }
            if (const std::optional<std::size_t> sample = branching_sample()) {
                Waiting& waiting = push();
                save(waiting);
                waiting.sample = *sample;
                waiting.bound = current_bound_;
                if (state_.trace() != nullptr) {
                    waiting.mark = state_.trace()->mark();
                    state_.trace()->branch(*sample);
                }
                state_.give_up(*sample);
            } else {
                stuck_.push_back(state_.node(current_bound_));
                write_open(stuck_.back());
                closed = true;
            }
        }
        while (closed) {
            close_episodes(depth_);
            if (depth_ == 0) {
                state_.share_sets();
                write_record();
                return {};
            }
            closed = !backtrack();
        }
    }
}

// ---- where the cover bound is used

bool PackingTree::searches_without_cover() const {
    return !episodes_.empty() && episodes_.back().decision.way == CoverChoice::Way::without_cover;
}

void PackingTree::begin_episode() {
    if (state_.decision()) {
        episodes_.push_back({*state_.decision(), depth_, state_.work_at_decision()});
        state_.go_without_cover(searches_without_cover());
    }
}

void PackingTree::end_last_episode(bool closed) {
    const Episode& episode = episodes_.back();
    options_.knowledge->choice.note(episode.decision, state_.work() - episode.work_at_start, closed);
    episodes_.pop_back();
    state_.go_without_cover(false);
}

void PackingTree::close_episodes(std::size_t depth) {
    while (!episodes_.empty() && episodes_.back().depth >= depth) {
        end_last_episode(true);
    }
}

void PackingTree::lose_patience() {
    if (searches_without_cover() &&
        state_.work() - episodes_.back().work_at_start > episodes_.back().decision.most_work) {
        end_last_episode(false);
    }
}

PackingTree::Waiting& PackingTree::push() {
    if (depth_ == waiting_.size()) {
        waiting_.emplace_back();
    }
    return waiting_[depth_++];
}

void PackingTree::save(Waiting& waiting) {
    state_.save(waiting.snapshot);
    waiting.inverse_memory = waiting.snapshot.inverse_memory();
    if (inverse_memory_ + waiting.inverse_memory > options_.pool_memory / inverse_share) {
        waiting.snapshot.forget_inverse();
        waiting.inverse_memory = 0;
    }
    inverse_memory_ += waiting.inverse_memory;
}

void PackingTree::release(Waiting& waiting) {
    inverse_memory_ -= std::exchange(waiting.inverse_memory, 0);
    waiting.snapshot.cover_basis = nullptr;
}

bool PackingTree::backtrack() {
    Waiting& waiting = waiting_[--depth_];
    state_.restore(waiting.snapshot);
    release(waiting);
    current_bound_ = waiting.bound;
    if (state_.trace() != nullptr) {
        state_.trace()->return_to(waiting.mark);
    }
    return state_.keep(waiting.sample) == Verdict::open;
}

// ---- branching

std::optional<std::size_t> PackingTree::branching_sample() const {
    std::optional<std::size_t> sample =
        state_.cover_values().empty() ? heaviest_of_smallest_set() : largest_of_cover();
    // Without sets the solver must have failed: any decision helps it.
    for (std::size_t i = 0; !sample && i < samples_.count(); ++i) {
        if (state_.is_free(i)) {
            sample = i;
        }
    }
    return sample;
}

std::optional<std::size_t> PackingTree::heaviest_of_smallest_set() const {
    const auto smallest = std::min_element(
        state_.sets().begin(), state_.sets().end(),
        [](const auto& left, const auto& right) { return left.members.size() < right.members.size(); });
    if (smallest == state_.sets().end()) {
        return std::nullopt;
    }
    assert(!smallest->members.empty());
    const auto heaviest =
        std::min_element(smallest->members.begin(), smallest->members.end(),
                         [](const PackingState::Member& left, const PackingState::Member& right) {
                             return left.multiplier > right.multiplier ||
                                    (left.multiplier == right.multiplier && left.sample < right.sample);
                         });
    return heaviest->sample;
}

std::optional<std::size_t> PackingTree::largest_of_cover() const {
    const std::span<const double> values = state_.cover_values();
    double largest = negligible_value;
    std::optional<std::size_t> sample;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (state_.is_free(i) && values[i] > largest) {
            largest = values[i];
            sample = i;
        }
    }
    return sample;
}

std::vector<PackingNode> PackingTree::open_nodes() {
    std::vector<PackingNode> open;
    while (!episodes_.empty()) {
        end_last_episode(false);
    }
    state_.share_sets();
    open.push_back(state_.node(current_bound_));
    write_open(open.back());
    while (depth_ > 0) {
        if (backtrack()) {
            open.push_back(state_.node(current_bound_));
            write_open(open.back());
        }
    }
    write_record();
    std::reverse(open.begin(), open.end());
    return open;
}

void PackingTree::write_open(PackingNode& node) {
    if (options_.proof) {
        node.proof = options_.proof->new_number();
    }
    if (state_.trace() != nullptr) {
        state_.trace()->open(node.proof);
    }
}

void PackingTree::write_record() {
    if (options_.proof) {
        options_.proof->write(record().bytes());
    }
}

}  // namespace hardmargin
