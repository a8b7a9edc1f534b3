import Files
import PipelineKit
import SystemPackage
import Web

/// Sends messages over HTTP. Redirections are not followed, and of an answer only the beginning is read.
struct WebSender {
    private static let connecting = Duration.seconds(10), stalling = Duration.seconds(15)
    /// Of what a server says so much is told.
    private static let mostSaid = 300

    private let target: NotifyTarget
    private let isStopped: @Sendable () -> Bool

    init(_ target: NotifyTarget, _ isStopped: @escaping @Sendable () -> Bool) {
        (self.target, self.isStopped) = (target, isStopped)
    }

    /// For a dead man's switch.
    init(url: SecretText, insecure: Bool, _ isStopped: @escaping @Sendable () -> Bool) {
        var target = NotifyTarget(.webhook)
        (target.url, target.insecure) = (url, insecure)
        self.init(target, isStopped)
    }

    func send(_ message: Message) -> Delivery {
        var lines = [(Message.idHeader, message.notice.id)]
        let body: String
        switch target.way {
        case .ntfy:
            body = message.notice.text
            lines += [
                ("Content-Type", "text/plain; charset=utf-8"), ("Title", Message.encoded(message.subject)),
                ("Priority", message.isTrouble ? "4" : "3"),
                ("Tags", message.isTrouble ? "warning" : "white_check_mark"),
            ]
        case .apprise:
            body = message.apprise
            lines.append(("Content-Type", "application/json"))
        default:
            let type = target.headers.last { $0.name.lowercased() == "content-type" }?.value.source
            let isJSON = type?.lowercased().contains("json") ?? true
            body = target.body.map { message.filled($0, isJSON: isJSON) } ?? message.json
            lines.append(("Content-Type", "application/json"))
        }
        return send(body, lines)
    }

    static var problem: String? { WebRequest.problem }

    func ping(_ problems: [String]) -> Delivery {
        let text = problems.isEmpty ? "well" : problems.joined(separator: "\n")
        return send(text, [("Content-Type", "text/plain; charset=utf-8")], below: problems.isEmpty ? nil : "fail")
    }

    private func send(_ body: String, _ own: [(name: String, value: String)], below path: String? = nil) -> Delivery {
        guard let source = target.url else { return Delivery(isTaken: false, said: "there is no URL") }
        if let problem = WebRequest.problem { return Delivery(isTaken: false, said: problem) }
        var url = SecretText.Revealed()
        var lines = own
        var secrets: [String]
        do throws(Failure) {
            // What is written out of it is shown, but for what may be a secret by its place.
            for part in source.parts { try url.add(part) }
            secrets = url.secrets
            for header in target.headers {
                let value = try header.value.reveal()
                secrets += value.secrets
                lines.removeAll { $0.name.lowercased() == header.name.lowercased() }
                // A line break in a secret would begin another line.
                lines.append((header.name, value.text.filter { !$0.isNewline }))
            }
        } catch {
            return Delivery(isTaken: false, said: "\(error.summary) \(error.remedy)")
        }
        guard let place = WebPlace(url.text) else {
            return Delivery(isTaken: false, said: "'\(target.shown)' does not lead to a URL with a host; correct it")
        }
        let hasSecrets = Concealed.isSent(
            to: source.source, headers: target.headers.map { ($0.name, $0.value.source) })
        guard place.isPrivate || target.insecure || !hasSecrets else {
            return Delivery(
                isTaken: false,
                said: "a secret would go to another host over http://; use https://, or set 'insecure: true'")
        }
        if let path { url.text = Self.path(path, below: url.text) }
        let request = WebRequest(
            "POST", url.text, headers: lines, body: .bytes(Array(body.utf8)), connecting: Self.connecting,
            stalling: Self.stalling, authorities: target.authorities?.string)
        secrets += Self.secretParts(of: url.text)
        let isStopped = isStopped
        do throws(WebRequest.Problem) {
            return Self.delivery(try request.send { _ in !isStopped() }, secrets)
        } catch {
            let words =
                switch error {
                case .stopped: "it takes too long, and was broken off"
                case .address(let words): "it is not a usable URL: \(words)"
                case .connection(let words): "it cannot be reached: \(words)"
                case .setup(let words): "the request cannot be set up: \(words)"
                }
            return Delivery(isTaken: false, said: Self.masked(Array(words.utf8), secrets))
        }
    }

    private static func delivery(_ answer: WebRequest.Answer, _ secrets: [String]) -> Delivery {
        let isTaken = (200..<300).contains(answer.status)
        var said = "it answered with status \(answer.status)"
        if let redirect = answer.redirect, (300..<400).contains(answer.status) {
            said += ", a redirection to '\(masked(Array(redirect.utf8), secrets))', which is not followed"
        } else if !answer.text.isEmpty {
            let text = masked(answer.text, secrets, endsWithin: answer.isCut)
                .split(whereSeparator: \.isWhitespace).joined(separator: " ")
            said += ": \(text.prefix(mostSaid))\(text.count > mostSaid ? "…" : "")"
        }
        return Delivery(isTaken: isTaken, said: said, retryAfter: isTaken ? nil : answer.retryAfter)
    }

    private static func masked(_ words: [UInt8], _ secrets: [String], endsWithin: Bool = false) -> String {
        String(
            decoding: Masking.masked(words, secrets.map { Array($0.utf8) }, endsWithin: endsWithin), as: UTF8.self)
    }

    /// Topics and keys are in paths, and passwords before hosts.
    private static func secretParts(of url: String) -> [String] {
        guard let scheme = url.firstRange(of: "://") else { return [] }
        let rest = url[scheme.upperBound...]
        let hidden = Concealed.urls(in: Array(url.utf8)).hidden.map { String(decoding: $0, as: UTF8.self) }
        let path = rest.drop { $0 != "/" }.split(whereSeparator: { "/?#&=".contains($0) }).map(String.init)
        return hidden + path.filter { $0.utf8.count >= Concealed.leastBytes }
    }

    /// `https://host/key?a` with `fail` below: `https://host/key/fail?a`.
    static func path(_ name: String, below url: String) -> String {
        let end = url.firstIndex { "?#".contains($0) } ?? url.endIndex
        let (path, rest) = (url[..<end], url[end...])
        return path + (path.hasSuffix("/") ? "" : "/") + name + rest
    }
}
