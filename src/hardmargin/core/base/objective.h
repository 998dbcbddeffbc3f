// What a search minimises: the objective at one C, or at several values of C at once.
//
// A solution has a norm term N = 1/2 ||w||^2 and gives up samples of cost K, measured at the C that the samples
// have. Its objective is N + K, and at `rate` times this C it is N + rate * K. A search for several values of C
// minimises the smallest of scale * (N + rate * K) over all terms. So if no solution has a value below U, then for
// every term at once, no solution has N + rate * K < U / scale.
//
// All that searches conclude from a value U that a solution has to beat is the following. If it gives up samples of
// cost K or more, its norm term is below room(U, K). If its norm term is N or more, it gives up less than
// needed(U, N). Both fall as K or N grow, so lower bounds on K and N may be used in their place. With the single
// term 1 * (N + 1 * K) they are U - K and U - N.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

namespace hardmargin {

class Objective {
public:
    struct Term {
        double scale = 1;
        double rate = 1;
    };

    Objective() = default;
    // `terms` has at least one term, with positive numbers.
    explicit Objective(std::vector<Term> terms) : terms_(std::move(terms)) {}

    const std::vector<Term>& terms() const { return terms_; }
    bool is_plain() const { return terms_.size() == 1 && terms_[0].scale == 1 && terms_[0].rate == 1; }

    // The value of a solution, rounded down.
    double value(double norm, double cost) const {
        double smallest = std::numeric_limits<double>::infinity();
        for (const Term& term : terms_) {
            smallest = std::min(smallest, term.scale * (norm + term.rate * cost));
        }
        return smallest * (1 - rounding());
    }

    // Rounded up.
    double room(double upper, double cost) const {
        double largest = -std::numeric_limits<double>::infinity();
        for (const Term& term : terms_) {
            largest = std::max(largest, upper / term.scale * (1 + rounding()) - term.rate * cost);
        }
        return largest;
    }

    // Rounded up.
    double needed(double upper, double norm) const {
        double largest = -std::numeric_limits<double>::infinity();
        for (const Term& term : terms_) {
            largest = std::max(largest, (upper / term.scale * (1 + rounding()) - norm) / term.rate);
        }
        return largest;
    }

private:
    // Nothing is rounded if there is nothing to multiply. Otherwise a sum of two products, each of them rounded
    // twice, is wrong by less than this share of its largest part, which is at most U / scale if the result is
    // positive.
    double rounding() const { return is_plain() ? 0 : 16 * std::numeric_limits<double>::epsilon(); }

    std::vector<Term> terms_ = std::vector<Term>(1);
};

// An objective and the value that a solution has to beat. Samples up to a cost of `credit` may be given up for
// nothing: that is so if a budget limits what is given up (packing/budget.h).
struct Cutoff {
    const Objective& objective;
    double upper;
    double credit = 0;

    double room(double cost) const { return objective.room(upper, std::max(0.0, cost - credit)); }
    double needed(double norm) const { return objective.needed(upper, norm) + credit; }
    // A lower bound on the value of solutions with at least this norm term and these costs.
    double value(double norm, double cost) const { return objective.value(norm, std::max(0.0, cost - credit)); }
};

}  // namespace hardmargin
