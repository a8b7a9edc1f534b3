import Control
import Files
import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import NIOCore

/// A request that may be served.
struct Call: Sendable {
    let request: Request
    let site: Site
    let caller: Caller?
    let address: String
    let query: Query
    /// The named parts of its path, without escapes.
    let path: [String: [[UInt8]]]
    /// The keys of its body, where the route says them.
    var bodyKeys: Set<String>?
    /// Whether who asked would still be let in: tokens are revoked, and sessions end.
    var isStillAllowed: @Sendable () -> Bool = { true }

    /// The most bytes of a JSON body, and how long it may take to come.
    private static let largestBody = 1 << 20, patience = Duration.seconds(30)

    /// A part of the path that has to be text.
    func text(_ name: String) throws(Problem) -> String {
        guard let bytes = path[name]?.first, let text = String(validating: bytes, as: UTF8.self) else {
            throw .notFound(name, "there is no such \(name)", remedy: "Look for it in the list.")
        }
        return text
    }

    /// The body, which is JSON of that type and has so many bytes at most.
    func body<Body: Decodable>(_ type: Body.Type, atMost limit: Int = Self.largestBody) async throws -> Body {
        guard let kind = request.headers[.contentType], Self.isJSON(kind) else {
            throw Problem(
                .unsupportedMediaType, "body.type", "the body is not said to be JSON", subject: "Content-Type",
                remedy: "Send it as 'Content-Type: application/json'.")
        }
        let bytes = try await bytes(atMost: limit)
        do {
            if let bodyKeys {
                let unknown = try JSONDecoder().decode(GivenKeys.self, from: Data(bytes)).names.subtracting(bodyKeys)
                if let name = unknown.min() {
                    throw Problem(
                        .badRequest, "body.unknown", "'\(EscapedText.of(name.prefix(100).utf8))' is not known here",
                        subject: "body", remedy: "Use \(bodyKeys.sorted().joined(separator: ", ")).")
                }
            }
            return try JSONDecoder().decode(type, from: Data(bytes))
        } catch let problem as Problem {
            throw problem
        } catch {
            throw Problem(
                .badRequest, "body.malformed", JSONFault.text(error), subject: "body",
                remedy: "The document at /api/v1/openapi.json says what it has to be.")
        }
    }

    private func bytes(atMost limit: Int) async throws -> [UInt8] {
        try await withThrowingTaskGroup(of: [UInt8].self) { [request] group in
            group.addTask {
                var bytes: [UInt8] = []
                do {
                    for try await buffer in request.body {
                        bytes += buffer.readableBytesView
                        if bytes.count > limit { break }
                    }
                } catch {
                    throw Problem(
                        .badRequest, "body.cut", "the body ended early", subject: "body", remedy: "Send it whole.")
                }
                guard bytes.count <= limit else {
                    throw Problem(
                        .contentTooLarge, "body.size", "the body has more than \(ByteSize(bytes: Int64(limit)))",
                        subject: "body", remedy: "Ask for less at once.")
                }
                return bytes
            }
            group.addTask {
                try await Task.sleep(for: Self.patience)
                throw Problem(
                    .requestTimeout, "body.late", "the body did not come within \(Self.patience.text)",
                    subject: "body", remedy: "Send it at once.")
            }
            defer { group.cancelAll() }
            return try await group.next() ?? []
        }
    }

    private static func isJSON(_ kind: String) -> Bool {
        let plain = kind.split(separator: ";").first?.split(separator: " ").first ?? ""
        return plain.lowercased() == "application/json"
    }
}

/// The keys of an object, whatever their values are.
private struct GivenKeys: Decodable {
    private struct Key: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    let names: Set<String>

    init(from decoder: any Decoder) throws {
        names = Set(try decoder.container(keyedBy: Key.self).allKeys.map(\.stringValue))
    }
}

extension Call {
    /// Has the daemon change something, for whoever asks.
    func change<Verb: ControlVerb>(_ verb: Verb.Type, _ arguments: Verb.Arguments) async throws(Problem) -> Verb.Answer
    {
        try await site.daemon.ask(verb, arguments, for: caller?.behalf)
    }
}
