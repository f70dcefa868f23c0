// How failures of every kind reach a person and a program.

import Commands
import EngineControl
import JSON
import Linux
import Messages
import Store
import Testing
import Transfer

@testable import Controller

private let errors: [(any Error, String, ExitCode)] = [
    (EngineFailure.missing(searched: ["/x/sing-box"]), "engine-missing", .unavailable),
    (
        EngineFailure.tooOld(path: "/x/sing-box", EngineVersion(major: 1, minor: 11, patch: 4)), "engine-too-old",
        .unavailable
    ),
    (EngineFailure.notAnEngine(path: "/bin/true"), "engine-unreadable", .unavailable),
    (
        EngineFailure.notStarted(path: "/x", SystemCallError("executing", "/x", .accessDenied)), "engine-not-started",
        .unavailable
    ),
    (EngineFailure.rejected("outbounds[0]: unknown type"), "kernel-rejected", .badInput),
    (EngineFailure.ended("x"), "engine-ended", .unavailable),
    (EngineFailure.timeout("run"), "engine-timeout", .unavailable),
    (EngineFailure.unreachable("Connection refused"), "api-unreachable", .unavailable),
    (EngineFailure.refused(status: 400, message: "x"), "api-refused", .failed),
    (SystemCallError("opening", "/x", .accessDenied), "not-permitted", .notPermitted),
    (SystemCallError("writing to", "/x", .noSpace), "no-space", .failed),
    (StoreError.noSubscription, "no-subscription", .broken),
    (StoreError.cannotUse("/x", SystemCallError("opening", "/x", .accessDenied)), "state-unwritable", .notPermitted),
    (Failure.workerNotRunning("/x"), "worker-not-running", .unavailable),
    (Failure.notInGroup("/x"), "not-in-group", .notPermitted),
    (Failure.foreignWorker("/x", 7), "foreign-worker", .notPermitted),
    (Failure.notConnected(StatusReport(state: .disconnected)), "not-connected", .notConnected),
    (Failure.notOwner, "not-owner", .notPermitted),
    (Failure.cannotMeasure("blocked"), "cannot-measure", .temporary),
]

private let workerCodes: [FailureCode: ExitCode] = [
    .notPermitted: .notPermitted, .notOwner: .notPermitted, .busy: .temporary, .notConnected: .notConnected,
    .noProfile: .broken, .badProfile: .broken, .engineMissing: .unavailable, .userNamespaces: .unavailable,
    .noTUN: .unavailable, .noFirewall: .unavailable, .secondWorker: .unavailable, .taken: .failed,
    .hostNetwork: .failed, .notConfirmed: .failed, .stateDirectory: .broken, .protocolVersion: .unavailable,
]

@Suite struct FailureTests {
    @Test func everyErrorHasCodeExitSentenceAndRemedyInBothLanguages() {
        for (error, code, exit) in errors {
            let failure = Failure(describing: error)
            #expect(failure.code == code)
            #expect(failure.exit == exit, "\(code)")
            for language in Language.allCases {
                #expect(!failure.message(language).isEmpty, "\(code)")
                #expect(!failure.message(language).contains("\n"), "\(code)")
                #expect(!failure.remedy(language).isEmpty, "\(code)")
            }
        }
    }

    @Test func whatTheModulesBelowSayInEnglishIsSaidInChinese() {
        let system = Failure(describing: SystemCallError("writing to", "/x", .noSpace)).message
        #expect(system(.chinese) == "系统调用失败（写入 /x）：磁盘空间不足。")
        #expect(system(.english).hasPrefix("writing to /x failed: "))
        let problems = [
            "is a symbolic link": "是符号链接", "is not a regular file": "不是普通文件",
            "belongs to user 0, not to user 1000": "属于用户 0，而不是用户 1000", "is larger than 9 bytes": "大于 9 字节",
        ]
        for (english, chinese) in problems {
            let message = Messages.untrustedFile("/x", english)
            #expect(message(.chinese) == "文件 /x 不可信：\(chinese)。")
            #expect(message(.english) == "The file /x cannot be trusted: it \(english).")
        }
        let transfer = TransferError(.fetch, .dns, server: "x.example/…", detail: "Could not resolve host")
        #expect(Failure(describing: transfer).message(.chinese) == "网络请求失败：x.example/…: 域名无法解析。")
        #expect(Messages.clientName("sing-box or mihomo") == Text("sing-box 或 mihomo", "sing-box or mihomo"))
        #expect(Messages.clientName("Tailscale") == Text(verbatim: "Tailscale"))
    }

    @Test func theWorkersFailuresHaveChineseWordsAndAnExit() {
        for (code, exit) in workerCodes {
            let failure = Failure.worker(Commands.Failure(code, "It failed because of X.", remedy: nil))
            #expect(failure.exit == exit, "\(code.rawValue)")
            #expect(failure.message(.english) == "It failed because of X.")
            #expect(!failure.message(.chinese).hasPrefix("It"), "\(code.rawValue)")
            #expect(failure.message(.chinese).hasSuffix("（It failed because of X）。"), "\(code.rawValue)")
            #expect(!failure.remedy(.english).isEmpty, "\(code.rawValue)")
            #expect(!failure.remedy(.chinese).isEmpty, "\(code.rawValue)")
            #expect(!failure.remedy(.chinese).contains(failure.remedy(.english)), "\(code.rawValue)")
        }
    }

