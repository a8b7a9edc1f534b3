import Files
import Glibc
package import PipelineKit
import SystemPackage
import Web

/// Sends the payload, or a report of the job, to a web server.
package struct HTTPStage: OwnStage {
    private enum Method: String, CaseIterable, Sendable { case PUT, POST }
    private enum Body: String, CaseIterable, Sendable { case payload, report }

    private static let url = StageOption<WebAddress>(
        "url", "the URL to send to, with placeholders; secrets are written ${env:X} or ${file:PATH}", takes: "a URL",
        default: nil, shown: "required", schema: .pattern("^[Hh][Tt][Tt][Pp][Ss]?://."), takesSecrets: true
    ) { (node, context) throws(OptionProblem) in try WebAddress(node, in: context) }
    private static let method = StageOption<Method>.choice("method", "the HTTP method", default: .PUT)
    private static let body = StageOption<Body>.choice(
        "body", "what to send: the payload's file, or a JSON report of the job", default: .payload)
    private static let headers = StageOption<[(key: String, value: SecretText)]>(
        "headers", "request headers, which may hold secrets", takes: "a map of strings", default: [], shown: "",
        schema: .map(.text), takesSecrets: true
    ) { (node, context) throws(OptionProblem) in try node.requestHeaders(in: context) }
    private static let connecting = StageOption<Duration>.duration(
        "connect_timeout", "how long connecting may take", default: .seconds(10))
    private static let stalling = StageOption<Duration>.duration(
        "stall_timeout", "how long a transfer may stall", default: .seconds(60))
    private static let authorities = StageOption<FilePath?>.file(
        "ca", "a PEM file of CA certificates to trust instead of the system's")
    private static let insecure = StageOption<Bool>.flag(
        "insecure", "whether secrets may be sent to another host over http://, unencrypted", default: false)

    package static let descriptor = StageDescriptor(
        kind: "http",
        summary:
            "Sends the payload, or a JSON report, to a URL. A failed connection, 408, 425, 429 and 5xx are retried, "
            + "no earlier than `Retry-After` says; any other status but 2xx fails the file.",
        options: [
            url.erased, method.erased, body.erased, headers.erased, connecting.erased, stalling.erased,
            authorities.erased, insecure.erased,
        ],
        example: #"""
            http: { url: "https://example.org/in/{name}", headers: { Authorization: "Bearer ${file:token}" } }
            """#,
        remedies: [.telling: "http: { url: …, body: report }"])

    private let url: WebAddress
    private let method: Method
    private let body: Body
    let headers: [(key: String, value: SecretText)]
    private let connecting: Duration
    private let stalling: Duration
    let authorities: FilePath?
    private let insecure: Bool

    package init(options: StageOptions) throws(OptionProblem) {
        url = try options.value(Self.url)
        method = try options.value(Self.method)
        body = try options.value(Self.body)
        headers = try options.value(Self.headers)
        connecting = try options.value(Self.connecting)
        stalling = try options.value(Self.stalling)
        authorities = try options.value(Self.authorities)
        insecure = try options.value(Self.insecure)
        let place: WebPlace
        do throws(Failure) { place = try url.place() } catch { throw options.problem(error.summary) }
        guard mayKnow(place) else {
            throw OptionProblem(
                "'url': a secret would be sent to \(EscapedText.of(place.host)) unencrypted; "
                    + "use https://, or set 'insecure: true'", at: url.position)
        }
    }

    /// Whether this server may receive the secrets.
    private func mayKnow(_ place: WebPlace) -> Bool {
        place.isPrivate || insecure
            || !Concealed.isSent(to: url.source, headers: headers.map { ($0.key, $0.value.source) })
    }

    package var tellsJob: Bool { true }

    package func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        switch body {
        case .report:
            let report = JobReportText.json(payload, context)
            try send(.bytes(report), type: "application/json", context)
        case .payload:
            guard case .file(let name) = payload.shape else {
                throw .file(
                    "http.folder",
                    "'\(context.job.drop.name)' is a folder at this point, and 'http' can send only a single file.",
                    remedy: "Put 'compress' before 'http', or give it a 'when'.")
            }
            let file = try Failure.onIOError { () throws(IOError) in
                try context.open(name, of: payload)
            }
            let size = try Failure.onIOError { () throws(IOError) in Int64(try file.status().st_size) }
            context.work.progress.expect(bytes: size)
            try send(
                .file(file.descriptor, size: size), type: payload.facts["type"] ?? "application/octet-stream", context)
        }
        return payload
    }

    private func send(_ body: WebRequest.Body, type: String, _ context: StageContext) throws(Failure) {
        // Secrets are read again, and one of them may contain the host.
        guard mayKnow(try url.place()) else {
            throw Failure(
                .environment, code: "http.insecure",
                summary: "'\(url.shown)' now goes to another host over http:// and would send a secret unencrypted.",
                remedy: "Use https://, or set 'insecure: true'; processing resumes by itself.")
        }
        let url = try url.url(context.job.values)
        var secrets = url.secrets + self.url.literals
        // A request may arrive twice (after a crash, or if its answer was lost): this lets the server detect that.
        var lines: [(name: String, value: String)] = [
            ("Idempotency-Key", "\(context.job.id)-\(context.place)"), ("Content-Type", type),
        ]
        for (name, value) in headers {
            let revealed = try value.reveal()
            secrets += revealed.secrets
            lines.removeAll { $0.name.lowercased() == name.lowercased() }
            // A line break in a secret would begin another header.
            lines.append((name, revealed.text.filter { !$0.isNewline }))
        }
        let request = WebRequest(
            method.rawValue, url.text, headers: lines, body: body, connecting: connecting,
            stalling: stalling, authorities: authorities?.string)
        // As they are, and percent-encoded.
        let forms = secrets.map { Array($0.utf8) }.flatMap { [$0, Array(WebAddress.encoded($0).utf8)] }
        var told: Int64 = 0
        let answer: WebRequest.Answer
        do throws(WebRequest.Problem) {
            answer = try request.send { sent in
                context.work.progress.add(bytes: sent - told)
                told = sent
                return !context.work.cancellation.isCancelled
            }
        } catch {
            throw failure(error, forms)
        }
        try judge(answer, forms)
    }

    /// A message of libcurl or the server, with the secrets masked.
    private static func masked(_ words: String, _ secrets: [[UInt8]]) -> String {
        EscapedText.printable(String(decoding: Masking.masked(Array(words.utf8), secrets), as: UTF8.self))
    }

    private func failure(_ problem: WebRequest.Problem, _ secrets: [[UInt8]]) -> Failure {
        // libcurl's messages contain hosts and files.
        func masked(_ words: String) -> String { Self.masked(words, secrets) }
        switch problem {
        case .stopped: return .cancelled
        case .address(let words):
            return .file(
                "http.url", "'\(url.shown)' is not a usable URL: \(masked(words)).",
                remedy: "Correct 'url' in the stage 'http'.")
        case .connection(let words):
            return Failure(
                .transient, code: "http.connection", summary: "'\(url.shown)' cannot be reached: \(masked(words)).",
                remedy: "Check that the server is running and reachable from here; then send the file again.")
        case .setup(let words):
            return Failure(
                .environment, code: "http.setup",
                summary: "A request to '\(url.shown)' cannot be set up: \(masked(words)).",
                remedy: "Correct 'ca' (a file of PEM certificates) and the other options of the stage 'http'; "
                    + "processing resumes by itself.")
        }
    }

    private func judge(_ answer: WebRequest.Answer, _ secrets: [[UInt8]]) throws(Failure) {
        guard !(200..<300).contains(answer.status) else { return }
        let isTransient = answer.status >= 500 || [408, 425, 429].contains(answer.status)
        let asked = isTransient ? answer.retryAfter : nil
        let redirect = [301, 302, 303, 307, 308].contains(answer.status) ? answer.redirect : nil
        let fact =
            if let redirect {
                ", a redirection to '\(Self.masked(redirect, secrets))', which Dropmill does not follow."
            } else if let asked {
                " and asks to wait for \(asked.text)."
            } else {
                "."
            }
        var failure = Failure(
            isTransient ? .transient : .file, code: "http.status",
            summary: "'\(url.shown)' answered with status \(answer.status)\(fact)",
            remedy: redirect != nil
                ? "If that is the right address, set it as 'url' of the stage 'http'; then send the file again."
                : isTransient
                    ? "Check the server; then send the file again."
                    : "The server rejected it: check its answer, 'url' and 'headers'.",
            detail: EscapedText.printable(
                String(
                    decoding: Masking.masked(answer.text, secrets, endsWithin: answer.isCut), as: UTF8.self)))
        failure.retryAfter = asked
        throw failure
    }
}
