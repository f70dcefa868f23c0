// The last gate: the real engine checks and starts the profile; what it refuses is taken out.

import EngineControl
import ImportReport
import JSON
import Messages
import Profiles
import Transfer

/// The engine's verdict on a draft.
struct KernelGate {
    /// Lines taken out one a round before all are looked at in small groups.
    static let single = 3
    /// Seconds of taking out; the provider's rules go as a whole then, and what is still refused fails the import.
    static let seconds = 60

    let engine: EngineBinary
    let client: HTTPClient
    /// Seconds since 1970.
    let now: () -> Int
    /// Called before each round.
    let progress: (_ round: Int) -> Void

    /// Shapes and checks until the engine takes the profile and starts with it.
    /// - Throws: `ImportError` with `no-lines` or `kernel-rejected`, `EngineFailure` when the engine cannot be run.
    func pass(_ draft: inout Draft) throws -> ShapedProfile {
        var round = 0
        var end = now() + Self.seconds
        var isSifted = false
        while true {
            let shaped: ShapedProfile
            do throws(ShapingError) { shaped = try draft.shape() } catch { throw ImportError.noLinesLeft(draft) }
            let refused = try refusal(shaped.profile, readable: draft.ruleSetDirectories, isFirst: round == 0)
            guard let words = refused else { return shaped }
            round += 1
            progress(round)
            let complaint = KernelComplaint(words)
            if complaint.isAboutALine, round > Self.single, !isSifted {
                isSifted = true
                let sieve = LineSieve(shaped.profile, now: now, end: end) { configuration in
                    round += 1
                    progress(round)
                    return try engine.refusal(of: configuration)
                }
                for line in try sieve.refused() { draft.drop(line.tag, line.words) }
                end = now() + Self.seconds
                continue
            }
            let isInTime = now() < end
            guard
                isInTime
                    ? draft.remove(complaint, words, from: shaped) : draft.removeRouting(words, from: shaped.profile)
            else {
                throw ImportError.kernelRejected(
                    Scrubber.scrub(words, of: [shaped.profile["outbounds"], shaped.profile["endpoints"]]))
            }
        }
    }

    /// What the engine has against a profile; nil when it starts. Starting begins with all that `check` does: most profiles
    /// are good, so the first time it is asked apart only after a start that failed, for its words.
    private func refusal(_ profile: JSON, readable: [String], isFirst: Bool) throws -> String? {
        if isFirst {
            guard let words = try refusalToStart(profile, readable: readable) else { return nil }
            return try engine.refusal(of: profile, readable: readable) ?? words
        }
        return try engine.refusal(of: profile, readable: readable) ?? refusalToStart(profile, readable: readable)
    }

    /// What keeps the engine from starting with a profile. Loopback only, no TUN; it is ended at once.
    private func refusalToStart(_ profile: JSON, readable: [String]) throws -> String? {
        do throws(EngineFailure) {
            _ = try ThrowawayEngine(at: engine.path, client: client, readable: readable) { access in
                var whole = EngineSettings(controlPort: Int(access.controlPort), secret: access.secret, cacheFile: nil)
                    .document
                for member in profile.object?.members ?? [] { whole[member.key] = member.value }
                whole["outbounds"] = .array(profile["outbounds"].listed.map(Self.withoutProbes))
                return whole
            }
            return nil
        } catch {
            switch error {
            case .ended(let words), .rejected(let words): return words
            default: throw error
            }
        }
    }

    /// A urltest as a selector over the same lines: a started urltest asks every line at once, and an import asks none.
    private static func withoutProbes(_ outbound: JSON) -> JSON {
        guard outbound["type"] == "urltest" else { return outbound }
        return ["type": "selector", "tag": outbound["tag"], "outbounds": outbound["outbounds"]]
    }
}

extension EngineBinary {
    /// What `check` has against a configuration; nil when it takes it.
    fileprivate func refusal(of configuration: JSON, readable: [String] = []) throws(EngineFailure) -> String? {
        do throws(EngineFailure) { try check(configuration, readable: readable) } catch {
            guard case .rejected(let words) = error else { throw error }
            return words
        }
        return nil
    }
}

extension ImportError {
    /// Every line was taken out.
    fileprivate static func noLinesLeft(_ draft: Draft) -> ImportError {
        let reasons = draft.rejected.prefix(3).compactMap(\.detail).joined(separator: "; ")
        return ImportError(
            .noLines,
            Text(
                "订阅里没有这个内核能用的线路" + (reasons.isEmpty ? "。" : ":\(reasons)。"),
                "The subscription holds no line this engine can use" + (reasons.isEmpty ? "." : ": \(reasons).")),
            remedy: Text(
                "换一个带全部构建标签的内核，或换订阅。原来的订阅保持不变。",
                "Use an engine with all build tags, or another subscription. The previous subscription stays as it was."
            ))
    }
}
