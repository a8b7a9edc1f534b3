import Files
import Glibc
import PipelineKit

/// Matches names, one after another.
///
/// What glibc found out about an expression it keeps with it, up to some 90 MB for a name that was made for it; so the
/// expression is recompiled every few names, in some 20 µs.
final class NameMatcher {
    /// An expression that regcomp(3) does not take.
    struct Refusal: Error {
        let reason: String
    }

    final class Expression {
        private var compiled = regex_t()

        init(_ text: String) throws(Refusal) {
            let result = regcomp(&compiled, text, REG_EXTENDED)
            guard result != 0 else { return }
            var message = [CChar](repeating: 0, count: 256)
            regerror(result, &compiled, &message, message.count)
            // What could not be compiled must not be freed by deinit.
            compiled = regex_t()
            throw Refusal(
                reason: String(decoding: message.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))
        }

        deinit { regfree(&compiled) }

        var groupCount: Int { compiled.re_nsub }

        /// What regexec(3) says, with the whole match and nine groups.
        func match(_ name: FileName) -> (result: Int32, groups: [regmatch_t]) {
            var groups = [regmatch_t](repeating: regmatch_t(rm_so: -1, rm_eo: -1), count: 10)
            let result = name.withCString { regexec(&compiled, $0, groups.count, &groups, 0) }
            return (result, groups)
        }
    }

    private static let mostNames = 16

    private let text: String
    private var expression: Expression?
    private var names = 0

    init(_ text: String) { self.text = text }

    /// What the whole expression and its groups match; nil where the name does not match. A group that took no part is
    /// empty.
    func groups(in name: FileName) throws(Failure) -> [[UInt8]]? {
        let (result, found) = try renewed().match(name)
        switch result {
        case 0:
            return found.map { range in
                range.rm_so < 0 ? [] : Array(name.bytes[Int(range.rm_so)..<Int(range.rm_eo)])
            }
        case Int32(_REG_NOMATCH.rawValue): return nil
        default: throw Self.noMemory
        }
    }

    private func renewed() throws(Failure) -> Expression {
        names += 1
        if let expression, names <= Self.mostNames { return expression }
        do throws(Refusal) {
            let expression = try Expression(text)
            self.expression = expression
            names = 1
            return expression
        } catch {
            // It was compiled when the pipeline was read.
            throw Self.noMemory
        }
    }

    private static let noMemory = Failure(
        .environment, code: "rename.memory", summary: "Matching names with 'match' ran out of memory.",
        remedy: "Give the daemon more memory; processing resumes by itself.")
}
