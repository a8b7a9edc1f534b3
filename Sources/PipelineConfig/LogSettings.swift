import PipelineKit

/// What a daemon logs, and how (`log`); the options of its command line win.
package struct LogSettings: Sendable, Equatable {
    package enum Format: String, CaseIterable, Sendable {
        case auto, text, json, journal
    }

    package enum Level: String, CaseIterable, Sendable {
        case debug, info, warning, error
    }

    /// nil: it is not said.
    package var format: Format?
    /// nil: it is not said.
    package var level: Level?

    package init() {}

    static let keys = [
        PipelineKey(
            "format", .value(.choice(Format.allCases.map(\.rawValue))),
            "as what lines are logged; auto: as what standard error is (a terminal, the journal), else JSON",
            default: .text(Format.auto.rawValue)),
        PipelineKey(
            "level", .value(.choice(Level.allCases.map(\.rawValue))), "the lowest level that is logged",
            default: .text(Level.info.rawValue)),
    ]

    init(_ node: OptionNode, _ problems: inout [OptionProblem]) {
        let map = OptionMap(node, name: "log", keys: Self.keys.map(\.name), problems: &problems)
        format = map.read("format", problems: &problems) { node throws(OptionProblem) in
            try node.choice(of: Format.self)
        }
        level = map.read("level", problems: &problems) { node throws(OptionProblem) in
            try node.choice(of: Level.self)
        }
    }
}
