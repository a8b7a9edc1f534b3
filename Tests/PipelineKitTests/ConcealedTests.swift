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
        ("https://${HOST:-a@b}/in", "https://${HOST:-a@b}/in"),
        ("${SCHEME}://a:b@c", "${SCHEME}://•••@c"),
        ("https://a/in?token=s3cr3t&name={name}&x", "https://a/in?token=•••&name={name}&•••"),
        ("https://a/in?k=${env:KEY}&l=a=b#end", "https://a/in?k=${env:KEY}&l=•••#end"),
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
        // More slashes, and fewer, that libcurl takes for slips; and one URL in another.
        ("https:///anna:pw@host/", "https:///•••@host/"), ("HTTP:/anna:pw@host/", "HTTP:/•••@host/"),
        ("host:/in@home", "host:/in@home"), ("https://proxy/https://a:b@c", "https://proxy/https://•••@c"),
        ("https://a://b:c@d", "https://a://•••@d"),
    ])
    func urlsAreShownWithoutTheirSecrets(text: String, shown: String) { #expect(Concealed.urls(in: text) == shown) }

    @Test("A long text takes no longer than its length", .timeLimit(.minutes(1)), arguments: ["{", "a&", "=a", "://a"])
    func scansAreLinear(piece: String) {
        let text = "http://" + String(repeating: piece, count: 200_000)
        #expect(Concealed.urls(in: text) == text)
        let hidden = Concealed.urls(in: "http://a?b=c" + String(repeating: piece, count: 200_000))
        #expect(hidden.hasPrefix("http://a?b=•••"))
    }
}
