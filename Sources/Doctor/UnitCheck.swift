import Files
import PipelineKit
import SystemPackage

/// What a unit of systemd takes away from the daemon that it starts.
package struct UnitCheck {
    /// What a service may do below a path.
    private struct Rule {
        enum Access { case open, readOnly, hidden, itsOwn }

        let path: FilePath
        let access: Access
        let setting: ServiceUnit.Setting
    }

    private let unit: ServiceUnit
    private let rules: [Rule]

    package init(_ unit: ServiceUnit) {
        self.unit = unit
        rules = Self.rules(of: unit)
    }

    /// The lines that are no matter of folders.
    package var place: ExaminedPlace {
        guard !unit.isEmpty else {
            let none = Finding.problem(
                .service, "systemd knows no such unit",
                "Install one; docs/installing.md tells of the one that is shipped")
            return ExaminedPlace(role: "unit", path: nil, findings: [none])
        }
        let findings = [sandbox, calls, boots, capabilities, users, network, memory, stop].compactMap(\.self)
        let good = Finding.good(.service, "no line of it takes anything away that the daemon needs")
        return ExaminedPlace(role: "unit", path: nil, findings: findings.isEmpty ? [good] : findings)
    }

    /// The same pipeline with what the unit does to its folders.
    package func examine(_ pipeline: ExaminedPipeline) -> ExaminedPipeline {
        var pipeline = pipeline
        let known = pipeline.places.indices.compactMap { index in
            pipeline.places[index].path.flatMap { path in rule(for: path).map { (index: index, path: path, rule: $0) } }
        }
        let closed = known.filter { $0.rule.access != .open }
        let parent = Self.parent(of: closed.map(\.path))
        for (index, path, rule) in closed {
            pipeline.places[index].findings.append(Self.finding(rule, opening: parent ?? path))
        }
        let open = known.filter { $0.rule.access == .open }
        if let (index, _, _) = open.last(where: { $0.rule.path != open.first?.rule.path }) {
            pipeline.places[index].findings.append(
                .note(
                    .service, "the unit opens this pipeline's folders one by one, so files are copied between them",
                    "Open one parent of all in their place: ReadWritePaths=FOLDER"))
        }
        return pipeline
    }

    /// A folder of no pipeline, such as that of the state, with what the unit does to it.
    package func examine(_ place: ExaminedPlace) -> ExaminedPlace {
        var place = place
        if let path = place.path, let rule = rule(for: path), rule.access != .open {
            place.findings.append(Self.finding(rule, opening: path))
        }
        return place
    }

    /// What holds for a folder; nil where nothing does.
    private func rule(for path: FilePath) -> Rule? {
        let path = path.lexicallyNormalized()
        // Among rules for the same path the last one holds.
        return rules.filter { path.starts(with: $0.path) }.enumerated().max { first, second in
            let (short, long) = (first.element.path.components.count, second.element.path.components.count)
            return (short, first.offset) < (long, second.offset)
        }?.element
    }

    private static func finding(_ rule: Rule, opening path: FilePath) -> Finding {
        let fact =
            switch rule.access {
            case .open, .readOnly: "the unit does not open it: the daemon could not write here"
            case .hidden: "the unit does not open it: the daemon would not see what is here"
            case .itsOwn: "the unit gives the daemon a folder of its own here: it would not see what others drop"
            }
        let line = rule.access == .hidden ? "BindPaths=\(path.string)" : "ReadWritePaths=\(path.string)"
        let remedy =
            rule.access == .itsOwn
            ? "Choose a folder that is not below \(rule.path.string)"
            : "Write a drop-in (systemctl edit dropmill) with [Service] and \(line), then: systemctl restart dropmill"
        return .problem(.service, "\(fact) (\(rule.setting.text))", remedy)
    }

    /// One for all of them, as each is a mount of its own and files are copied between mounts.
    private static func parent(of paths: [FilePath]) -> FilePath? {
        guard var parent = paths.first?.removingLastComponent() else { return nil }
        while !paths.allSatisfy({ $0.starts(with: parent) }) { parent.removeLastComponent() }
        return parent.components.isEmpty ? nil : parent
    }

    // MARK: Paths

    private static func rules(of unit: ServiceUnit) -> [Rule] {
        var rules: [Rule] = []
        func add(_ paths: [String], _ access: Rule.Access, _ setting: ServiceUnit.Setting?) {
            guard let setting else { return }
            rules += paths.map { Rule(path: FilePath($0).lexicallyNormalized(), access: access, setting: setting) }
        }
        if let system = unit["ProtectSystem"] {
            let read = ["/usr", "/boot", "/efi"]
            switch system.value {
            case "strict": add(["/"], .readOnly, system)
            case "full": add(read + ["/etc"], .readOnly, system)
            default: add(unit.isOn("ProtectSystem") == nil ? [] : read, .readOnly, system)
            }
        }
        if let home = unit["ProtectHome"] {
            let isShown = home.value == "read-only"
            let isOn = isShown || home.value == "tmpfs" || unit.isOn("ProtectHome") != nil
            add(isOn ? ["/home", "/root", "/run/user"] : [], isShown ? .readOnly : .hidden, home)
        }
        add(["/tmp", "/var/tmp"], .itsOwn, unit.isOn("PrivateTmp") ?? unit.isOn("DynamicUser"))
        for (key, base) in [("State", "/var/lib"), ("Cache", "/var/cache"), ("Logs", "/var/log"), ("Runtime", "/run")] {
            for word in unit.words("\(key)Directory") {
                // `NAME:LINK`
                let name = word.value.split(separator: ":").first.map(String.init) ?? word.value
                add(["\(base)/\(name)", "\(base)/private/\(name)"], .open, word)
            }
        }
        let lists: [(String, Rule.Access)] = [
            ("TemporaryFileSystem", .hidden), ("ReadOnlyPaths", .readOnly), ("BindReadOnlyPaths", .readOnly),
            ("InaccessiblePaths", .hidden), ("ReadWritePaths", .open), ("BindPaths", .open),
        ]
        for (key, access) in lists {
            for word in unit.words(key) {
                let path = word.value.drop { $0 == "-" || $0 == "+" }.split(separator: ":")
                // `SOURCE:DESTINATION:OPTIONS`, but of a file system of its own `PATH:OPTIONS`.
                let isBound = key.hasPrefix("Bind") && path.count > 1
                add(path.isEmpty ? [] : [String(path[isBound ? 1 : 0])], access, word)
            }
        }
        return rules
    }

    // MARK: Lines

    private func allows(_ calls: [String]) -> (isAllowed: Bool, last: ServiceUnit.Setting)? {
        let words = unit.words("SystemCallFilter")
        guard let first = words.first, let last = words.last else { return nil }
        var isAllowed = first.value.hasPrefix("~")
        for word in words {
            let isDenial = word.value.hasPrefix("~")
            // `@known` has all others; a denial may say what a call fails with, as `CALL:EPERM`.
            let call = word.value.drop { $0 == "~" }.prefix { $0 != ":" }
            if call == "@known" || calls.contains(String(call)) { isAllowed = !isDenial }
        }
        return (isAllowed, last)
    }

    private var sandbox: Finding? {
        guard let (isAllowed, last) = allows(["landlock_create_ruleset", "@sandbox"]) else { return nil }
        guard !isAllowed else {
            guard allows(["seccomp", "@sandbox"])?.isAllowed == false else { return nil }
            return .note(
                .service,
                "SystemCallFilter= has no seccomp (\(last.place)), so `run` stages with 'confine: true' run nothing",
                "Add SystemCallFilter=seccomp")
        }
        return .problem(
            .service,
            "SystemCallFilter= has no landlock calls (\(last.place)), so helpers cannot confine themselves: "
                + "with 'require_sandbox: true' nothing is unpacked",
            "Add SystemCallFilter=landlock_create_ruleset landlock_add_rule landlock_restrict_self")
    }

    private var calls: Finding? {
        guard let setting = unit.isOn("RestrictSUIDSGID") ?? unit.isOn("DynamicUser") else { return nil }
        return .note(
            .service, "\(setting.text): openat2(2) fails, so what is unpacked is opened folder by folder",
            "Leave it out if large archives take too long")
    }

    private var boots: Finding? {
        guard let setting = unit["ProcSubset"], setting.value == "pid" else { return nil }
        return .problem(
            .service, "\(setting.text): boot_id is hidden, so every start counts as another boot",
            "Leave it out; ProtectProc=invisible hides other processes")
    }

    private var capabilities: Finding? {
        guard !unit.words("AmbientCapabilities").contains(where: { $0.value == "CAP_LEASE" }), let user = unit["User"],
            user.value != "root"
        else { return nil }
        return .note(
            .service, "AmbientCapabilities= has no CAP_LEASE: who writes to other users' files is not seen",
            "Add AmbientCapabilities=CAP_LEASE and the same to CapabilityBoundingSet=, or rely on 'quiet'")
    }

    private var users: Finding? {
        guard let setting = unit.isOn("PrivateUsers") else { return nil }
        return .problem(
            .service, "\(setting.text): capabilities have no effect, and drops seem to belong to nobody",
            "Leave it out")
    }

    private var network: Finding? {
        let families = unit.words("RestrictAddressFamilies")
        let isWithout = !families.isEmpty && !families.contains { $0.value.hasPrefix("AF_INET") }
        guard let setting = unit.isOn("PrivateNetwork") ?? (isWithout ? families.last : nil) else { return nil }
        return .note(
            .service, "\(setting.text): stages that need a network fail (http, scan over TCP, some of run)",
            "Leave it out if there are such stages")
    }

    private var memory: Finding? {
        guard let limit = unit["LimitAS"] else { return nil }
        return .note(.service, "\(limit.text): helpers may not start", "Use MemoryMax= in its place")
    }

    private var stop: Finding? {
        guard let limit = unit["TimeoutStopSec"],
            let seconds = Double(limit.value) ?? Duration(configured: limit.value)?.seconds, seconds <= 30
        else { return nil }
        return .note(
            .service, "\(limit.text): the daemon is killed before its --grace (30 s, unless it was changed) is over",
            "Set it to more than that; nothing is lost either way")
    }
}
