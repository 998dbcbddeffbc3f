#include "conflict_cover.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "kernels.h"

namespace hardmargin {

namespace {

void set(std::uint64_t* words, std::size_t bit) {
    words[bit / word_bits] |= std::uint64_t{1} << (bit % word_bits);
}

void unset(std::uint64_t* words, std::size_t bit) {
    words[bit / word_bits] &= ~(std::uint64_t{1} << (bit % word_bits));
}

}  // namespace

void ConflictClosure::clear(std::size_t positives, std::size_t negatives) {
    positive_kept.assign(positives, 0);
    positive_given_up.assign(positives, 0);
    negative_kept.assign(negatives, 0);
    negative_given_up.assign(negatives, 0);
    any_kept = false;
}

// ---- equal costs: matching

ConflictMatching::ConflictMatching(const Samples& samples, const PairConflicts& pairs)
    : pairs_(pairs), cost_(samples.cost(0)), unvisited_(pairs.words()) {}

void ConflictMatching::start(State& state) const {
    state.partner_of_positive.assign(pairs_.positives(), -1);
    state.partner_of_negative.assign(pairs_.words() * word_bits, -1);
    state.size = 0;
}

void ConflictMatching::unvisit_all() {
    std::fill(unvisited_.begin(), unvisited_.end(), ~std::uint64_t{0});
}

// Alternating paths, depth first, each negative visited once.
bool ConflictMatching::augment(std::size_t start, const PairConflicts::Level& level, State& state) {
    path_.assign(1, {start, 0, 0});
    while (!path_.empty()) {
        Step& step = path_.back();
        const std::uint64_t* row = &level.conflicts[step.positive * pairs_.words()];
        work_ += pairs_.words();
        if (step.place == 0 && find_free(row, state, step.negative)) {
            for (const Step& taken : path_) {
                state.partner_of_negative[taken.negative] = static_cast<std::int32_t>(taken.positive);
                state.partner_of_positive[taken.positive] = static_cast<std::int32_t>(taken.negative);
            }
            return true;
        }
        while (step.place < pairs_.words() && (row[step.place] & unvisited_[step.place]) == 0) {
            ++step.place;
        }
        if (step.place == pairs_.words()) {
            path_.pop_back();
            continue;
        }
        const std::uint64_t bits = row[step.place] & unvisited_[step.place];
        step.negative = step.place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
        unset(unvisited_.data(), step.negative);
        path_.push_back({static_cast<std::size_t>(state.partner_of_negative[step.negative]), 0, 0});
    }
    return false;
}

// An unmatched opponent that was not visited.
bool ConflictMatching::find_free(const std::uint64_t* row, const State& state, std::size_t& negative) {
    for (std::size_t place = 0; place < pairs_.words(); ++place) {
        for (std::uint64_t bits = row[place] & unvisited_[place]; bits != 0; bits &= bits - 1) {
            negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
            if (state.partner_of_negative[negative] < 0) {
                unset(unvisited_.data(), negative);
                return true;
            }
        }
    }
    return false;
}

void ConflictMatching::grow(const PairConflicts::Level& level, State& state, double enough) {
    for (bool grown = true; grown;) {
        grown = false;
        unvisit_all();
        for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
            if (cost(state) >= enough) {
                return;
            }
            if (state.partner_of_positive[positive] < 0 && augment(positive, level, state)) {
                ++state.size;
                grown = true;
            }
        }
    }
}

