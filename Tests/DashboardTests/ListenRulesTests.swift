import Testing

@testable import Dashboard

@Suite struct ListenRulesTests {
    private func refusal(_ rules: ListenRules, _ address: String) -> String? {
        ListenAddress(address).flatMap { rules.refusal(at: $0)?.description }
    }

    @Test("What can be reached from elsewhere needs TLS, here or before")
    func elsewhere() {
        for address in ["/run/a.sock", "127.0.0.1:80", "[::1]:80"] { #expect(refusal(ListenRules(), address) == nil) }
        for address in ["10.2.0.14:443", "0.0.0.0:443", "[::]:443", "[2001:db8::1]:443"] {
            #expect(refusal(ListenRules(isNamed: true), address)?.contains("--tls-certificate FILE") == true)
            #expect(refusal(ListenRules(isBehindProxy: true), address) == nil)
            #expect(refusal(ListenRules(isTLS: true, isNamed: true), address) == nil)
        }
    }

    @Test("All addresses together are no name, and a Unix socket needs no TLS")
    func names() {
        let tls = ListenRules(isTLS: true)
        for address in ["0.0.0.0:443", "[::]:443", "[0:0::0]:443"] {
            #expect(refusal(tls, address)?.contains("--host NAME") == true)
        }
        for address in ["10.2.0.14:443", "127.0.0.1:443", "[::1]:443"] { #expect(refusal(tls, address) == nil) }
        #expect(refusal(tls, "/run/a.sock")?.contains("needs no TLS") == true)
    }

    @Test("The link has the name, and no port where browsers leave it out")
    func links() {
        let (all, own) = (ListenAddress.ip("0.0.0.0", port: 443), ListenAddress.ip("::1", port: 8866))
        #expect(all.origin(name: "mill.example", isTLS: true) == "https://mill.example")
        #expect(all.origin(name: "mill.example") == "http://mill.example:443")
        #expect(own.origin(name: "mill.example", isTLS: true) == "https://mill.example:8866")
        #expect(own.origin(isTLS: true) == "https://[::1]:8866")
        #expect(own.origin() == "http://[::1]:8866")
        #expect(ListenAddress.unix("/run/a.sock").origin() == nil)
    }
}
