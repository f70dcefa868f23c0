// Reading YAML: libyaml's events become a `Node`, with aliases resolved, merge keys applied and limits kept.

internal import CYAML

extension Node {
    /// Reads the first document of a text. A text without a document is a null scalar.
    /// - Parameters:
    ///   - bytes: the text; control characters, byte-order marks and broken UTF-8 are dealt with.
    ///   - limits: how much is accepted.
    /// - Throws: `YAMLError` with the line.
    package static func parse(yaml bytes: [UInt8], limits: YAMLLimits = YAMLLimits()) throws(YAMLError) -> Node {
        guard bytes.count <= limits.bytes else {
            throw YAMLError(kind: .limit, problem: "the text is larger than \(limits.bytes) bytes", line: 1)
        }
        let text = YAMLText.cleaned(bytes)
        let result: Result<Node, YAMLError> = text.withUnsafeBufferPointer { buffer in
            var builder = NodeBuilder(limits: limits)
            do throws(YAMLError) { return .success(try builder.document(buffer)) } catch { return .failure(error) }
        }
        return try result.get()
    }
}

/// Builds nodes from events, without recursion.
private struct NodeBuilder {
    /// A sequence or mapping not yet ended.
    private struct Open {
        let isMapping: Bool
        let anchor: String?
        var items: [Node] = []
        var pairs: [Mapping.Pair] = []
        /// What `<<` brought in, in the order it was written.
        var merged: [Mapping] = []
        /// The key waiting for its value; nil inside when the key is none we keep.
        var key: Key?
        /// How many nodes this one stands for.
        var size = 1

        init(isMapping: Bool, anchor: String?) {
            self.isMapping = isMapping
            self.anchor = anchor
        }
    }

    private enum Key {
        case text(String)
        case merge
        case ignored
    }

    private struct Anchored {
        let node: Node
        let size: Int
    }

    private let limits: YAMLLimits
    private var open: [Open] = []
    private var anchors: [String: Anchored] = [:]
    private var expanded = 0
    private var written = 0
    private var root: Node?

    init(limits: YAMLLimits) { self.limits = limits }

