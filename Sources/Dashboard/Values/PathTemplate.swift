import Files

/// The path of a route: plain parts, and parts with a name that take one part of a request's path each; the last may
/// take all that follow.
struct PathTemplate: Sendable, Equatable, CustomStringConvertible {
    enum Part: Sendable, Equatable {
        case word(String)
        case one(String)
        case rest(String)
    }

    let parts: [Part]

    /// `/api/v1/jobs/{id}`, `/drops/{path*}`.
    init(_ text: String) {
        parts = text.split(separator: "/").map { part in
            guard part.hasPrefix("{"), part.hasSuffix("}") else { return .word(String(part)) }
            let name = part.dropFirst().dropLast()
            return name.hasSuffix("*") ? .rest(String(name.dropLast())) : .one(String(name))
        }
    }

    /// As OpenAPI writes it.
    var description: String {
        "/"
            + parts.map { part in
                switch part {
                case .word(let word): word
                case .one(let name), .rest(let name): "{\(name)}"
                }
            }.joined(separator: "/")
    }

    var names: [String] {
        parts.compactMap { part in
            switch part {
            case .word: nil
            case .one(let name), .rest(let name): name
            }
        }
    }

    /// What the named parts are, as bytes without escapes; nil where the path is another one.
    func match(_ path: RequestPath) -> [String: [[UInt8]]]? {
        var found: [String: [[UInt8]]] = [:]
        var given = path.parts[...]
        for part in parts {
            switch part {
            case .word(let word):
                guard let first = given.popFirst(), first.elementsEqual(word.utf8) else { return nil }
            case .one(let name):
                guard let first = given.popFirst() else { return nil }
                found[name] = [first]
            case .rest(let name):
                guard !given.isEmpty else { return nil }
                found[name] = Array(given)
                given = []
            }
        }
        return given.isEmpty ? found : nil
    }
}
