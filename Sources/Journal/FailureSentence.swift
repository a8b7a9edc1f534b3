import Files
import PipelineKit

/// What several jobs that failed alike have in common to say: one sentence without the names of their files. Pure.
package struct FailureSentence: Sendable, Equatable {
    /// Subject and fact.
    package let summary: String
    /// What to do about it; may be empty.
    package let remedy: String

    /// More than that many need not be read.
    package static let mostRead = 20

    package init(summary: String, remedy: String) { (self.summary, self.remedy) = (summary, remedy) }

    /// Of jobs with the same code, newest first; nil where none of them has a failure.
    package init?(of jobs: [JobRecord]) {
        let failures = jobs.prefix(Self.mostRead).compactMap { job in job.failure.map { (job.drop, $0) } }
        guard !failures.isEmpty else { return nil }
        summary = Self.shared(failures.map { ($0, $1.summarySentence) })
        remedy = Self.shared(failures.map { ($0, $1.remedySentence) })
    }

    /// The sentence that most of them have, the newest of several: what was filled in stays where it is the same in all
    /// of those, but for the names of the drops.
    private static func shared(_ sentences: [(drop: Drop, sentence: Sentence)]) -> String {
        let parts = sentences.map { drop, sentence in
            (literals: sentence.literals.map(drop.unnamed), words: sentence.arguments.map(drop.unnamed))
        }
        let kinds = Dictionary(grouping: parts.indices) { parts[$0].literals }
        // Of those with as many, the one whose newest is the newest.
        let most = kinds.values.max { ($0.count, $1[0]) < ($1.count, $0[0]) } ?? []
        guard let newest = most.first.map({ parts[$0] }) else { return "" }
        let words = newest.words.indices.map { place in
            most.allSatisfy { parts[$0].words[place] == newest.words[place] } ? newest.words[place] : Drop.anything
        }
        return zip(newest.literals, words + [""]).map { $0 + $1 }.joined()
    }
}

extension Drop {
    /// What stands for a name, and for what differs.
    fileprivate static let anything = "…"

    /// A text without the drop's name, which stands in quotation marks, alone or at the end of a path.
    fileprivate func unnamed(_ text: String) -> String {
        [path.text, self.name.text].reduce(text) { text, name in
            text == name || text.hasSuffix("/\(name)")
                ? Self.anything : text.replacing("'\(name)'", with: "'\(Self.anything)'")
        }
    }
}
