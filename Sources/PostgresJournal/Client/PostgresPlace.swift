import CPostgres

/// Where a journal is: whatever libpq takes for it, a URL or `key=value` words.
package struct PostgresPlace: Sendable, Equatable {
    let words: String
    /// How messages name it, without its password.
    package let text: String

    /// Throws where it makes no sense.
    init(_ words: String) throws(PostgresError) {
        if let problem = PostgresLibrary.shared.problem { throw .library(problem) }
        var message: UnsafeMutablePointer<CChar>?
        guard let options = libpq.PQconninfoParse(words, &message) else {
            defer { libpq.PQfreemem(message) }
            throw .unfit(message.map { String(cString: $0).oneLine } ?? "it is no place of a database")
        }
        defer { libpq.PQconninfoFree(options) }
        var found: [String: String] = [:]
        var option = options
        while let key = option.pointee.keyword {
            if let value = option.pointee.val { found[String(cString: key)] = String(cString: value) }
            option += 1
        }
        self.words = words
        let port = found["port"].map { ":\($0)" } ?? ""
        text =
            found["service"].map { "service=\($0)" }
            ?? "postgresql://\(found["host"] ?? found["hostaddr"] ?? "")\(port)/\(found["dbname"] ?? "")"
    }
}

extension String {
    /// Without the line ends of libpq's messages.
    var oneLine: String {
        split(separator: "\n").map { $0.drop { $0 == " " || $0 == "\t" } }.joined(separator: "; ")
    }
}
