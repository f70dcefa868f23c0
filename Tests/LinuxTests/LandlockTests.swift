// A refusal of Landlock is an error; only a kernel without it may go on.

import Glibc
import Linux
import Testing

@Suite struct LandlockTests {
    @Test(.enabled(if: getuid() == 0, "a filter needs root or no_new_privs")) func aRefusalIsNoAbsence() async {
        await #expect(processExitsWith: .success) {
            guard Landlock.version > 0 else { return }
            try DeniedCalls.refuse([444])  // landlock_create_ruleset, the same number everywhere
            let error = #expect(throws: SystemCallError.self) { try Landlock.enter(LandlockRules()) }
            precondition(error?.errno == .notPermitted)
        }
    }
}
