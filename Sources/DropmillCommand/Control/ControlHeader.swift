/// What a line asks for, before its arguments are read.
struct ControlHeader: Decodable {
    var version: Int?
    var id: UInt64?
    var verb: String?
    /// What the first version, which had no number, called its verbs.
    var ask: String?

    /// Whether it is a request of this version.
    var isReadable: Bool { version == ControlLine.version && id != nil && verb != nil }

    /// What is wrong with it, for whoever sent it.
    var fault: ControlProblem {
        guard version != nil || ask != nil else { return ControlProblem("malformed request") }
        guard version == ControlLine.version else {
            return ControlProblem(
                "it speaks version \(ControlLine.version) of the control protocol, and this program version "
                    + "\(version ?? 1); use the dropmill that the daemon was started from, or restart the daemon")
        }
        return ControlProblem("malformed request: it needs an id and a verb")
    }
}
