// One short run of the engine's program: arguments in, everything it printed out.

import EngineProcess
import Linux

/// What a finished run left.
struct EngineOutput {
    /// Exit status, or 128 + signal.
    let code: Int32
    let output: [UInt8]
    /// What it said on standard error, without colours.
    let words: String
}

/// Runs of the engine that end by themselves: `version`, `check`, `schema`, `rule-set …`.
enum EngineRun {
    /// The only environment the engine gets: where system authorities are, if the user moved them.
    static func environment() -> [String] {
        ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap { name in Surroundings.variable(name).map { "\(name)=\($0)" } }
    }

    /// The files that environment names.
    static var authorities: [String] {
        ["SSL_CERT_FILE", "SSL_CERT_DIR"].compactMap { name in
            Surroundings.variable(name).flatMap { $0.isEmpty ? nil : $0 }
        }
    }

    /// Runs the program to its end and collects its output.
    /// - Parameters:
    ///   - input: becomes descriptor 3, readable as /dev/fd/3.
    ///   - milliseconds: ended by force after so long.
    ///   - limit: bytes kept of the output.
    ///   - readable: more directories it may read: rule-sets.
    static func run(
        _ path: String, _ arguments: [String], input: [UInt8]? = nil, milliseconds: Int = 20_000,
        limit: Int = 64 << 20, readable: [String] = []
    ) throws(EngineFailure) -> EngineOutput {
        do {
            return try collect(
                path, arguments, input: input, milliseconds: milliseconds, limit: limit, readable: readable)
        } catch let failure as EngineFailure {
            throw failure
        } catch let failure as SystemCallError {
            throw failure.subject.contains(path) ? .notStarted(path: path, failure) : .system(failure)
        } catch {
            throw .timeout(arguments.first ?? "")
        }
    }

    private static func collect(
        _ path: String, _ arguments: [String], input: [UInt8]?, milliseconds: Int, limit: Int, readable: [String]
    ) throws -> EngineOutput {
        let output = try Pipe()
        let words = try Pipe()
        var request = ChildRequest(path: path, arguments: ["sing-box"] + arguments)
        request.environment = environment()
        request.descriptors = [1: output.writer.number, 2: words.writer.number]
        let child: ChildProcess
        if let input {
            let file = try memoryFile("configuration", holding: input)
            request.descriptors[3] = file.number
            child = try EngineLaunch.startBriefly(request, readable: readable + authorities)
            file.close()
        } else {
            child = try EngineLaunch.startBriefly(request, readable: readable + authorities)
        }
        let readers = [output.keepingReader().release(), words.keepingReader().release()]
        defer { readers.forEach { Descriptor(owning: $0).close() } }
        let deadline = Moment.now.adding(milliseconds: milliseconds)
        var collected: [[UInt8]] = [[], []]
        var open: Set<Int> = [0, 1]
        while !open.isEmpty {
            let positions = open.sorted()
            let ready = wait(
                for: positions.map { (readers[$0], .readable) }, milliseconds: deadline.milliseconds(since: Moment.now))
            guard ready.contains(where: { !$0.isEmpty }) else {
                child.end(graceMilliseconds: 0)
                throw EngineFailure.timeout(arguments.prefix(2).joined(separator: " "))
            }
            for (position, readiness) in zip(positions, ready) where !readiness.isEmpty {
                guard case .bytes(let bytes) = try readSome(readers[position]) else {
                    open.remove(position)
                    continue
                }
                if collected[position].count + bytes.count <= limit { collected[position] += bytes }
            }
        }
        let code = child.wait(milliseconds: max(100, deadline.milliseconds(since: Moment.now)))
        if code == nil { child.end(graceMilliseconds: 0) }
        return EngineOutput(
            code: code ?? 128, output: collected[0], words: plain(String(decoding: collected[1], as: UTF8.self)))
    }

    /// Takes out terminal colours (ECMA-48 SGR).
    static func plain(_ text: String) -> String {
        guard text.utf8.contains(0x1b) else { return text }
        var kept = String.UnicodeScalarView()
        var escaped = false
        for scalar in text.unicodeScalars {
            if escaped {
                if ("a"..."z").contains(scalar) || ("A"..."Z").contains(scalar) { escaped = false }
            } else if scalar == "\u{1b}" {
                escaped = true
            } else {
                kept.append(scalar)
            }
        }
        return String(kept)
    }
}
