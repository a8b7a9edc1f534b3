package import PipelineKit
package import SystemPackage

/// How an engine is to run.
package struct EngineConfiguration: Sendable {
    /// The state folder: lock, and later the journal. Made if missing.
    package var state: FilePath
    /// Whether to settle what is in the inboxes now and then finish.
    package var once: Bool

    /// A configuration.
    package init(state: FilePath, once: Bool = false) {
        self.state = state
        self.once = once
    }
}

/// Why an engine cannot start: a sentence with its remedy.
package struct EngineError: Error, Sendable {
    /// What kind of trouble it is.
    package enum Kind: Sendable {
        /// Another instance holds the state or a work folder.
        case locked
        /// A folder cannot be used as configured.
        case configuration
    }

    /// The kind.
    package let kind: Kind
    /// The sentence.
    package let message: String
}

/// Runs pipelines.
package final class Engine: Sendable {
    /// An engine for these pipelines; nothing is touched yet.
    package init(
        pipelines: [Pipeline], configuration: EngineConfiguration, observer: @escaping @Sendable (EngineEvent) -> Void
    ) {}

    /// Takes the locks, makes missing folders, adopts what lies in the work folders and begins to watch. `finished` is called
    /// once, on a queue of the engine: with `once` when all is settled, else after `stop`.
    package func start(finished: @escaping @Sendable (RunSummary) -> Void) throws(EngineError) {}

    /// Stops claiming, lets running stages finish for so long, calls the rest off and then reports `finished`. Asking again
    /// changes nothing.
    package func stop(grace: Duration) {}
}
