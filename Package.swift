// swift-tools-version: 6.2
// The package: system libraries first, then C, then the Swift floor, the pure modules, the doers, the executables, the tests.
// SwiftPM enforces the import directions; `scripts/check` enforces what SwiftPM cannot.

import PackageDescription

let strict: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("InternalImportsByDefault"),
]

func module(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: strict)
}

func program(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .executableTarget(name: name, dependencies: dependencies, swiftSettings: strict)
}

func tests(_ module: String, _ more: [Target.Dependency] = [], fixtures: Bool = false) -> Target {
    .testTarget(
        name: module + "Tests", dependencies: [.byName(name: module)] + more,
        exclude: fixtures ? ["Fixtures"] : [], swiftSettings: strict)
}

let systemLibraries: [Target] = [
    .systemLibrary(name: "CNetlink", pkgConfig: "libnl-3.0", providers: [.apt(["libnl-3-dev"])]),
    .systemLibrary(name: "CNftables", pkgConfig: "libnftables", providers: [.apt(["libnftables-dev"])]),
    .systemLibrary(name: "CCapability", pkgConfig: "libcap", providers: [.apt(["libcap-dev"])]),
    .systemLibrary(name: "CYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
    .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CQrencode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .systemLibrary(name: "CNcurses", providers: [.apt(["libncurses-dev"])]),
]

let cTargets: [Target] = [
    .target(name: "CLinux", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CNetlinkShims", dependencies: ["CNetlink"], cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CSystemd", cSettings: [.define("_GNU_SOURCE")]),
    .target(name: "CCurlShims", dependencies: ["CCurl"]),
    .target(
        name: "CNcursesShims", dependencies: ["CNcurses"],
        cSettings: [.define("_GNU_SOURCE"), .define("_XOPEN_SOURCE_EXTENDED")]),
]

let pureModules: [Target] = [
    // The standard library's floating-point conversions call libm; a module without Glibc has to name it.
    .target(name: "JSON", swiftSettings: strict, linkerSettings: [.linkedLibrary("m")]),
    module("Addressing"),
    module("Notation"),
    module("Messages", ["Notation"]),
    module("ImportReport"),
    module("Commands", ["JSON"]),
    module("Session", ["Commands"]),
    module("NetworkPlan", ["Addressing"]),
    module("YAML", ["CYAML"]),
    module("Subscriptions", ["JSON", "YAML", "ImportReport", "Notation"]),
    module("Migrations", ["JSON", "ImportReport"]),
    module("Profiles", ["JSON", "ImportReport"]),
    module("CommandLine", ["Messages"]),
    module("Dashboard", ["Messages"]),
]

let doers: [Target] = [
    module("Linux", ["CLinux"]),
    module("Logging", ["Linux", "Notation"]),
    module("Privileges", ["Linux", "CLinux", "CCapability"]),
    module("Netlink", ["Linux", "Addressing", "NetworkPlan", "CNetlink", "CNetlinkShims"]),
    module("Firewall", ["CNftables"]),
    module("EngineProcess", ["Linux", "JSON"]),
    module(
        "TunnelHost",
        ["Linux", "Logging", "Addressing", "NetworkPlan", "Netlink", "Firewall", "JSON", "CSystemd"]),
    module(
        "EngineHost",
        [
            "Linux", "Logging", "Addressing", "NetworkPlan", "JSON", "EngineProcess",
            "TunnelHost", "Commands", "Notation",
        ]),
    module(
        "Worker",
        [
            "Linux", "Logging", "Privileges", "Addressing", "NetworkPlan", "Netlink", "Firewall", "TunnelHost",
            "EngineHost", "Commands", "Session", "JSON",
        ]),
    module("Transfer", ["Linux", "Notation", "CCurl", "CCurlShims", "CZlib"]),
    module("EngineControl", ["Linux", "JSON", "ImportReport", "EngineProcess", "Notation", "Transfer"]),
    module("Store", ["Linux", "JSON", "Messages", "Notation"]),
    module(
        "RuleSets",
        ["Linux", "JSON", "EngineControl", "Notation", "Transfer", "Profiles", "Store", "Subscriptions"]),
    module(
        "Importing",
        [
            "JSON", "ImportReport", "Subscriptions", "Migrations", "Profiles", "RuleSets", "Transfer",
            "EngineControl", "Store", "Messages", "Notation",
        ]),
    module("QRCode", ["CQrencode", "Messages"]),
    module("Screen", ["Linux", "Notation", "CNcurses", "CNcursesShims"]),
    module(
        "Controller",
        [
            "Linux", "Logging", "JSON", "Messages", "CommandLine", "Commands", "ImportReport", "Importing",
            "Profiles", "RuleSets", "Subscriptions", "Store", "Transfer", "EngineControl", "Dashboard", "Screen",
            "Notation", "QRCode",
        ]),
]

let programs: [Target] = [
    program("trocket-controller", ["Controller", "Linux"]),
    program("trocket-tunnel", ["Worker", "Linux"]),
]

/// The fuzz targets are a module like others, so that its tests replay their inputs. The program needs libFuzzer and code
/// made for it, which only `scripts/fuzz` asks for.
let isFuzzing = Context.environment["TROCKET_FUZZ"] != nil
let fuzzing: [Target] =
    [
        .target(
            name: "FuzzTargets",
            dependencies: [
                "Linux", "JSON", "YAML", "ImportReport", "Subscriptions", "Migrations", "Profiles", "Commands",
                "Transfer", "Store", "Importing", "Notation",
            ],
            path: "Tests/Fuzz/Targets", swiftSettings: strict),
        .testTarget(
            name: "FuzzTests", dependencies: ["FuzzTargets", "Linux"], path: "Tests/Fuzz/Replay",
            swiftSettings: strict),
    ]
    + (isFuzzing
        ? [
            .systemLibrary(name: "CLibFuzzer", path: "Tests/Fuzz/CLibFuzzer"),
            .executableTarget(
                name: "trocket-fuzz", dependencies: ["FuzzTargets", "JSON", "Linux", "CLibFuzzer"],
                path: "Tests/Fuzz/Driver",
                swiftSettings: strict),
        ] : [])

let package = Package(
    name: "trocket",
    products: [
        .executable(name: "trocket-controller", targets: ["trocket-controller"]),
        .executable(name: "trocket-tunnel", targets: ["trocket-tunnel"]),
    ] + (isFuzzing ? [.executable(name: "trocket-fuzz", targets: ["trocket-fuzz"])] : []),
    targets: systemLibraries + cTargets + pureModules + doers + programs + fuzzing + [
        tests("JSON"),
        tests("Dashboard", ["Messages"], fixtures: true),
        tests("Screen"),
        tests("QRCode", ["Messages"]),
        .target(
            name: "NamespaceSupport", dependencies: ["Linux", "CLinux"], path: "Tests/NamespaceSupport",
            swiftSettings: strict),
        .target(name: "TestSockets", dependencies: ["Linux"], path: "Tests/TestSockets", swiftSettings: strict),
        tests("Addressing"),
        tests("Notation"),
        tests("NetworkPlan", ["Addressing"]),
        tests("Netlink", ["Linux", "Addressing", "NetworkPlan", "NamespaceSupport"]),
        tests("Firewall", ["Linux", "Addressing", "NetworkPlan", "Netlink", "NamespaceSupport"]),
        tests(
            "TunnelHost",
            [
                "Linux", "Logging", "Addressing", "NetworkPlan", "Netlink", "Firewall", "Privileges",
                "NamespaceSupport",
            ]),
        tests("Linux", ["TestSockets"]),
        tests("Logging", ["Linux"]),
        tests("Profiles", ["JSON", "ImportReport"]),
        tests("Migrations", ["JSON", "ImportReport"], fixtures: true),
        tests("Transfer", ["Linux", "Notation"], fixtures: true),
        tests("Commands", ["JSON"]),
        tests("Session", ["Commands"]),
        tests("Messages"),
        tests("CommandLine", ["Messages"]),
        tests("EngineControl", ["Linux", "JSON", "ImportReport", "Transfer", "TestSockets"]),
        tests(
            "Controller",
            [
                "Messages", "JSON", "CommandLine", "Commands", "Linux", "Store", "EngineControl", "ImportReport",
                "Dashboard", "Screen", "TestSockets",
            ]),
        tests("Store", ["Linux", "JSON", "Messages"]),
        tests("Privileges", ["Linux"]),
        tests("EngineProcess", ["Linux", "JSON"]),
        tests("EngineHost", ["Linux", "JSON", "Commands", "NetworkPlan"]),
        tests(
            "Worker",
            [
                "Linux", "JSON", "Logging", "Commands", "Session", "EngineHost", "TunnelHost", "NamespaceSupport",
                "Addressing", "NetworkPlan",
            ]),
        tests("YAML"),
        tests("Subscriptions", ["JSON", "ImportReport", "Notation"], fixtures: true),
        tests("RuleSets", ["Linux", "JSON", "EngineControl", "Profiles"]),
        tests(
            "Importing",
            [
                "Linux", "JSON", "ImportReport", "EngineControl", "Transfer", "Profiles", "RuleSets", "Store",
                "Messages", "Subscriptions",
            ],
            fixtures: true),
    ]
)
