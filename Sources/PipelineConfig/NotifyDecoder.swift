import Files
import PipelineKit

/// Reads `notify`: who is notified of which events.
struct NotifyDecoder {
    /// Where paths begin, and what secrets may come from.
    let context: OptionContext
    var problems: [OptionProblem] = []

    init(_ context: OptionContext) { self.context = context }

    /// The entries, one or a list of them.
    mutating func plan(_ node: OptionNode) -> NotifyPlan {
        var (rules, pings): ([NotifyRule], [NotifyPing]) = ([], [])
        for (index, entry) in node.members.enumerated() {
            let number = index + 1
            let map = OptionMap(
                entry, name: "notify[\(number)]", keys: Self.entry.map(\.name), isSecret: true, problems: &problems)
            // What is wrong with it is said, and all that it lacks follows from that.
            guard case .map = entry.content else { continue }
            if map.given("ping") != nil {
                if let ping = ping(number, map) { pings.append(ping) }
            } else if let rule = rule(number, map, entry) {
                rules.append(rule)
            }
        }
        return NotifyPlan(rules: rules, pings: pings)
    }

    private mutating func ping(_ number: Int, _ map: OptionMap) -> NotifyPing? {
        for key in ["on", "to", "pipelines", "digest"] {
            guard let other = map.given(key) else { continue }
            report("'\(map.name)' has both 'ping' and '\(key)'; make an entry of its own of each", at: other.position)
        }
        guard let entry = map.given("ping") else { return nil }
        let ping = OptionMap(
            entry.value, name: map.path(to: "ping"), keys: Self.ping.map(\.name), isSecret: true,
            problems: &problems)
        guard case .map = entry.value.content else { return nil }
        let isInsecure = flag("insecure", ping)
        let every = time("every", ping, atLeast: .seconds(1), "it would be told without a pause")
        guard ping.given("url") != nil else {
            if !ping.isMisspelt("url") {
                report("'\(ping.name)' needs 'url', which is told that the daemon is there", at: entry.position)
            }
            return nil
        }
        let url = ping.read("url", problems: &problems) { node throws(OptionProblem) in
            do throws(OptionProblem) {
                return try NotifyURL(node, in: context, insecure: isInsecure, headers: []).text
            } catch {
                throw error.concealing(node)
            }
        }
        return url.map { NotifyPing(number: number, url: $0, every: every ?? NotifyPing.usual, insecure: isInsecure) }
    }

    private mutating func rule(_ number: Int, _ map: OptionMap, _ entry: OptionNode) -> NotifyRule? {
        let (events, quiet) = events(map, entry)
        let pipelines = map.read("pipelines", problems: &problems) { node throws(OptionProblem) in
            var globs: [Glob] = []
            for member in node.members { globs.append(try member.glob()) }
            guard !globs.isEmpty else {
                throw node.problem("the list is empty, so nothing would be told; leave it out for all pipelines")
            }
            return globs
        }
        let digest = time(
            "digest", map, atLeast: .seconds(1), "each event would be told by itself", remedy: "at least 1s, such as 5m"
        )
        let target = NotifyTarget(map, entry, context, &problems)
        guard let target, !events.isEmpty || quiet != nil else { return nil }
        return NotifyRule(
            number: number, events: events, quiet: quiet, pipelines: pipelines ?? [], target: target,
            digest: digest ?? NotifyRule.usualDigest)
    }

    private mutating func events(_ map: OptionMap, _ entry: OptionNode) -> (Set<NotifyEvent>, quiet: Duration?) {
        guard let on = map.given("on") else {
            if !map.isMisspelt("on") {
                report(
                    "'\(map.name)' needs 'on', what to tell of, such as [failed, paused]; or 'ping'",
                    at: entry.position)
            }
            return ([], nil)
        }
        var events: Set<NotifyEvent> = []
        var quiet: Duration?
        if on.value.members.isEmpty { report("'\(map.path(to: "on"))': the list is empty", at: on.position) }
        // `on: { quiet: 26h }` is a list of one, too.
        for member in on.value.members {
            do throws(OptionProblem) {
                if case .map(let entries) = member.content {
                    for entry in entries { quiet = try Self.quiet(entry) }
                } else {
                    let event = try Self.event(member)
                    guard event != .quiet else {
                        throw member.problem("'quiet' needs a time; write 'quiet: 26h'")
                    }
                    events.insert(event)
                }
            } catch {
                problems.append(error.within(map.path(to: "on")))
            }
        }
        return (events, quiet)
    }

    private static func event(_ node: OptionNode) throws(OptionProblem) -> NotifyEvent {
        try node.choice(of: NotifyEvent.self)
    }

    private static func quiet(_ entry: OptionNode.Entry) throws(OptionProblem) -> Duration {
        guard entry.key == NotifyEvent.quiet.rawValue else {
            _ = try event(OptionNode(.scalar(entry.key, quoted: false), at: entry.position))
            throw entry.problem("'\(entry.key)' takes no value; only 'quiet' does")
        }
        let time = try entry.value.duration()
        guard time >= .seconds(1) else { throw entry.value.problem("too short; write at least 1s, such as 26h") }
        return time
    }

    private mutating func time(
        _ key: String, _ map: OptionMap, atLeast least: Duration, _ consequence: String, remedy: String = "at least 1s"
    ) -> Duration? {
        map.read(key, problems: &problems) { node throws(OptionProblem) in
            let time = try node.duration()
            guard time >= least else { throw node.problem("too short: \(consequence); write \(remedy)") }
            return time
        }
    }

    private mutating func flag(_ key: String, _ map: OptionMap) -> Bool {
        map.read(key, problems: &problems) { node throws(OptionProblem) in try node.bool() } ?? false
    }

    private mutating func report(_ message: String, at position: SourcePosition) {
        problems.append(OptionProblem(message, at: position))
    }
}
