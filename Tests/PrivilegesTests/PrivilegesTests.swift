// Dropping is tried for real in a process of its own, and every way it can fall short is noticed.

import Glibc
import Linux
import Privileges
import Testing

private let status = """
    Name:\tworker
    Uid:\t61001\t61001\t61001\t61001
    Gid:\t61001\t61001\t61001\t61001
    Groups:\t
    CapInh:\t0000000000000000
    CapPrm:\t0000000000001000
    CapEff:\t0000000000001000
    CapBnd:\t0000000000001000
    CapAmb:\t0000000000000000
    NoNewPrivs:\t1
    Seccomp:\t0

    """

private let wanted = CapabilitySet([.netAdmin])

@Suite struct PrivilegesTests {
    @Test func aGoodStatusPasses() throws {
        let parsed = try #require(ProcessStatus(parsing: status))
        try Privileges.verify(parsed, user: 61001, group: 61001, capabilities: wanted)
    }

    @Test(arguments: [
        ("Uid:\t61001\t61001\t61001", "Uid:\t61001\t61001\t0", "Uid"),
        ("Gid:\t61001", "Gid:\t0", "Gid"), ("Groups:\t", "Groups:\t27 ", "Groups"),
        ("CapInh:\t0000000000000000", "CapInh:\t0000000000001000", "CapInh"),
        ("CapPrm:\t0000000000001000", "CapPrm:\t0000000000003000", "CapPrm"),
        ("CapEff:\t0000000000001000", "CapEff:\t0000000000000000", "CapEff"),
        ("CapBnd:\t0000000000001000", "CapBnd:\t000001ffffffffff", "CapBnd"),
        ("CapAmb:\t0000000000000000", "CapAmb:\t0000000000001000", "CapAmb"),
        ("NoNewPrivs:\t1", "NoNewPrivs:\t0", "NoNewPrivs"),
    ])
    func everyShortfallIsNamed(line: String, bad: String, name: String) throws {
        let range = try #require(status.firstRange(of: line))
        let parsed = try #require(ProcessStatus(parsing: status.replacingCharacters(in: range, with: bad)))
        let error = #expect(throws: PrivilegeError.self) {
            try Privileges.verify(parsed, user: 61001, group: 61001, capabilities: wanted)
        }
        #expect(error?.problem.hasPrefix(name) == true)
    }

    @Test func aTornStatusIsNone() {
        #expect(ProcessStatus(parsing: "") == nil)
        #expect(ProcessStatus(parsing: String(status.dropLast(40))) == nil)
    }

    @Test(.enabled(if: getuid() == 0)) func droppingLeavesExactlyTheCapability() async {
        await #expect(processExitsWith: .success) {
            try Privileges.drop(to: 61001, group: 61001, keeping: [.netAdmin])
            let status = try ProcessStatus.ofThisThread()
            guard status.effective.rawValue == 0x1000, status.bounding.rawValue == 0x1000, status.users[0] == 61001,
                open("/etc/shadow", O_RDONLY) < 0
            else { exit(3) }
        }
    }

    @Test(.enabled(if: getuid() == 0)) func droppingEverythingLeavesNothing() async {
        await #expect(processExitsWith: .success) {
            try Privileges.drop(to: 61002, group: 61002, keeping: [])
            let status = try ProcessStatus.ofThisThread()
            guard status.permitted == .none, status.bounding == .none, status.noNewPrivileges else { exit(3) }
        }
    }

    @Test func droppingWithoutRootThrows() async {
        await #expect(processExitsWith: .success) {
            setgroups(0, nil)
            guard getuid() != 0 || setuid(61003) == 0 else { exit(3) }
            do { try Privileges.drop(to: 61004, group: 61004, keeping: [.netAdmin]) } catch { exit(0) }
            exit(4)
        }
    }
}

@Suite(.enabled(if: Landlock.version > 0)) struct ConfinementTests {
    @Test func landlockLeavesOnlyWhatIsNamed() async throws {
        let place = try TemporaryDirectory()
        await #expect(processExitsWith: .success) { [path = place.path as String] in
            var rules = LandlockRules()
            rules.readable = ["/usr", "/nonexistent/directory"]
            rules.writable = [path]
            rules.files = ["/dev/null"]
            rules.bindablePorts = []
            rules.refusesConnections = true
            guard open("/etc/hostname", O_RDONLY) >= 0 else { exit(2) }
            try Landlock.enter(rules)
            guard open("/etc/hostname", O_RDONLY) < 0, open("/usr/bin/env", O_RDONLY) >= 0 else { exit(3) }
            guard open("/usr/trocket-never", O_WRONLY | O_CREAT, 0o600) < 0 else { exit(4) }
            guard open("\(path)/x", O_WRONLY | O_CREAT, 0o600) >= 0 else { exit(5) }
            guard open("/dev/null", O_WRONLY) >= 0 else { exit(6) }
        }
        place.remove()
    }

    @Test func theWorkersFilterStopsPrograms() async {
        await #expect(processExitsWith: .success) {
            try Privileges.drop(to: 61001, group: 61001, keeping: [])
            try DeniedCalls.refuse(DeniedCalls.worker)
            guard fork() < 0, errno == EPERM else { exit(3) }
            guard kill(getppid(), 0) < 0 || getuid() == 0 else { exit(4) }
            guard try ProcessStatus.ofThisThread().seccomp == 2 else { exit(5) }
        }
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
