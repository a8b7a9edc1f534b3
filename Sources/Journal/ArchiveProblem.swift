/// Why jobs could not be archived.
package enum ArchiveProblem: Error, Sendable, Equatable {
    /// A sentence with its remedy.
    case archive(String)
    /// It could not be noted.
    case journal(JournalError)
}
