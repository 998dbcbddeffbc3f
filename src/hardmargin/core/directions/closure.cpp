#include "directions/closure.h"

namespace hardmargin {

void SampleDecisions::clear(std::size_t positives, std::size_t negatives) {
    positive_kept.assign(positives, 0);
    positive_given_up.assign(positives, 0);
    negative_kept.assign(negatives, 0);
    negative_given_up.assign(negatives, 0);
}

void ConflictClosure::clear(std::size_t positives, std::size_t negatives) {
    SampleDecisions::clear(positives, negatives);
    kept_because.assign(positives + negatives, -1);
    given_up_because.assign(positives + negatives, -1);
    any_kept = false;
    impossible = false;
}

bool ConflictClosure::contradictory() const {
    int both = impossible ? 1 : 0;
    for (std::size_t i = 0; i < positive_kept.size(); ++i) {
        both |= positive_kept[i] & positive_given_up[i];
    }
    for (std::size_t j = 0; j < negative_kept.size(); ++j) {
        both |= negative_kept[j] & negative_given_up[j];
    }
    return both != 0;
}

}  // namespace hardmargin
