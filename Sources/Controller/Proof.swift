// The proof of a connection: one real HTTPS request through the host's network, that is through the tunnel.

package import Commands
package import JSON
import Linux
import Messages
import Profiles
import Store
import Transfer

/// What the last proof found, and of which connection.
package struct Proof: Hashable, Sendable {
    /// Seconds since 1970.
    package var at: Int
    /// Milliseconds from start to answer; nil when there was none.
    package var milliseconds: Int?
    /// `timeout`, `tls`, `dns`, `refused`, `closed`, `http`, …; nil when it was answered.
    package var error: String?
    /// What the proof stands for: this connection, this engine, this network, this line, this mode. Another one needs a new
    /// proof. Empty until it is known through which line the request went.
    package var subject: String

    /// Whether the request was answered.
    package var isGood: Bool { milliseconds != nil }
    /// Seconds a proof stands: who asks for the state later is told of a line that has died meanwhile, and who asks again
    /// and again does not wait every time.
    private static let standsFor = 10
    /// Whether it still says how things are.
    func stands(for subject: String, now: Int) -> Bool {
        self.subject == subject && (0..<Self.standsFor).contains(now - at)
    }
    /// Whether it was given up before it ended: then it says nothing.
    private var isEmpty: Bool { milliseconds == nil && error == nil }

    /// `{"ok", "ms", "at", "error"}`.
    package var json: JSON {
        [
            "ok": .bool(isGood), "ms": .optional(milliseconds), "at": .int(at), "error": .optional(error),
        ]
    }

    /// The address asked: `TROCKET_PROBE_URL`, else the one every test of this kind uses.
    package static func url(_ variable: (String) -> String?) -> String {
        let given = variable("TROCKET_PROBE_URL") ?? ""
        return given.isEmpty ? "https://www.gstatic.com/generate_204" : given
    }

    /// What a proof taken now would stand for.
    /// - Parameters:
    ///   - line: the tag of the line chosen.
    ///   - automatic: the tag of the line the automatic choice uses; nil before it uses one.
    package static func subject(_ status: StatusReport, line: String?, automatic: String?, mode: String?) -> String {
        // The automatic choice is as good as the line it uses.
        let line = line == ProfileTag.auto ? automatic ?? ProfileTag.auto : line
        return "\(connection(status))/\(mode ?? "")/\(line ?? "")"
    }

    /// The part of it that the worker knows: its events tell whoever watches when there is something new to be proven.
    package static func connection(_ status: StatusReport) -> String {
        "\(status.since ?? 0)/\(status.engine?.pid ?? 0)/\(status.networkChanges)"
    }

    /// Milliseconds after which a request that has no answer yet gets company. What hangs is mostly the question for the
    /// name: a datagram that was lost is asked again after 5 s (resolv.conf(5)), when the proof's time is over.
    private static let patience = 1_500

    /// Asks once, or twice when the first takes long. Any answer below 400 is a proof: it came over TLS from the server asked.
    package static func take(_ context: Context, milliseconds: Int) -> Proof {
        var request = HTTPRequest(.get, url(context.variable))
        request.totalMilliseconds = milliseconds
        request.connectMilliseconds = milliseconds
        request.bodyLimit = 1 << 20
        request.authorities = context.variable("SSL_CERT_FILE").flatMap { $0.isEmpty ? nil : $0 }
        // A client of its own: a connection kept from before a switch would prove the old line.
        let client = HTTPClient(connections: 4)
        var proof = Proof(at: Int(wallClock()), milliseconds: nil, error: nil, subject: "")
        do throws(TransferError) {
            var answers: [Result<HTTPResponse, TransferError>] = []
            var asked = 1
            client.start(request) { answers.append($0) }
            let second = Moment.now.adding(milliseconds: patience)
            while answers.count < asked {
                client.wait(milliseconds: 250)
                context.output.tick()
                guard !context.isInterrupted() else { return proof }
                if case .success = answers.last { break }
                if asked == 1, answers.isEmpty, Moment.now >= second {
                    asked = 2
                    client.start(request) { answers.append($0) }
                }
            }
            guard let response = try answers.last?.get() else { return proof }
            if response.status < 400 { proof.milliseconds = response.milliseconds } else { proof.error = "http" }
        } catch {
            switch error.cause {
            case .time: proof.error = "timeout"
            case .certificate, .handshake: proof.error = "tls"
            default: proof.error = error.cause.rawValue
            }
        }
        return proof
    }

    /// Asks until it is answered or the time is over.
    /// - Parameter milliseconds: for all attempts together.
    package static func prove(_ context: Context, milliseconds: Int) -> Proof {
        let deadline = Moment.now.adding(milliseconds: milliseconds)
        var proof = take(context, milliseconds: milliseconds)
        while proof.error != nil, case let left = deadline.milliseconds(since: Moment.now), left > 500 {
            // A failure that came at once would be asked again at once.
            _ = wait(for: [], milliseconds: min(250, left))
            proof = take(context, milliseconds: max(1, deadline.milliseconds(since: Moment.now)))
        }
        proof.at = Int(wallClock())
        return proof
    }
}

extension Proof {
    private static let file = StateDirectory.proofFile

    /// Remembers it. A state directory that cannot be written costs a new proof next time and nothing else.
    func save(_ context: Context) {
        guard !isEmpty, let directory = try? Directory(context.stateDirectory) else { return }
        var object = json
        object["subject"] = .string(subject)
        try? directory.replace(Self.file, with: object.encoded(), mode: 0o600)
    }

    /// The remembered one; nil without.
    static func load(_ context: Context) -> Proof? {
        guard let directory = try? Directory(context.stateDirectory),
            let bytes = try? directory.read(file, owner: nil, limit: 65_536), let value = try? JSON.parse(bytes),
            let at = value["at"].int, let subject = value["subject"].string
        else { return nil }
        return Proof(at: at, milliseconds: value["ms"].int, error: value["error"].string, subject: subject)
    }
}
