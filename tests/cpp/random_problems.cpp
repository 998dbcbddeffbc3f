#include "random_problems.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

namespace hardmargin::testing {

namespace {

using Real = long double;

struct Candidate {
    std::vector<Real> weights;
    Real bias;
};

constexpr const char* kinds[] = {"gaussian", "grid",      "repeated",   "collinear",
                                 "constant", "separable", "bad scales", "one far sample"};

// Solves a square system by elimination with complete row pivoting; nothing if it is singular to working
// precision.
std::optional<std::vector<Real>> solve_linear(std::vector<std::vector<Real>> matrix, std::vector<Real> right) {
    const std::size_t size = right.size();
    for (std::size_t column = 0; column < size; ++column) {
        std::size_t pivot = column;
        for (std::size_t row = column + 1; row < size; ++row) {
            if (std::abs(matrix[row][column]) > std::abs(matrix[pivot][column])) {
                pivot = row;
            }
        }
        if (std::abs(matrix[pivot][column]) < 1e-13L) {
            return std::nullopt;
        }
        std::swap(matrix[pivot], matrix[column]);
        std::swap(right[pivot], right[column]);
        for (std::size_t row = 0; row < size; ++row) {
            if (row != column) {
                const Real factor = matrix[row][column] / matrix[column][column];
                for (std::size_t k = column; k < size; ++k) {
                    matrix[row][k] -= factor * matrix[column][k];
                }
                right[row] -= factor * right[column];
            }
        }
    }
    for (std::size_t row = 0; row < size; ++row) {
        right[row] /= matrix[row][row];
    }
    return right;
}

// The shortest w, with its b, that gives every sample of `support` a margin of exactly 1.
std::optional<Candidate> tight_hyperplane(const RandomProblem& problem, const std::vector<std::size_t>& support) {
    // Multipliers of  min 1/2 ||w||^2  s.t.  y (w.x + b) = 1: a bordered system of size |support| + 1.
    const std::size_t size = support.size() + 1;
    std::vector<std::vector<Real>> matrix(size, std::vector<Real>(size, 0));
    std::vector<Real> right(size, 1);
    right[0] = 0;
    const std::size_t m = problem.dimension;
    for (std::size_t i = 0; i < support.size(); ++i) {
        const Real label = problem.labels[support[i]];
        matrix[0][i + 1] = matrix[i + 1][0] = label;
        for (std::size_t j = 0; j < support.size(); ++j) {
            Real product = 0;
            for (std::size_t k = 0; k < m; ++k) {
                product += static_cast<Real>(problem.features[support[i] * m + k]) *
                           static_cast<Real>(problem.features[support[j] * m + k]);
            }
            matrix[i + 1][j + 1] = label * static_cast<Real>(problem.labels[support[j]]) * product;
        }
    }
    const auto solution = solve_linear(std::move(matrix), std::move(right));
    if (!solution) {
        return std::nullopt;
    }
    Candidate candidate{std::vector<Real>(m, 0), (*solution)[0]};
    for (std::size_t i = 0; i < support.size(); ++i) {
        const Real factor = (*solution)[i + 1] * static_cast<Real>(problem.labels[support[i]]);
        for (std::size_t k = 0; k < m; ++k) {
            candidate.weights[k] += factor * static_cast<Real>(problem.features[support[i] * m + k]);
        }
    }
    return candidate;
}

Real margin(const RandomProblem& problem, const Candidate& candidate, std::size_t i) {
    Real sum = candidate.bias;
    for (std::size_t k = 0; k < problem.dimension; ++k) {
        sum += candidate.weights[k] * static_cast<Real>(problem.features[i * problem.dimension + k]);
    }
    return sum * static_cast<Real>(problem.labels[i]);
}

Real half_norm(const Candidate& candidate) {
    Real sum = 0;
    for (const Real weight : candidate.weights) {
        sum += weight * weight;
    }
    return sum / 2;
}

// Calls `visit` with every hyperplane that is tight on two to dimension + 1 of the `eligible` samples.
void for_each_candidate(const RandomProblem& problem, const std::vector<std::size_t>& eligible,
                        const std::function<void(const Candidate&)>& visit) {
    std::vector<std::size_t> support;
    const std::function<void(std::size_t)> extend = [&](std::size_t next) {
        if (support.size() >= 2) {
            if (const auto candidate = tight_hyperplane(problem, support)) {
                visit(*candidate);
            }
        }
        if (support.size() <= problem.dimension) {
            for (std::size_t k = next; k < eligible.size(); ++k) {
                support.push_back(eligible[k]);
                extend(k + 1);
                support.pop_back();
            }
        }
    };
    extend(0);
}

}  // namespace

RandomProblem random_problem(Random& random, std::size_t most_samples, std::size_t most_features) {
    RandomProblem problem;
    problem.kind = kinds[random.below(std::size(kinds))];
    problem.count = 2 + random.below(most_samples - 1);
    problem.dimension = 1 + random.below(most_features);
    const std::size_t m = problem.dimension;
    std::vector<double> normal(m);
    for (double& value : normal) {
        value = random.normal();
    }
    std::vector<double> scales(m, 1.0);
    if (problem.kind == "bad scales") {
        for (double& scale : scales) {
            scale = std::pow(10.0, 4 * random.uniform() - 2);
        }
    }
    for (std::size_t i = 0; i < problem.count; ++i) {
        const double position = random.normal();
        double projection = 0.3 * random.normal();
        for (std::size_t k = 0; k < m; ++k) {
            double value = scales[k] * random.normal();
            if (problem.kind == "grid") {
                value = static_cast<double>(random.below(4)) - 1;
            } else if (problem.kind == "repeated" && i > 0 && i % 2 == 1) {
                value = problem.features[(i - 1) * m + k];
            } else if (problem.kind == "collinear") {
                value = position * normal[k];
            } else if (problem.kind == "constant" && k == 0) {
                value = 2.5;
            } else if (problem.kind == "one far sample" && i == 0) {
                value = 50 * random.normal();
            }
            problem.features.push_back(value);
            projection += value * normal[k];
        }
        const bool flipped = problem.kind != "separable" && random.uniform() < 0.2;
        problem.labels.push_back((projection > 0) != flipped ? 1.0 : -1.0);
    }
    const double cost = std::pow(10.0, 4 * random.uniform() - 1);
    const bool weighted = random.uniform() < 0.3;
    for (std::size_t i = 0; i < problem.count; ++i) {
        problem.costs.push_back(weighted ? cost * (0.25 + random.uniform()) : cost);
    }
    return problem;
}

double exhaustive_optimum(const RandomProblem& problem) {
    Real sides[2] = {0, 0};
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < problem.count; ++i) {
        sides[problem.labels[i] > 0] += static_cast<Real>(problem.costs[i]);
        all.push_back(i);
    }
    Real best = std::min(sides[0], sides[1]);
    for_each_candidate(problem, all, [&](const Candidate& candidate) {
        Real objective = half_norm(candidate);
        for (std::size_t i = 0; i < problem.count && objective < best; ++i) {
            if (margin(problem, candidate, i) < 1 - 1e-9L) {
                objective += static_cast<Real>(problem.costs[i]);
            }
        }
        best = std::min(best, objective);
    });
    return static_cast<double>(best);
}

