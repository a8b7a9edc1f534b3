import Files
import Journal
import PipelineKit

/// How a rule stands with an event of a pipeline, and what of that is on record.
struct Standing: Sendable, Equatable {
    enum Content: Sendable, Equatable {
        case failures(FailureDigest)
        case trouble(TroubleDigest, Quiet?)
    }

    var content: Content
    /// What is on record; nil where nothing is.
    private(set) var saved: Content?

    /// One that is new.
    init(_ content: Content) { self.content = content }

    /// One that is on record; nil where the text is none.
    init?(_ event: NotifyEvent, value: String) {
        if event == .failed {
            guard let digest = FailureDigest(json: value) else { return nil }
            content = .failures(digest)
        } else {
            guard let members = JSONValue(value)?.object, let trouble = members["trouble"].flatMap(TroubleDigest.init)
            else { return nil }
            content = .trouble(trouble, members["quiet"].flatMap(Quiet.init))
        }
        saved = content
    }

    var value: String {
        switch content {
        case .failures(let digest): digest.json
        case .trouble(let trouble, let quiet):
            "{\"trouble\":\(trouble.json)" + (quiet.map { ",\"quiet\":\($0.json)" } ?? "") + "}"
        }
    }

    mutating func save() { saved = content }

    /// Whether what is on record would mislead another run. What is merely counted until the next message is not worth
    /// a write of its own, nor is when something was processed last, to a twentieth. `limit`: after how long it is
    /// quiet.
    func isStale(_ limit: Duration?) -> Bool {
        switch (content, saved) {
        case (.failures(let now), .failures(let then)?): return now != then
        case (.trouble(let now, let quiet), .trouble(let then, let before)?):
            if now.isThere != then.isThere || now.isTold != then.isTold { return true }
            guard let quiet, let before, let limit else { return false }
            return quiet.since - before.since > max(limit / 20, .seconds(60))
        default: return true
        }
    }
}
