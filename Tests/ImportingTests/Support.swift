// What the tests of this target share: scratch directories, a provider on loopback, an importer over the real engine.

import EngineControl
import Glibc
import JSON
import Linux
import Profiles
import RuleSets
import Store
import Testing
import Transfer

@testable import Importing

/// The engine the tests run, when there is one.
let engine: EngineBinary? = try? EngineBinary.find()
let noEngine: Comment = "no engine: set TROCKET_ENGINE to a sing-box 1.14 or newer"

let folder = "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/")

/// A directory that is removed with its content when the test is over.
final class Scratch {
    let path: String

    init() throws {
        var template = Array("/tmp/trocket-test-XXXXXX".utf8CString)
        path = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!) }.map { String(cString: $0) })
    }

    deinit { Self.remove(path) }

    private static func remove(_ path: String) {
        if let directory = try? Directory(path) {
            for name in (try? directory.names()) ?? [] { remove("\(path)/\(name)") }
            rmdir(path)
        } else {
            unlink(path)
        }
    }

    func write(_ name: String, _ bytes: [UInt8]) throws { try UserFile.write("\(path)/\(name)", bytes) }
    func write(_ name: String, _ text: String) throws { try write(name, Array(text.utf8)) }
    func delete(_ name: String) { unlink("\(path)/\(name)") }

    func text(_ name: String) -> String {
        String(decoding: (try? UserFile.read("\(path)/\(name)", limit: 1 << 24)) ?? [], as: UTF8.self)
    }

    /// Every file below, by path relative to here.
    func files(below inner: String = "") -> [String] {
        let names = (try? Directory("\(path)/\(inner)").names()) ?? []
        return names.flatMap { name -> [String] in
            let relative = inner.isEmpty ? name : "\(inner)/\(name)"
            return (try? Directory("\(path)/\(relative)")) == nil ? [relative] : files(below: relative)
        }
    }
}

/// A provider on loopback whose answers are files in a scratch directory.
final class Provider {
    let files: Scratch
    let port: Int
    private let child: ChildProcess
    private let input: Int32

    init() throws {
        files = try Scratch()
        var request = ChildRequest(
            path: "/usr/bin/python3", arguments: ["python3", "\(folder)/Fixtures/server.py", files.path])
        request.environment = ["PATH=/usr/bin:/bin"]
        // The thread that starts it is a pool's and may end before the test does.
        request.parentDeathSignal = nil
        let toChild = try Pipe()
        let fromChild = try Pipe()
        request.descriptors = [0: toChild.reader.number, 1: fromChild.writer.number, 2: 2]
        child = try ChildProcess(starting: request)
        input = try toChild.writer.duplicate().release()
        var line: [UInt8] = []
        while !line.contains(10) {
            guard case .bytes(let bytes) = try readSome(fromChild.reader.number) else { break }
            line += bytes
        }
        port = try #require(Int(String(decoding: line.prefix { $0 != 10 }, as: UTF8.self)))
    }

    deinit {
        close(input)
        child.end(graceMilliseconds: 0)
    }

    func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }
    var requests: [String] { files.text("requests.log").split(separator: "\n").map(String.init) }
}

/// An importer over the real engine and network, its clock at one moment.
func importer(store: StateDirectory?, bundled: String = "/nonexistent", fetch: Fetch? = nil) throws -> Importer {
    let client = HTTPClient()
    let fetcher = Fetcher(client: client, environment: { _ in nil })
    return Importer(
        engine: try #require(engine), client: client, library: RuleSetLibrary(store: store, bundled: bundled),
        fetch: fetch ?? { fetcher.fetch($0) }, prepare: { $0.totalMilliseconds = 5000 }, options: ShapingOptions(),
        now: { 1_800_000_000 })
}

/// The import error a body throws.
func importError(_ body: () throws -> Void) -> ImportError? {
    do {
        try body()
        return nil
    } catch { return error as? ImportError }
}
