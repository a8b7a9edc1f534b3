package import Journal

/// What nodes tell each other at once.
extension PostgresJournal {
    /// It is the database's: other schemas with journals have the same, which costs their nodes a look.
    private static let channel = "dropmill"

    /// How long that may take: it is not worth waiting for.
    private static let patience = Duration.seconds(2)

    package func hear(_ heard: @escaping @Sendable (NodeHint) -> Void) { listeners.add(heard) }

    /// Tells it to other nodes, once what it is about is on record; not within that, since all transactions that tell
    /// something wait for each other. A node does so where it listens, and so does not hear itself.
    func tell(_ hint: NodeHint) {
        let connection = incarnation == nil ? commits : leases
        let query = PostgresQuery("SELECT pg_notify($1, $2)", Self.channel, hint.rawValue)
        // Who does not hear of it sees it at the next look.
        _ = try? connection.exchange([query], within: Self.patience)
    }

    static func hearing(_ listeners: HintListeners) -> PostgresConnection.Hearing {
        PostgresConnection.Hearing(channel: channel) { @Sendable in listeners.tell($0) }
    }
}
