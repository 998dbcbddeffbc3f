#include "directions/flow.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "base/kernels.h"

namespace hardmargin {

namespace {

// Amounts below this share of the least cost are rounding, and not worth a path.
constexpr double negligible_share = 1e-9;

void note(std::vector<std::int32_t>& because, std::size_t sample, std::size_t reason) {
    because[sample] = static_cast<std::int32_t>(reason);
}

}  // namespace

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
    negligible_ = negligible_share * least;
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
    state.changes = 0;
}

void ConflictFlow::add_flow(State& state, std::size_t positive, std::size_t negative, double change) const {
    ++state.changes;
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

// Fills the shortest path from a positive with cost left to a negative with cost left.
bool ConflictFlow::augment(const PairConflicts::Level& level, State& state) {
    index_by_negative(state);
    std::fill(unvisited_.begin(), unvisited_.end(), ~std::uint64_t{0});
    std::fill(came_by_.begin(), came_by_.end(), not_reached);
    pending_.clear();
    for (std::size_t i = 0; i < pairs_.positives(); ++i) {
        if (state.left_of_positive[i] > negligible_) {
            came_by_[i] = path_start;
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
                    if (came_by_[other] == not_reached && edge.flow > negligible_) {
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
        if (came_by_[positive] == path_start) {
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
        if (came_by_[positive] == path_start) {
            break;
        }
        negative = static_cast<std::size_t>(came_by_[positive]);
        add_flow(state, positive, negative, -amount);
    }
}

void ConflictFlow::grow(const PairConflicts::Level& level, State& state, double enough) {
    while (state.value < enough && !stop_() && augment(level, state)) {
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
                        note(closure.given_up_because, pairs_.negative(j), pairs_.positive(i));
                        more = true;
                    }
                    if (closure.negative_kept[j] != 0 && closure.positive_given_up[i] == 0) {
                        closure.positive_given_up[i] = 1;
                        note(closure.given_up_because, pairs_.positive(i), pairs_.negative(j));
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
                note(closure.kept_because, pairs_.positive(edge.positive), pairs_.negative(edge.negative));
                more = true;
            }
            if (closure.positive_given_up[edge.positive] != 0 && closure.negative_kept[edge.negative] == 0) {
                closure.negative_kept[edge.negative] = 1;
                note(closure.kept_because, pairs_.negative(edge.negative), pairs_.positive(edge.positive));
                more = true;
            }
        }
    }
    const auto yes = [](unsigned char value) { return value != 0; };
    closure.any_kept = std::any_of(closure.positive_kept.begin(), closure.positive_kept.end(), yes) ||
                       std::any_of(closure.negative_kept.begin(), closure.negative_kept.end(), yes);
}

}  // namespace hardmargin
