package import Files
import Glibc
import SystemPackage

/// Which drops a stage is for: all that is given must hold.
package struct Condition: Hashable, Sendable {
    /// The drop's name matches one of these; empty: any name.
    package var names: [Glob] = []
    /// The drop's name matches none of these.
    package var exceptions: [Glob] = []
    /// The drop's path below the inbox (`folder/name`) matches one of these; `*` matches `/` too.
    package var paths: [Glob] = []
    /// What stages found out, by name, matches one of these: `type`, `image/*`.
    package var facts: [String: [Glob]] = [:]
    /// The drop has more bytes than this.
    package var larger: ByteSize?
    /// The drop has fewer bytes than this.
    package var smaller: ByteSize?

    /// A condition that holds for every drop.
    package init() {}

    /// A condition on the name alone.
    package init(name: Glob) { names = [name] }

    /// Whether it can hold for a drop of this name and place.
    package func mayHold(for name: FileName, in folders: [FileName]) -> Bool {
        if !names.isEmpty, !names.contains(where: { $0.matches(name) }) { return false }
        if exceptions.contains(where: { $0.matches(name) }) { return false }
        if paths.isEmpty { return true }
        let path = Array((folders + [name]).map(\.bytes).joined(separator: [UInt8(ascii: "/")]))
        return paths.contains { $0.matches(path) }
    }

    /// Whether it depends on more than name and place.
    package var looksDeeper: Bool { !facts.isEmpty || larger != nil || smaller != nil }

    /// What it asks for, for people: `'*.zip'`, or `'*.zip', larger than 1.0 MiB`.
    package var text: String {
        var parts = (names + paths).map { "'\(EscapedText.of($0.pattern))'" }
        parts += exceptions.map { "all but '\(EscapedText.of($0.pattern))'" }
        for (name, globs) in facts.sorted(by: { $0.key < $1.key }) {
            parts += globs.map { "of \(name) '\(EscapedText.of($0.pattern))'" }
        }
        if let larger { parts.append("larger than \(larger)") }
        if let smaller { parts.append("smaller than \(smaller)") }
        return parts.joined(separator: ", ")
    }

    /// Whether it holds for a drop of which this is known so far.
    package func holds(for drop: Drop, facts: [String: String] = [:]) -> Bool {
        guard mayHold(for: drop.name, in: drop.folders) else { return false }
        for (name, globs) in self.facts {
            guard let fact = facts[name], globs.contains(where: { $0.matches(Array(fact.utf8)) }) else { return false }
        }
        if let larger, drop.size <= larger.bytes { return false }
        if let smaller, drop.size >= smaller.bytes { return false }
        return true
    }
}
