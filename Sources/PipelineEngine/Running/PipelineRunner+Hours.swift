import Files
import PipelineKit

/// When a pipeline works.
extension PipelineRunner {
    /// Looks whether it is within its hours, and tells all that asks for that.
    /// `tells`: whether what has changed is news.
    func keepHours(at now: Timestamp, tells isNews: Bool = true) {
        guard let rule = pipeline.hours, !(hoursChecked?.contains(now) ?? false) else { return }
        let (isOpen, next) = (rule.hours.isOpen(at: now), rule.hours.nextChange(after: now))
        // Where the clock is set back, it is looked at anew.
        hoursChecked = now..<max(now, next ?? Timestamp(nanoseconds: .max))
        let before = outside
        outside = isOpen ? nil : OutsideHours(rule.hours, opens: next)
        guard outside != before else { return }
        intake.close(outside)
        intake.lane?.hold(mayNotBegin)
        send(.held(isHeld))
        guard isNews else { return }
        if let outside {
            observer(.closed(pipeline: pipeline.name, outside.text(at: now)))
        } else {
            observer(.opened(pipeline: pipeline.name))
        }
    }

    /// Whether no stage may begin, by what a person says or by its hours.
    var isHeld: Bool { hold?.kind == .pause || outside != nil && pipeline.hours?.outside == .pause }

    /// The same, or since a job runs alone.
    var mayNotBegin: Bool { isHeld || isYielding }
}
