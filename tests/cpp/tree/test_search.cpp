#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/hyperplane.h"
#include "base/objective.h"
#include "base/samples.h"
#include "check.h"
#include "qp/max_margin.h"
#include "tree/proof_sink.h"
#include "tree/search.h"

using namespace hardmargin;

namespace {

// Closes a subproblem if the objective is at most `closed_below`, and finds `solution` in it, if there is one.
struct ScriptedNode {
    double bound = 0;
    double upper = 1000;
    std::size_t number = 0;
    double closed_below = 0;
    std::optional<double> solution = std::nullopt;

    std::size_t size_in_memory() const { return 1; }
};

struct ScriptedOptions {
    double gap = 0;
    Objective objective = {};
    std::shared_ptr<ProofSink> proof = nullptr;
    // The objective of the solution that is being evaluated, and the subproblems in the order of their searches.
    std::shared_ptr<double> found = std::make_shared<double>(0.0);
    std::shared_ptr<std::vector<std::size_t>> searched = std::make_shared<std::vector<std::size_t>>();
};

class ScriptedTree {
public:
    using Node = ScriptedNode;
    using Options = ScriptedOptions;

    ScriptedTree(const Samples& samples, const Options& options, ImproveFunction improve)
        : options_(options), improve_(std::move(improve)), solver_(samples) {}

    std::vector<Node> search(const Node& root, double upper, std::uint64_t, const std::function<bool()>&,
                             const std::function<bool()>&) {
        ++nodes_;
        options_.searched->push_back(root.number);
        if (root.solution) {
            *options_.found = *root.solution;
            upper = improve_(solver_);
        }
        if (upper > root.closed_below) {
            stuck_.push_back(root);
        }
        return {};
    }

    static Incumbent evaluated(const Samples&, const Options& options, const MaxMargin&) {
        return {{1.0}, 0.0, *options.found};
    }
    std::vector<Node> take_stuck() { return std::exchange(stuck_, {}); }
    std::uint64_t nodes() const { return nodes_; }
    std::uint64_t work() const { return nodes_; }

private:
    Options options_;
    ImproveFunction improve_;
    MaxMargin solver_;
    std::vector<Node> stuck_;
    std::uint64_t nodes_ = 0;
};

SearchOutcome<ScriptedNode> searched(std::vector<ScriptedNode> frontier, const ScriptedOptions& options,
                                     const SearchLimits& limits = {}) {
    const std::vector<double> features = {1.0};
    const std::vector<double> labels = {1.0};
    const std::vector<double> costs = {1.0};
    const Samples samples(features, labels, costs, 100.0);
    Control control(1e9, {});
    return TreeSearch<ScriptedTree>(samples, std::move(frontier), {{}, 0, 100.0}, options, limits, control).run();
}

}  // namespace

TEST(a_stuck_subproblem_is_searched_again_below_a_better_incumbent) {
    const ScriptedOptions options;
    const ScriptedNode stuck{.bound = 1, .number = 1, .closed_below = 50};
    const ScriptedNode improving{.bound = 2, .number = 2, .closed_below = 50, .solution = 40.0};
    const SearchOutcome<ScriptedNode> outcome = searched({stuck, improving}, options);
    CHECK((*options.searched == std::vector<std::size_t>{1, 2, 1}));
    CHECK(outcome.exhausted && outcome.open.empty() && outcome.lower_bound == 40);
}

TEST(a_stuck_subproblem_stays_open_once_the_incumbent_does_not_improve_any_more) {
    const ScriptedOptions options;
    const ScriptedNode stuck{.bound = 1, .number = 1, .closed_below = 30};
    const ScriptedNode improving{.bound = 2, .number = 2, .closed_below = 50, .solution = 40.0};
    const SearchOutcome<ScriptedNode> outcome = searched({stuck, improving}, options);
    CHECK((*options.searched == std::vector<std::size_t>{1, 2, 1}));
    CHECK(outcome.exhausted && outcome.open.size() == 1 && outcome.open[0].number == 1);
    CHECK(outcome.lower_bound == 1);
}

TEST(a_stuck_subproblem_is_not_searched_again_below_the_same_objective) {
    const ScriptedOptions options;
    const SearchOutcome<ScriptedNode> outcome = searched({{.bound = 1, .number = 1, .closed_below = 50}}, options);
    CHECK((*options.searched == std::vector<std::size_t>{1}));
    CHECK(outcome.exhausted && outcome.open.size() == 1 && outcome.lower_bound == 1);
}

TEST(a_stuck_subproblem_is_not_searched_again_for_an_improvement_within_the_gap) {
    ScriptedOptions options;
    options.gap = 0.1;
    const ScriptedNode stuck{.bound = 1, .number = 1, .closed_below = 95};
    const ScriptedNode improving{.bound = 2, .number = 2, .closed_below = 95, .solution = 95.0};
    const SearchOutcome<ScriptedNode> outcome = searched({stuck, improving}, options);
    CHECK((*options.searched == std::vector<std::size_t>{1, 2}));
    CHECK(outcome.exhausted && outcome.open.size() == 1);
}

// The next search goes on with it.
TEST(a_search_that_is_paused_before_it_can_retry_a_stuck_subproblem_is_not_exhausted) {
    const ScriptedOptions options;
    const ScriptedNode stuck{.bound = 1, .number = 1, .closed_below = 50};
    const ScriptedNode improving{.bound = 2, .number = 2, .closed_below = 50, .solution = 40.0};
    SearchLimits limits;
    limits.node_limit = 2;
    const SearchOutcome<ScriptedNode> paused = searched({stuck, improving}, options, limits);
    CHECK((*options.searched == std::vector<std::size_t>{1, 2}));
    CHECK(!paused.exhausted && paused.open.size() == 1 && paused.lower_bound == 1);
}

TEST(a_stuck_subproblem_is_searched_again_by_any_of_several_threads) {
    for (int run = 0; run < 100; ++run) {
        ScriptedOptions options;
        SearchLimits limits;
        limits.threads = 2;
        // One after the other: the first one leaves nothing that a second thread could do.
        const ScriptedNode both{.bound = 1, .number = 1, .closed_below = 40, .solution = 45.0};
        const SearchOutcome<ScriptedNode> outcome = searched({both}, options, limits);
        CHECK((*options.searched == std::vector<std::size_t>{1, 1}));
        CHECK(outcome.exhausted && outcome.open.size() == 1 && outcome.lower_bound == 1);
    }
}