std::vector<EnumeratedHyperplane> enumerated_hyperplanes(const RandomProblem& problem) {
    std::vector<std::size_t> all(problem.count);
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<EnumeratedHyperplane> found;
    for_each_candidate(problem, all, [&](const Candidate& candidate) {
        EnumeratedHyperplane& made = found.emplace_back();
        made.weights.assign(candidate.weights.begin(), candidate.weights.end());
        made.half_norm = static_cast<double>(half_norm(candidate));
        made.objective = made.half_norm;
        for (std::size_t i = 0; i < problem.count; ++i) {
            made.kept.push_back(margin(problem, candidate, i) >= 1 - 1e-9L);
            made.objective += made.kept[i] ? 0 : problem.costs[i];
        }
    });
    return found;
}

double exhaustive_margin_value(const RandomProblem& problem, const std::vector<bool>& kept) {
    std::vector<std::size_t> eligible;
    bool sides[2] = {false, false};
    for (std::size_t i = 0; i < problem.count; ++i) {
        if (kept[i]) {
            eligible.push_back(i);
            sides[problem.labels[i] > 0] = true;
        }
    }
    if (!sides[0] || !sides[1]) {
        return 0;
    }
    Real best = std::numeric_limits<Real>::infinity();
    for_each_candidate(problem, eligible, [&](const Candidate& candidate) {
        for (const std::size_t i : eligible) {
            if (margin(problem, candidate, i) < 1 - 1e-9L) {
                return;
            }
        }
        best = std::min(best, half_norm(candidate));
    });
    return static_cast<double>(best);
}

}  // namespace hardmargin::testing
