package import PipelineKit
package import SystemPackage

/// How long a file system may answer from memory what somebody else has changed since: also where the kernel asks it
/// anew, some programs that keep one do not look. Data, as far as it is known; `docs/readiness.md` tells of it.
package struct AttributeMemory: Equatable {
    /// How long.
    package let longest: Duration
    /// What makes it shorter.
    package let option: String

    /// A kind of file system: its own time, and the mount options that set another.
    private struct Rule {
        let kinds: Set<String>
        let longest: Duration
        /// In seconds.
        var options: [String] = []
        /// Those that switch it off.
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
        // Their options are not the kernel's to tell.
        Rule(kinds: ["fuse.sshfs"], longest: .seconds(20), advice: "mount it with -o dir_cache=no"),
        Rule(kinds: ["fuse.rclone"], longest: .seconds(300), advice: "mount it with a smaller --dir-cache-time"),
        Rule(kinds: ["fuse.s3fs"], longest: .seconds(900), advice: "mount it with a smaller -o stat_cache_expire="),
    ]

    /// That of a mount; nil where nothing is known of it.
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

    /// What is to be said of an inbox where that is longer than drops must stand unchanged.
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
