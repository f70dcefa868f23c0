// Leading the host's own resolver through the tunnel, and taking that back.

internal import Addressing
internal import Linux
internal import Logging
internal import Netlink
internal import NetworkPlan

extension HostNetwork {
    /// Leads the host's resolver through the tunnel, which has to be up. A resolver that refuses is no failure: it is a state
    /// that `status` shows.
    /// - Throws: `SystemCallError` when the ledger cannot be written.
    @discardableResult
    package func protectDNS() throws -> DNSProtection {
        guard let request, let link = try? socket.link(named: Reserved.link) else { return .captured }
        let start = clock()
        do throws(DNSError) {
            guard try dnsBackend.isPresent() else {
                dnsIsSet = false
                dnsProtection = .captured
                return .captured
            }
        } catch {
            return refused(error, since: start)
        }
        dnsIsSet = true
        try ledger.write(ledgerEntries)
        let servers = familiesPresent.map(request.addresses.resolver)
        do throws(DNSError) { try dnsBackend.secure(link.index, servers: servers) } catch {
            return refused(error, since: start)
        }
        if dnsProtection != .resolved { log(.info, "resolved asks through the tunnel") }
        dnsProtection = .resolved
        return .resolved
    }

    /// Whether the host's resolver asks through the tunnel, and sees to it that it does: other programs rewrite it, and it may
    /// have been started, or allowed to be told, only now. One that refuses takes a tenth of the worker's time at most.
    /// - Throws: `SystemCallError` when the ledger cannot be written.
    @discardableResult
    package func checkDNS() throws -> DNSProtection {
        if case .refused = dnsProtection, clock() < dnsRetry { return dnsProtection }
        guard dnsProtection == .resolved, let request, let link = try? socket.link(named: Reserved.link) else {
            return try protectDNS()
        }
        let servers = familiesPresent.map(request.addresses.resolver)
        let holds: Bool
        do throws(DNSError) { holds = try dnsBackend.isSecured(link.index, servers: servers) } catch { holds = false }
        guard !holds else { return .resolved }
        log(.warning, "repairing", ["drift": "resolved does not ask through the tunnel any more"])
        return try protectDNS()
    }

    private func refused(_ error: DNSError, since start: Moment) -> DNSProtection {
        let now = clock()
        dnsRetry = now.adding(milliseconds: 10 * now.milliseconds(since: start))
        guard dnsProtection != .refused(reason: error.text) else { return dnsProtection }
        log(.warning, "resolved does not ask through the tunnel", ["doing": error.operation, "said": error.text])
        dnsProtection = .refused(reason: error.text)
        return dnsProtection
    }

    /// Takes back what the resolver was told. With the link it would forget it too, so a refusal is only logged.
    func releaseDNS() {
        guard dnsIsSet else { return }
        dnsIsSet = false
        dnsProtection = .captured
        guard let link = try? socket.link(named: Reserved.link) else { return }
        do throws(DNSError) { try dnsBackend.revert(link.index) } catch {
            log(.warning, "cannot take back what resolved was told", ["said": error.text])
        }
    }

    /// What is on the host now, for the ledger.
    var ledgerEntries: LedgerEntries {
        var entries = LedgerEntries(installed)
        entries.hasDNS = dnsIsSet
        return entries
    }
}
