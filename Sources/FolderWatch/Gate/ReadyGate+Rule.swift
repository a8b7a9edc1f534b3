extension ReadyGate {
    /// What makes a candidate complete.
    package struct Rule: Sendable, Hashable {
        /// How long it must stand unchanged, over at least two samples.
        package var quiet: Duration
        /// The same where it cannot be told whether it is open for writing.
        package var blindQuiet: Duration
        /// Whether a process that has it open for writing holds it back.
        package var waitsForWriters: Bool
        /// Whether one of zero bytes is left alone.
        package var ignoresEmpty: Bool
        /// Whether candidates are folders, each with all it holds.
        package var isForFolders: Bool
        /// After so long it is overdue; nil: never.
        package var timeout: Duration?

        package init(
            quiet: Duration, blindQuiet: Duration? = nil, waitsForWriters: Bool = false, ignoresEmpty: Bool = false,
            isForFolders: Bool = false, timeout: Duration? = nil
        ) {
            self.quiet = quiet
            self.blindQuiet = blindQuiet ?? quiet
            self.waitsForWriters = waitsForWriters
            self.ignoresEmpty = ignoresEmpty
            self.isForFolders = isForFolders
            self.timeout = timeout
        }
    }
}
