import Glibc
import PipelineKit

/// A regular expression on names, which are bytes: regcomp(3), POSIX extended.
// @unchecked: immutable once compiled, and regexec(3) may be called from several threads at once without a lock.
final class NamePattern: @unchecked Sendable {
    private var expression = regex_t()

    /// Compiles an expression.
    init(_ node: OptionNode) throws(OptionProblem) {
        let text = try node.string()
        let result = regcomp(&expression, text, REG_EXTENDED)
        guard result == 0 else {
            var message = [CChar](repeating: 0, count: 256)
            regerror(result, &expression, &message, message.count)
            // What could not be compiled must not be freed by deinit.
            expression = regex_t()
            let reason = String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw node.problem("'\(text)' is no regular expression: \(reason)")
        }
    }

    /// How many groups it has.
    var groupCount: Int { min(9, expression.re_nsub) }

    deinit { regfree(&expression) }

    /// What the whole expression and its groups match; nil where the name does not match. A group that took no part is
    /// empty.
    func groups(in name: FileName) -> [[UInt8]]? {
        var found = [regmatch_t](repeating: regmatch_t(rm_so: -1, rm_eo: -1), count: 10)
        guard name.withCString({ regexec(&expression, $0, found.count, &found, 0) }) == 0 else { return nil }
        return found.map { range in
            range.rm_so < 0 ? [] : Array(name.bytes[Int(range.rm_so)..<Int(range.rm_eo)])
        }
    }
}
