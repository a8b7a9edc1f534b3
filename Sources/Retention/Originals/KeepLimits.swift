import Files
import Journal
import PipelineKit

/// Which originals of a folder are to go. Pure: what there is and the time are handed in.
struct KeepLimits: Sendable, Equatable {
    private let limits: KeepRule.Limits
    /// What ended before it goes by its age; nil: nothing does, also while the clock is in doubt.
    private let oldest: Timestamp?
    /// What ended since then does not go for want of space; nil: nothing does.
    private let young: Timestamp?

    /// So long an original stays, however short space is.
    private static let youth = Duration.seconds(3600)

    init(_ limits: KeepRule.Limits, at now: Timestamp, isClockDoubtful: Bool) {
        self.limits = limits
        oldest = isClockDoubtful ? nil : limits.age.map { now.before($0) }
        young = isClockDoubtful ? nil : now.before(Self.youth)
    }

    /// Whether there are more than are to be kept, of which the oldest go.
    func areExceeded(by standing: KeptStanding) -> Bool { excess(of: standing) != nil }

    /// Why the oldest of those that there are goes, if it does.
    func rule(for oldest: KeptFile, of standing: KeptStanding, isShort: () -> Bool) -> String? {
        if let limit = self.oldest, let age = limits.age, oldest.since < limit { return "age \(age.text)" }
        if let excess = excess(of: standing) { return excess }
        guard let young, oldest.since < young else { return nil }
        return isShort() ? "when_short" : nil
    }

    private func excess(of standing: KeptStanding) -> String? {
        if let most = limits.files, standing.files > most { return "files \(most)" }
        if let most = limits.bytes, standing.bytes > most.bytes { return "bytes \(most)" }
        return nil
    }
}
