import Files
import PipelineKit

/// A URL that messages go to, as it is written in a file: checked as far as that goes without libcurl, which is loaded
/// where something is sent, and reads it again.
struct NotifyURL {
    let text: SecretText

    /// `headers`: what goes along with it.
    init(
        _ node: OptionNode, in context: OptionContext, insecure: Bool, headers: [NotifyTarget.Header]
    ) throws(OptionProblem) {
        text = try SecretText(node, in: context)
        let revealed: String
        do throws(Failure) { revealed = try text.reveal().text } catch { throw node.problem(error.fact) }
        // What it holds now may be a secret, and so may its path.
        let isSecret = SecretText.isIn(text.source)
        guard let host = Self.host(of: revealed) else {
            throw node.problem(
                "\(isSecret ? "what this stands for" : "this") is not a URL with a host; begin with https://")
        }
        let isOpen = !revealed.lowercased().hasPrefix("https:") && !Self.isLoopback(host)
        let hasSecrets = Concealed.isSent(to: text.source, headers: headers.map { ($0.name, $0.value.source) })
        guard !isOpen || insecure || !hasSecrets else {
            throw node.problem(
                "a secret would be sent to \(isSecret ? "another host" : EscapedText.of(host)) unencrypted; "
                    + "use https://, or set 'insecure: true'")
        }
    }

    /// Nil where it is not a URL of HTTP with a host.
    private static func host(of url: String) -> String? {
        guard !url.unicodeScalars.contains(where: { $0.value <= 0x20 || $0.value == 0x7F }),
            let end = url.firstRange(of: "://")
        else { return nil }
        let scheme = url[..<end.lowerBound].lowercased()
        guard scheme == "https" || scheme + "s" == "https" else { return nil }
        let authority = url[end.upperBound...].prefix { !"/?#".contains($0) }
        let place = authority.lastIndex(of: "@").map { authority[$0...].dropFirst() } ?? authority
        let host = place.hasPrefix("[") ? place.prefix { $0 != "]" } + "]" : place.prefix { $0 != ":" }
        return host.isEmpty || host == "[]" ? nil : host.lowercased()
    }

    private static func isLoopback(_ host: String) -> Bool {
        host == "localhost" || host == "[::1]" || host.hasPrefix("127.")
    }
}

extension Failure {
    /// Its summary within a sentence.
    var fact: String {
        let text = summary.hasSuffix(".") ? String(summary.dropLast()) : summary
        return text.prefix(1).lowercased() + text.dropFirst()
    }
}
