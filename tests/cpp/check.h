// A unit test harness of one page: TEST registers a function, CHECK and CHECK_NEAR count and report.
#pragma once

#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace check {

struct Test {
    std::string name;
    std::function<void()> body;
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

inline int& failures() {
    static int count = 0;
    return count;
}

struct Registration {
    Registration(std::string name, std::function<void()> body) { tests().push_back({std::move(name), body}); }
};

inline void report(bool holds, const char* file, int line, const std::string& what) {
    constexpr int most_messages = 20;
    if (!holds && ++failures() <= most_messages) {
        std::cerr << file << ":" << line << ": " << what << "\n";
    }
}

inline void report_near(double left, double right, double tolerance, const char* file, int line,
                        const std::string& what) {
    const bool near = std::abs(left - right) <= tolerance;
    report(near, file, line, what + ": " + std::to_string(left) + " against " + std::to_string(right));
}

}  // namespace check

#define TEST(name)                                                     \
    static void name();                                                \
    static const check::Registration name##_registration(#name, name); \
    static void name()
#define CHECK(condition) check::report((condition), __FILE__, __LINE__, #condition)
#define CHECK_NEAR(left, right, tolerance) \
    check::report_near((left), (right), (tolerance), __FILE__, __LINE__, #left " near " #right)
