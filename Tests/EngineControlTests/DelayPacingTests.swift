// How many lines are tested at a time, played through with a clock and a network made of numbers.

import Testing

@testable import EngineControl

@Suite struct DelayPacingTests {
    /// A line of a played list.
    private enum Line {
        case good(Int)
        case refused
        case silent
    }

    private struct Played {
        /// When the last test started.
        var lastStart = 0
        /// Good lines that did not answer in time.
        var lost = 0
        /// The most tests at a time.
        var peak = 0
    }

    /// Plays a measurement. Every 10 ms the network moves the tests of good lines on, all alike.
    /// - Parameter work: milliseconds of the whole network that a test needs.
    private func play(_ lines: [Line], limit: Int = 256, work: Double = 0.1, timeout: Int = 5000) -> Played {
        var pacing = DelayPacing(limit: limit)
        var played = Played()
        var waiting = DelayRun.spread(lines.count)[...]
        var running: [Int: (start: Int, left: Double)] = [:]
        var now = 0
        while !(waiting.isEmpty && running.isEmpty) {
            for test in waiting.prefix(pacing.vacancies(at: now)) {
                pacing.start(test, at: now)
                running[test] = (now, work)
                waiting.removeFirst()
                played.lastStart = now
            }
            played.peak = max(played.peak, running.count)
            now += 10
            let moving = running.keys.filter { if case .good = lines[$0] { running[$0]?.left ?? 0 > 0 } else { false } }
            for test in moving { running[test]?.left -= 10 / Double(moving.count) }
            for (test, state) in running {
                let took = now - state.start
                var isGood = false
                var isRefused = false
                switch lines[test] {
                case .good(let latency): isGood = state.left <= 0 && took >= latency
                case .refused: isRefused = true
                case .silent: break
                }
                guard isGood || isRefused || took >= timeout else { continue }
                running[test] = nil
                _ = pacing.end(test, at: now, isGood: isGood, isSilent: !isGood && !isRefused)
                if case .good = lines[test], !isGood { played.lost += 1 }
            }
        }
        return played
    }

    /// 60 % good ones of 20 to 900 ms, 20 % refused, 20 % silent.
    private let mixed: [Line] = (0..<500).map { number in
        switch number % 5 {
        case 1: .refused
        case 3: .silent
        default: .good(20 + 880 * number / 499)
        }
    }

    @Test func silentLinesHoldUpNobody() {
        let played = play(mixed)
        // The round is the last start and one time-out; two seconds more are allowed, of which the engine's start takes some.
        #expect(played.lastStart <= 1500)
        #expect(played.lost == 0)
    }

    @Test func aRowOfDeadLinesAtTheHeadCostsNoMore() {
        let sorted =
            mixed.filter { if case .silent = $0 { true } else { false } }
            + mixed.filter { if case .silent = $0 { false } else { true } }
        #expect(play(sorted).lastStart <= 1700)
    }

    @Test(arguments: [8.0, 16, 33]) func aThinNetworkLosesNoGoodLine(work: Double) {
        #expect(play(Array(repeating: .good(50), count: 500), work: work).lost == 0)
        #expect(play(mixed, work: work).lost == 0)
    }

    @Test(arguments: [1, 8, 64, 1000]) func theLimitHolds(limit: Int) {
        let quick = play(Array(repeating: .good(400), count: 2000), limit: limit)
        #expect(quick.peak == min(limit, 768))
        // Whoever waits for long does not count, but is not without number either.
        #expect(play(Array(repeating: .silent, count: 5000), limit: limit, timeout: 30_000).peak <= 768)
    }

    @Test func everyPositionComesOnceAndNeighboursApart() {
        for count in [0, 1, 2, 3, 10, 500, 618, 4096] {
            #expect(DelayRun.spread(count).sorted() == Array(0..<count))
        }
        // Of any ten that are tested together, at most two come from the same tenth of the list.
        let order = DelayRun.spread(500)
        for start in stride(from: 0, to: 490, by: 10) {
            var tenths = Array(repeating: 0, count: 10)
            for position in order[start..<start + 10] { tenths[position / 50] += 1 }
            #expect(tenths.allSatisfy { $0 <= 2 })
        }
    }

    @Test func aFailureAtTheTimeoutIsTheTimeout() {
        #expect(DelayRun.outcome(.failed(.failed), after: 4900, timeout: 5000) == .failed(.timeout))
        #expect(DelayRun.outcome(.failed(.failed), after: 4899, timeout: 5000) == .failed(.failed))
        #expect(DelayRun.outcome(.failed(.failed), after: 3, timeout: 100) == .failed(.failed))
        #expect(DelayRun.outcome(.milliseconds(4990), after: 4990, timeout: 5000) == .milliseconds(4990))
    }
}