void ConflictMatching::close(const PairConflicts::Level& level, const State& state, double slack,
                             ConflictClosure& closure) {
    closure.clear(pairs_.positives(), pairs_.negatives());
    if (slack > cost_) {
        return;
    }
    // From unmatched positives: opponents are given up, and their partners kept.
    pending_.clear();
    for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
        if (state.partner_of_positive[positive] < 0) {
            closure.positive_kept[positive] = 1;
            pending_.push_back(positive);
        }
    }
    unvisit_all();
    while (!pending_.empty()) {
        const std::uint64_t* row = &level.conflicts[pending_.back() * pairs_.words()];
        pending_.pop_back();
        for (std::size_t place = 0; place < pairs_.words(); ++place) {
            std::uint64_t bits = row[place] & unvisited_[place];
            unvisited_[place] &= ~bits;
            for (; bits != 0; bits &= bits - 1) {
                const std::size_t negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                closure.negative_given_up[negative] = 1;
                const std::int32_t partner = state.partner_of_negative[negative];
                if (partner >= 0 && closure.positive_kept[static_cast<std::size_t>(partner)] == 0) {
                    closure.positive_kept[static_cast<std::size_t>(partner)] = 1;
                    pending_.push_back(static_cast<std::size_t>(partner));
                }
            }
        }
    }
    // From unmatched negatives, the kept ones of a round at a time.
    std::vector<std::uint64_t>& kept = unvisited_;
    std::fill(kept.begin(), kept.end(), 0);
    bool more = false;
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (state.partner_of_negative[negative] < 0) {
            closure.negative_kept[negative] = 1;
            set(kept.data(), negative);
            more = true;
        }
    }
    while (more) {
        more = false;
        for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
            if (closure.positive_given_up[positive] != 0) {
                continue;
            }
            const std::uint64_t* row = &level.conflicts[positive * pairs_.words()];
            bool opposed = false;
            for (std::size_t place = 0; place < pairs_.words() && !opposed; ++place) {
                opposed = (row[place] & kept[place]) != 0;
            }
            if (!opposed) {
                continue;
            }
            closure.positive_given_up[positive] = 1;
            const std::int32_t partner = state.partner_of_positive[positive];
            if (partner >= 0 && closure.negative_kept[static_cast<std::size_t>(partner)] == 0) {
                closure.negative_kept[static_cast<std::size_t>(partner)] = 1;
                set(kept.data(), static_cast<std::size_t>(partner));
                more = true;
            }
        }
        work_ += pairs_.positives() * pairs_.words();
    }
    closure.any_kept = true;
}

// ---- unequal costs: flow

ConflictFlow::ConflictFlow(const Samples& samples, const PairConflicts& pairs)
    : samples_(samples),
      pairs_(pairs),
      reached_from_(pairs.negatives()),
      came_by_(pairs.positives()),
      unvisited_(pairs.words()) {
    double least = std::numeric_limits<double>::infinity();
    for (const double cost : samples.costs()) {
        least = cost > 0 ? std::min(least, cost) : least;
    }
    // Left-overs of rounding are not worth a path.
    negligible_ = 1e-9 * least;
}

void ConflictFlow::start(State& state) const {
    state.left_of_positive.resize(pairs_.positives());
    state.left_of_negative.resize(pairs_.negatives());
    for (std::size_t i = 0; i < pairs_.positives(); ++i) {
        state.left_of_positive[i] = samples_.cost(pairs_.positive(i));
    }
    for (std::size_t j = 0; j < pairs_.negatives(); ++j) {
        state.left_of_negative[j] = samples_.cost(pairs_.negative(j));
    }
    state.edges.clear();
    state.value = 0;
}

void ConflictFlow::add_flow(State& state, std::size_t positive, std::size_t negative, double change) const {
    const auto place = std::lower_bound(state.edges.begin(), state.edges.end(), std::pair(positive, negative),
                                        [](const Edge& edge, const auto& key) {
                                            return edge.positive < key.first ||
                                                   (edge.positive == key.first && edge.negative < key.second);
                                        });
    if (place == state.edges.end() || place->positive != positive || place->negative != negative) {
        state.edges.insert(place,
                           {static_cast<std::uint32_t>(positive), static_cast<std::uint32_t>(negative), change});
        return;
    }
    place->flow += change;
    if (place->flow <= 0) {
        state.edges.erase(place);
    }
}

void ConflictFlow::index_by_negative(const State& state) {
    begin_of_negative_.assign(pairs_.negatives() + 1, 0);
    for (const Edge& edge : state.edges) {
        ++begin_of_negative_[edge.negative + 1];
    }
    for (std::size_t j = 0; j < pairs_.negatives(); ++j) {
        begin_of_negative_[j + 1] += begin_of_negative_[j];
    }
    std::vector<std::size_t> next(begin_of_negative_.begin(), begin_of_negative_.end() - 1);
    edge_of_negative_.resize(state.edges.size());
    for (std::size_t edge = 0; edge < state.edges.size(); ++edge) {
        edge_of_negative_[next[state.edges[edge].negative]++] = edge;
    }
}

