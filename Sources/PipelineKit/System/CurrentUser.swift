package import Glibc

/// The effective user.
package enum CurrentUser {
    /// The effective user's name, or its number where it has none.
    package static var name: String { AccountName.user(geteuid()) }

    /// Whether it is no member of that group.
    package static func lacks(_ group: gid_t) -> Bool {
        var groups = [gid_t](repeating: 0, count: 65_536)
        let count = getgroups(Int32(groups.count), &groups)
        return group != getegid() && !groups.prefix(max(0, Int(count))).contains(group)
    }

    /// CAP_LEASE of capabilities(7): leases on files of others.
    package static let lease = 28

    /// Whether it has a capability (CapEff of proc(5)).
    package static func has(capability: Int) -> Bool {
        guard let status = ProcessFiles.text("/proc/self/status") else { return false }
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let digits = line?.dropFirst("CapEff:".count).drop { $0 == "\t" || $0 == " " }
        return digits.flatMap { UInt64($0, radix: 16) }.map { $0 >> capability & 1 == 1 } ?? false
    }
}
