import Glibc
import PipelineKit

/// A regular expression on names, which are bytes: regcomp(3), POSIX extended, within `PatternLimits`.
struct NamePattern: Sendable {
    /// How many groups it has, as far as they can be named.
    let groupCount: Int
    private let text: String

    init(_ node: OptionNode) throws(OptionProblem) {
        text = try node.string()
        guard !text.utf8.contains(0) else { throw node.problem("a regular expression must not contain NUL; remove it") }
        do throws(PatternLimits.Problem) {
            try PatternLimits.check(Array(text.utf8))
        } catch {
            throw node.problem("'\(text)' \(error)")
        }
        do throws(NameMatcher.Refusal) {
            groupCount = min(9, try NameMatcher.Expression(text).groupCount)
        } catch {
            throw node.problem("'\(text)' is not a valid regular expression: \(error.reason)")
        }
    }

    /// What matches names, for one thread.
    func matcher() -> NameMatcher { NameMatcher(text) }
}
