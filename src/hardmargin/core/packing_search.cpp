#include "packing_search.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <iterator>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>

#include "kernels.h"

namespace hardmargin {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::size_t size_in_memory(const PackingNode& node) {
    return sizeof(PackingNode) + sizeof(std::uint32_t) * (node.kept.capacity() + node.given_up.capacity());
}

// The queue and all else that the threads share.
class Search {
public:
    Search(const Samples& samples, std::vector<PackingNode> frontier, double upper, const PackingOptions& options,
           const PackingLimits& limits, Control& control)
        : samples_(samples), options_(options), limits_(limits), control_(control), upper_(upper) {
        best_.objective = upper;
        for (PackingNode& node : frontier) {
            push(std::move(node));
        }
    }

    PackingOutcome run() {
        std::vector<std::thread> helpers;
        for (std::size_t k = 1; k < limits_.threads; ++k) {
            helpers.emplace_back([this] { work(false); });
        }
        work(true);
        for (std::thread& helper : helpers) {
            helper.join();
        }
        PackingOutcome outcome{std::move(best_), lower_bound(), nodes_, work_, {}};
        for (Entry& entry : queue_) {
            outcome.open.push_back(std::move(entry.node));
        }
        std::move(stuck_.begin(), stuck_.end(), std::back_inserter(outcome.open));
        return outcome;
    }

private:
    struct Entry {
        PackingNode node;
        std::uint64_t number;  // in order of creation
    };

    // Worst first, as the standard heap functions want it; of equal bounds the newest is best.
    static bool worse(const Entry& left, const Entry& right) {
        return left.node.bound > right.node.bound ||
               (left.node.bound == right.node.bound && left.number < right.number);
    }

    void push(PackingNode node) {
        memory_ += size_in_memory(node);
        queue_.push_back({std::move(node), ++created_});
        std::push_heap(queue_.begin(), queue_.end(), worse);
    }

    PackingNode pop() {
        if (memory_ > limits_.memory) {
            const auto newest =
                std::max_element(queue_.begin(), queue_.end(),
                                 [](const Entry& left, const Entry& right) { return left.number < right.number; });
            std::swap(*newest, queue_.back());
            PackingNode node = std::move(queue_.back().node);
            queue_.pop_back();
            std::make_heap(queue_.begin(), queue_.end(), worse);
            memory_ -= size_in_memory(node);
            return node;
        }
        std::pop_heap(queue_.begin(), queue_.end(), worse);
        PackingNode node = std::move(queue_.back().node);
        queue_.pop_back();
        memory_ -= size_in_memory(node);
        return node;
    }

    // A finished search has proven that nothing is better than the incumbent by the gap.
    double lower_bound() const {
        double bound = upper_.load() * (1 - options_.gap);
        for (const Entry& entry : queue_) {
            bound = std::min({bound, entry.node.bound, entry.node.upper * (1 - options_.gap)});
        }
        for (const PackingNode& node : stuck_) {
            bound = std::min(bound, node.bound);
        }
        for (const double working : working_bounds_) {
            bound = std::min(bound, working);
        }
        return bound;
    }

    double improve(const MaxMargin& solver) {
        const std::lock_guard lock(mutex_);
        Incumbent candidate = evaluated(solver);
        if (candidate.objective < best_.objective) {
            best_ = std::move(candidate);
            upper_ = best_.objective;
        }
        return upper_;
    }

    Incumbent evaluated(const MaxMargin& solver) const {
        constexpr double kept_margin = 1 - 1e-9;
        Incumbent found;
        double smallest = 1;
        double cost = 0;
        for (std::size_t i = 0; i < samples_.count(); ++i) {
            const double margin = solver.margins()[i];
            if (margin >= kept_margin) {
                smallest = std::min(smallest, margin);
            } else {
                cost += samples_.cost(i);
            }
        }
        const double* weights = solver.weights().data();
        found.objective = 0.5 * dot(weights, weights, samples_.stride()) / (smallest * smallest) + cost;
        found.weights.assign(weights, weights + samples_.dimension());
        for (double& weight : found.weights) {
            weight /= smallest;
        }
        found.bias = solver.bias() / smallest;
        return found;
    }

    void work(bool leader) {
        PackingTree tree(samples_, options_, [this](const MaxMargin& solver) { return improve(solver); });
        std::uint64_t counted = 0;
        const auto stop = [&] {
            if (leader && !stopped_ &&
                control_.stop({upper_.load(), shown_bound_.load(), nodes_ + tree.nodes() - counted})) {
                stopped_ = true;
                changed_.notify_all();
            }
            return stopped_.load();
        };
        std::unique_lock lock(mutex_);
        std::size_t place = working_bounds_.size();
        working_bounds_.push_back(infinity);
        while (!stopped_) {
            if (queue_.empty()) {
                if (busy_ == 0) {
                    break;
                }
                // Woken by whoever puts something into the queue or finds it finished; the leader looks at the
                // clock.
                changed_.wait_for(lock, std::chrono::milliseconds(20));
                lock.unlock();
                stop();
                lock.lock();
                continue;
            }
            PackingNode node = pop();
            if (node.bound >= upper_ * (1 - options_.gap)) {
                continue;
            }
            working_bounds_[place] = std::min(node.bound, node.upper * (1 - options_.gap));
            shown_bound_ = lower_bound();
            ++busy_;
            lock.unlock();
            std::vector<PackingNode> open = tree.search(node, upper_, limits_.slice, stop);
            lock.lock();
            --busy_;
            nodes_ += tree.nodes() - counted;
            counted = tree.nodes();
            for (PackingNode& node_left : tree.take_stuck()) {
                stuck_.push_back(std::move(node_left));
            }
            for (PackingNode& left : open) {
                left.bound = std::max(left.bound, std::min(node.bound, node.upper * (1 - options_.gap)));
                push(std::move(left));
            }
            working_bounds_[place] = infinity;
            shown_bound_ = lower_bound();
            if (limits_.node_limit > 0 && nodes_ >= limits_.node_limit) {
                stopped_ = true;
            }
            changed_.notify_all();
        }
        work_ += tree.work();
        changed_.notify_all();
    }

    const Samples& samples_;
    const PackingOptions options_;
    const PackingLimits limits_;
    Control& control_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::vector<Entry> queue_;
    std::vector<PackingNode> stuck_;  // see PackingTree::take_stuck()
    std::size_t memory_ = 0;
    std::uint64_t created_ = 0;
    std::size_t busy_ = 0;
    std::vector<double> working_bounds_;  // of the subproblems that threads are working on
    Incumbent best_;
    std::atomic<double> upper_;
    std::atomic<double> shown_bound_ = 0;
    std::atomic<bool> stopped_ = false;
    std::atomic<std::uint64_t> nodes_ = 0;
    std::uint64_t work_ = 0;
};

}  // namespace

PackingOutcome packing_search(const Samples& samples, std::vector<PackingNode> frontier, double upper,
                              const PackingOptions& options, const PackingLimits& limits, Control& control) {
    return Search(samples, std::move(frontier), upper, options, limits, control).run();
}

}  // namespace hardmargin
