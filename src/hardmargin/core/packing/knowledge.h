// What searches over the same samples share: the threads of one search, and the searches for successive targets.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/samples.h"
#include "packing/cover_choice.h"
#include "packing/set_store.h"

namespace hardmargin {

class PackingKnowledge {
public:
    // With `with_certificates` the multipliers of certified sets are stored too: proofs need them.
    explicit PackingKnowledge(const Samples& samples, bool with_certificates = false)
        : keeps_certificates(with_certificates),
          sets(samples.count(), with_certificates),
          fingerprint_(fingerprint(samples)) {}

    // Sets of other samples, or of other bounds on the weights, would be invalid. Costs may differ.
    bool is_of(const Samples& samples) const { return fingerprint(samples) == fingerprint_; }

    const bool keeps_certificates;
    SetStore sets;
    CoverChoice choice;

private:
    static std::uint64_t fingerprint(const Samples& samples) {
        std::uint64_t state = samples.count();
        const auto mix = [&state](double value) {
            state = (state ^ std::bit_cast<std::uint64_t>(value)) * 0xbf58476d1ce4e5b9u;
            state ^= state >> 31;
        };
        for (const std::vector<double>& bounds : {samples.weight_bounds().lower, samples.weight_bounds().upper}) {
            for (const double bound : bounds) {
                mix(bound);
            }
        }
        for (std::size_t i = 0; i < samples.count(); ++i) {
            mix(samples.label(i));
            for (std::size_t k = 0; k < samples.dimension(); ++k) {
                mix(samples.row(i)[k]);
            }
        }
        return state;
    }

    const std::uint64_t fingerprint_;
};

}  // namespace hardmargin
