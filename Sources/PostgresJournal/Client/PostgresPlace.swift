import CPostgres
package import Journal

/// Where a journal is: whatever libpq takes for it, a URL or `key=value` words.
package struct PostgresPlace: Sendable, Equatable {
    let words: String
    /// How messages name it, without its password: it can be pasted.
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
        // To libpq it would be what the environment says.
        if words.isEmpty { throw .unfit("it is empty") }
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
        text = Self.text(of: found)
    }

    /// What leads to the same journal, as libpq takes it.
    static func text(of options: [String: String]) -> String {
        if let service = options["service"] { return "service=\(service)" }
        func escaped(_ value: String) -> String {
            value.utf8.reduce(into: "") { text, byte in
                let isPlain = byte < 0x80 && Character(UnicodeScalar(byte)).isPlainInURL
                text += isPlain ? String(UnicodeScalar(byte)) : "%" + String(256 + Int(byte), radix: 16).suffix(2)
            }
        }
        var rest = ["host", "hostaddr", "port", "options"]
        var server = options["user"].map { "\(escaped($0))@" } ?? ""
        // What is no name of one host, such as the folder of a socket, does not do before the database.
        if let host = options["host"], host.allSatisfy({ $0.isLetter || $0.isNumber || ".-_".contains($0) }) {
            server += escaped(host) + (options["port"].map { ":\(escaped($0))" } ?? "")
            rest.removeAll { ["host", "port"].contains($0) }
        }
        let words = rest.compactMap { key in options[key].map { "\(key)=\(escaped($0))" } }
        let database = escaped(options["dbname"] ?? "")
        return "postgresql://\(server)/\(database)" + (words.isEmpty ? "" : "?" + words.joined(separator: "&"))
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

extension Character {
    fileprivate var isPlainInURL: Bool { isLetter || isNumber || "-._~/,:".contains(self) }
}

extension String {
    /// Without the line ends of libpq's messages.
    var oneLine: String {
        split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
    }
}
