// Branch and bound with a queue of open subproblems, searched in slices by several threads.
//
// The subproblem with the smallest bound comes first, so that the lower bound, the smallest one in the queue, rises
// during the search. A slice searches below one subproblem, depth first, and puts what is left open back into the
// queue. It ends early if other threads are idle. If the queue exceeds its memory, subproblems that cannot be
// better than the incumbent are discarded; if that is not enough, the newest subproblem comes first, which keeps
// the queue from growing.
//
// A SearchTree does the search below one subproblem.
#pragma once

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <concepts>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <iterator>
#include <limits>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "base/control.h"
#include "base/hyperplane.h"
#include "base/objective.h"
#include "base/samples.h"
#include "qp/max_margin.h"
#include "tree/node_queue.h"
#include "tree/proof_sink.h"
#include "tree/subproblem.h"

namespace hardmargin {

struct SearchLimits {
    std::size_t threads = 1;
    std::uint64_t node_limit = 0;     // 0: none
    std::uint64_t work_limit = 0;     // multiply-adds, approximately; 0: none
    std::uint64_t slice = 256;        // subproblems of one slice
    std::size_t memory = 4ull << 30;  // bytes of open subproblems before the search goes depth first
    // Seconds after which no more subproblems are started. Those in progress are completed, however long they take,
    // so that a continuation loses no work.
    double pause = std::numeric_limits<double>::infinity();
    // Solutions that cost less than this are returned even if they do not reach the target.
    double keep_below = 0;
};

// Searches below one subproblem, depth first; every thread has its own. search(node, upper, node_limit, stop,
// pause) returns what is left open of `node`; if that is empty, none of its solutions is better than the incumbent
// by the gap. evaluated(samples, options, solver) is the hyperplane of a solver with its objective, which is
// infinite if it is no solution. take_stuck() returns the subproblems that no further search below the same
// objective can close, each of them once. nodes() and work() never decrease.
template <typename Tree>
concept SearchTree =
    SearchNode<typename Tree::Node> && std::copy_constructible<typename Tree::Options> &&
    std::constructible_from<Tree, const Samples&, const typename Tree::Options&, ImproveFunction> &&
    requires(Tree tree, const Tree& constant, const typename Tree::Node& node,
             const typename Tree::Options& options, const Samples& samples, const MaxMargin& solver,
             const std::function<bool()>& stop) {
        { options.gap } -> std::convertible_to<double>;
        { options.objective } -> std::convertible_to<const Objective&>;
        { options.proof } -> std::convertible_to<std::shared_ptr<ProofSink>>;
        { tree.search(node, 1.0, std::uint64_t{1}, stop, stop) } -> std::same_as<std::vector<typename Tree::Node>>;
        { Tree::evaluated(samples, options, solver) } -> std::same_as<Incumbent>;
        { tree.take_stuck() } -> std::same_as<std::vector<typename Tree::Node>>;
        { constant.nodes() } -> std::same_as<std::uint64_t>;
        { constant.work() } -> std::same_as<std::uint64_t>;
    };

template <typename Node>
struct SearchOutcome {
    Incumbent best;          // without weights if nothing better than the start was found
    double upper = 0;        // what is closed contains no solution better than this
    double lower_bound = 0;  // of the whole problem
    std::uint64_t nodes = 0;
    std::uint64_t work = 0;  // multiply-adds, approximately
    // Whether everything was searched. What is still open then cannot be closed because of rounding.
    bool exhausted = true;
    std::vector<Node> open;
};

// Throws std::invalid_argument if the frontier is empty: searching it would prove any bound. packing_root() and
// direction_root() make the root of a search.
template <typename Node>
void require_open(const std::vector<Node>& frontier) {
    if (frontier.empty()) {
        throw std::invalid_argument(
            "frontier: it is empty; expected the root of a search, or what a search has left open");
    }
}

template <SearchTree Tree>
class TreeSearch {
public:
    using Node = typename Tree::Node;
    using Options = typename Tree::Options;

