#include "literature/soft_margin.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "base/kernels.h"

namespace hardmargin {

namespace {

constexpr int most_steps = 200;
// A step goes at most this share of the way to the boundary.
constexpr double boundary_share = 0.995;
// Shorter steps gain nothing.
constexpr double shortest_step = 1e-10;

// A symmetric positive definite system of small dimension, by its Cholesky factor.
class System {
public:
    explicit System(std::size_t dimension) : dimension_(dimension), values_(dimension * dimension) {}

    double& at(std::size_t row, std::size_t column) { return values_[row * dimension_ + column]; }

    void factorise() {
        for (std::size_t j = 0; j < dimension_; ++j) {
            double* row = values_.data() + j * dimension_;
            for (std::size_t k = 0; k <= j; ++k) {
                const double* other = values_.data() + k * dimension_;
                double value = row[k];
                for (std::size_t p = 0; p < k; ++p) {
                    value -= row[p] * other[p];
                }
                row[k] = k < j ? value / other[k] : std::sqrt(std::max(value, std::numeric_limits<double>::min()));
            }
        }
    }

    void solve(std::vector<double>& right) const {
        for (std::size_t j = 0; j < dimension_; ++j) {
            for (std::size_t k = 0; k < j; ++k) {
                right[j] -= values_[j * dimension_ + k] * right[k];
            }
            right[j] /= values_[j * dimension_ + j];
        }
        for (std::size_t j = dimension_; j-- > 0;) {
            for (std::size_t k = j + 1; k < dimension_; ++k) {
                right[j] -= values_[k * dimension_ + j] * right[k];
            }
            right[j] /= values_[j * dimension_ + j];
        }
    }

private:
    std::size_t dimension_;
    std::vector<double> values_;
};

// One sample: a.w + y b + slack - excess = 1 with multiplier * excess = 0 and (cost - multiplier) * slack = 0.
struct Row {
    double slack = 1;
    double excess = 1;
    double multiplier = 0;
    double rest = 0;  // cost - multiplier
};

class InteriorPoint {
public:
    explicit InteriorPoint(const Samples& samples)
        : samples_(samples),
          dimension_(samples.dimension()),
          point_{std::vector<double>(samples.stride()), 0},
          rows_(samples.count()),
          steps_(samples.count()),
          correction_(samples.count()) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            rows_[i].multiplier = rows_[i].rest = 0.5 * samples.cost(i);
        }
    }

    const Hyperplane& point() const { return point_; }

    // The gap between the primal and the dual objective, relative to the primal one.
    double relative_gap() const {
        double primal = 0.5 * dot(point_.weights.data(), point_.weights.data(), samples_.stride());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            primal += samples_.cost(i) * std::max(0.0, 1 - margin(i));
        }
        return complementarity() / std::max(primal, std::numeric_limits<double>::min());
    }

    // False if no further progress is possible, or if it has to stop.
    bool step(Control& control) {
        System system(dimension_ + 1);
        if (!assemble(system, control)) {
            return false;
        }
        const double present = complementarity();
        std::fill(correction_.begin(), correction_.end(), Row{0, 0, 0, 0});
        find_step(system, 0.0);
        const double predicted = predicted_complementarity(step_length());
        const double ratio = predicted / present;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            correction_[i].excess = steps_[i].multiplier * steps_[i].excess;
            correction_[i].slack = steps_[i].rest * steps_[i].slack;
        }
        find_step(system, present * ratio * ratio * ratio / static_cast<double>(2 * rows_.size()));
        return advance(boundary_share * step_length());
    }

