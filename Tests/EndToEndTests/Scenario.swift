import SystemPackage

/// An end-to-end test as text: what is dropped and started, and what is expected then. The language is described in
/// `samples/scenarios/README.md`.
struct Scenario: Sendable {
    /// One step with the line it stands in.
    struct Step: Sendable {
        let line: Int
        let action: Action
    }

    /// What a step does.
    enum Action: Sendable, Equatable {
        /// Writes `pipelines/NAME.yaml`.
        case pipeline(name: String, yaml: [String])
        /// Copies a sample into the inbox, under its own or another name.
        case dropSample(String, as: [UInt8]?)
        /// Writes a file in the inbox.
        case drop([UInt8], contents: [UInt8])
        /// Writes a file elsewhere on the same file system and renames it into the inbox.
        case renameIn([UInt8], contents: [UInt8])
        /// Writes a file in the inbox piece by piece, held open or opened anew for each piece.
        case slowly([UInt8], pieces: Int, piece: [UInt8], every: Duration, reopened: Bool)
        /// Makes a symbolic link in the inbox.
        case link([UInt8], target: [UInt8])
        /// Writes a file anywhere below the scenario's folder.
        case write([UInt8], contents: [UInt8])
        /// Runs a verb to its end: `run --once` or `check`.
        case run(Verb)
        /// Runs a verb that looks at the journal to its end, with these arguments.
        case look([String])
        /// Starts the daemon and waits until it watches.
        case startDaemon
        /// Sends the daemon SIGTERM and waits for its end.
        case stopDaemon
        /// The exit status of what ended last.
        case expectStatus(Int32)
        /// A log line with this event that holds the text.
        case expectLog(event: String, text: String)
        /// No such line until now.
        case expectNoLog(event: String, text: String)
        /// Something that was written to standard output or error.
        case expectText(String)
        /// A file below the scenario's folder that holds the text.
        case expectFile([UInt8], contains: [UInt8])
        /// Exactly these files and folders.
        case expectTree(ExpectedTree)
    }

    /// What can be run to its end.
    enum Verb: String, Sendable {
        case once, check
    }

    /// The steps, in order.
    let steps: [Step]
}

/// A line of a scenario that cannot be understood.
struct ScenarioProblem: Error, Equatable, CustomStringConvertible {
    let line: Int
    let message: String

    var description: String { "line \(line): \(message)" }
}
