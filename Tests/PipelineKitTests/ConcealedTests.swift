import Testing

@testable import PipelineKit

@Suite struct ConcealedTests {
    @Test(arguments: [
        ("https://example.org/in/{name}", "https://example.org/in/{name}"),
        ("https://anna:s3cr3t@example.org/in", "https://•••@example.org/in"),
        ("see ftp://tok3n@a/ and http://b:c@d", "see ftp://•••@a/ and http://•••@d"),
        // Of two signs the last one ends it.
        ("https://anna:p@ss@example.org:8443/x@y", "https://•••@example.org:8443/x@y"),
        ("https://anna:${file:/etc/a/b}@example.org/in", "https://•••@example.org/in"),
        // What stands in for a variable is written here.
        ("https://${HOST:-a:b@c}/in", "https://•••@c}/in"), ("https://${HOST:-a}/in", "https://${HOST:-a}/in"),
        ("https://a?t=${T:-s3cr3t}&u=${U:-}&v=${V}", "https://a?t=•••&u=${U:-}&v=${V}"),
        ("https://a#${T:-s3cr3t}", "https://a#•••"), ("https://a#${T}", "https://a#${T}"),
        ("${SCHEME}://a:b@c", "${SCHEME}://•••@c"),
        ("https://a/in?token=s3cr3t&name={name}&x", "https://a/in?token=•••&name={name}&•••"),
        ("https://a/in?k=${env:KEY}&l=a=b#end", "https://a/in?k=${env:KEY}&l=•••#•••"),
        ("https://a/in#t=s3cr3t&u", "https://a/in#t=•••&•••"), ("https://a/in?#", "https://a/in?#"),
        ("https://a/in?s3cr3t", "https://a/in?•••"), ("https://a/in?", "https://a/in?"),
        ("https://a?t=https://b:c@d", "https://a?t=•••"),
        ("'https://a:b@c' \"https://d:e@f\"", "'https://•••@c' \"https://•••@f\""),
        ("no://", "no://"), ("://a@b", "://a@b"), ("https://a:b@", "https://•••@"), ("", ""), ("a@b: c", "a@b: c"),
        ("https://a:{b@c", "https://•••@c"),
        // Passwords and values may have any signs.
        ("https://anna:it's@example.org/in", "https://•••@example.org/in"),
        (#"https://a:p"w@h and https://a:p`<>w@h"#, "https://•••@h and https://•••@h"),
        ("'https://a:it's@h?t=ab'cd' -x", "'https://•••@h?t=•••' -x"), ("https://a?t=ab'cd\"'", "https://a?t=•••"),
        ("https://a/it's?t=s3cr3t", "https://a/it's?t=•••"), ("\"${S}://a?t=b\"", "\"${S}://a?t=•••\""),
        // Also some that a URL must not have.
        ("https://anna:my word@host/x", "https://•••@host/x"), ("https://anna:a b@c d@host/x", "https://•••@host/x"),
        ("https://anna:p/w@host/x", "https://•••@host/x"), ("https://anna:p#w@host/x", "https://•••@host/x"),
        ("https://anna:p?w@host/x", "https://•••@host/x"), ("https://anna:pw/x", "https://anna:•••/x"),
        ("https://anna:{pw@host}/x", "https://•••@host}/x"), ("https://[::1]:80/x@y", "https://[::1]:80/x@y"),
        ("https://a:8080/x and b@c", "https://a:8080/x and b@c"), ("https://a and b@c", "https://a and b@c"),
        ("https://a:${PORT}/x@y", "https://a:${PORT}/x@y"), ("https://a:80, b", "https://a:80, b"),
        // More slashes, and fewer, that libcurl takes for slips; and one URL in another.
        ("https:///anna:pw@host/", "https:///•••@host/"), ("HTTP:/anna:pw@host/", "HTTP:/•••@host/"),
        ("host:/in@home", "host:/in@home"), ("https://proxy/https://a:b@c", "https://proxy/https://•••@c"),
        ("https://a://b:c@d", "https://a://•••@d"),
    ])
    func urlsAreShownWithoutTheirSecrets(text: String, shown: String) { #expect(Concealed.urls(in: text) == shown) }

    @Test(arguments: [
        ("chekcsum", "chekcsum"), ("{nmae}/x", "{nmae}/x"), ("Mon-Fri 20:00", "Mon-Fri 20:00"), ("10 MiB", "10 MiB"),
        ("127.0.0.1:99999", "127.0.0.1:99999"), ("sha256:e3b0", "sha256:e3b0"), ("ops@example.org", "ops@example.org"),
        ("Authorization: Bearer X", "Authorization: •••"), ("X-Any: 12", "X-Any: •••"), ("Cookie:a=b", "Cookie:•••"),
        ("Bearer X", "Bearer •••"), ("TOKEN=X", "TOKEN=•••"), ("A=1 B=2", "A=•••"), ("c2VjcmV0==", "•••"), ("A=", "A="),
        ("curl -H 'X-Key: s' https://a:b@c", "curl -H 'X-Key: •••"), ("anna:pw@host/x", "•••@host/x"),
        ("{Authorization: X}", "{Authorization: •••"), ("https://a:b@c/?d=e", "https://•••@c/?d=•••"),
    ])
    func formsAreShownWithoutTheirSecrets(text: String, shown: String) {
        #expect(Concealed.forms(in: text).shown == shown)
    }

    @Test(arguments: [
        ("http://a/x", "Content-Type", "text/plain", false), ("http://a/x?job={job}&v=1", "X-Author", "anna", false),
        ("http://a/x", "Idempotency-Key", "1", false), ("http://a/x?key={name}", "Accept", "a b", false),
        ("http://a/x", "Authorization", "", false), ("http://a/x", "Authorization", "x", true),
        ("http://a/x", "proxy-authorization", "x", true), ("http://a/x", "Cookie", "x", true),
        ("http://a/x", "X-Api-Key", "x", true), ("http://a/x", "X-Auth-Token", "x", true),
        ("http://a/x", "X", "Basic eDp5", true), ("http://a/x", "X", "${env:A}", true),
        ("http://u:p@a/x", "X", "y", true), ("http://u@a/x", "X", "y", true), ("http://a/${file:x}", "X", "y", true),
        ("http://a/?access_token=x", "X", "y", true), ("http://a/?n=1;pw={a}b", "X", "y", true),
    ])
    func whatIsSentIsASecret(url: String, name: String, value: String, isSecret: Bool) {
        #expect(Concealed.isSent(to: url, headers: [(name, value)]) == isSecret)
    }

    @Test func messagesDoNotQuoteThem() {
        let text = "curl -H 'Authorization: Bearer s3cr3t'"
        let message = "no shell runs it; write [curl, -H, 'Authorization:, Bearer, s3cr3t'], not '\(text)'"
        #expect(!Concealed.message(message, about: text).contains("s3cr3t"))
        #expect(Concealed.message("found 'on'", about: "on") == "found 'on'")
        #expect(Concealed.message("found 'word'", about: "word", isSecret: true) == "found '•••'")
    }

    @Test("A long text takes no longer than its length", .timeLimit(.minutes(1)), arguments: ["{", "a&", "=a", "://a"])
    func scansAreLinear(piece: String) {
        let text = "http://" + String(repeating: piece, count: 200_000)
        #expect(Concealed.urls(in: text) == text)
        let hidden = Concealed.urls(in: "http://a?b=c" + String(repeating: piece, count: 200_000))
        #expect(hidden.hasPrefix("http://a?b=•••"))
    }
}
