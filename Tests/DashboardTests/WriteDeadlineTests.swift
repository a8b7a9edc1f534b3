@preconcurrency import Dispatch
import Files
import Glibc
import Logging
import NIOCore
import SystemPackage
import TestSupport
import TestTools
import Testing

@testable import Dashboard

@Suite(.timeLimit(.minutes(5))) struct WriteDeadlineTests {
    @Test("A reader that takes nothing is left; one that takes little by little is not")
    func stalled() async throws {
        let scratch = try ScratchFolder()
        let address = ListenAddress.unix(scratch.path("web.sock"))
        var configuration = DashboardConfiguration(
            daemon: scratch.path("state"), address: address, tokens: TokenFile(in: scratch.path("tokens")), version: "1"
        )
        configuration.idle = .seconds(4)
        let server = DashboardServer(configuration, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        // Ahead of other tests, behind which nothing would be written for as long.
        let task = Task(priority: .high) { try await server.run(environment: [:]) { _ in } }
        let requests = String(repeating: "GET /assets/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 1000)
        try #require(await eventually { (try? RawConnection(to: address)) != nil })
        let (stalled, slow) = (try RawConnection(to: address), try RawConnection(to: address))
        stalled.send(requests)
        slow.send(requests)
        // One of them takes what is there, and asks for more: the system lets the server write again once two thirds of
        // its buffer are free, and less than that in time is nothing. On a queue of its own, behind no other test.
        let reader = DispatchQueue(label: "reader").every(.milliseconds(20), leeway: .milliseconds(1)) { @Sendable in
            while slow.takeSome() > 0 {}
            slow.send("GET /login HTTP/1.1\r\nHost: localhost\r\n\r\n")
        }
        defer { reader.cancel() }
        #expect(await eventually(within: .seconds(240)) { !stalled.isOpen })
        #expect(slow.isOpen)
        task.cancel()
        _ = await task.result
    }
}
