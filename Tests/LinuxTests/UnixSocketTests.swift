// Sockets with a name in the file system.

import Glibc
import Linux
import Testing

@Suite struct UnixSocketTests {
    /// The file mask is all threads' (umask(2)): narrowed by one of them for a moment, another may narrow it for good.
    @Test func listeningLeavesTheFileMaskAlone() async {
        await #expect(processExitsWith: .success) {
            umask(0o022)
            let listening = (0..<8).map { number in
                Task.detached {
                    let path = "/tmp/trocket-listening-\(getpid())-\(number)"
                    defer { unlink(path) }
                    for mode in [UInt32(0o600), 0o660, 0o666] {
                        for _ in 0..<100 {
                            _ = try UnixSocket.listen(path, mode: mode)
                            var status = stat()
                            #expect(lstat(path, &status) == 0 && status.st_mode & 0o777 == mode)
                            // Seen by this thread, whichever others are listening.
                            let made = open("\(path)-file", O_WRONLY | O_CREAT | O_CLOEXEC, 0o777)
                            #expect(fstat(made, &status) == 0 && status.st_mode & 0o777 == 0o755)
                            close(made)
                            unlink("\(path)-file")
                        }
                    }
                }
            }
            for task in listening { try await task.value }
            #expect(umask(0o022) == 0o022)
        }
    }
}
