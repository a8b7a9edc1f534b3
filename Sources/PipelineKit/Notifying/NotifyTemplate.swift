import Files

/// What a webhook is sent: a text with `{message}` and the like. Braces around anything else are the text's own, so
/// that it can be JSON.
package struct NotifyTemplate: Sendable, Equatable {
    /// What can be filled in.
    package enum Field: String, Sendable, CaseIterable {
        case id, event, pipeline, count, title, message, state, host, since, time
    }

    private enum Part: Sendable, Equatable {
        case text(String)
        case field(Field)
    }

    private let parts: [Part]
    /// The text as it was written.
    package let source: String

    /// Throws where a word in braces is none of the fields.
    package init(_ node: OptionNode) throws(OptionProblem) {
        source = try node.string()
        var parts: [Part] = []
        var rest = source[...]
        while let open = rest.firstIndex(of: "{") {
            parts.append(.text(String(rest[..<open])))
            let word = rest[open...].dropFirst().prefix { $0.isASCII && ($0.isLetter || $0 == "_") }
            guard !word.isEmpty, word.endIndex < rest.endIndex, rest[word.endIndex] == "}" else {
                parts.append(.text("{"))
                rest = rest[open...].dropFirst()
                continue
            }
            let known = Field.allCases.map(\.rawValue)
            guard let field = Field(rawValue: String(word)) else {
                let hint = Suggestion.nearest(to: String(word), among: known).map { "did you mean '{\($0)}'?" }
                let all = "there are " + known.map { "{\($0)}" }.joined(separator: ", ")
                throw node.problem("there is no '{\(word)}'; \(hint ?? all)")
            }
            parts.append(.field(field))
            rest = rest[word.endIndex...].dropFirst()
        }
        self.parts = parts + [.text(String(rest))]
    }

    /// The text with its fields filled in.
    package func filled(_ value: (Field) -> String) -> String {
        parts.map { part in
            switch part {
            case .text(let text): text
            case .field(let field): value(field)
            }
        }.joined()
    }
}
