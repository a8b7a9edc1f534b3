import Journal

/// An answer as it came.
struct RawAnswer {
    let status: Int
    let fields: [String: String]
    let body: String

    init(_ bytes: [UInt8]) {
        let text = String(decoding: bytes, as: UTF8.self)
        let halves = text.split(separator: "\r\n\r\n", maxSplits: 1)
        let lines = (halves.first ?? "").split(separator: "\r\n")
        status = lines.first.flatMap { $0.split(separator: " ").dropFirst().first }.flatMap { Int($0) } ?? 0
        let pairs = lines.dropFirst().map { line -> (String, String) in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (parts[0].lowercased(), String(parts.count > 1 ? parts[1].drop { $0 == " " } : ""))
        }
        fields = Dictionary(pairs) { $1 }
        body = halves.count > 1 ? String(halves[1]) : ""
    }

    /// A text of its JSON object.
    subscript(_ key: String) -> String? {
        guard case .object(let object)? = JSONValue(body), case .string(let text)? = object[key] else { return nil }
        return text
    }

    var code: String? { self["code"] }
}
