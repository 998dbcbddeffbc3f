#include <iostream>

#include "check.h"

int main() {
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