    // Searches below the nodes of `frontier` for solutions better than `known`, which may be an objective without
    // weights: a target below every known solution.
    TreeSearch(const Samples& samples, std::vector<Node> frontier, Incumbent known, const Options& options,
               const SearchLimits& limits, Control& control)
        : samples_(samples),
          options_(options),
          limits_(limits),
          control_(control),
          pause_at_(Control::after(limits.pause)),
          best_(std::move(known)),
          upper_(best_.objective) {
        require_open(frontier);
        if (best_.weights.empty()) {
            best_.objective = std::max(best_.objective, limits.keep_below);
        }
        assert(limits.threads > 0);
        assert(options.gap >= 0 && options.gap < 1);
        for (Node& node : frontier) {
            derived_under_ = std::min(derived_under_, node.upper);
            queue_.push(std::move(node));
        }
    }

    SearchOutcome<Node> run() {
        std::vector<std::thread> helpers;
        try {
            for (std::size_t k = 1; k < limits_.threads; ++k) {
                helpers.emplace_back([this] { work_or_fail(false); });
            }
        } catch (const std::system_error&) {
            // No more threads are available: use those that have started.
        }
        work_or_fail(true);
        for (std::thread& helper : helpers) {
            helper.join();
        }
        if (failure_) {
            std::rethrow_exception(failure_);
        }
        const bool exhausted = queue_.empty() && !may_close_stuck();
        const double bound = lower_bound();
        SearchOutcome<Node> outcome{std::move(best_), upper_, bound, nodes_, work_, exhausted, queue_.take_all()};
        std::move(stuck_.begin(), stuck_.end(), std::back_inserter(outcome.open));
        // What was closed besides them contains no solution better than this, but perhaps worse ones. A
        // continuation needs to know, whatever objective it starts from.
        for (Node& node : outcome.open) {
            node.upper = std::min({node.upper, derived_under_, cutoff()});
        }
        return outcome;
    }

private:
    // Before it ends for idle threads, a slice searches this part (1 / smallest_share) of its subproblems, or does
    // this many multiply-adds: some subproblems take a tenth of a second each.
    static constexpr std::uint64_t smallest_share = 8;
    static constexpr std::uint64_t smallest_work = 200'000'000;
    // How long an idle thread waits before it checks the limits again.
    static constexpr std::chrono::milliseconds longest_wait{20};

    // A part of `node`, with what is known about the whole node.
    Node inherited(Node part, const Node& node) const {
        part.bound = std::max(part.bound, node.bound);
        part.upper = std::min(part.upper, derived_under_);
        return part;
    }

    Node pop() { return queue_.memory() > limits_.memory ? queue_.pop_newest() : queue_.pop_best(); }

    // Subproblems whose bound is not below this are not searched.
    double cutoff() const { return upper_ * (1 - options_.gap); }

    // A finished search proves that no solution is better than the cutoff, or than the value under which the
    // frontier's decisions were derived.
    double lower_bound() const {
        double bound = std::min({cutoff(), derived_under_, queue_.smallest_bound()});
        for (const Node& node : stuck_) {
            bound = std::min(bound, node.bound);
        }
        for (const double working : working_bounds_) {
            bound = std::min(bound, working);
        }
        return bound;
    }

    double improve(const MaxMargin& solver) {
        const std::lock_guard lock(mutex_);
        Incumbent candidate = Tree::evaluated(samples_, options_, solver);
        if (options_.objective.is_plain()) {
            if (candidate.objective < best_.objective) {
                best_ = std::move(candidate);
                upper_ = std::min(upper_.load(), best_.objective);
            }
            return upper_;
        }
        // A lower value of `upper` would be one for all terms, though the candidate improves on some of them only.
        // So the search pauses: the caller knows better terms now, and continues with what is open.
        candidate.objective = value_of(options_.objective, candidate);
        if (candidate.objective < std::min(best_.objective, cutoff())) {
            best_ = std::move(candidate);
            paused_ = true;
        }
        return upper_;
    }

    // Subproblems that no search could close may be closed below a better incumbent, and a proof is incomplete
    // without them.
    bool may_close_stuck() const { return !stuck_.empty() && upper_ < stuck_below_ * (1 - options_.gap); }

    void retry_stuck() {
        for (Node& node : std::exchange(stuck_, {})) {
            queue_.push(std::move(node));
        }
        stuck_below_ = 0;
    }

    // An exception, for example out of memory, ends the search in all threads.
    void work_or_fail(bool leader) {
        try {
            work(leader);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            failure_ = failure_ ? failure_ : std::current_exception();
            stopped_ = true;
            changed_.notify_all();
        }
    }

