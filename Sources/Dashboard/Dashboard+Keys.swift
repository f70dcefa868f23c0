// What keys and clicks do.

import Messages

extension Dashboard {
    /// Takes a key in and says what is to be done.
    /// - Parameter now: seconds since 1970.
    package mutating func handle(_ key: Key, now: Double) -> [Intent] {
        switch key {
        case .control("c"): return [.quit]
        case .control("z"): return [.suspend]
        case .control("l"): return [.redraw]
        case .click(let row, let column): return click(row: row, column: column, now: now)
        default: break
        }
        if let question { return answer(question, key) }
        switch panel {
        case .paste: return pasteKey(key)
        case .code: return codeKey(key)
        case .lines: return isFiltering ? filterKey(key, now: now) : lineKey(key, now: now)
        case .help: return helpKey(key)
        case .logs: return logKey(key, now: now)
        case .connections: return connectionKey(key)
        }
    }

    private mutating func click(row: Int, column: Int, now: Double) -> [Intent] {
        switch last.target(row: row, column: column) {
        case nil: return []
        case .toggle: return panel == .paste || panel == .code ? [] : toggle(now: now)
        case .key(let key): return handle(key, now: now)
        case .item(let position):
            switch panel {
            case .lines:
                // The first click goes there, a click on the line under the cursor chooses it.
                if position == cursor.position { return choose(now: now) }
                cursor.move(to: position)
            case .connections: connectionScroller.move(to: position)
            case .help, .logs, .paste, .code: break
            }
            return []
        }
    }

    private mutating func answer(_ question: Question, _ key: Key) -> [Intent] {
        self.question = nil
        guard key == .character("y") || key == .character("Y") else { return [] }
        switch question {
        case .unguard: return [.setKillSwitch(false)]
        case .closeAll: return [.closeAllConnections]
        }
    }

    private mutating func lineKey(_ key: Key, now: Double) -> [Intent] {
        if cursor.handle(key) { return [] }
        switch key {
        case .enter: return choose(now: now)
        case .escape: return escape()
        case .paste(let text):
            if text.contains("://") {
                openPaste()
                return pasteKey(key)
            }
        case .character(let character): return command(character, now: now)
        default: break
        }
        return []
    }

    private mutating func escape() -> [Intent] {
        if snapshot.activity != nil { return [.cancel] }
        if !filter.isEmpty {
            filter = ""
            arrange()
        }
        snapshot.announcement = nil
        return []
    }

    private mutating func command(_ character: Character, now: Double) -> [Intent] {
        switch character {
        case " ": return toggle(now: now)
        case "/": isFiltering = true
        case "s":
            sort = sort.next
            arrange()
        case "t": return test([], now: now)
        case "T": return test(currentLine.map { [$0.id] } ?? [], now: now)
        case "m": return [.setMode(snapshot.mode == .rule ? .global : .rule)]
        case "k": return killSwitch(now: now)
        case "u": return snapshot.activity == nil ? needingSubscription(now: now) { [.update] } : []
        case "i":
            guard snapshot.activity == nil || isTesting else { return [] }
            openPaste()
        case "r": return needingSubscription(now: now) { [.showLink] }
        case "l":
            panel = .logs
            return [.showLogs(snapshot.logSource)]
        case "c":
            panel = .connections
            return [.showConnections]
        case "?", "h": panel = .help
        case "y": return snapshot.connection.confirmBy == nil ? [] : [.confirm]
        case "q", "Q": return [.quit]
        default: break
        }
        return []
    }

    private mutating func toggle(now: Double) -> [Intent] {
        let connection = snapshot.connection
        if connection.isOn {
            guard connection.isMine else { return refuse(Words.notMine, now: now) }
            return [.disconnect]
        }
        switch connection.phase {
        case .disconnecting: return []
        case .unavailable, .unknown, .disconnected, .connecting, .connected, .reconnecting, .blocked:
            return needingSubscription(now: now) { [.connect] }
        }
    }

    private mutating func choose(now: Double) -> [Intent] {
        guard let line = currentLine else { return needingSubscription(now: now) { [] } }
        if let why = line.unusable { return refuse(Words.cannotUse(why), now: now) }
        return [.select(line.id)]
    }

    private mutating func test(_ ids: [String], now: Double) -> [Intent] {
        if isTesting { return [.cancel] }
        guard snapshot.activity == nil else { return [] }
        return needingSubscription(now: now) { [.test(ids)] }
    }

