#include "packing/tree.h"

#include <algorithm>
#include <memory>
#include <utility>

namespace hardmargin {

namespace {

using Verdict = PackingState::Verdict;
using Effort = PackingState::Effort;

// Subproblems without the cover bound are so much cheaper, about, that a slice may have more of them.
constexpr std::uint64_t work_of_node = 16;
// What inverses of bases may use beside the pool of sets: this part of its memory.
constexpr std::size_t inverse_share = 4;

PackingOptions with_knowledge(const Samples& samples, PackingOptions options) {
    if (options.uses_cover() && !options.knowledge) {
        options.knowledge = std::make_shared<PackingKnowledge>(samples);
    }
    return options;
}

}  // namespace

PackingTree::PackingTree(const Samples& samples, const PackingOptions& options, PackingState::Improve improve)
    : samples_(samples),
      options_(with_knowledge(samples, options)),
      state_(samples, options_, std::move(improve)) {}

std::vector<PackingNode> PackingTree::search(const PackingNode& root, double upper, std::uint64_t node_limit,
                                             const std::function<bool()>& stop,
                                             const std::function<bool()>& pause) {
    stop_ = stop;
    state_.set_stop(stop);
    state_.load(root, upper);
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
        bool closed = state_.tighten(Effort::thorough) == Verdict::closed;
        begin_episode();
        if (!closed) {
            // A stop during the work leaves the subproblem open as it is; all that was concluded holds.
            current_bound_ = std::max(current_bound_, state_.bound());
            if (stop()) {
                return open_nodes();
            }
            const Choice choice = choose();
            closed = choice.closed;
            if (!closed && !choice.decided) {
                Waiting& waiting = push();
                save(waiting);
                waiting.sample = choice.sample;
                waiting.bound = current_bound_;
                state_.give_up(choice.sample);
            }
        }
        while (closed) {
            close_episodes(depth_);
            if (depth_ == 0) {
                state_.share_sets();
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
    return state_.keep(waiting.sample) == Verdict::open;
}

// Members of the smallest sets first, and of those the ones with the largest multipliers.
std::vector<std::size_t> PackingTree::candidates() const {
    struct Candidate {
        std::size_t set_size;
        std::size_t set_index;
        double multiplier;
        std::size_t sample;
    };
    if (!state_.cover_values().empty()) {
        return candidates_of_cover();
    }
    std::vector<Candidate> all;
    for (std::size_t index = 0; index < state_.sets().size(); ++index) {
        const PackingState::MustHitSet& set = state_.sets()[index];
        for (const PackingState::Member& member : set.members) {
            all.push_back({set.members.size(), index, member.multiplier, member.sample});
        }
    }
    std::sort(all.begin(), all.end(), [](const Candidate& left, const Candidate& right) {
        if (left.set_size != right.set_size) {
            return left.set_size < right.set_size;
        }
        if (left.set_index != right.set_index) {
            return left.set_index < right.set_index;
        }
        return left.multiplier > right.multiplier ||
               (left.multiplier == right.multiplier && left.sample < right.sample);
    });
    std::vector<std::size_t> samples;
    for (const Candidate& candidate : all) {
        if (samples.size() == std::max<std::size_t>(options_.strong_candidates, 1)) {
            break;
        }
        if (std::find(samples.begin(), samples.end(), candidate.sample) == samples.end()) {
            samples.push_back(candidate.sample);
        }
    }
    return samples;
}

std::vector<std::size_t> PackingTree::candidates_of_cover() const {
    const auto values = state_.cover_values();
    std::vector<std::size_t> samples;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (state_.is_free(i) && values[i] > 1e-6) {
            samples.push_back(i);
        }
    }
    const std::size_t count = std::min(samples.size(), std::max<std::size_t>(options_.strong_candidates, 1));
    std::partial_sort(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(count), samples.end(),
                      [&](std::size_t left, std::size_t right) {
                          return values[left] > values[right] || (values[left] == values[right] && left < right);
                      });
    samples.resize(count);
    return samples;
}

std::size_t PackingTree::any_free_sample() const {
    for (std::size_t i = 0; i < samples_.count(); ++i) {
        if (state_.is_free(i)) {
            return i;
        }
    }
    return samples_.count();
}

PackingTree::Choice PackingTree::choose() {
    const std::vector<std::size_t> tried = candidates();
    if (tried.empty()) {
        // Without sets the solver must have failed: any decision helps it along.
        const std::size_t sample = any_free_sample();
        const bool all_decided = sample == samples_.count();
        if (all_decided) {
            stuck_.push_back(state_.node(current_bound_));
        }
        return {sample, false, all_decided};
    }
    if (tried.size() == 1) {
        return {tried[0], false, false};
    }
    state_.save(before_choice_);
    const double before = state_.progress();
    double best_score = -1;
    std::size_t best = tried[0];
    for (const std::size_t sample : tried) {
        constexpr double least_gain = 1e-3;
        state_.give_up(sample);
        const bool up_closed = state_.tighten(Effort::quick) == Verdict::closed;
        const double up_gain = std::max(state_.progress() - before, least_gain);
        state_.restore(before_choice_);
        if (up_closed) {
            return {sample, true, state_.keep(sample) == Verdict::closed};
        }
        const bool keep_closed =
            state_.keep(sample) == Verdict::closed || state_.tighten(Effort::quick) == Verdict::closed;
        const double keep_gain = std::max(state_.progress() - before, least_gain);
        state_.restore(before_choice_);
        if (keep_closed) {
            state_.give_up(sample);
            return {sample, true, false};
        }
        if (up_gain * keep_gain > best_score) {
            best_score = up_gain * keep_gain;
            best = sample;
        }
        if (stop_()) {
            break;
        }
    }
    return {best, false, false};
}

std::vector<PackingNode> PackingTree::open_nodes() {
    std::vector<PackingNode> open;
    while (!episodes_.empty()) {
        end_last_episode(false);
    }
    state_.share_sets();
    PackingNode current = state_.node(current_bound_);
    for (std::size_t depth = 0; depth < depth_; ++depth) {
        state_.restore(waiting_[depth].snapshot);
        release(waiting_[depth]);
        if (state_.keep(waiting_[depth].sample) == Verdict::open) {
            open.push_back(state_.node(waiting_[depth].bound));
        }
    }
    open.push_back(std::move(current));
    return open;
}

}  // namespace hardmargin
