import Files
package import Glibc
package import PipelineKit

/// What is set for the daemon itself, apart from its pipelines.
package struct ServiceSettings: Sendable, Equatable {
    /// What the members of a group may do.
    package enum GroupRights: String, CaseIterable, Sendable {
        case read, change
    }

    /// Whose members may ask the daemon and read its state, besides its own user and root.
    package var controlGroup: gid_t?
    /// Whether they may change something, too.
    package var controlGroupMay = GroupRights.read
    /// How many stages of all pipelines may run at once; nil: as many as there are workers.
    package var jobsAtOnce: Int?
    /// After how long without any movement something at work is stalled.
    package var stall = Duration.seconds(600)
    /// How long the journal keeps jobs that are over.
    package var history = HistoryRule()
    /// What is logged, and how.
    package var log = LogSettings()
    /// Who is notified of which events.
    package var notify = NotifyPlan()

    package init() {}

    /// The keys whose values are not the same.
    package func changes(from old: ServiceSettings) -> [String] {
        let changes = [
            controlGroup != old.controlGroup, controlGroupMay != old.controlGroupMay, stall != old.stall,
            jobsAtOnce != old.jobsAtOnce, history != old.history, log != old.log, notify != old.notify,
        ]
        return zip(Self.keys, changes).compactMap { $1 ? $0 : nil }
    }

    static let described: [PipelineKey] = [
        PipelineKey("control_group", .value(.text), "a group whose members may ask the daemon; unless given, none"),
        PipelineKey(
            "control_group_may", .value(.choice(GroupRights.allCases.map(\.rawValue))),
            "whether they may only look, or change something, too", default: .text(GroupRights.read.rawValue)),
        PipelineKey(
            "stall", .value(.time), "after how long without any movement something at work is stalled",
            default: .text("10m")),
        PipelineKey(
            "jobs_at_once", .value(.integer(1...100_000)),
            "how many stages of all pipelines may run at once; unless given, as many as they have workers"),
        PipelineKey("history", .map(HistoryDecoder.keys), "how long the journal keeps jobs that are over"),
        PipelineKey("log", .map(LogSettings.keys), "what is logged, and how"),
        PipelineKey(
            "notify", .maps(NotifyDecoder.entry),
            "who is notified of which events (docs/notifications.md); unless given, nobody"
        ),
    ]
    private static let keys = described.map(\.name)

    /// What a file says, and what is wrong with it.
    init(_ root: OptionNode, in context: OptionContext, problems: inout [OptionProblem]) {
        let map = OptionMap(root, name: "", of: "a settings file", keys: Self.keys, problems: &problems)
        controlGroup = map.read("control_group", problems: &problems, PipelineDecoder.group)
        controlGroupMay =
            map.read("control_group_may", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: GroupRights.self)
            } ?? controlGroupMay
        stall =
            map.read("stall", problems: &problems) { node throws(OptionProblem) in
                let time = try node.duration()
                guard time >= .seconds(1) else { throw node.problem("too short; write at least 1s") }
                return time
            } ?? stall
        jobsAtOnce = map.read("jobs_at_once", problems: &problems) { node throws(OptionProblem) in
            try node.integer(in: 1...100_000)
        }
        if let entry = map.given("history") { history = HistoryDecoder.rule(entry, in: context, &problems) }
        if let entry = map.given("log") { log = LogSettings(entry.value, &problems) }
        if let entry = map.given("notify") {
            var decoder = NotifyDecoder(context)
            notify = decoder.plan(entry.value)
            problems += decoder.problems
        }
        if let entry = map.given("control_group_may"), map.given("control_group") == nil,
            !map.isMisspelt("control_group")
        {
            problems.append(
                OptionProblem(
                    "'control_group_may' needs 'control_group', the group that it is about", at: entry.position))
        }
    }
}
