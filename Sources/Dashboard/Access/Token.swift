import Digests
package import Files
package import PipelineKit
package import SystemPackage

/// A key to the page, as it is kept: by its digest only. It is random and long, so that one digest without salt is as
/// good as many.
package struct Token: Sendable, Codable, Equatable {
    package var name: String
    package var role: Role
    /// Those that it may drop into; nil: all.
    package var pipelines: [String]?
    /// SHA-256 of it, in hexadecimal digits.
    package var digest: String
    /// Nanoseconds since 1970.
    package var created: Int64
    package var expires: Int64?

    private init(
        _ name: String, _ role: Role, _ secret: String, pipelines: [String]? = nil, created: Int64 = 0,
        expires: Int64? = nil
    ) throws(TokenError) {
        (self.name, self.role, self.pipelines) = (name, role, pipelines)
        digest = try Self.digest(of: secret)
        (self.created, self.expires) = (created, expires)
    }

    /// A new one, and what it is to be given out as: it cannot be had again.
    package static func make(
        _ name: String, _ role: Role, pipelines: [String]? = nil, expires: Timestamp? = nil, at now: Timestamp
    ) throws(TokenError) -> (token: Token, secret: String) {
        try check(name)
        let secret = Secret.random(prefix: "dm_")
        let token = try Token(
            name, role, secret, pipelines: pipelines, created: now.nanoseconds, expires: expires?.nanoseconds)
        return (token, secret)
    }

    /// The one in a file: a line, which nobody else may read. It may do everything.
    package init(inFile path: FilePath) throws(TokenError) {
        let text: String
        do throws(IOError) {
            text = String(decoding: try SecretFile.read(path, atMost: 4096), as: UTF8.self)
        } catch {
            throw TokenError("the token cannot be had: \(error); make the file with 'chmod 600', with one line in it")
        }
        let secret = text.prefix { !$0.isNewline }
        guard secret.utf8.count >= 20 else {
            throw TokenError("'\(path.text)' has no token of 20 characters or more in its first line")
        }
        try self.init("file", .operate, String(secret))
    }

    /// The keys of one object, without its digest.
    package func write(_ json: inout JSONText) {
        json.text("name", name)
        json.text("role", role.rawValue)
        if let pipelines { json.array("pipelines") { json in for pipeline in pipelines { json.text(nil, pipeline) } } }
        json.text("created_at", Timestamp(nanoseconds: created).iso8601)
        if let expires { json.text("expires_at", Timestamp(nanoseconds: expires).iso8601) }
    }

    package func isOver(at now: Timestamp) -> Bool { expires.map { now.nanoseconds >= $0 } ?? false }

    static func digest(of secret: String) throws(TokenError) -> String {
        do throws(DigestError) {
            return try Digest.of(Array(secret.utf8), .sha256).hex
        } catch {
            throw TokenError("SHA-256 cannot be had: \(error)")
        }
    }

    /// It stands in the list of changes, and on a line of its own.
    private static func check(_ name: String) throws(TokenError) {
        let isPlain = name.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."),
                UInt8(ascii: "@"):
                true
            default: false
            }
        }
        guard isPlain, (1...64).contains(name.utf8.count) else {
            throw TokenError(
                "'\(EscapedText.of(name))' is no name of a token; use 1 to 64 letters, digits, '-', '_', '.' and '@'")
        }
    }
}
