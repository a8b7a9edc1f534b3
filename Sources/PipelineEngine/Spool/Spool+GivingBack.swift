import Files
import PipelineKit

/// A job that a person releases ends like one that fails, but that the drop goes to the inbox instead of `failed`.
extension Spool {
    /// The same, which takes what fails to the inbox.
    var givingBack: Spool { going(by: pipeline.givingBack) }
}

extension Pipeline {
    /// The same for drops that go back: never over something, and without lists.
    var givingBack: Pipeline {
        var ready = ReadyRule()
        ready.marker = self.ready.marker
        return Pipeline(
            name: name, source: source, inbox: inbox, processed: .folder(inbox), failed: inbox, work: work,
            trust: trust, ready: ready, durability: durability)
    }

    /// Whether it is one for drops that go back.
    var givesBack: Bool { failed == inbox }
}
