package import PipelineKit

/// What the journal knows of content that came before, for the stages that ask.
package struct JournalMemory: SeenContent {
    private let journal: any Journal

    package init(_ journal: any Journal) { self.journal = journal }

    package func first(_ content: SeenQuery) throws(Failure) -> SeenJob? {
        do throws(JournalError) {
            return try journal.first(content, at: .now())
        } catch {
            throw Failure(error)
        }
    }
}