// The shortest path from a positive with cost left to a negative with cost left, filled up.
bool ConflictFlow::augment(const PairConflicts::Level& level, State& state) {
    index_by_negative(state);
    std::fill(unvisited_.begin(), unvisited_.end(), ~std::uint64_t{0});
    std::fill(came_by_.begin(), came_by_.end(), -2);
    pending_.clear();
    for (std::size_t i = 0; i < pairs_.positives(); ++i) {
        if (state.left_of_positive[i] > negligible_) {
            came_by_[i] = -1;
            pending_.push_back(i);
        }
    }
    for (std::size_t head = 0; head < pending_.size(); ++head) {
        const std::size_t positive = pending_[head];
        const std::uint64_t* row = &level.conflicts[positive * pairs_.words()];
        work_ += pairs_.words();
        for (std::size_t place = 0; place < pairs_.words(); ++place) {
            std::uint64_t bits = row[place] & unvisited_[place];
            unvisited_[place] &= ~bits;
            for (; bits != 0; bits &= bits - 1) {
                const std::size_t negative = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                reached_from_[negative] = static_cast<std::int32_t>(positive);
                if (state.left_of_negative[negative] > negligible_) {
                    fill_path(state, negative);
                    return true;
                }
                for (std::size_t k = begin_of_negative_[negative]; k < begin_of_negative_[negative + 1]; ++k) {
                    const Edge& edge = state.edges[edge_of_negative_[k]];
                    const std::size_t other = edge.positive;
                    if (came_by_[other] == -2 && edge.flow > negligible_) {
                        came_by_[other] = static_cast<std::int32_t>(negative);
                        pending_.push_back(other);
                    }
                }
            }
        }
    }
    return false;
}

void ConflictFlow::fill_path(State& state, std::size_t last) {
    const auto flow_of = [&](std::size_t positive, std::size_t negative) {
        for (std::size_t k = begin_of_negative_[negative]; k < begin_of_negative_[negative + 1]; ++k) {
            const Edge& edge = state.edges[edge_of_negative_[k]];
            if (edge.positive == positive) {
                return edge.flow;
            }
        }
        return 0.0;
    };
    double amount = state.left_of_negative[last];
    std::size_t negative = last;
    std::size_t positive = 0;
    for (;;) {
        positive = static_cast<std::size_t>(reached_from_[negative]);
        if (came_by_[positive] < 0) {
            break;
        }
        negative = static_cast<std::size_t>(came_by_[positive]);
        amount = std::min(amount, flow_of(positive, negative));
    }
    amount = std::min(amount, state.left_of_positive[positive]);
    state.left_of_positive[positive] -= amount;
    state.left_of_negative[last] -= amount;
    state.value += amount;
    for (negative = last;;) {
        positive = static_cast<std::size_t>(reached_from_[negative]);
        add_flow(state, positive, negative, amount);
        if (came_by_[positive] < 0) {
            break;
        }
        negative = static_cast<std::size_t>(came_by_[positive]);
        add_flow(state, positive, negative, -amount);
    }
}

void ConflictFlow::grow(const PairConflicts::Level& level, State& state, double enough) {
    while (state.value < enough && augment(level, state)) {
    }
}

void ConflictFlow::close(const PairConflicts::Level& level, const State& state, double slack,
                         ConflictClosure& closure) {
    closure.clear(pairs_.positives(), pairs_.negatives());
    for (std::size_t i = 0; i < pairs_.positives(); ++i) {
        closure.positive_kept[i] = state.left_of_positive[i] >= slack;
    }
    for (std::size_t j = 0; j < pairs_.negatives(); ++j) {
        closure.negative_kept[j] = state.left_of_negative[j] >= slack;
    }
    for (bool more = true; more;) {
        more = false;
        for (std::size_t i = 0; i < pairs_.positives(); ++i) {
            const std::uint64_t* row = &level.conflicts[i * pairs_.words()];
            for (std::size_t place = 0; place < pairs_.words(); ++place) {
                for (std::uint64_t bits = row[place]; bits != 0; bits &= bits - 1) {
                    const std::size_t j = place * word_bits + static_cast<std::size_t>(std::countr_zero(bits));
                    if (closure.positive_kept[i] != 0 && closure.negative_given_up[j] == 0) {
                        closure.negative_given_up[j] = 1;
                        more = true;
                    }
                    if (closure.negative_kept[j] != 0 && closure.positive_given_up[i] == 0) {
                        closure.positive_given_up[i] = 1;
                        more = true;
                    }
                }
            }
        }
        for (const Edge& edge : state.edges) {
            if (edge.flow < slack) {
                continue;
            }
            if (closure.negative_given_up[edge.negative] != 0 && closure.positive_kept[edge.positive] == 0) {
                closure.positive_kept[edge.positive] = 1;
                more = true;
            }
            if (closure.positive_given_up[edge.positive] != 0 && closure.negative_kept[edge.negative] == 0) {
                closure.negative_kept[edge.negative] = 1;
                more = true;
            }
        }
    }
    const auto yes = [](unsigned char value) { return value != 0; };
    closure.any_kept = std::any_of(closure.positive_kept.begin(), closure.positive_kept.end(), yes) ||
                       std::any_of(closure.negative_kept.begin(), closure.negative_kept.end(), yes);
}

}  // namespace hardmargin
