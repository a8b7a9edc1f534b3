import CPostgres
package import Journal

/// Where a journal is: whatever libpq takes for it, a URL or `key=value` words.
package struct PostgresPlace: Sendable, Equatable {
    let words: String
    /// How messages name it, without its password.
    package let text: String
    /// Whether there is a password in it, or what else libpq does not show.
    package let hasSecret: Bool

    /// The same, for who has a journal there.
    package static func of(_ words: String) throws(JournalError) -> PostgresPlace {
        do throws(PostgresError) {
            return try PostgresPlace(words)
        } catch {
            if case .library(let text) = error {
                throw JournalError(.newer, "No journal can be shared: \(text).", remedy: "")
            }
            throw JournalError(
                .newer,
                "The journal's place makes no sense: \(error.text). Write a URL, such as postgresql://host/database, "
                    + "or words, such as 'host=… dbname=…' or 'service=…'.", remedy: "")
        }
    }

    /// Throws where it makes no sense.
    init(_ words: String) throws(PostgresError) {
        if let problem = PostgresLibrary.shared.problem { throw .library(problem) }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = libpq.PQconninfoParse(words, &message) else {
            defer { libpq.PQfreemem(message) }
            let text = message.map { String(cString: $0).oneLine } ?? ""
            // It quotes what it does not understand, which may be half of a password.
            throw .unfit(text.isEmpty || words.contains(/(?i)pass|@/) ? "it cannot be read" : text)
        }
        defer { libpq.PQconninfoFree(options) }
        let found = Self.values(of: options)
        if words.contains("://"), [found["host"], found["dbname"]].contains(where: { $0?.contains("@") ?? false }) {
            throw .unfit("in a URL a name or a password has '%40' for '@', '%2F' for '/', and so on")
        }
        self.words = words
        hasSecret = Self.values(of: options, areSecret: true).contains { !$0.value.isEmpty }
        let port = found["port"].map { ":\($0)" } ?? ""
        text =
            found["service"].map { "service=\($0)" }
            ?? "postgresql://\(found["host"] ?? found["hostaddr"] ?? "")\(port)/\(found["dbname"] ?? "")"
    }

    /// Those of libpq's options that have one. `areSecret`: only those that it does not show.
    static func values(
        of options: UnsafeMutablePointer<PQconninfoOption>, areSecret: Bool = false
    ) -> [String: String] {
        var found: [String: String] = [:]
        var option = options
        while let key = option.pointee.keyword {
            let isSecret = option.pointee.dispchar.map { String(cString: $0) } == "*"
            if let value = option.pointee.val, isSecret || !areSecret {
                found[String(cString: key)] = String(cString: value)
            }
            option += 1
        }
        return found
    }
}

extension String {
    /// Without the line ends of libpq's messages.
    var oneLine: String {
        split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
    }
}
