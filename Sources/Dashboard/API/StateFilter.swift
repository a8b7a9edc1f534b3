import Files
import Journal
import PipelineKit

/// States as people choose jobs by them.
enum StateFilter {
    /// The words again, once each is known. `problem`: what is thrown with a fact and a remedy.
    static func read(
        _ words: [String], or problem: (_ fact: String, _ remedy: String) -> Problem
    ) throws(Problem) -> [String] {
        var query = JobQuery()
        guard let word = query.choose(words) else { return query.words }
        throw problem(
            "'\(EscapedText.of(word))' is no state of a job", "Use \(JobQuery.words.joined(separator: ", ")).")
    }
}
