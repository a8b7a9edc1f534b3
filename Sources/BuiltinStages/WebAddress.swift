import PipelineKit

/// A URL with placeholders, whose values are percent-encoded (RFC 3986), and with secrets.
struct WebAddress: Sendable {
    private enum Piece: Sendable {
        case secret(SecretText.Part)
        case template(Template)
    }

    /// The text as it was written: what may be shown.
    let source: String
    private let pieces: [Piece]

    init(_ node: OptionNode, in context: OptionContext) throws(OptionProblem) {
        let text = try SecretText(node, in: context)
        source = text.source
        guard source.hasPrefix("https://") || source.hasPrefix("http://") || source.hasPrefix("${") else {
            throw node.problem("'\(EscapedText.of(source))' is no URL; begin with https:// or http://")
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
    }

    /// The URL for one job.
    func url(_ values: TemplateValues) throws(StageFailure) -> SecretText.Revealed {
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
                    throw .file("http.url", "The URL cannot be made: \(error.message).")
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
