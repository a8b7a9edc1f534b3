extension Concealed {
    /// Whether what is sent has a secret, as it is written: one that is kept elsewhere, who signs in, or a header or a
    /// value of the query that is called like one. Others may read that where it is not encrypted.
    package static func isSent(to url: String, headers: [(name: String, value: String)]) -> Bool {
        if SecretText.isIn(url) || headers.contains(where: { SecretText.isIn($0.value) }) { return true }
        let isTold = headers.contains { name, value in
            let words = value.split(whereSeparator: \.isWhitespace)
            if words.isEmpty { return false }
            return namesSecret(name) || words.count > 1 && schemes.contains(words[0].lowercased())
        }
        return isTold || isIn(url)
    }

    /// Whether what goes by this name is likely to be a secret: `Authorization`, `X-Api-Key`, `access_token`.
    package static func namesSecret(_ name: String) -> Bool {
        let lower = name.lowercased()
        if lower == "idempotency-key" { return false }
        let words = lower.split { !($0.isLetter || $0.isNumber) }
        return words.contains { word in
            secretWords.contains(String(word)) || secretEndings.contains { word.hasSuffix($0) }
        }
    }

    /// Words that go before something secret.
    static let schemes: Set<String> = ["bearer", "basic", "digest", "negotiate", "token"]
    private static let secretWords: Set<String> = [
        "auth", "cookie", "cookie2", "key", "pass", "pw", "pwd", "session", "sessionid", "sid", "sig", "signature",
        "jwt", "bearer", "credential", "credentials",
    ]
    private static let secretEndings = [
        "authorization", "token", "secret", "password", "passwd", "apikey", "accesskey", "authkey",
    ]

    /// Whether a URL has who signs in, or a value in its query that is called like a secret.
    private static func isIn(_ url: String) -> Bool {
        let bytes = Array(url.utf8)
        if urlSecrets(in: bytes).contains(where: { $0.upperBound < bytes.count && bytes[$0.upperBound] == 0x40 }) {
            return true
        }
        guard
            let query = url.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).first?
                .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).dropFirst().first
        else { return false }
        return query.split { "&;".contains($0) }.contains { pair in
            let parts = pair.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, namesSecret(String(parts[0])) else { return false }
            // A placeholder is none.
            return !(parts[1].hasPrefix("{") && parts[1].firstIndex(of: "}") == parts[1].indices.last)
        }
    }
}
