import Files
import Journal

/// Who asks, and what that one may do.
struct Caller: Sendable, Equatable {
    /// How it is known who that is.
    enum Way: String, Sendable {
        /// Who may open the socket may do everything.
        case socket
        case token
        /// A proxy says it.
        case proxy
    }

    var name: String
    var role: Role
    /// Those that it may drop into; nil: all.
    var pipelines: [String]?
    var way: Way
    /// Where it comes from: an address, or `unix`.
    var address: String
    /// When its session ends.
    var expires: Timestamp?

    /// For whom the daemon is asked, as its record has it.
    var behalf: Behalf {
        Behalf(name: Self.short(name), role: role.rawValue, address: Self.short(address))
    }

    private static func short(_ text: String) -> String {
        let plain = EscapedText.printable(text)
        return plain.utf8.count <= 64 ? plain : String(plain.unicodeScalars.prefix(16))
    }

    /// What tells it from others, wherever it comes from.
    var owner: String { "\(way.rawValue) \(name)" }

    func mayDrop(into pipeline: String) -> Bool { role >= .drop && (pipelines?.contains(pipeline) ?? true) }
}
