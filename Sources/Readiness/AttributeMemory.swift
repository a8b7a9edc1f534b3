package import PipelineKit
package import SystemPackage

/// How long a file system may answer from its own cache what other hosts have changed: even when the kernel asks
/// again, some programs that serve one do not. Known values; `docs/readiness.md` lists them.
package struct AttributeMemory: Equatable {
    /// How long its answers may be out of date.
    package let longest: Duration
    /// The mount option that shortens it.
    package let option: String

    /// A kind of file system: its own time, and the mount options that set another.
    private struct Rule {
        let kinds: Set<String>
        let longest: Duration
        /// In seconds.
        var options: [String] = []
        /// Options that switch it off.
        var off: [String] = []
        let advice: String
    }

    private static let rules = [
        Rule(
            kinds: ["nfs", "nfs4"], longest: .seconds(60), options: ["acregmax", "actimeo"], off: ["noac"],
            advice: "mount it with a smaller acregmax="),
        Rule(
            kinds: ["cifs", "smb3"], longest: .seconds(1), options: ["acregmax", "actimeo"],
            advice: "mount it with a smaller actimeo="),
        // The kernel does not know their options.
        Rule(kinds: ["fuse.sshfs"], longest: .seconds(20), advice: "mount it with -o dir_cache=no"),
        Rule(kinds: ["fuse.rclone"], longest: .seconds(300), advice: "mount it with a smaller --dir-cache-time"),
        Rule(kinds: ["fuse.s3fs"], longest: .seconds(900), advice: "mount it with a smaller -o stat_cache_expire="),
    ]

    /// A mount's cache time; nil if unknown.
    package static func of(_ mount: MountTable.Mount) -> AttributeMemory? {
        guard let rule = rules.first(where: { $0.kinds.contains(mount.kind) }) else { return nil }
        guard mount.options.allSatisfy({ !rule.off.contains($0) }) else { return nil }
        var longest = rule.longest
        for option in mount.options {
            let words = option.split(separator: "=")
            guard words.count == 2, rule.options.contains(String(words[0])), let seconds = Int32(words[1]) else {
                continue
            }
            longest = .seconds(seconds)
        }
        return AttributeMemory(longest: longest, option: rule.advice)
    }

    /// A note about an inbox whose cache time exceeds `quiet`.
    package static func finding(on inbox: FilePath, _ ready: ReadyRule, _ mounts: MountTable) -> Finding? {
        let quiet = ready.holding(in: inbox).quiet
        guard let mount = mounts.mount(of: inbox), let memory = of(mount), memory.longest > quiet else { return nil }
        return .note(
            .times,
            "\(mount.kind) may answer from its cache for \(memory.longest.text), but a drop has to stand "
                + "unchanged for only \(quiet.text)",
            "Set `ready.quiet` above that, or \(memory.option)")
    }
}
