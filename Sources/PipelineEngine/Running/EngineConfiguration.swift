package import SystemPackage

/// How an engine is to run.
package struct EngineConfiguration: Sendable {
    /// The state folder: lock and journal. Made if missing.
    package var state: FilePath
    /// Whether to settle what is in the inboxes now and then finish.
    package var once: Bool

    /// How long the journal keeps jobs that are over.
    package var keepHistory: Duration

    /// A configuration.
    package init(state: FilePath, once: Bool = false, keepHistory: Duration = .seconds(90 * 86_400)) {
        self.state = state
        self.once = once
        self.keepHistory = keepHistory
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