private:
    double margin(std::size_t i) const { return samples_.margin(i, point_.weights.data(), point_.bias); }

    double complementarity() const { return predicted_complementarity(0.0); }

    double predicted_complementarity(double length) const {
        double sum = 0;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Row& row = rows_[i];
            const Row& step = steps_[i];
            sum += (row.multiplier + length * step.multiplier) * (row.excess + length * step.excess) +
                   (row.rest + length * step.rest) * (row.slack + length * step.slack);
        }
        return sum;
    }

    static double stiffness(const Row& row) { return row.slack / row.rest + row.excess / row.multiplier; }

    bool assemble(System& system, Control& control) {
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const double factor = 1 / stiffness(rows_[i]);
            const double* normal = samples_.row(i);
            for (std::size_t j = 0; j < dimension_; ++j) {
                const double scaled = factor * normal[j];
                for (std::size_t k = 0; k <= j; ++k) {
                    system.at(j, k) += scaled * normal[k];
                }
                system.at(dimension_, j) += scaled * samples_.label(i);
            }
            system.at(dimension_, dimension_) += factor;
            if (control.stop({std::numeric_limits<double>::infinity(), 0, 0})) {
                return false;
            }
        }
        for (std::size_t j = 0; j < dimension_; ++j) {
            system.at(j, j) += 1;
        }
        system.factorise();
        return true;
    }

    // Newton's step towards products equal to `target`.
    void find_step(const System& system, double target) {
        std::vector<double> right(dimension_ + 1);
        for (std::size_t j = 0; j < dimension_; ++j) {
            right[j] = -point_.weights[j];
        }
        std::vector<double> demands(rows_.size());
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Row& row = rows_[i];
            const double residual = 1 - margin(i) - row.slack + row.excess;
            const double slack_target = (target - correction_[i].slack) / row.rest - row.slack;
            const double excess_target = (target - correction_[i].excess) / row.multiplier - row.excess;
            demands[i] = residual - slack_target + excess_target;
            const double factor = row.multiplier + demands[i] / stiffness(row);
            for (std::size_t j = 0; j < dimension_; ++j) {
                right[j] += factor * samples_.row(i)[j];
            }
            right[dimension_] += factor * samples_.label(i);
        }
        system.solve(right);
        weight_step_ = right;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            const Row& row = rows_[i];
            double change = samples_.label(i) * right[dimension_];
            for (std::size_t j = 0; j < dimension_; ++j) {
                change += samples_.row(i)[j] * right[j];
            }
            Row& step = steps_[i];
            step.multiplier = (demands[i] - change) / stiffness(row);
            step.rest = -step.multiplier;
            step.slack = (target - correction_[i].slack - row.rest * row.slack - row.slack * step.rest) / row.rest;
            step.excess =
                (target - correction_[i].excess - row.multiplier * row.excess - row.excess * step.multiplier) /
                row.multiplier;
        }
    }

    // The longest step, at most 1, that keeps everything non-negative.
    double step_length() const {
        double length = 1;
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            for (double Row::* part : {&Row::slack, &Row::excess, &Row::multiplier, &Row::rest}) {
                if (steps_[i].*part < 0) {
                    length = std::min(length, -(rows_[i].*part) / (steps_[i].*part));
                }
            }
        }
        return length;
    }

    bool advance(double length) {
        const bool finite = std::all_of(weight_step_.begin(), weight_step_.end(),
                                        [](double value) { return std::isfinite(value); });
        if (!finite || !(length > shortest_step)) {
            return false;
        }
        for (std::size_t j = 0; j < dimension_; ++j) {
            point_.weights[j] += length * weight_step_[j];
        }
        point_.bias += length * weight_step_[dimension_];
        for (std::size_t i = 0; i < rows_.size(); ++i) {
            for (double Row::* part : {&Row::slack, &Row::excess, &Row::multiplier, &Row::rest}) {
                rows_[i].*part += length * steps_[i].*part;
                // Rounding must not make a product zero.
                rows_[i].*part = std::max(rows_[i].*part, std::numeric_limits<double>::min());
            }
        }
        return true;
    }

    const Samples& samples_;
    std::size_t dimension_;
    Hyperplane point_;
    std::vector<Row> rows_;
    std::vector<Row> steps_;
    std::vector<Row> correction_;
    std::vector<double> weight_step_;
};

}  // namespace

Hyperplane soft_margin(const Samples& samples, double tolerance, Control& control) {
    InteriorPoint method(samples);
    for (int steps = 0; steps < most_steps && method.step(control); ++steps) {
        if (method.relative_gap() <= tolerance) {
            break;
        }
    }
    return method.point();
}

}  // namespace hardmargin
