import Files
import Synchronization

/// Who has signed in: what a browser keeps in its cookie, for twelve hours, and as long as this process runs.
final class Sessions: Sendable {
    static let time = Duration.seconds(12 * 3600)
    /// More than people have browsers; the oldest give way.
    private static let most = 1024

    private struct Session {
        let token: Token
        let expires: Timestamp
    }

    /// What the cookie is called. Where it goes over TLS only, browsers take one of such a name from nobody else: not
    /// from a neighbour in the same domain.
    let cookie: String
    private let sessions = Mutex<[String: Session]>([:])

    init(isSecure: Bool = false) { cookie = isSecure ? "__Host-dropmill" : "dropmill" }

    /// What its cookie holds.
    func begin(with token: Token, at now: Timestamp) -> (secret: String, expires: Timestamp) {
        let secret = Secret.random()
        let expires = Timestamp(nanoseconds: now.nanoseconds.addingSaturated(Self.time.nanoseconds))
        sessions.withLock { sessions in
            sessions = sessions.filter { $0.value.expires > now }
            if sessions.count >= Self.most, let oldest = sessions.min(by: { $0.value.expires < $1.value.expires }) {
                sessions[oldest.key] = nil
            }
            sessions[secret] = Session(token: token, expires: expires)
        }
        return (secret, expires)
    }

    func session(_ secret: String, at now: Timestamp) -> (token: Token, expires: Timestamp)? {
        sessions.withLock { sessions in
            sessions[secret].flatMap { $0.expires > now ? ($0.token, $0.expires) : nil }
        }
    }

    func end(_ secret: String) { sessions.withLock { $0[secret] = nil } }
}
