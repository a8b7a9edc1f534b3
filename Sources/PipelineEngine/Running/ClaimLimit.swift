import Files
import PipelineKit

/// When a pipeline may claim its next drop, where it claims no more than so much in each time. Pure.
struct ClaimLimit: Sendable {
    private let rule: LimitRule
    private var jobs: TokenBucket?
    private var bytes: TokenBucket?

    /// Nil where there is no limit.
    init?(_ rule: LimitRule?, at now: MonotonicTime = .now()) {
        guard let rule, rule.jobs != nil || rule.bytes != nil else { return nil }
        self.rule = rule
        jobs = rule.jobs.map { TokenBucket($0, at: now) }
        bytes = rule.bytes.map { TokenBucket($0, at: now) }
    }

    /// From when on a drop of that size may be claimed.
    func opens(for size: Int64, at now: MonotonicTime) -> MonotonicTime {
        max(jobs?.opens(for: 1, at: now) ?? now, bytes?.opens(for: size, at: now) ?? now)
    }

    /// What keeps it until then; nil where it may be claimed.
    func reason(for size: Int64, at now: MonotonicTime) -> String? {
        if let rate = rule.jobs, let jobs, jobs.opens(for: 1, at: now) > now { return "limit.jobs: \(rate.text)" }
        if let rate = rule.bytes, let bytes, bytes.opens(for: size, at: now) > now {
            return "limit.bytes: \(rate.text)"
        }
        return nil
    }

    /// One of that size is claimed.
    mutating func take(_ size: Int64, at now: MonotonicTime) {
        jobs?.take(1, at: now)
        bytes?.take(size, at: now)
    }
}
