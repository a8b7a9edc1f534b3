import PipelineKit

/// A key of a file, for people.
package struct DescribedKey: Sendable {
    /// Where it is in the file: `ready.quiet`.
    package let path: String
    package let summary: String
    /// What it takes, in a few words.
    package let takes: String
    /// Its default, where it has one that can be written down.
    package let fallback: String?
    package let isRequired: Bool

    /// Those of pipeline files, in order; those of a map follow it.
    package static var ofPipelines: [DescribedKey] {
        all(of: PipelineKey.all, required: PipelineDecoder.required.map(\.0))
    }

    /// Those of `dropmill.yaml`.
    package static var ofSettings: [DescribedKey] { all(of: ServiceSettings.described) }

    private static func all(of keys: [PipelineKey], below path: String = "", required: [String] = []) -> [DescribedKey]
    {
        keys.flatMap { key in
            let own = DescribedKey(key, below: path, isRequired: required.contains(key.name))
            switch key.shape {
            case .map(let members), .maps(let members): return [own] + all(of: members, below: "\(own.path).")
            case .value, .stages, .telling: return [own]
            }
        }
    }

    private init(_ key: PipelineKey, below path: String, isRequired: Bool) {
        (self.path, summary, self.isRequired) = (path + key.name, key.summary, isRequired)
        takes =
            switch key.shape {
            case .value(let schema): schema.words
            case .map: "a map of the following"
            case .maps: "a map of the following, or a list of such maps"
            case .stages: "a list of stages"
            case .telling: "a stage or a list of stages"
            }
        fallback =
            switch key.fallback {
            case .text(let text): text
            case .number(let number): String(number)
            case nil: nil
            }
    }
}

extension OptionSchema {
    /// What it takes, in a few words.
    fileprivate var words: String {
        switch self {
        case .text, .pattern, .form: "a text"
        case .flag: "true or false"
        case .mode: "permission bits"
        case .integer(let range): "a number from \(range.lowerBound) to \(range.upperBound)"
        case .size, .someSize: "a size such as 10MiB"
        case .duration, .time: "a time such as 15m"
        case .choice(let words): words.joined(separator: " or ")
        case .either(let one, let other): "\(one.words) or \(other.words)"
        case .anyNumber(let one), .oneOrMore(let one), .distinct(let one): "\(one.words), or a list of them"
        case .map(let value): "a map of any keys, each with \(value.words)"
        }
    }
}
