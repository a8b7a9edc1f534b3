import Glibc
import SystemPackage
import TestSupport
import Testing

/// F8: a sender does not choose where a secret goes.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct SecretTests {
    private func check(_ http: String) throws -> Tool.Output {
        let world = try World(.root)
        try world.scratch.write("token\n", to: "mill/token")
        try World.own(world.path("token"), 0, 0, 0o600)
        let secret = "headers: { Authorization: \"Bearer ${file:\(world.path("token").string)}\" }"
        try world.pipeline("stages: [{ http: { \(http), \(secret) } }, { move: { to: ../output } }]")
        return try world.run(["check"], paths: true)
    }

    @Test(
        "F8: no placeholder stands before the path of a URL",
        arguments: ["{stem}", "{stem}.example.org", "example.org:{stem}", "{stem}@example.org", "example.org{stem}"])
    func placeholder(_ authority: String) throws {
        let output = try check("url: \"https://\(authority)/in/{name}\"")
        #expect(output.status == 78, "\(output.text)")
        #expect(output.text.contains("main.yaml:7:") && output.text.contains("error"), "\(output.text)")
    }

    @Test("F8: a secret goes nowhere in the clear, but to this host or where somebody says so")
    func clear() throws {
        let bare = try check("url: \"http://example.org/in/{name}\"")
        #expect(bare.status == 78, "\(bare.text)")
        for fine in [
            "url: \"https://example.org/in/{name}\"", "url: \"http://127.0.0.1:8080/in/{name}\"",
            "url: \"http://localhost/in/{name}\"", "url: \"http://[::1]/in/{name}\"",
            "url: \"http://example.org/in/{name}\", \(Rule.insecure)",
        ] {
            let output = try check(fine)
            #expect(output.status == 0, "\(fine): \(output.text)")
        }
    }
}
