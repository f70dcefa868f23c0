// The list of domestic prefixes that comes with the product, a file only root can write.

internal import Addressing
internal import Commands
internal import Linux
internal import Logging
internal import NetworkPlan

/// `cn-prefixes.txt` among the rule-sets. Opened once, before the worker shuts itself in; read when it is needed, so that the
/// list takes no memory meanwhile.
final class DomesticFile {
    private static let name = "cn-prefixes.txt"
    private let path: String
    /// Why it cannot be used, or the file.
    private let opened: Result<HeldFile, any Error>

    /// Opens the file. Where there is none, or others than root can write it, domestic traffic goes through the engine.
    init(in directory: String, log: Log) {
        let path = "\(directory)/\(Self.name)"
        self.path = path
        opened = Result {
            let file = try Directory(directory).open(Self.name)
            let status = try FileStatus(of: file.number, subject: path)
            guard status.isRegular, status.owner == 0, status.mode & 0o022 == 0 else {
                throw Self.failure(path, "others than root can write it")
            }
            return HeldFile(file)
        }
        if case .failure(let error) = opened {
            log(.notice, "no domestic traffic will go past the engine", ["error": "\(error)"])
        }
    }

    /// The prefixes: sorted, none inside another.
    /// - Throws: `Failure`.
    func prefixes() throws -> [Prefix] {
        do {
            let file = try opened.get().descriptor.number
            return try DomesticList.parse(try readFromStart(file, limit: DomesticList.sizeLimit, subject: path))
        } catch let failure as Failure { throw failure } catch { throw Self.failure(path, "\(error)") }
    }

    private static func failure(_ path: String, _ problem: String) -> Failure {
        Failure(
            .stateDirectory, "The list of domestic prefixes \(path) cannot be used: \(problem).",
            remedy: "Install the package again; until then domestic traffic goes through the engine.")
    }

    /// An owned descriptor behind a reference, for a place in an enumeration.
    private final class HeldFile {
        let descriptor: Descriptor
        init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    }
}
