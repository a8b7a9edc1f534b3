package import Journal

/// What a line asks for, before its arguments are read.
package struct ControlHeader: Decodable {
    package var version: Int?
    package var id: UInt64?
    package var verb: String?
    /// What the first version, which had no number, called its verbs.
    package var ask: String?
    /// For whom it is asked.
    package var `for`: Behalf?

    /// Whether it is a request of this version.
    package var isReadable: Bool { version == ControlLine.version && id != nil && verb != nil }

    /// What is wrong with it, for whoever sent it.
    package var fault: ControlProblem {
        guard version != nil || ask != nil else { return ControlProblem("malformed request") }
        guard version == ControlLine.version else {
            return ControlProblem(
                "it speaks version \(ControlLine.version) of the control protocol, and this program version "
                    + "\(version ?? 1); use the dropmill that the daemon was started from, or restart the daemon")
        }
        return ControlProblem("malformed request: it needs an id and a verb")
    }

    package init(version: Int? = nil, id: UInt64? = nil, verb: String? = nil, ask: String? = nil) {
        self.version = version
        self.id = id
        self.verb = verb
        self.ask = ask
    }
}
