// How many lines are tested at a time: as many as the machine, the engine and the network carry without slowing each other.

/// Decides when the next test of a measurement may start. It is told the time and knows no clock.
///
/// A burst of handshakes makes good lines look slow or dead, on two processors or a thin uplink; a silent line costs nothing
/// but its time-out. So the number at a time begins small and follows the answers, and whoever has waited for long no longer
/// counts. All times are milliseconds since the measurement began.
struct DelayPacing {
    /// Tests at a time in the beginning, and the fewest later.
    private static let fewest = 32
    /// The most tests under way, waiting ones included: each is two descriptors here and three in the engine.
    static let most = 768
    /// A test that has waited so long costs nothing any more, unless answers in general take that long.
    private static let patience = 1000
    /// The answers that are looked back at.
    private static let memory = 32

    private let limit: Int
    private let fewest: Int
    private var room: Int
    private var running: [Int: Int] = [:]
    private var answers: [Int] = []

    /// - Parameter limit: the most tests at a time.
    init(limit: Int) {
        self.limit = min(max(1, limit), Self.most)
        fewest = min(self.limit, Self.fewest)
        room = fewest
    }

    /// Whether nothing is under way.
    var isIdle: Bool { running.isEmpty }

    /// How many tests may start now.
    func vacancies(at now: Int) -> Int {
        let patience = max(Self.patience, slowAnswer * 3 / 2)
        let counted = running.values.count { now - $0 < patience }
        return max(0, min(room - counted, Self.most - running.count))
    }

    /// A test starts.
    mutating func start(_ test: Int, at now: Int) { running[test] = now }

    /// A test ends.
    /// - Parameters:
    ///   - isGood: the line answered.
    ///   - isSilent: it did not in time. That says nothing about how much can be carried.
    /// - Returns: how long it took.
    mutating func end(_ test: Int, at now: Int, isGood: Bool, isSilent: Bool) -> Int {
        let took = now - (running.removeValue(forKey: test) ?? now)
        if isGood { answers = answers.suffix(Self.memory - 1) + [took] }
        guard !isSilent else { return took }
        if slowAnswer <= Self.patience {
            room = min(limit, room + 1)
        } else if slowAnswer > Self.patience * 3 / 2 {
            room = max(fewest, room - 1)
        }
        return took
    }

    /// What three of four recent answers did not exceed; 0 while there are few.
    private var slowAnswer: Int {
        guard answers.count >= 8 else { return 0 }
        return answers.sorted()[answers.count * 3 / 4]
    }
}
