import Glibc
import PipelineKit
import SystemPackage

/// As whom this process does what it does.
package enum CurrentUser {
    /// The effective user's name, or its number where it has none.
    package static var name: String { name(of: geteuid()) }

    /// A user's name, or its number.
    static func name(of user: uid_t) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let base = buffer.baseAddress, getpwuid_r(user, &entry, base, buffer.count, &found) == 0,
                found != nil, let name = entry.pw_name
            else { return "\(user)" }
            return EscapedText.of(String(cString: name))
        }
    }

    /// CAP_LEASE of capabilities(7): leases on files of others.
    static let lease = 28

    /// Whether it has a capability (CapEff of proc(5)).
    static func has(capability: Int) -> Bool {
        guard let status = ProcessFiles.text("/proc/self/status") else { return false }
        let line = status.split(separator: "\n").first { $0.hasPrefix("CapEff:") }
        let digits = line?.dropFirst("CapEff:".count).drop { $0 == "\t" || $0 == " " }
        return digits.flatMap { UInt64($0, radix: 16) }.map { $0 >> capability & 1 == 1 } ?? false
    }
}
