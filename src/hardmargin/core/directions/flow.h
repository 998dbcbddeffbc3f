// The cover of conflicting pairs if costs differ: a maximum flow (directions/closure.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/rounding.h"
#include "base/samples.h"
#include "directions/closure.h"
#include "directions/pair_conflicts.h"

namespace hardmargin {

class ConflictFlow {
public:
    static constexpr bool equal_costs = false;

    using Edge = PairEdge;

    struct State {
        std::vector<double> left_of_positive;
        std::vector<double> left_of_negative;
        std::vector<Edge> edges;  // with flow, sorted by positives and then negatives
        double value = 0;
        std::size_t changes = 0;  // of flows, which are rounded
    };

    ConflictFlow(const Samples& samples, const PairConflicts& pairs);

    void start(State& state) const;
    double cost(const State& state) const { return state.value; }
    // A bound on the relative error of the cost. The amount that is added to the value is also added to, or
    // subtracted from, the flows of the edges along a path. So up to the rounding of that many changes, the flows
    // add up to the value, and at every sample to no more than its cost.
    double rounding(const State& state) const { return sum_rounding(state.changes); }
    // `stop` is called before every path; if it returns true, the flow is left as it is.
    void set_stop(std::function<bool()> stop) { stop_ = std::move(stop); }
    // Enlarges the flow until it costs `enough` or cannot grow.
    void grow(const PairConflicts::Level& level, State& state, double enough);
    void close(const PairConflicts::Level& level, const State& state, double slack, ConflictClosure& closure);
    std::uint64_t work() const { return work_; }

private:
    bool augment(const PairConflicts::Level& level, State& state);
    void fill_path(State& state, std::size_t last);
    void add_flow(State& state, std::size_t positive, std::size_t negative, double change) const;
    void index_by_negative(const State& state);

    static constexpr std::int32_t path_start = -1;
    static constexpr std::int32_t not_reached = -2;

    const Samples& samples_;
    const PairConflicts& pairs_;
    double negligible_;
    std::vector<std::size_t> begin_of_negative_;  // into edge_of_negative_
    std::vector<std::size_t> edge_of_negative_;   // indices of the edges, sorted by negatives
    std::vector<std::int32_t> reached_from_;      // the positive from which a negative was reached
    std::vector<std::int32_t> came_by_;           // the negative by which a positive was reached, or a marker
    std::vector<std::uint64_t> unvisited_;
    std::vector<std::size_t> pending_;
    std::uint64_t work_ = 0;
    std::function<bool()> stop_ = never;
};

}  // namespace hardmargin
