import Files
import Glibc
import Journal

/// What is told of nodes.
extension PostgresJournal {
    /// Throws where another node of this name is alive, and was before this one. Waits for one that was killed: its
    /// lease is not renewed.
    func refuseTwin() throws(JournalError) {
        var last: NodeRecord?
        while let twin = try twin() {
            // One that is renewed lasts longer than it did.
            if let last, twin.incarnation == last.incarnation, twin.lease > last.lease { throw refusal(of: twin) }
            last = twin
            usleep(Self.pause)
        }
    }

    /// Microseconds between two looks.
    private static let pause: useconds_t = 200_000

    /// The node of this name that is alive and was there before; nil where it is this one.
    private func twin() throws(JournalError) -> NodeRecord? {
        guard let incarnation else { return nil }
        let nodes = try nodes().filter { $0.name == incarnation.node }
        guard nodes.contains(where: { $0.incarnation == incarnation.id && $0.isWaiting }) else { return nil }
        return nodes.first(where: \.isAlive)
    }

    private func refusal(of twin: NodeRecord) -> JournalError {
        JournalError(
            .environment,
            "A node '\(twin.name)' is alive already, on the host '\(twin.host)' since \(twin.since.iso8601). Give one "
                + "of them another name with --node or DROPMILL_NODE.", remedy: "")
    }
}
