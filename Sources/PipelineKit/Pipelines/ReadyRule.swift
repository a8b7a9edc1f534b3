/// When a drop is complete.
package struct ReadyRule: Sendable, Hashable {
    /// How long it must stand unchanged, over at least two samples.
    package var quiet: Duration
    /// The same where nobody can tell whether a process has it open for writing: on network file systems, and for files of
    /// other users without CAP_LEASE. A configured `quiet` holds for both.
    package var blindQuiet: Duration
    /// Whether a process that has it open for writing holds it back.
    package var writers: Writers
    /// What becomes of files of zero bytes.
    package var empty: Empty

    /// A rule; the defaults are the contract's.
    package init(quiet: Duration? = nil, writers: Writers = .wait, empty: Empty = .process) {
        self.quiet = quiet ?? .seconds(1)
        blindQuiet = quiet ?? .seconds(10)
        self.writers = writers
        self.empty = empty
    }

    /// What open writers mean.
    package enum Writers: String, Sendable, CaseIterable {
        /// The drop waits for them.
        case wait
        /// They are not asked for.
        case ignore
    }

    /// What a file of zero bytes is.
    package enum Empty: String, Sendable, CaseIterable {
        /// A drop like any other.
        case process
        /// A drop that fails.
        case fail
        /// No drop, as long as it is empty.
        case ignore
    }
}
