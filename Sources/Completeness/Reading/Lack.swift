import Helpers

/// What is missing of a file.
package enum Lack: Hashable, Sendable {
    /// What ends such a file is not where it has to be.
    case end
    /// So many bytes, at least, that it announces.
    case bytes(Int64)
    /// Its beginning is not filled in yet.
    case beginning
    /// It leads to something that is not there.
    case target
    /// It makes no sense from some place on, as where it was not written yet.
    case sense
}

extension Lack {
    static let words: [String: Lack] = [
        "end": .end, "beginning": .beginning, "target": .target, "sense": .sense,
    ]

    var word: String {
        switch self {
        case .end: "end"
        case .bytes: "bytes"
        case .beginning: "beginning"
        case .target: "target"
        case .sense: "sense"
        }
    }
}
