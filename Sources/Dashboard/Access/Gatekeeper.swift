import Files
import HTTPTypes
import Synchronization

/// Says who asks, by what comes with a request.
final class Gatekeeper: Sendable {
    private let rules: OriginRules
    private let tokens: TokenList
    let sessions: Sessions
    private let throttle = Mutex(Throttle())
    /// Whether who reaches it may do everything: by a Unix socket, whose rights say who may open it.
    private let isOpen: Bool
    private let proxy: ProxyTrust
    private let now: @Sendable () -> Timestamp

    init(
        _ rules: OriginRules, _ tokens: TokenList, isOpen: Bool, proxy: ProxyTrust, isSecure: Bool = false,
        now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.rules = rules
        self.tokens = tokens
        self.isOpen = isOpen
        self.proxy = proxy
        sessions = Sessions(isSecure: isSecure)
        self.now = now
    }

    /// The origin's rules, which hold for everything.
    func check(_ head: HTTPRequest) throws(Problem) {
        let isUnsafe = head.method != .get && head.method != .head
        let hasBearer = Self.bearer(head.headerFields) != nil
        if let refusal = rules.refusal(
            of: head.headerFields, host: head.authority ?? "", isUnsafe: isUnsafe, hasBearer: hasBearer)
        {
            throw refusal
        }
    }

    /// Who asks; nil where nobody says so. `peer`: the address at the other end, or nil on a Unix socket; `isAgain`: it
    /// was let in, and only whether it still would be is asked, whatever others tried from there meanwhile.
    func caller(_ head: HTTPRequest, peer: String?, isAgain: Bool = false) throws(Problem) -> Caller? {
        let address = proxy.address(of: head.headerFields, peer: peer)
        if let secret = Self.bearer(head.headerFields) {
            return Caller(try token(bySecret: secret, from: address, isAgain: isAgain), from: address)
        }
        if let caller = proxy.caller(head.headerFields, peer: peer, address: address) { return caller }
        let time = now()
        for secret in cookies(head.headerFields) {
            guard let (token, expires) = sessions.session(secret, at: time), try isValid(token, at: time) else {
                continue
            }
            return Caller(token, from: address, expires: expires)
        }
        guard isOpen else { return nil }
        return Caller(name: "socket", role: .operate, way: .socket, address: address)
    }

    /// The token's caller. Throws where the secret is wrong, which only so many may be.
    func caller(bySecret secret: String, from address: String) throws(Problem) -> Caller {
        Caller(try token(bySecret: secret, from: address), from: address)
    }

    func token(bySecret secret: String, from address: String, isAgain: Bool = false) throws(Problem) -> Token {
        if !isAgain, let seconds = throttle.withLock({ $0.wait(for: address, at: .now()) }) {
            throw Problem(
                .tooManyRequests, "token.throttled", "too many wrong tokens came from \(address)", subject: address,
                remedy: "Try again in \(seconds) s.", retryAfter: seconds)
        }
        let found: Token?
        do throws(TokenError) { found = try tokens.token(of: secret, at: now()) } catch { throw Self.trouble(error) }
        guard let found else {
            if !isAgain { throttle.withLock { $0.note(address, at: .now()) } }
            throw Problem(
                .unauthorized, "token.wrong", "this token is none, or its time is over", subject: "token",
                remedy: "Ask for another: 'dropmill token add' gives it out.")
        }
        return found
    }

    func address(_ head: HTTPRequest, peer: String?) -> String { proxy.address(of: head.headerFields, peer: peer) }

    private func isValid(_ token: Token, at time: Timestamp) throws(Problem) -> Bool {
        do throws(TokenError) { return try tokens.holds(token, at: time) } catch { throw Self.trouble(error) }
    }

    private static func trouble(_ error: TokenError) -> Problem {
        Problem(
            .serviceUnavailable, "token.trouble", error.description, subject: "tokens",
            remedy: "Mend that; nothing has to be started again.")
    }

    func cookies(_ fields: HTTPFields) -> [String] {
        fields[values: .cookie].flatMap { $0.split(separator: ";") }.compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0].drop(while: { $0 == " " }) == sessions.cookie else { return nil }
            return String(parts[1])
        }
    }

    /// Other ways of signing in are a proxy's, which sends on what it was given.
    private static func bearer(_ fields: HTTPFields) -> String? {
        let parts = (fields[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
        return String(parts[1])
    }
}

extension Caller {
    fileprivate init(_ token: Token, from address: String, expires: Timestamp? = nil) {
        self.init(
            name: token.name, role: token.role, pipelines: token.pipelines, way: .token, address: address,
            expires: expires)
    }
}
