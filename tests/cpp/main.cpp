#include <iostream>

#include "base/kernels_choice.h"
#include "check.h"

#ifdef NDEBUG
#error "the tests check the contracts of the core: without asserts they would not"
#endif

namespace {

// The exit status that CTest counts as skipped.
constexpr int skipped = 77;

}  // namespace

int main() {
    if (const std::string error = hardmargin::kernels_error(); !error.empty()) {
        std::cerr << error << "\n";
        return skipped;
    }
    int failed = 0;
    for (const check::Test& test : check::tests()) {
        const int before = check::failures();
        test.body();
        if (check::failures() > before) {
            ++failed;
            std::cerr << "FAILED " << test.name << "\n";
        }
    }
    const auto total = static_cast<int>(check::tests().size());
    std::cout << total - failed << " passed, " << failed << " failed\n";
    return failed == 0 ? 0 : 1;
}
