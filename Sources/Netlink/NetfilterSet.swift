// The elements of an nft interval set: thousands put in and compared by messages of our own.

internal import Addressing
internal import CNetlink
package import NetworkPlan

/// A set of addresses in an nft table of family `inet` (linux/netfilter/nf_tables.h).
package struct NetfilterSet {
    private let socket: NetfilterSocket
    private let table: String
    private let name: String

    /// Intervals that travel in one message, whose attributes end at 64 KiB.
    private static let messageSize = 800

    /// A set by its names.
    package init(_ socket: NetfilterSocket, table: String, name: String) {
        self.socket = socket
        self.table = table
        self.name = name
    }

    /// Puts intervals in. They must not touch each other or what the set holds.
    /// - Throws: `NetlinkError`.
    package func add(_ intervals: [AddressInterval]) throws(NetlinkError) {
        var start = 0
        while start < intervals.count {
            let end = min(start + Self.messageSize, intervals.count)
            var elements = NetfilterAttribute(ElementList.elements)
            for interval in intervals[start..<end] {
                elements.add(Self.element(interval.first.bytes, isEnd: false))
                if let behind = interval.end { elements.add(Self.element(behind.bytes, isEnd: true)) }
            }
            try socket.change(
                [.init(type: Self.newElements, flags: NLM_F_CREATE, attributes: subject + elements.bytes)],
                "filling the nft set", description)
            start = end
        }
    }

    /// What the set holds.
    /// - Throws: `NetlinkError`, also when there is no such set.
    package func fingerprint() throws(NetlinkError) -> Fingerprint {
        try socket.list(Self.getElements, Self.newElements, subject, description, addingTo: Fingerprint()) {
            found, answer in
            answer[ElementList.elements].map(Attributes.init(bytes:))?.forEach { _, element in
                let parts = Attributes(bytes: element)
                guard let key = parts[Element.key].flatMap({ Attributes(bytes: $0)[Element.value] }) else { return }
                let flags: UInt32 = parts.value(Element.flags) ?? 0
                found.add(key, UInt32(bigEndian: flags) & Element.isEnd == 0 ? 0 : 1)
            }
        }
    }

    private static func element(_ key: [UInt8], isEnd: Bool) -> [UInt8] {
        let flags = isEnd ? [NetfilterAttribute(Element.flags, Element.isEnd)] : []
        let key = NetfilterAttribute(Element.key, holding: [NetfilterAttribute(Element.value, key)])
        return NetfilterAttribute(Element.listed, holding: flags + [key]).bytes
    }

    private var description: String { "\(name) of table \(table)" }
    private var subject: [UInt8] {
        NetfilterAttribute(ElementList.table, table).bytes + NetfilterAttribute(ElementList.set, name).bytes
    }

    /// NFT_MSG_NEWSETELEM and NFT_MSG_GETSETELEM.
    private static let newElements: UInt16 = 12
    private static let getElements: UInt16 = 13
}

/// NFTA_SET_ELEM_LIST_*.
private enum ElementList {
    static let table = 1
    static let set = 2
    static let elements = 3
}

/// NFTA_LIST_ELEM, NFTA_SET_ELEM_*, NFTA_DATA_VALUE, NFT_SET_ELEM_INTERVAL_END.
private enum Element {
    static let listed = 1
    static let key = 1
    static let flags = 3
    static let value = 1
    static let isEnd: UInt32 = 1
}

extension Fingerprint {
    /// Of a set that holds these intervals.
    package init(elements intervals: some Sequence<AddressInterval>) {
        self.init()
        for interval in intervals {
            add(interval.first.bytes, 0)
            if let end = interval.end { add(end.bytes, 1) }
        }
    }
}
