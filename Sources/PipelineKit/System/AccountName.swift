import Files
package import Glibc

/// What users and groups are called, safe to print; their numbers where they have no names.
package enum AccountName {
    package static func user(_ id: uid_t) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            var entry = passwd()
            var found: UnsafeMutablePointer<passwd>?
            guard let base = buffer.baseAddress, getpwuid_r(id, &entry, base, buffer.count, &found) == 0,
                found != nil, let name = entry.pw_name
            else { return "\(id)" }
            return EscapedText.of(String(cString: name))
        }
    }

    package static func group(_ id: gid_t) -> String {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: 16_384) { buffer in
            var entry = Glibc.group()
            var found: UnsafeMutablePointer<Glibc.group>?
            guard let base = buffer.baseAddress, getgrgid_r(id, &entry, base, buffer.count, &found) == 0,
                found != nil, let name = entry.gr_name
            else { return "\(id)" }
            return EscapedText.of(String(cString: name))
        }
    }
}
