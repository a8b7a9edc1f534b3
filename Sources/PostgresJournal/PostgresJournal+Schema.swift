import Files
package import Journal

/// The tables, and who may use them.
extension PostgresJournal {
    /// Lets a role run nodes: it reads and writes rows, and calls what is there.
    package func grant(to role: String) throws(JournalError) {
        let role = "\"" + role.replacing("\"", with: "\"\"") + "\""
        let tables = Schema.names(of: "TABLE").filter { !$0.hasPrefix("history_") }.joined(separator: ", ")
        let functions = Schema.names(of: "FUNCTION").joined(separator: ", ")
        try exchange([
            PostgresQuery("GRANT USAGE ON SCHEMA \(try schema()) TO \(role)"),
            PostgresQuery("GRANT SELECT, INSERT, UPDATE, DELETE ON \(tables) TO \(role)"),
            PostgresQuery("GRANT SELECT ON migrations TO \(role)"),
            PostgresQuery("GRANT EXECUTE ON FUNCTION \(functions) TO \(role)"),
        ])
    }

    /// The name of the schema, as SQL has it.
    private func schema() throws(JournalError) -> String {
        var row = try ask("open", commits, PostgresQuery("SELECT quote_ident(current_schema())")).first
        return row?.optionalText() ?? "pg_temp"
    }

    /// The names of the steps that the database has gone through.
    func applied(
        _ ask: (PostgresQuery) throws(PostgresError) -> [PostgresRow]
    ) throws(PostgresError) -> Set<String> {
        let there = try ask(PostgresQuery("SELECT FROM pg_class WHERE oid = to_regclass('migrations')"))
        guard !there.isEmpty else { return [] }
        return Set(
            try ask(PostgresQuery("SELECT name FROM migrations")).compactMap { found in
                var row = found
                return row.optionalText()
            })
    }

    /// The same, of the database as it is.
    func applied(on connection: PostgresConnection? = nil) throws(JournalError) -> Set<String> {
        do throws(PostgresError) {
            return try applied { query throws(PostgresError) in try (connection ?? commits).query(query) }
        } catch {
            throw JournalError(error, "open", place)
        }
    }

    func refuseNewer(_ applied: Set<String>) throws(JournalError) {
        let unknown = Schema.unknown(among: applied).sorted()
        guard let first = unknown.first else { return }
        throw JournalError(
            .newer,
            "The journal '\(place.text)' has the schema of a newer Dropmill: '\(first)', and this one knows it up to "
                + "'\(Schema.last)'. Run on this node the version that the others run.", remedy: "")
    }

    /// Goes the steps that are missing, all or none, while others wait.
    func migrate() throws(JournalError) {
        let known = try applied()
        try refuseNewer(known)
        if Schema.isComplete(known) { return }
        let schema = try schema()
        do {
            try commits.transaction { ask in
                _ = try ask(
                    PostgresQuery("SELECT pg_advisory_xact_lock($1, $2)", Schema.lock, Schema.Turn.migrating.rawValue))
                let applied = try applied(ask)
                try refuseNewer(applied)
                if applied.isEmpty { _ = try ask(PostgresQuery("CREATE TABLE migrations (name text PRIMARY KEY)")) }
                for step in Schema.steps where !applied.contains(step.name) {
                    for command in step.commands {
                        _ = try ask(PostgresQuery(command.replacing(Schema.schema, with: schema)))
                    }
                    _ = try ask(PostgresQuery("INSERT INTO migrations VALUES ($1)", step.name))
                }
            }
        } catch let error as PostgresError {
            if case .refused(let state, let text) = error, PostgresState.mayNotMake.contains(state) {
                throw lacksSteps(text, of: known)
            }
            throw JournalError(error, "write", place)
        } catch {
            throw error as? JournalError ?? JournalError(.environment, "\(error)")
        }
    }

    private func lacksSteps(_ text: String, of known: Set<String>) -> JournalError {
        JournalError(
            .newer,
            "The journal '\(place.text)' lacks tables of this version, and this role may not make them: \(text). Run "
                + "'dropmill journal \(known.isEmpty ? "init" : "upgrade")' with a role that may, and with '--grant' "
                + "for this one; 'options=-csearch_path=NAME' names another schema.", remedy: "")
    }
}