    void work(bool leader) {
        Tree tree(samples_, options_, [this](const MaxMargin& solver) { return improve(solver); });
        std::uint64_t counted = 0;
        std::uint64_t counted_work = 0;
        std::uint64_t work_left = 0;  // when the slice began; 0 means no limit
        const auto stop = [&] {
            if (leader && !stopped_ &&
                control_.stop({upper_.load(), shown_bound_.load(), nodes_ + tree.nodes() - counted})) {
                stopped_ = true;
                changed_.notify_all();
            }
            return stopped_.load();
        };
        const auto pause = [this] { return paused_ || Control::Clock::now() >= pause_at_; };
        const auto can_share = [&] {
            return tree.nodes() - counted >= limits_.slice / smallest_share ||
                   tree.work() - counted_work >= smallest_work;
        };
        // A slice ends early if other threads are idle, or if it has used up the work that was left.
        const auto pause_or_share = [&] {
            return pause() || (idle_ > 0 && can_share()) ||
                   (work_left > 0 && tree.work() - counted_work >= work_left);
        };
        std::unique_lock lock(mutex_);
        const std::size_t place = working_bounds_.size();
        working_bounds_.push_back(std::numeric_limits<double>::infinity());
        while (!stopped_) {
            if (queue_.empty() && busy_ == 0 && !paused_ && may_close_stuck()) {
                retry_stuck();
            }
            if (paused_ || queue_.empty()) {
                if (busy_ == 0 || (paused_ && !leader)) {
                    break;
                }
                // Woken when the queue changes or the search ends. The leader checks the clock, also while the
                // others complete their subproblems.
                ++idle_;
                changed_.wait_for(lock, longest_wait);
                --idle_;
                lock.unlock();
                stop();
                lock.lock();
                continue;
            }
            const Node node = pop();
            // A proof needs a reason: the search finds one.
            if (node.bound >= cutoff() && !options_.proof) {
                continue;
            }
            working_bounds_[place] = node.bound;
            shown_bound_ = lower_bound();
            ++busy_;
            // Never 0, because the search is paused as soon as no work is left.
            work_left = limits_.work_limit > 0 ? limits_.work_limit - work_ : 0;
            const double upper = upper_;
            lock.unlock();
            std::vector<Node> open = tree.search(node, upper, limits_.slice, stop, pause_or_share);
            lock.lock();
            --busy_;
            nodes_ += tree.nodes() - counted;
            counted = tree.nodes();
            work_ += tree.work() - counted_work;
            counted_work = tree.work();
            for (Node& left : tree.take_stuck()) {
                stuck_.push_back(inherited(std::move(left), node));
                stuck_below_ = std::max(stuck_below_, upper);
            }
            for (Node& left : open) {
                queue_.push(inherited(std::move(left), node));
            }
            if (queue_.memory() > limits_.memory && !options_.proof) {
                queue_.drop_from(cutoff());
            }
            working_bounds_[place] = std::numeric_limits<double>::infinity();
            shown_bound_ = lower_bound();
            paused_ = pause() || (limits_.node_limit > 0 && nodes_ >= limits_.node_limit) ||
                      (limits_.work_limit > 0 && work_ >= limits_.work_limit);
            changed_.notify_all();
        }
        changed_.notify_all();
    }

    const Samples& samples_;
    const Options options_;
    const SearchLimits limits_;
    Control& control_;
    const Control::Clock::time_point pause_at_;
    std::mutex mutex_;
    std::condition_variable changed_;
    NodeQueue<Node> queue_;
    std::vector<Node> stuck_;  // see Tree::take_stuck()
    double stuck_below_ = 0;   // the largest objective below which one of them was searched
    double derived_under_ = std::numeric_limits<double>::infinity();
    std::size_t busy_ = 0;
    std::atomic<std::size_t> idle_ = 0;   // idle threads
    std::vector<double> working_bounds_;  // of the subproblems in progress
    Incumbent best_;
    std::exception_ptr failure_;
    std::atomic<double> upper_;
    std::atomic<double> shown_bound_ = 0;
    std::atomic<bool> stopped_ = false;
    std::atomic<bool> paused_ = false;  // no more subproblems are started
    std::atomic<std::uint64_t> nodes_ = 0;
    std::uint64_t work_ = 0;
};

}  // namespace hardmargin