    /// What only the worker knows: signals, sysctls, names of links, other workers.
    @Test func theWorkersParticularsAreInBothLanguages() {
        for code in Messages.workerFailures.keys.sorted() {
            let cause = Commands.Failure(
                FailureCode(rawValue: code), "Refused: kernel.thing is 0, link wg7.", remedy: "Run: ip link delete wg7."
            )
            let failure = Failure.worker(cause)
            for language in Language.allCases {
                #expect(failure.message(language).contains("Refused: kernel.thing is 0, link wg7"), "\(code)")
                #expect(failure.remedy(language).contains("ip link delete wg7"), "\(code)")
            }
        }
    }

    @Test func whatTheWorkerAlwaysSaysIsNotSaidTwice() {
        let owner = Failure.worker(
            Commands.Failure(
                .notOwner, "The tunnel belongs to another user of this machine.",
                remedy: "Ask that user to disconnect, or disconnect as root."))
        #expect(owner.message(.chinese) == "当前连接属于另一个用户。")
        #expect(owner.remedy(.chinese) == "请该用户断开，或由 root 运行 trocket-controller disconnect。")
        let log = "Look at its log: trocket-controller logs --source engine."
        let ended = Failure.worker(Commands.Failure(.engineExited, "The engine was killed by signal 9.", remedy: log))
        #expect(ended.message(.chinese) == "代理内核退出了（The engine was killed by signal 9）。")
        #expect(ended.remedy(.chinese) == "请查看 trocket-controller logs --source engine。")
    }

    @Test func trafficThatIsKeptOutOfTheTunnelIsAFailureWithItsRule() throws {
        var status = StatusReport(state: .connected)
        #expect(Failure.diverted(status) == nil)
        let rule = "50: from all lookup main"
        status.diversions = [
            DiversionReport(family: 6, onlyNames: false, link: "wg0", rule: rule),
            DiversionReport(family: 4, onlyNames: true, link: nil, rule: nil),
        ]
        let stopped = try #require(Failure.diverted(status))
        #expect(stopped.code == "traffic-diverted" && stopped.exit == .failed)
        #expect(stopped.remedy(.english).contains("ip -6 rule show priority 50"))
        for language in Language.allCases {
            #expect(stopped.message(language).contains(rule) && stopped.message(language).contains("wg0"))
            #expect(!stopped.message(language).contains("nil"))
        }
        #expect(stopped.message(.english).contains("IPv6 traffic does not enter the tunnel and is stopped"))
        #expect(stopped.message(.english).contains("IPv4 DNS"))
        // Without a guard nothing stops it.
        status.dataPath = .tun
        #expect(Failure.diverted(status)?.message(.english).contains("IPv6 traffic goes around the tunnel") == true)
    }

    @Test func aTunnelThatIsBlockedSaysSoAndHowToOpenIt() throws {
        var status = StatusReport(state: .blocked)
        #expect(Failure.reason(status) == nil)
        for code in [FailureCode.engineExited, .engineHostGone, .hostNetwork, .workerDied] {
            let cause = Commands.Failure(code, "It failed.", remedy: nil)
            status.state = .blocked
            status.reason = cause
            let blocked = try #require(Failure.reason(status))
            #expect((blocked.code, blocked.exit) == (code.rawValue, Failure.worker(cause).exit))
            let says = code == .workerDied ? "It failed." : "It failed. Nothing but local traffic"
            #expect(blocked.message(.english).hasPrefix(says))
            #expect(code == .engineHostGone || blocked.remedy(.english).contains("trocket-controller disconnect"))
            #expect(code == .engineHostGone || blocked.remedy(.chinese).contains("trocket-controller disconnect"))
            status.state = .disconnected
            #expect(Failure.reason(status) == Failure.worker(cause))
        }
    }

    @Test func everyStateStageAndCauseHasWords() {
        for state in TunnelState.allCases { #expect(Messages.states[state.rawValue] != nil, "\(state)") }
        for stage in ConnectStage.allCases { #expect(Messages.stages[stage.rawValue] != nil, "\(stage)") }
        for error in DelayError.allCases { #expect(Messages.delayErrors[error.rawValue] != nil, "\(error)") }
    }

    @Test func anUnknownWorkerFailureKeepsItsOwnWords() {
        let failure = Failure.worker(Commands.Failure(FailureCode(rawValue: "new"), "Something new.", remedy: "Do it."))
        #expect(failure.code == "new")
        #expect(failure.message(.chinese) == "Something new.")
        #expect(failure.remedy(.english) == "Do it.")
    }

    @Test func isRenderedInTwoLinesOrAsJSON() throws {
        var written = ""
        func output(json: Bool) -> Output {
            Output(
                language: .english, json: json, quiet: false, isWatched: false, columns: 80,
                writeOutput: { written += $0 }, writeError: { written += "E " + $0 })
        }
        let failure = Failure("some-code", .failed, Text("坏了。", "It broke."), remedy: Text("修。", "Mend it."))
        output(json: false).failure(failure)
        #expect(written == "E trocket: It broke.\nE   → Mend it.\n")
        written = ""
        output(json: true).failure(failure.with("line", "x"))
        #expect(
            try JSON.parse(written) == [
                "error": ["code": "some-code", "message": "It broke.", "remedy": "Mend it.", "line": "x"]
            ])
    }
}
