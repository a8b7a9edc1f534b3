package import Files
package import Journal
package import PipelineKit

/// What messages say.
package enum NoticeText {
    typealias Words = (title: String, text: String)

    private static let mostCodes = 6

    /// `37 more of press failed: archive.damaged 30, run.failed 7`
    static func failures(
        _ pipeline: String, _ counts: [(code: String, count: UInt64)], isMore: Bool, newest: JobRecord?
    ) -> Words {
        let total = counts.reduce(0 as UInt64) { $0.addingSaturated($1.count) }
        let title = "\(pipeline): \(total) \(isMore ? "more " : "")failed"
        let name = newest.map { EscapedText.printable($0.drop.path.text) }
        let reason = newest?.failure.map { EscapedText.printable("\($0.summary) \($0.remedy)") } ?? ""
        guard total > 1 || isMore else {
            return (title, name.map { "\($0) failed: \(reason)" } ?? "\(list(counts)).")
        }
        let last = name.map { "\nThe newest, \($0): \(reason)" } ?? ""
        return (title, "\(total) \(isMore ? "more " : "")of \(pipeline) failed: \(list(counts))\(last)")
    }

    private static func list(_ counts: [(code: String, count: UInt64)]) -> String {
        let shown = counts.prefix(mostCodes).map { "\($0.code.isEmpty ? "unknown" : $0.code) \($0.count)" }
        let rest = counts.dropFirst(mostCodes).reduce(0 as UInt64) { $0.addingSaturated($1.count) }
        return (shown + (rest > 0 ? ["others \(rest)"] : [])).joined(separator: ", ")
    }

    /// What trouble does, and its end.
    static func trouble(
        _ event: NotifyEvent, _ pipeline: String, _ news: TroubleDigest.News, reason: String, began: Timestamp?,
        at now: Timestamp
    ) -> Words {
        let subject = subject(event, pipeline)
        let reason = EscapedText.printable(reason)
        let since = began.map { " since \($0.formatted("%Y-%m-%d %H:%M:%S"))" } ?? ""
        switch news {
        case .begun(let times):
            let often = times > 1 ? " Since the last message that began \(times) times." : ""
            return ("\(subject) \(begun(event))", reason + often)
        case .over(let times):
            let lasted = began.map { " (\(max(.zero, now - $0).text))" } ?? ""
            let often = times > 0 ? " It began \(times) more time\(times == 1 ? "" : "s") before that." : ""
            let what = event == .quiet ? "It was quiet\(since)." : "It was so\(since)\(lasted): \(reason)"
            return ("\(subject) \(over(event))", what + often)
        case .passed(let times):
            let often = times == 1 ? "once" : "\(times) times"
            return ("\(subject) \(over(event))", "That it \(begun(event)) came and went \(often): \(reason)")
        }
    }

    private static func subject(_ event: NotifyEvent, _ pipeline: String) -> String {
        event.isOfDaemon ? "the configuration" : pipeline.isEmpty ? "dropmill" : pipeline
    }

    private static func begun(_ event: NotifyEvent) -> String {
        switch event {
        case .failed: "has failures"
        case .paused, .resumed: "is paused"
        case .stalled: "is stalled"
        case .reloadRefused: "was not reloaded"
        case .diskLow: "has little free space"
        case .retentionFailed: "cannot remove what is old"
        case .quiet: "is quiet"
        }
    }

    private static func over(_ event: NotifyEvent) -> String {
        switch event {
        case .failed: "has no failures"
        case .paused, .resumed: "goes on"
        case .stalled: "moves again"
        case .reloadRefused: "was reloaded"
        case .diskLow: "has enough free space again"
        case .retentionFailed: "removes what is old again"
        case .quiet: "processes again"
        }
    }

    /// A message to see whether messages arrive.
    package static func test(_ rule: NotifyRule, at now: Timestamp) -> Notice {
        Notice(
            rule: rule.identity, event: "test", pipeline: "", state: .test, title: "a test of notify[\(rule.number)]",
            text: "Nothing has happened: somebody wants to see whether messages arrive.", since: now)
    }
}
