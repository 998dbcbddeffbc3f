#include "packing/root_bound.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/rounding.h"
#include "packing/trace.h"
#include "qp/max_margin.h"

namespace hardmargin {

namespace {

struct ValuedSet {
    double value;  // the least cost of keeping it whole
    double share;  // the least cost of giving up one of its samples, in addition to the other sets
    std::vector<Multiplier> certificate;
};

// By descending values.
void sort(std::vector<ValuedSet>& sets) {
    std::sort(sets.begin(), sets.end(),
              [](const ValuedSet& left, const ValuedSet& right) { return left.value > right.value; });
}

double bound_of(std::span<const ValuedSet> sets) {
    double shares = 0;  // of the sets with larger values
    double bound = std::numeric_limits<double>::infinity();
    for (const ValuedSet& set : sets) {
        bound = std::min(bound, set.value + shares);
        shares += set.share;
    }
    // Costs were shared out in one step per set.
    return safely_below(std::min(bound, shares), sets.size());
}

// In the order of the sum in the header, each set is a must-hit set for solutions better than the bound.
void write(const Samples& samples, std::span<const ValuedSet> sets, ProofRecord& record) {
    PackingTrace trace(samples);
    trace.expect(bound_of(sets));
    trace.begin({});
    std::vector<PackingTrace::Packed> packed;
    for (const ValuedSet& set : sets) {
        packed.push_back({trace.add(set.certificate), set.share});
        trace.pack(packed);
    }
    trace.close_by_cost();
    record = trace.record();
}

// Removes samples that are not certain from `members` as long as the others still certify `threshold`, or until
// `stop` returns true; returns the certified value, and its certificate.
double shrink(MaxMargin& solver, std::vector<std::size_t>& members, double threshold, double value,
              const std::function<bool()>& stop, std::vector<Multiplier>& certificate) {
    solver.clear();
    for (const std::size_t i : members) {
        solver.enable(i);
    }
    for (std::size_t k = 0; k < members.size() && !stop();) {
        const std::size_t candidate = members[k];
        if (solver.samples().certain(candidate)) {
            ++k;
            continue;
        }
        solver.disable(candidate);
        const MaxMarginStatus status = solver.solve(threshold);
        if (status != MaxMarginStatus::threshold && status != MaxMarginStatus::infeasible) {
            solver.enable(candidate);
            ++k;
            continue;
        }
        value = solver.certificate_value();
        certificate.assign(solver.certificate().begin(), solver.certificate().end());
        std::vector<std::size_t> left;
        for (const std::size_t i : members) {
            const bool needed = std::any_of(certificate.begin(), certificate.end(),
                                            [i](const Multiplier& multiplier) { return multiplier.row == i; });
            if (needed) {
                left.push_back(i);
            } else {
                solver.disable(i);
            }
        }
        // Members before k were needed in a larger set, so they are still there, except after a failure, which only
        // costs another attempt.
        members = std::move(left);
    }
    return value;
}

}  // namespace

double root_bound(const Samples& samples, double upper, double gap, Control& control, ProofRecord* record) {
    MaxMargin solver(samples);
    MaxMargin shrinker(samples);
    std::vector<ValuedSet> sets;
    double bound = 0;
    const std::function<bool()> stop = [&] { return control.stop({upper, bound, sets.size()}); };
    solver.set_stop(stop);
    shrinker.set_stop(stop);
    std::vector<double> left(samples.costs().begin(), samples.costs().end());
    for (std::size_t i = 0; i < samples.count(); ++i) {
        if (left[i] > 0) {
            solver.enable(i);
        }
    }
    double packed = 0;
    for (;;) {
        const double threshold = upper * (1 - gap) - packed;
        if (threshold <= 0 || stop()) {
            break;
        }
        const MaxMarginStatus status = solver.solve(threshold);
        if (status != MaxMarginStatus::threshold && status != MaxMarginStatus::infeasible) {
            break;
        }
        std::vector<std::size_t> members;
        for (const Multiplier& multiplier : solver.certificate()) {
            if (solver.rows().keeps(multiplier.row)) {
                members.push_back(multiplier.row);
            }
        }
        std::vector<Multiplier> certificate(solver.certificate().begin(), solver.certificate().end());
        const double value = shrink(shrinker, members, threshold, solver.certificate_value(), stop, certificate);
        double share = std::numeric_limits<double>::infinity();
        for (const std::size_t i : members) {
            share = std::min(share, left[i]);
        }
        sets.push_back({value, share, std::move(certificate)});
        sort(sets);
        packed += share;
        bound = bound_of(sets);
        for (const std::size_t i : members) {
            left[i] -= share;
            if (!(left[i] > 0)) {
                solver.disable(i);
            }
        }
    }
    if (record != nullptr) {
        write(samples, sets, *record);
    }
    return bound;
}

}  // namespace hardmargin
