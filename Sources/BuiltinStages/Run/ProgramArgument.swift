import Files
import PipelineKit
import SystemPackage

/// One argument of a program: a text in which some words in braces stand for the payload. All other braces stay as they
/// are, since programs have uses of their own for them.
struct ProgramArgument: Sendable {
    private enum Piece: Sendable {
        case text(String)
        /// The payload's stand-in: its file, or its folder.
        case file
        case folder
        /// The name of the payload's file; of a folder, the drop's.
        case name
        case template(Template)
    }

    /// What the words stand for.
    struct Place {
        let payload: Payload
        /// What it is given in the payload's place; empty where it gets none.
        let file: FilePath
        let folder: FilePath
    }

    let source: String
    /// Where a relative program begins.
    let base: FilePath
    private let pieces: [Piece]

    /// Reads an argument. A word in braces that stands for nothing is taken for a mistake, unless it is a program's own
    /// by its looks: `%{http_code}`, `@{upstream}`, `{ print }`; `{{print}}` gives it `{print}`.
    init(_ node: OptionNode, in context: OptionContext) throws(OptionProblem) {
        source = try node.string()
        base = context.base
        guard !source.utf8.contains(0) else { throw node.problem("an argument must not contain NUL") }
        let words = ["file", "dir"] + Template.placeholders.filter { $0 != "date" } + context.facts.sorted()
        func isKnown(_ word: some StringProtocol) -> Bool {
            words.contains { $0 == word } || word == "date" || word.hasPrefix("date:")
        }
        var pieces: [Piece] = []
        var rest = source[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            let word = String(rest[rest.index(after: open)..<close])
            guard isKnown(word) else {
                let end = source.index(after: close)
                let inner = word.dropFirst()
                let isDoubled = word.first == "{" && end < source.endIndex && source[end] == "}"
                if isDoubled, Self.isWord(inner), !isKnown(inner) {
                    pieces.append(.text(rest[..<open] + word + "}"))
                    rest = source[source.index(after: end)...]
                    continue
                }
                let isOthers = open > source.startIndex && "%@".contains(source[source.index(before: open)])
                if Self.isWord(word[...]), !isOthers {
                    throw node.problem(
                        context.unknown(word, among: words) + "; to pass it to the program as is, write '{{\(word)}}'")
                }
                pieces.append(.text(String(rest[...open])))
                rest = rest[rest.index(after: open)...]
                continue
            }
            pieces.append(.text(String(rest[..<open])))
            switch word {
            case "file": pieces.append(.file)
            case "dir": pieces.append(.folder)
            case "name": pieces.append(.name)
            default:
                do throws(TemplateProblem) {
                    pieces.append(.template(try Template("{\(word)}", use: .path, facts: context.facts)))
                } catch {
                    throw node.problem(error.message)
                }
            }
            rest = rest[rest.index(after: close)...]
        }
        self.pieces = pieces + [.text(String(rest))]
    }

    /// Whether a text in braces looks like a placeholder.
    private static func isWord(_ text: Substring) -> Bool {
        text.first?.isLetter == true
            && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-".contains($0)) }
    }

    var isFixed: Bool {
        pieces.allSatisfy { if case .text = $0 { true } else { false } }
    }

    /// Whether it tells where the payload is.
    var namesFile: Bool {
        pieces.contains { if case .file = $0 { true } else { false } }
    }

    /// Whether its first byte comes from a name.
    var beginsWithPlaceholder: Bool {
        let first = pieces.first { if case .text("") = $0 { false } else { true } }
        return switch first {
        case .name, .template: true
        default: false
        }
    }

    func bytes(_ place: Place, _ values: TemplateValues) throws(TemplateProblem) -> [UInt8] {
        var bytes: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .text(let text): bytes += text.utf8
            case .file: bytes += place.file.absolute.bytes
            case .folder: bytes += place.folder.absolute.bytes
            case .name: bytes += place.payload.fileName?.bytes ?? values.name.bytes
            case .template(let template) where template.isNothing(values): break
            case .template(let template): bytes += try template.render(values)
            }
        }
        return bytes
    }
}

extension OptionContext {
    /// What to say of a word in braces that stands for nothing here.
    fileprivate func unknown(_ word: String, among words: [String]) -> String {
        if let kind = forgotten[word] {
            return "'{\(word)}' is determined from files that '\(kind)' replaces; determine it after '\(kind)'"
        }
        let meant = Suggestion.nearest(to: word, among: words).map { "did you mean '{\($0)}'?" }
        let known = "known are " + (words + ["date"]).map { "{\($0)}" }.joined(separator: " ")
        return "unknown placeholder '{\(word)}'; \(meant ?? known)"
    }
}

extension Template {
    /// Whether it stands for nothing here, which no file could be called, but an argument or a URL may hold.
    func isNothing(_ values: TemplateValues) -> Bool {
        (source == "{ext}" && values.name.extension.isEmpty) || (source == "{path}" && values.folders.isEmpty)
    }
}

extension Payload {
    /// The name of a payload that is one file.
    var fileName: FileName? {
        if case .file(let name) = shape { name } else { nil }
    }
}
