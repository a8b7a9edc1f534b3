import Files
import PipelineKit
import Web

/// A URL with placeholders, whose values are percent-encoded (RFC 3986), and with secrets.
struct WebAddress: Sendable {
    private enum Piece: Sendable {
        case secret(SecretText.Part)
        case template(Template)
    }

    /// The text as it was written.
    let source: String
    /// The same without who signs in and the values of its query, which may be secrets.
    let shown: String
    /// These.
    let literals: [String]
    let position: SourcePosition
    private let pieces: [Piece]

    /// Why it is not an address: a sentence without a full stop.
    struct Problem: Error {
        let message: String
    }

    init(_ node: OptionNode, in context: OptionContext) throws(OptionProblem) {
        let text = try SecretText(node, in: context)
        source = text.source
        position = node.position
        let (shown, hidden) = Concealed.urls(in: Array(source.utf8))
        self.shown = String(decoding: shown, as: UTF8.self)
        literals = hidden.flatMap { piece in
            let signed = piece.split(separator: UInt8(ascii: ":"), maxSplits: 1)
            return ([piece] + signed.dropFirst()).map { String(decoding: $0, as: UTF8.self) }
        }
        var pieces: [Piece] = []
        for part in text.parts {
            guard case .text(var rest) = part else {
                pieces.append(.secret(part))
                continue
            }
            while let open = rest.firstIndex(of: "{") {
                guard let close = rest[open...].firstIndex(of: "}") else { throw node.problem("'{' without '}'") }
                pieces.append(.secret(.text(String(rest[..<open]))))
                do throws(TemplateProblem) {
                    pieces.append(
                        .template(try Template(String(rest[open...close]), use: .path, facts: context.facts)))
                } catch {
                    throw node.problem(error.message)
                }
                rest = String(rest[close...].dropFirst())
            }
            pieces.append(.secret(.text(rest)))
        }
        self.pieces = pieces
        let beginning: String
        do throws(Failure) { beginning = try self.beginning() } catch { throw node.problem(error.summary) }
        do throws(Problem) { _ = try place(beginning) } catch { throw node.problem(error.message) }
    }

    /// Which server is spoken to, as the secrets are now.
    func place() throws(Failure) -> WebPlace {
        let beginning = try beginning()
        do throws(Problem) {
            return try place(beginning)
        } catch {
            throw Failure(
                .environment, code: "http.url", summary: "\(error.message).",
                remedy: "Correct its secrets; processing resumes by itself.")
        }
    }

    /// What comes before the first placeholder.
    private func beginning() throws(Failure) -> String {
        var beginning = SecretText.Revealed()
        for piece in pieces {
            guard case .secret(let part) = piece else { break }
            try beginning.add(part)
        }
        return beginning.text
    }

    /// Where a URL with this beginning leads. What drops are called must have no say in it.
    private func place(_ beginning: String) throws(Problem) -> WebPlace {
        // Nothing of it is quoted: all of it may be secret.
        for case .template(let placeholder) in pieces where !Self.hasWholeHost(beginning) {
            throw Problem(
                message: "the URL has '\(placeholder.source)' before its path, so the name of a drop could choose "
                    + "the server; write out the host, and use placeholders only after the '/' that follows it")
        }
        if let problem = WebRequest.problem { throw Problem(message: problem) }
        guard let place = WebPlace(beginning) else {
            throw Problem(message: "this is not a URL with a host; begin with https:// or http://")
        }
        return place
    }

    /// Whether `https://host/` is complete. More slashes than two are none of a path: libcurl takes a third for a slip.
    private static func hasWholeHost(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: ":"), maxSplits: 1)
        guard parts.count == 2, parts[1].starts(with: "//".utf8) else { return false }
        let end = parts[1].dropFirst(2).firstIndex { "/?#".utf8.contains($0) }
        return end.map { $0 > parts[1].dropFirst(2).startIndex } ?? false
    }

    func url(_ values: TemplateValues) throws(Failure) -> SecretText.Revealed {
        var url = SecretText.Revealed()
        for piece in pieces {
            switch piece {
            case .secret(let part): try url.add(part)
            case .template(let template):
                if template.isNothing(values) { continue }
                do throws(TemplateProblem) {
                    // The folders of {path} stay folders.
                    let parts = try template.render(values).split(
                        separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                    url.text += parts.map { Self.encoded(Array($0)) }.joined(separator: "/")
                } catch {
                    throw .file("http.url", "The URL cannot be rendered: \(error.message).")
                }
            }
        }
        return url
    }

    /// Everything but the unreserved characters as `%XX`.
    static func encoded(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let encoded = bytes.flatMap { byte -> [UInt8] in
            let character = Character(Unicode.Scalar(byte))
            let isPlain = byte < 0x80 && (character.isLetter || character.isNumber || "-._~".contains(character))
            return isPlain ? [byte] : [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
        }
        return String(decoding: encoded, as: UTF8.self)
    }
}
