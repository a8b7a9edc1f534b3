import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// The tokens that open this server: those of the file as it is at each request, and one that was named at the start.
final class TokenList: Sendable {
    private struct State {
        var tokens: [Token] = []
        /// Of which file they are.
        var bytes: [UInt8] = []
    }

    private let file: TokenFile
    private let named: [Token]
    private let state = Mutex(State())

    init(_ file: TokenFile, named: [Token]) { (self.file, self.named) = (file, named) }

    /// The one that is known by this secret; nil where there is none, or its time is over.
    func token(of secret: String, at now: Timestamp) throws(TokenError) -> Token? {
        let digest = Array(try Token.digest(of: secret).utf8)
        // All are compared, so that the time tells nothing.
        var found: Token?
        for token in try tokens() where Secret.isEqual(Array(token.digest.utf8), digest) { found = token }
        return found.flatMap { $0.isOver(at: now) ? nil : $0 }
    }

    /// Whether it is among them still: of a session that it began.
    func holds(_ token: Token, at now: Timestamp) throws(TokenError) -> Bool {
        try tokens().contains(token) && !token.isOver(at: now)
    }

    /// The one that was named at the start goes by itself, whatever becomes of the file.
    private func tokens() throws(TokenError) -> [Token] {
        do throws(TokenError) {
            return try named + given()
        } catch {
            guard !named.isEmpty else { throw error }
            return named
        }
    }

    private func given() throws(TokenError) -> [Token] {
        // By its content: neither its number nor its times tell one that was replaced twice from the first.
        let bytes = try file.bytes()
        if let known = state.withLock({ $0.bytes == bytes ? $0.tokens : nil }) { return known }
        let read = try file.tokens(in: bytes)
        state.withLock { $0 = State(tokens: read, bytes: bytes) }
        return read
    }
}
