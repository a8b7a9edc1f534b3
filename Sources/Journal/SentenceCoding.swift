import PipelineKit

/// A sentence in the journal: its text, and beside it, where something was filled in, `…_template` with `{}` in those
/// places. What was filled in follows from both, or stands in `…_arguments`.
extension JSONText {
    mutating func sentence(_ key: String, _ sentence: Sentence) {
        text(key, sentence.text)
        guard let template = sentence.template else { return }
        text("\(key)_template", template)
        guard !sentence.isToldByTemplate else { return }
        array("\(key)_arguments") { json in
            for argument in sentence.arguments { json.text(nil, argument) }
        }
    }
}

extension [String: JSONValue] {
    func sentence(_ key: String) -> Sentence? {
        guard let text = self[key]?.string else { return nil }
        guard let template = self["\(key)_template"]?.string else { return Sentence(text) }
        return Sentence(text, template: template, arguments: self["\(key)_arguments"]?.all(\.string))
    }
}
