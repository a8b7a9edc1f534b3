import PipelineConfig
import PipelineEngine

/// Why a mill cannot do what it was asked: each problem with its subject, the fact and the remedy.
public struct MillError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What kind of trouble it is.
    public enum Kind: String, Sendable {
        /// Pipelines that cannot be used: as `dropmill check` reports them, or for want of a helper program.
        case pipelines
        /// A folder, or the journal, cannot be used as it is.
        case configuration
        /// Somebody else uses the state folder or a work folder, or the mill itself is at another task.
        case busy
        /// The machine, a limit of it, or a disk does not allow for it now.
        case shortage
        /// A job cannot be sent back.
        case job
    }

    /// What kind of trouble it is.
    public let kind: Kind
    /// A line for each problem.
    public let problems: [String]

    init(_ kind: Kind, _ problems: [String]) {
        self.kind = kind
        self.problems = problems
    }

    init(_ error: ConfigProblems) { self.init(.pipelines, error.all.map(\.description)) }

    init(_ error: EngineError) {
        let kind: Kind =
            switch error.kind {
            case .configuration: .configuration
            case .locked: .busy
            case .shortage: .shortage
            }
        // Here it is an argument, not an option of the program.
        self.init(kind, [error.message.replacing(" with --state-dir", with: "")])
    }

    /// All of them.
    public var description: String { problems.joined(separator: "\n") }
}
