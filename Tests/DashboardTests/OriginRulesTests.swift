import HTTPTypes
import Testing

@testable import Dashboard

@Suite struct OriginRulesTests {
    private let rules = OriginRules(hosts: ["mill.example"], address: "127.0.0.1:8866")

    @Test(
        "Its address, localhost and its names are ours",
        arguments: [
            ("127.0.0.1:8866", true), ("localhost", true), ("localhost:9000", true), ("LOCALHOST:1", true),
            ("[::1]:8866", true), ("mill.example", true), ("Mill.Example:443", true), ("evil.example", false),
            ("mill.example.evil.example", false), ("127.0.0.1.evil.example", false), ("", false), ("localhost:", false),
            ("localhost:99999", false), ("localhost:80:80", false), ("[::1", false), ("[::1]x", false),
            ("user@localhost", false), ("localhost.", false), ("127.0.0.1:8867", true),
        ])
    func hosts(_ host: String, _ isOurs: Bool) { #expect(rules.isOurs(host: host) == isOurs) }

    private func refusal(
        _ fields: HTTPFields, host: String = "localhost:8866", isUnsafe: Bool = true, hasBearer: Bool = false
    ) -> String? {
        rules.refusal(of: fields, host: host, isUnsafe: isUnsafe, hasBearer: hasBearer)?.code
    }

    @Test("A change comes from our own page, or with a token")
    func changes() {
        #expect(refusal([.secFetchSite: "same-origin"]) == nil)
        #expect(refusal([.origin: "http://localhost:8866"]) == nil)
        #expect(refusal([.origin: "https://localhost:8866"]) == nil)
        #expect(refusal([:], hasBearer: true) == nil)
        #expect(refusal([:]) == "origin.missing")
        #expect(refusal([.origin: "null"]) == "origin.foreign")
        #expect(refusal([.origin: "http://localhost:9000"]) == "origin.foreign")
        #expect(refusal([.origin: "http://evil.example"]) == "origin.foreign")
        for site in ["cross-site", "same-site", "none", "Same-Origin", ""] {
            #expect(refusal([.secFetchSite: site, .origin: "http://localhost:8866"]) == "origin.foreign")
        }
    }

    @Test("With TLS its pages are https, and browsers leave out the usual port")
    func secure() {
        let rules = OriginRules(address: "10.2.0.14:443", isTLS: true)
        for host in ["10.2.0.14", "10.2.0.14:443", "10.2.0.14:8443"] { #expect(rules.isOurs(host: host)) }
        #expect(!rules.isOurs(host: "10.2.0.1"))
        #expect(OriginRules(address: "[2001:db8::1]:443").isOurs(host: "[2001:DB8::1]"))
        func code(_ origin: String) -> String? {
            rules.refusal(of: [.origin: origin], host: "10.2.0.14", isUnsafe: true, hasBearer: false)?.code
        }
        #expect(code("https://10.2.0.14") == nil)
        #expect(code("http://10.2.0.14") == "origin.foreign")
    }

    @Test("What a page elsewhere includes is refused; a link that a person follows is not")
    func reading() {
        #expect(refusal([:], isUnsafe: false) == nil)
        #expect(refusal([.secFetchSite: "none"], isUnsafe: false) == nil)
        #expect(refusal([.secFetchSite: "cross-site", .secFetchMode: "navigate"], isUnsafe: false) == nil)
        #expect(refusal([.secFetchSite: "cross-site", .secFetchMode: "no-cors"], isUnsafe: false) == "origin.foreign")
        #expect(refusal([.secFetchSite: "same-site", .secFetchMode: "cors"], isUnsafe: false) == "origin.foreign")
    }

    @Test("A name that is not ours is refused, also with a token")
    func rebinding() {
        #expect(refusal([.secFetchSite: "same-origin"], host: "evil.example") == "host.unknown")
        #expect(refusal([:], host: "evil.example", isUnsafe: false) == "host.unknown")
        #expect(refusal([:], host: "evil.example", hasBearer: true) == "host.unknown")
        #expect(OriginRules(address: nil).isOurs(host: "localhost"))
        #expect(!OriginRules(address: nil).isOurs(host: "mill.example"))
    }
}
