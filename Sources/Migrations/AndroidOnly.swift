// Always: an option that is refused everywhere but on Android.

package import ImportReport
package import JSON

/// `route.override_android_vpn` goes.
package struct AndroidOnly: Migration {
    package let name = "android-only"
    package let since = "1.8"

    package init() {}

    package func apply(_ document: inout JSON, _ context: MigrationContext) -> [Change] {
        var changes: [Change] = []
        document.edit("route") { route in
            guard route.removeMember("override_android_vpn") != nil else { return }
            changes.append(change("route.override_android_vpn", "removed: for Android only"))
        }
        return changes
    }
}
