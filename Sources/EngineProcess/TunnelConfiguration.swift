// The engine's configuration that makes it a tunnel: inbounds in a sandbox, the control API, the cache. Everything else is
// in the profile, which comes second and so cannot change any of this.

package import JSON

/// What the tunnel's half of the configuration depends on.
package struct TunnelConfiguration: Sendable {
    /// The addresses of the TUN, with lengths.
    package var tunAddresses: [String]
    /// The MTU of the TUN.
    package var tunMTU = 65535
    /// Whether TCP comes by REDIRECT and UDP by TPROXY; else all comes by the TUN.
    package var redirects = true
    /// Whether the kernel has IPv6.
    package var hasIPv6 = true
    /// The ports of the two inbounds, inside the sandbox.
    package var redirectPort: UInt16
    /// The port of the TPROXY inbound in the sandbox.
    package var tproxyPort: UInt16
    /// The engine writes the pid of the sandbox's holder there.
    package var pidFile: String
    /// The control API's port on 127.0.0.1.
    package var apiPort: UInt16
    /// The control API's bearer token.
    package var secret: String
    /// The file that keeps selection and mode.
    package var cacheFile: String
    /// Whose entries in that file.
    package var cacheOwner: String

    package init(
        tunAddresses: [String], redirectPort: UInt16, tproxyPort: UInt16, pidFile: String, apiPort: UInt16,
        secret: String, cacheFile: String, cacheOwner: String
    ) {
        self.tunAddresses = tunAddresses
        self.redirectPort = redirectPort
        self.tproxyPort = tproxyPort
        self.pidFile = pidFile
        self.apiPort = apiPort
        self.secret = secret
        self.cacheFile = cacheFile
        self.cacheOwner = cacheOwner
    }

    private static let sandbox: JSON = "sandbox"

    /// The document. Single values that a profile could use to open doors are named here with their harmless value, because
    /// the first file wins.
    package var json: JSON {
        let listen: JSON = hasIPv6 ? "::" : "0.0.0.0"
        var inbounds: [JSON] = [
            [
                "type": "tun", "tag": "tun", "interface_name": "tun0", "address": .strings(tunAddresses),
                "mtu": .int(tunMTU), "auto_route": false, "stack": "mixed", "netns": Self.sandbox,
            ]
        ]
        if redirects {
            inbounds += [
                [
                    "type": "redirect", "tag": "redirect", "listen": listen, "listen_port": .int(redirectPort),
                    "netns": Self.sandbox,
                ],
                [
                    "type": "tproxy", "tag": "tproxy", "listen": listen, "listen_port": .int(tproxyPort),
                    "network": "udp", "netns": Self.sandbox,
                ],
            ]
        }
        return [
            "log": ["disabled": false, "level": "info", "output": "", "timestamp": true],
            "network_namespaces": [["type": "unshare", "tag": Self.sandbox, "pid_file": .string(pidFile)]],
            "inbounds": .array(inbounds),
            "experimental": [
                "clash_api": [
                    "external_controller": .string("127.0.0.1:\(apiPort)"), "secret": .string(secret),
                    "default_mode": "Rule", "external_ui": "", "external_ui_download_url": "",
                ],
                "cache_file": ["enabled": true, "path": .string(cacheFile), "cache_id": .string(cacheOwner)],
                "debug": ["listen": ""],
            ],
        ]
    }
}
