import Glibc
import SystemPackage

/// Which drops a stage is for: all that is given must hold.
package struct Condition: Hashable, Sendable {
    /// The drop's name matches one of these; empty: any name.
    package var names: [Glob] = []
    /// The drop's path below the inbox (`folder/name`) matches one of these; `*` matches `/` too.
    package var paths: [Glob] = []
    /// What `detect` found out matches one of these: `image/*`.
    package var types: [Glob] = []
    /// The drop has more bytes than this.
    package var larger: ByteSize?
    /// The drop has fewer bytes than this.
    package var smaller: ByteSize?

    /// A condition that holds for every drop.
    package init() {}

    /// A condition on the name alone.
    package init(name: Glob) { names = [name] }

    /// Whether it holds for a drop of which this is known so far.
    package func holds(for drop: Drop, facts: [String: String] = [:]) -> Bool {
        if !names.isEmpty, !names.contains(where: { $0.matches(drop.name) }) { return false }
        if !paths.isEmpty {
            let path = (drop.folders + [drop.name]).map(\.bytes).joined(separator: [UInt8(ascii: "/")])
            if !paths.contains(where: { $0.matches(Array(path)) }) { return false }
        }
        if !types.isEmpty {
            guard let type = facts["type"] else { return false }
            if !types.contains(where: { $0.matches(Array(type.utf8)) }) { return false }
        }
        if let larger, drop.size <= larger.bytes { return false }
        if let smaller, drop.size >= smaller.bytes { return false }
        return true
    }
}