    private mutating func killSwitch(now: Double) -> [Intent] {
        guard snapshot.connection.isMine else { return refuse(Words.notMine, now: now) }
        let holdsTraffic = snapshot.connection.phase == .blocked || snapshot.connection.phase == .reconnecting
        if snapshot.killSwitch, holdsTraffic {
            question = .unguard
            return []
        }
        return [.setKillSwitch(!snapshot.killSwitch)]
    }

    private mutating func needingSubscription(now: Double, _ intents: () -> [Intent]) -> [Intent] {
        snapshot.hasSubscription ? intents() : refuse(Words.noSubscriptionYet, now: now)
    }

    private mutating func refuse(_ why: Text, now: Double) -> [Intent] {
        announce(why, .warning, now: now)
        return []
    }

    private mutating func filterKey(_ key: Key, now: Double) -> [Intent] {
        switch key {
        case .escape:
            isFiltering = false
            setFilter("")
        case .enter: isFiltering = false
        case .backspace, .delete: setFilter(String(filter.dropLast()))
        case .control("u"), .control("w"): setFilter("")
        case .character(let character): setFilter(filter + String(character))
        case .paste(let text): setFilter(filter + String(text.prefix(64).filter { !$0.isNewline }))
        default: _ = cursor.handle(key)
        }
        return []
    }

    private mutating func setFilter(_ text: String) {
        filter = text
        arrange()
    }

    /// Opens the field for a link. What was said of an earlier one would look like an answer to this one.
    private mutating func openPaste() {
        panel = .paste
        pasted = ""
        snapshot.announcement = nil
    }

    private mutating func pasteKey(_ key: Key) -> [Intent] {
        switch key {
        case .escape:
            panel = .lines
            pasted = ""
        case .enter:
            let source = pasted.trimmingBlanks()
            pasted = ""
            panel = .lines
            return source.isEmpty ? [] : [.importSource(source)]
        case .backspace, .delete: pasted = String(pasted.dropLast())
        case .control("u"), .control("w"): pasted = ""
        case .character(let character): pasted.append(character)
        case .paste(let text): pasted += text
        default: break
        }
        // Secrets are not hoarded: a subscription pasted whole fits well into this.
        if pasted.utf8.count > 4_194_304 { pasted = String(pasted.prefix(1_048_576)) }
        return []
    }

    private mutating func helpKey(_ key: Key) -> [Intent] {
        if helpScroller.handle(key) { return [] }
        panel = .lines
        return []
    }

    private mutating func codeKey(_ key: Key) -> [Intent] {
        if key == .wheelUp || key == .wheelDown { return [] }
        code = nil
        panel = .lines
        return []
    }

    private mutating func logKey(_ key: Key, now: Double) -> [Intent] {
        if logScroller.handle(key) { return [] }
        switch key {
        case .left: logShift = max(0, logShift - 20)
        case .right: logShift = min(400, logShift + 20)
        case .escape, .character("q"), .character("l"):
            panel = .lines
            logShift = 0
            return [.hideLogs]
        case .tab, .character("s"):
            let all = LogSource.allCases
            let place = all.firstIndex(of: snapshot.logSource) ?? 0
            snapshot.logSource = all[(place + 1) % all.count]
            snapshot.logLines = []
            logScroller = Scroller(follows: true)
            return [.showLogs(snapshot.logSource)]
        case .character("y"):
            announce(Words.copied, .calm, now: now)
            return [.copy(snapshot.logLines.joined(separator: "\n"))]
        case .character("x"): return snapshot.logSource == .controller ? [.clearLogs] : []
        default: break
        }
        return []
    }

    private mutating func connectionKey(_ key: Key) -> [Intent] {
        if connectionScroller.handle(key) { return [] }
        switch key {
        case .escape, .character("q"), .character("c"):
            panel = .lines
            return [.hideConnections]
        case .character("x"), .delete:
            guard snapshot.connections.indices.contains(connectionScroller.position) else { return [] }
            return [.closeConnection(snapshot.connections[connectionScroller.position].id)]
        case .character("X"): if !snapshot.connections.isEmpty { question = .closeAll }
        default: break
        }
        return []
    }
}

extension String {
    /// The text without blanks and line ends around it.
    func trimmingBlanks() -> String {
        var rest = self[...]
        while let first = rest.first, first.isWhitespace { rest.removeFirst() }
        while let last = rest.last, last.isWhitespace { rest.removeLast() }
        return String(rest)
    }
}
