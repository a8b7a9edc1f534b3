import Files
import Glibc
package import SystemPackage

/// A text that may hold secrets: `Bearer ${file:/etc/dropmill/token}`, `${env:API_KEY}`. It shows as it was written;
/// only `reveal` returns the secrets, and reads them again each time, so that a file may be replaced.
package struct SecretText: Sendable, Hashable {
    /// A part of the text.
    package enum Part: Sendable, Hashable {
        case text(String)
        /// A variable's value, as it was when the pipeline was read.
        case variable(Hidden)
        /// A file's content, without the line ends at its end.
        case file(FilePath)
    }

    /// A value that is never shown.
    package struct Hidden: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
        let value: String
        package var description: String { "***" }
        /// Nothing to see.
        package var customMirror: Mirror { Mirror(self, children: []) }
    }

    /// The text as it was written.
    package let source: String
    package let parts: [Part]

    private static let beginnings = ["${env:", "${file:"]

    /// Whether a text names a secret.
    package static func isIn(_ text: String) -> Bool { beginnings.contains { text.contains($0) } }

    /// Parses a text. A variable that is not set, or a file that is missing or readable by others, is reported at
    /// once.
    package init(_ node: OptionNode, in context: OptionContext) throws(OptionProblem) {
        source = try node.text()
        var parts: [Part] = []
        var rest = source[...]
        while let dollar = rest.firstRange(of: "${")?.lowerBound {
            parts.append(.text(String(rest[..<dollar])))
            guard let close = rest[dollar...].firstIndex(of: "}") else { throw node.problem("'${' without '}'") }
            let reference = rest[dollar..<close].dropFirst(2)
            if reference.hasPrefix("env:") {
                let name = String(reference.dropFirst(4))
                guard let value = context.environment[name] else {
                    let problem = "the environment variable '\(EscapedText.of(name))' is not set; define it"
                    // What is no name may be the secret itself.
                    let isName = name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
                    throw isName ? .reference(problem, at: node.position) : node.problem(problem)
                }
                parts.append(.variable(Hidden(value: value)))
            } else {
                let path = context.base.pushing(FilePath(String(reference.dropFirst(5)))).lexicallyNormalized()
                if let reason = Self.problem(with: path) { throw .reference(reason, at: node.position) }
                parts.append(.file(path))
            }
            rest = rest[close...].dropFirst()
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// A text with its secrets revealed.
    package struct Revealed: Sendable {
        /// The text itself.
        package var text = ""
        /// The values of the secrets in it, and what else is to be kept out of what is shown.
        package var secrets: [String] = []

        package init() {}

        /// Adds a part. Throws if a file is missing or readable by others.
        package mutating func add(_ part: Part) throws(Failure) {
            let value = try SecretText.resolve(part)
            text += value
            if case .text = part { return }
            secrets.append(value)
        }
    }

    /// The text with its present secrets. Throws if a file is missing or readable by others.
    package func reveal() throws(Failure) -> Revealed {
        var revealed = Revealed()
        for part in parts { try revealed.add(part) }
        revealed.secrets += literals
        return revealed
    }

    /// What may be a secret of what was written: where some is kept elsewhere, words such as `Bearer` are none.
    private var literals: [String] {
        let texts = parts.compactMap { if case .text(let text) = $0 { text } else { nil } }
        return texts.flatMap(Concealed.words).filter { word in
            texts.count == parts.count || !word.allSatisfy { $0.isLetter || $0.isWhitespace }
        }
    }

    private static func resolve(_ part: Part) throws(Failure) -> String {
        switch part {
        case .text(let text): return text
        case .variable(let hidden): return hidden.value
        case .file(let path):
            if let reason = problem(with: path) {
                throw Failure(
                    .environment, code: "secret.file", summary: "A secret cannot be used: \(reason).",
                    remedy: "Correct the file; processing resumes by itself.")
            }
            do throws(IOError) {
                return try content(of: path)
            } catch {
                throw Failure(error)
            }
        }
    }

    private static func problem(with path: FilePath) -> String? {
        guard let status = FileStatus.of(path, followingLinks: true) else {
            return "the secret file '\(path.text)' cannot be read: \(Errno.last)"
        }
        guard FileKind(mode: status.st_mode) == .regular, status.st_size <= 64 << 10 else {
            return "'\(path.text)' is not a usable secret file"
        }
        guard SecretFile.isSecret(mode: status.st_mode, owner: status.st_uid, user: geteuid()) else {
            return "the secret file '\(path.text)' is readable by others; run 'chmod 600' on it"
        }
        return nil
    }

    private static func content(of path: FilePath) throws(IOError) -> String {
        let file = try OpenFile.open(path, O_RDONLY | O_NONBLOCK)
        var text = String(decoding: try SmallFile.read(file, atMost: 64 << 10), as: UTF8.self)
        while text.last?.isNewline == true { text.removeLast() }
        return text
    }
}
