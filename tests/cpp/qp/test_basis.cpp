#include <vector>

#include "base/kernels.h"
#include "base/random.h"
#include "check.h"
#include "qp/basis.h"

using namespace hardmargin;

namespace {

constexpr std::size_t dimension = 6;
const std::size_t stride = padded_size(dimension);

std::vector<double> random_vector(Random& random) {
    std::vector<double> vector(stride);
    for (std::size_t k = 0; k < dimension; ++k) {
        vector[k] = random.normal();
    }
    return vector;
}

void append(Basis& basis, const std::vector<double>& vector) {
    std::vector<double> projections(dimension + 1);
    std::vector<double> rest(stride);
    const double squared_length = basis.split(vector.data(), projections.data(), rest.data());
    basis.append(projections.data(), rest.data(), squared_length);
}

}  // namespace

TEST(shares_rebuild_a_vector_of_the_span_after_any_updates) {
    Random random(5);
    for (int trial = 0; trial < 200; ++trial) {
        Basis basis(dimension, stride);
        std::vector<std::vector<double>> vectors;
        // The split of this vector is kept up to date through the removals.
        const std::vector<double> followed = random_vector(random);
        std::vector<double> followed_projections(dimension + 1);
        std::vector<double> followed_rest(stride);
        for (int update = 0; update < 30; ++update) {
            const double before = basis.split(followed.data(), followed_projections.data(), followed_rest.data());
            if (vectors.size() < dimension && (vectors.empty() || random.uniform() < 0.6)) {
                vectors.push_back(random_vector(random));
                append(basis, vectors.back());
            } else {
                const std::size_t k = random.below(vectors.size());
                vectors.erase(vectors.begin() + static_cast<std::ptrdiff_t>(k));
                const double added = basis.erase(k, followed_projections.data(), followed_rest.data());
                CHECK_NEAR(before + added, dot(followed_rest.data(), followed_rest.data(), stride), 1e-9);
                for (const std::vector<double>& left : vectors) {
                    CHECK_NEAR(dot(followed_rest.data(), left.data(), stride), 0.0, 1e-8);
                }
            }
        }
        const std::vector<double> vector = random_vector(random);
        std::vector<double> projections(dimension + 1);
        std::vector<double> rest(stride);
        std::vector<double> shares(dimension + 1);
        basis.split(vector.data(), projections.data(), rest.data());
        basis.shares(projections.data(), shares.data());
        std::vector<double> rebuilt = rest;
        for (std::size_t k = 0; k < vectors.size(); ++k) {
            add_scaled(rebuilt.data(), shares[k], vectors[k].data(), stride);
            CHECK_NEAR(dot(rest.data(), vectors[k].data(), stride), 0.0, 1e-9);
        }
        for (std::size_t k = 0; k < dimension; ++k) {
            CHECK_NEAR(rebuilt[k], vector[k], 1e-7);
        }
    }
}

TEST(coordinates_meet_their_bounds) {
    Random random(6);
    Basis basis(dimension, stride);
    std::vector<std::vector<double>> vectors;
    for (int k = 0; k < 4; ++k) {
        vectors.push_back(random_vector(random));
        append(basis, vectors.back());
    }
    const std::vector<double> bounds = {1.0, -2.0, 0.5, 3.0};
    std::vector<double> coordinates(4);
    std::vector<double> vector(stride);
    basis.coordinates(bounds.data(), coordinates.data());
    basis.add_to(coordinates.data(), vector.data());
    for (std::size_t k = 0; k < 4; ++k) {
        CHECK_NEAR(dot(vector.data(), vectors[k].data(), stride), bounds[k], 1e-10);
    }
}
