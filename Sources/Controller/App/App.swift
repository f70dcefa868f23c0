// The running screen: one loop over the keyboard, the worker, the engine, the state directory and the verbs that run.

import Dashboard
import EngineControl
import Linux
import Messages
import Screen
import Store
import Transfer

/// The program without a verb.
///
/// Concurrency: one thread, one wait. It paints before it asks anyone anything, paints again only when something changed,
/// and sleeps without a timeout while nothing is due.
final class App {
    let context: Context
    let screen: Screen
    var dashboard: Dashboard
    /// The engine of a connected tunnel of ours, and the streams from it.
    var engine: EngineFeed?
    var worker: WorkerClient?
    var jobs: [Job] = []
    /// The test, import or update under way.
    var activity: Job?
    /// The log being followed.
    var logJob: Job?
    /// The state directory's record as it was last read, for what the screen asks of it.
    var lineTags: [String: String] = [:]
    var proof: Job?
    /// The connection and engine the last proof was of, so that a new one is asked for when they change.
    var provenConnection = ""
    /// Changes that wait, and the one that is made.
    var changes: [Change] = []
    var changing: Job?
    /// What the user chose and is not stored yet.
    var wantedLine: String?
    var wantedMode: Mode?
    var lookedForWorker = Moment(nanoseconds: 0)
    private var watch: DirectoryWatch?
    private var timers: [TimerName: (at: Moment, body: () -> Void)] = [:]
    private var isDirty = true
    private var painted = Moment(nanoseconds: 0)
    private var isEnding = false
    /// Milliseconds between two paints that no key asked for.
    private static let paintInterval = 50

    enum TimerName: Hashable { case worker, connections, reload, automatic, trim }

    /// Shows the screen until the user leaves.
    /// - Throws: `Failure` when the terminal cannot show it.
    static func run(_ context: Context) throws -> ExitCode {
        let app = try App(context)
        defer { app.screen.close() }
        try app.loop()
        return .done
    }

    private init(_ context: Context) throws {
        self.context = context
        let term = context.variable("TERM")
        let noColour = context.variable("NO_COLOR").map { !$0.isEmpty } ?? false
        do throws(ScreenError) {
            screen = try Screen(colour: !noColour, term: term, widthOf: { DisplayWidth.of($0) })
        } catch { throw Failure.screen(error) }
        // A Linux console draws text and lines, but neither flags nor ideographs.
        let isConsole = term == "linux"
        let glyphs = Glyphs(unicode: screen.isUnicode, flags: !isConsole, blocks: !isConsole)
        let isForced = context.variable("TROCKET_LANG").map { !$0.isEmpty } ?? false
        dashboard = Dashboard(language: isConsole && !isForced ? .english : context.language, glyphs: glyphs)
        dashboard.update {
            $0.isLoading = true
            $0.utcOffset = Surroundings.utcOffset
        }
    }

    private func loop() throws {
        let signals = screen.signalDescriptor
        paint()
        loadState()
        watch = try? DirectoryWatch(context.stateDirectory)
        paint()
        connectToWorker()
        while !isEnding {
            let sources = sources(signals)
            let ready = waitFor(sources.map { ($0.descriptor, .readable) }, milliseconds: paintIfDue())
            for (source, readiness) in zip(sources, ready) where readiness != [] { source.body() }
            fireTimers()
        }
        activity?.cancel()
        logJob?.cancel()
        flushChanges()
    }

    func quit() { isEnding = true }

    /// Changes what the dashboard is told, and has it drawn.
    func tell(_ change: (inout Snapshot) -> Void) {
        dashboard.update(change)
        isDirty = true
    }

    func announce(_ text: Text, _ weight: Announcement.Weight, seconds: Double = 6) {
        dashboard.announce(text, weight, now: wallClock(), seconds: seconds)
        isDirty = true
    }

    func markDirty() { isDirty = true }

    // MARK: Waiting

    private struct Source {
        let descriptor: Int32
        let body: () -> Void
    }

    private func sources(_ signals: Int32) -> [Source] {
        var sources = [
            Source(descriptor: screen.input) { [self] in readKeys() },
            Source(descriptor: signals) { [self] in readSignals() },
        ]
        if let worker { sources.append(Source(descriptor: worker.descriptor) { [self] in readWorker() }) }
        if let watch { sources.append(Source(descriptor: watch.descriptor.number) { [self] in stateChanged() }) }
        for job in jobs {
            sources.append(
                Source(descriptor: job.descriptor) { [self] in
                    if !job.read() { jobs.removeAll { $0 === job } }
                    isDirty = true
                })
        }
        return sources
    }

    private func waitFor(
        _ descriptors: [(descriptor: Int32, interest: Readiness)], milliseconds: Int?
    ) -> [Readiness] {
        // libcurl is not even set up before there is an engine to listen to.
        guard engine != nil else { return wait(for: descriptors, milliseconds: milliseconds) }
        return context.client.wait(milliseconds: milliseconds ?? 3_600_000, also: descriptors)
    }

    func after(_ name: TimerName, milliseconds: Int, _ body: @escaping () -> Void) {
        timers[name] = (Moment.now.adding(milliseconds: milliseconds), body)
    }

    func cancelTimer(_ name: TimerName) { timers[name] = nil }

    private func fireTimers() {
        let now = Moment.now
        for (name, timer) in timers where timer.at <= now {
            timers[name] = nil
            timer.body()
        }
    }

    // MARK: Painting

    private func paint() {
        let now = wallClock()
        let frame = dashboard.frame(Size(columns: screen.columns, rows: screen.rows), now: now)
        screen.draw(Painting.runs(frame), cursor: frame.cursor)
        isDirty = false
        painted = Moment.now
    }

    /// Paints when it is time to.
    /// - Returns: milliseconds until something is due; nil when nothing is.
    private func paintIfDue() -> Int? {
        let since = Moment.now.milliseconds(since: painted)
        let wall = wallClock()
        if isDirty, since >= Self.paintInterval { paint() }
        var due: [Int] = timers.values.map { $0.at.milliseconds(since: Moment.now) + 1 }
        if isDirty { due.append(max(1, Self.paintInterval - since)) }
        if let change = dashboard.nextChange(now: wall) {
            let milliseconds = Int((change - wall) * 1000) + 1
            due.append(max(1, min(milliseconds, 86_400_000)))
            if milliseconds <= 1 { isDirty = true }
        }
        return due.min()
    }

    private func readKeys() {
        let events = screen.events()
        if events.isEmpty { checkTerminal() }
        for event in events { handle(dashboard.handle(Painting.key(event), now: wallClock())) }
        retryWorker()
        if !isEnding { paint() }
    }

    /// A terminal that is gone is readable for ever and has nothing to say.
    private func checkTerminal() {
        if !Surroundings.isTerminal(screen.input) { isEnding = true }
    }

    private func readSignals() {
        for signal in screen.signals() {
            switch signal {
            case .resized: screen.takeSize()
            case .end: isEnding = true
            case .continued: screen.redrawAll()
            }
        }
        if !isEnding { paint() }
    }

    // MARK: The state directory

    private func stateChanged() {
        guard let names = watch?.changes() else { return }
        // Reading it soon after is reading it once, however many files an import replaces.
        if names.contains(StateDirectory.stateFile) { after(.reload, milliseconds: 50) { [self] in loadState() } }
    }
}
