/// The room that a journal's file takes, in bytes.
package struct JournalRoom: Sendable, Equatable {
    /// What is in use.
    package var used: Int64
    /// What is kept for things to come.
    package var free: Int64
    /// Whether it can give room back as it is: one that was made by an older Dropmill is to be rewritten before.
    package var isElastic: Bool

    package init(used: Int64, free: Int64, isElastic: Bool) {
        (self.used, self.free, self.isElastic) = (used, free, isElastic)
    }
}
