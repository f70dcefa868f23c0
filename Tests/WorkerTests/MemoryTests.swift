// What the worker remembers beyond its own life, where writing fails.

import Glibc
import Linux
import Logging
import NamespaceSupport
import Session
import Testing

@testable import Worker

@Suite struct MemoryTests {
    /// A worker after one that could not write it would close the host again and connect.
    @Test func whatCannotBeWrittenIsForgottenAllTheSame() async {
        await #expect(processExitsWith: .success) {
            let path = makeTemporaryDirectory()
            func memory() throws -> SessionMemory {
                SessionMemory(in: try Directory(path), owner: getuid(), log: Log("test", sink: MemorySink()))
            }
            let first = try memory()
            first.remember(Intent(owner: 1000, killSwitch: true))
            #expect(try memory().wanted != nil)
            signal(SIGXFSZ, SIG_IGN)
            var none = rlimit()
            setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &none)
            first.forget()
            #expect(try memory().wanted == nil)
            removeTemporaryDirectory(path)
        }
    }
}
