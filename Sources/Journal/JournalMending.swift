package import SystemPackage

/// What was done about a journal that others did not find any more.
package struct JournalMending: Sendable, Equatable {
    /// Whether all that was known is in the new one; else only that this run has begun.
    package var keepsHistory: Bool
    /// Where that is by now which had taken its place, where there was anything.
    package var aside: FilePath?

    package init(keepsHistory: Bool, aside: FilePath?) {
        (self.keepsHistory, self.aside) = (keepsHistory, aside)
    }
}
