// Two answers of one provider as one subscription: what the second agent was told and the first was not.

internal import ImportReport
internal import JSON

extension Subscription {
    /// Adds the lines of another answer that this one lacks. A line is the same when protocol, server, port and
    /// credential are; where several lines share all four, server name, path and host tell them apart, and last their
    /// names. Tags are made unique again, helpers and detours follow. A sing-box document stays as it is: what was
    /// added stands in `outbounds` and `endpoints` only.
    /// - Returns: the whole, and how many lines were added.
    package func merged(with other: Subscription) -> (subscription: Subscription, added: Int) {
        var out = self
        let own = LineIdentity.objects(outbounds + endpoints)
        let theirs = LineIdentity.objects(other.outbounds + other.endpoints)
        let known = Keys(lines, own)
        let offered = Keys(other.lines, theirs)
        let missing = other.lines.indices.filter { !known.has(offered, $0) }
        var tags = TagMaker()
        for tag in own.keys { tags.take(tag) }
        var renamed: [String: String] = [:]
        var wanted: [String] = []
        // What a missing line dials through comes along, unless it is a line already here.
        for index in missing {
            var tag: String? = other.lines[index].tag
            while let current = tag, renamed[current] == nil, let object = theirs[current] {
                if current != other.lines[index].tag, let same = known.tag(offered, of: current) {
                    renamed[current] = same
                    break
                }
                renamed[current] = tags.tag(for: current)
                wanted.append(current)
                tag = object["detour"].string
            }
        }
        let endpointTags = Set(other.endpoints.compactMap { $0["tag"].string })
        for tag in wanted {
            guard var object = theirs[tag], let new = renamed[tag] else { continue }
            object["tag"] = .string(new)
            if let detour = object["detour"].string.flatMap({ renamed[$0] }) { object["detour"] = .string(detour) }
            if endpointTags.contains(tag) { out.endpoints.append(object) } else { out.outbounds.append(object) }
        }
        for index in missing {
            var line = other.lines[index]
            line.tag = renamed[line.tag] ?? line.tag
            out.lines.append(line)
        }
        let objects = LineIdentity.objects(out.outbounds + out.endpoints)
        LineIdentity.assign(to: &out.lines, LineIdentity.subjects(out.lines, objects))
        let names = Set(missing.map { other.lines[$0].name })
        out.notices.append(contentsOf: other.notices.filter { $0.name.map(names.contains) ?? true })
        for text in other.info where !out.info.contains(text) { out.info.append(text) }
        let before = Set(out.dropped.map(\.name))
        out.dropped.append(contentsOf: other.dropped.filter { !before.contains($0.name) })
        out.providers.append(contentsOf: other.providers)
        return (out, missing.count)
    }

    /// The keys by which lines of two answers are compared.
    private struct Keys {
        var base: [String] = []
        var detail: [String] = []
        var names: [String] = []
        var baseCount: [String: Int] = [:]
        var detailCount: [String: Int] = [:]
        var named: Set<String> = []
        var tags: [String: String] = [:]
        var index: [String: Int] = [:]

        init(_ lines: [Line], _ objects: [String: JSON]) {
            for (place, line) in lines.enumerated() {
                let subject = LineIdentity.subject(objects[line.tag] ?? .null, objects)
                let key = LineIdentity.key(subject)
                let more = key + "\u{1E}" + LineIdentity.detail(subject)
                base.append(key)
                detail.append(more)
                names.append(line.name)
                baseCount[key, default: 0] += 1
                detailCount[more, default: 0] += 1
                named.insert(more + "\u{1E}" + line.name)
                if tags[key] == nil { tags[key] = line.tag }
                index[line.tag] = place
            }
        }

        /// Whether a line of another list is one of these.
        func has(_ other: Keys, _ place: Int) -> Bool {
            let key = other.base[place]
            guard let count = baseCount[key] else { return false }
            if count == 1, other.baseCount[key] == 1 { return true }
            let more = other.detail[place]
            guard let alike = detailCount[more] else { return false }
            if alike == 1, other.detailCount[more] == 1 { return true }
            return named.contains(more + "\u{1E}" + other.names[place])
        }

        /// The tag of the line here that is the same as the other list's line of this tag.
        func tag(_ other: Keys, of tag: String) -> String? {
            guard let place = other.index[tag], has(other, place) else { return nil }
            return tags[other.base[place]]
        }
    }
}
