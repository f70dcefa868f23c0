// From bytes to a subscription: recognise, convert each line, name and number what is left.

package import ImportReport
internal import JSON
internal import YAML

/// Reads subscriptions.
package enum SubscriptionReader {
    /// How many bytes a subscription may have.
    package static let maximumBytes = 32 << 20

    /// Reads a subscription in any dialect. A subscription without lines is returned as it is; see
    /// `Subscription.requireLines()`.
    /// - Parameters:
    ///   - bytes: what the provider sent, already decompressed.
    ///   - capabilities: what the engine at hand can run.
    /// - providerBodies: what the lists named in `Subscription.providers` answered, by name. Read once without to learn
    ///     which there are, fetch them, and read again with what came.
    /// - Throws: `SubscriptionError` when the text is no subscription.
    package static func read(
        _ bytes: [UInt8], capabilities: EngineCapabilities, providerBodies: [String: [UInt8]] = [:]
    ) throws(SubscriptionError) -> Subscription {
        guard bytes.count <= maximumBytes else {
            throw SubscriptionError(.tooLarge, "The answer is larger than \(maximumBytes >> 20) MiB.")
        }
        switch try Recognition.read(bytes, bodies: providerBodies) {
        case .singBox(let document):
            return singBox(document)
        case .source(let source):
            return Assembly(capabilities: capabilities).subscription(source)
        }
    }

    /// A subscription out of a sing-box configuration as it stands; migrating and fitting it come later.
    static func singBox(_ document: JSON) -> Subscription {
        var subscription = Subscription(format: .singBox)
        subscription.document = document
        subscription.outbounds = document["outbounds"].array ?? []
        subscription.endpoints = document["endpoints"].array ?? []
        let found = SingBoxLines.from(outbounds: subscription.outbounds, endpoints: subscription.endpoints)
        subscription.lines = found.lines
        subscription.info = found.info
        return subscription
    }
}