    mutating func document(_ text: UnsafeBufferPointer<UInt8>) throws(YAMLError) -> Node {
        let parser = UnsafeMutablePointer<yaml_parser_t>.allocate(capacity: 1)
        defer { parser.deallocate() }
        guard yaml_parser_initialize(parser) == 1 else {
            throw YAMLError(kind: .limit, problem: "no memory for the parser", line: 1)
        }
        defer { yaml_parser_delete(parser) }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, text.baseAddress, text.count)
        var event = yaml_event_t()
        while true {
            guard yaml_parser_parse(parser, &event) == 1 else { throw Self.failure(parser) }
            defer { yaml_event_delete(&event) }
            switch event.type {
            case YAML_DOCUMENT_END_EVENT, YAML_STREAM_END_EVENT, YAML_NO_EVENT:
                return root ?? .scalar(Scalar(text: ""))
            default:
                try take(&event)
            }
        }
    }

    private static func failure(_ parser: UnsafeMutablePointer<yaml_parser_t>) -> YAMLError {
        // libyaml's sentences are constants; they never quote the text.
        let problem = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
        let line = Int(clamping: parser.pointee.problem_mark.line) &+ 1
        let hasContext = parser.pointee.context != nil
        let start = hasContext ? Int(clamping: parser.pointee.context_mark.line) &+ 1 : nil
        return YAMLError(kind: .syntax, problem: problem, line: line, start: start)
    }

    private static func text(_ pointer: UnsafePointer<yaml_char_t>?, _ length: Int) -> String {
        guard let pointer, length > 0 else { return "" }
        return String(decoding: UnsafeBufferPointer(start: pointer, count: length), as: UTF8.self)
    }

    private static func text(_ pointer: UnsafePointer<yaml_char_t>?) -> String? {
        pointer.map { String(cString: $0) }
    }

    private mutating func take(_ event: inout yaml_event_t) throws(YAMLError) {
        let line = Int(clamping: event.start_mark.line) &+ 1
        switch event.type {
        case YAML_SCALAR_EVENT:
            let scalar = event.data.scalar
            let style = scalar.style
            let node = Node.scalar(
                Scalar(
                    text: Self.text(scalar.value, Int(clamping: scalar.length)),
                    isQuoted: style != YAML_PLAIN_SCALAR_STYLE && style != YAML_ANY_SCALAR_STYLE,
                    tag: Self.tag(scalar.tag)))
            if let anchor = Self.text(scalar.anchor) { anchors[anchor] = Anchored(node: node, size: 1) }
            try count(line)
            try add(node, size: 1, line: line)
        case YAML_SEQUENCE_START_EVENT:
            try begin(isMapping: false, anchor: Self.text(event.data.sequence_start.anchor), line: line)
        case YAML_MAPPING_START_EVENT:
            try begin(isMapping: true, anchor: Self.text(event.data.mapping_start.anchor), line: line)
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT:
            try end(line: line)
        case YAML_ALIAS_EVENT:
            guard let name = Self.text(event.data.alias.anchor), let target = anchors[name] else {
                throw YAMLError(kind: .syntax, problem: "an alias to an anchor that is not there", line: line)
            }
            try expand(target.size, line: line)
            try add(target.node, size: target.size, line: line)
        default:
            break
        }
    }

    private static func tag(_ pointer: UnsafePointer<yaml_char_t>?) -> Scalar.Tag {
        guard let text = text(pointer) else { return .none }
        switch text {
        case "!", "tag:yaml.org,2002:str": return .string
        case "tag:yaml.org,2002:null": return .null
        default: return .other
        }
    }

    private mutating func count(_ line: Int) throws(YAMLError) {
        written += 1
        if written > limits.nodes {
            throw YAMLError(kind: .limit, problem: "more than \(limits.nodes) nodes", line: line)
        }
    }

    private mutating func expand(_ size: Int, line: Int) throws(YAMLError) {
        expanded = expanded.addingReportingOverflow(size).partialValue
        if size > limits.expandedNodes || expanded > limits.expandedNodes {
            throw YAMLError(
                kind: .limit, problem: "aliases stand for more than \(limits.expandedNodes) nodes", line: line)
        }
    }

    private mutating func begin(isMapping: Bool, anchor: String?, line: Int) throws(YAMLError) {
        try count(line)
        guard open.count < limits.depth else {
            throw YAMLError(kind: .limit, problem: "nested deeper than \(limits.depth)", line: line)
        }
        open.append(Open(isMapping: isMapping, anchor: anchor))
    }

    private mutating func end(line: Int) throws(YAMLError) {
        guard let done = open.popLast() else { return }
        var size = done.size
        let node: Node
        if !done.isMapping {
            node = .sequence(done.items)
        } else if done.merged.isEmpty {
            node = .mapping(Mapping(pairs: done.pairs))
        } else {
            var pairs: [Mapping.Pair] = []
            for mapping in done.merged.reversed() {
                try expand(mapping.pairs.count, line: line)
                size += mapping.pairs.count
                pairs.append(contentsOf: mapping.pairs)
            }
            pairs.append(contentsOf: done.pairs)
            node = .mapping(Mapping(pairs: pairs))
        }
        if let anchor = done.anchor { anchors[anchor] = Anchored(node: node, size: size) }
        try add(node, size: size, line: line)
    }

    private mutating func add(_ node: Node, size: Int, line: Int) throws(YAMLError) {
        guard !open.isEmpty else {
            root = node
            return
        }
        let last = open.count - 1
        open[last].size = open[last].size.addingReportingOverflow(size).partialValue
        guard open[last].isMapping else {
            open[last].items.append(node)
            return
        }
        guard let key = open[last].key else {
            open[last].key = Self.key(node)
            return
        }
        open[last].key = nil
        switch key {
        case .text(let text): open[last].pairs.append(Mapping.Pair(key: text, value: node))
        case .merge: Self.merge(node, into: &open[last].merged)
        case .ignored: break
        }
    }

    private static func key(_ node: Node) -> Key {
        guard case .scalar(let scalar) = node else { return .ignored }
        if scalar.text == "<<", !scalar.isQuoted, scalar.tag != .string { return .merge }
        return .text(scalar.text)
    }

    /// Takes in what `<<` names: a mapping, or a list of mappings of which the first counts most
    /// (<https://yaml.org/type/merge.html>). Anything else merges nothing.
    private static func merge(_ node: Node, into merged: inout [Mapping]) {
        switch node {
        case .mapping(let mapping): merged.append(mapping)
        case .sequence(let items):
            for case .mapping(let mapping) in items { merged.append(mapping) }
        case .scalar: break
        }
    }
}
