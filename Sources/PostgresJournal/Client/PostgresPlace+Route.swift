import CPostgres

extension PostgresPlace {
    /// That what goes to the server and back may be read on its way; nil where it may not, or that is not known.
    /// Whatever may say so is asked: the words, a service's file, the environment.
    package var warning: String? {
        // It begins to connect, and what it begins with is known.
        let begun = PostgresConnection.withCStrings(["dbname"]) { keys in
            PostgresConnection.withCStrings([words]) { values in libpq.PQconnectStartParams(keys, values, 1) }
        }
        guard let begun else { return nil }
        defer { libpq.PQfinish(begun) }
        guard let options = libpq.PQconninfo(begun) else { return nil }
        defer { libpq.PQconninfoFree(options) }
        let found = Self.values(of: options)
        let mode = found["sslmode"] ?? "prefer"
        guard ["disable", "allow", "prefer"].contains(mode), found["gssencmode"] != "require" else { return nil }
        let hosts = (found["hostaddr"] ?? found["host"] ?? "").split(separator: ",")
        guard let host = hosts.first(where: { !Self.isLocal($0) }) else { return nil }
        return "the journal's server '\(host)' is on another machine, and 'sslmode' is '\(mode)', so that others may "
            + "read what goes there; write 'sslmode=verify-full', or at least 'require'"
    }

    /// A socket of this machine, or its own address.
    static func isLocal(_ host: some StringProtocol) -> Bool {
        host.hasPrefix("/") || host.hasPrefix("@") || host == "localhost" || host == "::1"
            || (host.hasPrefix("127.") && host.allSatisfy { $0.isNumber || $0 == "." })
    }
}
