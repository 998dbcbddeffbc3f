// Covers of conflicting pairs where all samples cost the same.
#include <algorithm>
#include <bit>

#include "conflict_cover.h"
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

bool ConflictClosure::contradictory() const {
    int both = 0;
    for (std::size_t i = 0; i < positive_kept.size(); ++i) {
        both |= positive_kept[i] & positive_given_up[i];
    }
    for (std::size_t j = 0; j < negative_kept.size(); ++j) {
        both |= negative_kept[j] & negative_given_up[j];
    }
    return both != 0;
}

ConflictMatching::ConflictMatching(const Samples& samples, const PairConflicts& pairs)
    : samples_(samples), pairs_(pairs), cost_(samples.cost(0)), unvisited_(pairs.words()) {}

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
    keep_unmatched(state, closure);
    propagate(level, state, closure);
}

void ConflictMatching::close_without(const PairConflicts::Level& level, const State& state, std::size_t given_up,
                                     std::span<const std::size_t> kept, ConflictClosure& closure) {
    closure.clear(pairs_.positives(), pairs_.negatives());
    keep_unmatched(state, closure);
    const auto mark = [&](std::size_t sample, unsigned char keep) {
        (samples_.label(sample) > 0 ? closure.positive_kept : closure.negative_kept)[pairs_.number(sample)] = keep;
    };
    mark(given_up, 0);
    for (const std::size_t sample : kept) {
        mark(sample, 1);
    }
    propagate(level, state, closure);
}

void ConflictMatching::keep_unmatched(const State& state, ConflictClosure& closure) const {
    for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
        closure.positive_kept[positive] = state.partner_of_positive[positive] < 0;
    }
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        closure.negative_kept[negative] = state.partner_of_negative[negative] < 0;
    }
}

bool ConflictMatching::release(const PairConflicts::Level& level, State& state, std::size_t sample) {
    const std::size_t number = pairs_.number(sample);
    const bool is_positive = samples_.label(sample) > 0;
    const std::int32_t partner = (is_positive ? state.partner_of_positive : state.partner_of_negative)[number];
    if (partner < 0) {
        return true;
    }
    const std::size_t positive = is_positive ? number : static_cast<std::size_t>(partner);
    const std::size_t negative = is_positive ? static_cast<std::size_t>(partner) : number;
    state.partner_of_positive[positive] = -1;
    state.partner_of_negative[negative] = -1;
    unvisit_all();
    if (!is_positive) {
        // The path that makes up for the pair starts from the partner.
        unset(unvisited_.data(), negative);
        return augment(positive, level, state);
    }
    // It ends at the partner, wherever it starts.
    for (std::size_t start = 0; start < pairs_.positives(); ++start) {
        if (start != positive && state.partner_of_positive[start] < 0 && augment(start, level, state)) {
            return true;
        }
    }
    return false;
}

void ConflictMatching::propagate(const PairConflicts::Level& level, const State& state, ConflictClosure& closure) {
    // From kept positives: opponents are given up, and their partners kept.
    pending_.clear();
    for (std::size_t positive = 0; positive < pairs_.positives(); ++positive) {
        if (closure.positive_kept[positive] != 0) {
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
    // From kept negatives, those of a round at a time.
    std::vector<std::uint64_t>& kept = unvisited_;
    std::fill(kept.begin(), kept.end(), 0);
    bool more = false;
    for (std::size_t negative = 0; negative < pairs_.negatives(); ++negative) {
        if (closure.negative_kept[negative] != 0) {
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

}  // namespace hardmargin
