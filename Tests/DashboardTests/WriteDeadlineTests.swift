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
    /// Ahead of all other tests: both readers have two seconds.
    @Test("A reader that takes nothing is left; one that takes little by little is not")
    func stalled() async throws {
        try await Task(priority: .high) { try await Self.readers() }.value
    }

    private static func readers() async throws {
        let scratch = try ScratchFolder()
        let address = ListenAddress.unix(scratch.path("web.sock"))
        var configuration = DashboardConfiguration(
            daemon: scratch.path("state"), address: address, tokens: TokenFile(in: scratch.path("tokens")), version: "1"
        )
        configuration.idle = .seconds(2)
        let server = DashboardServer(configuration, log: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let task = Task { try await server.run(environment: [:]) { _ in } }
        let requests = String(repeating: "GET /assets/style.css HTTP/1.1\r\nHost: localhost\r\n\r\n", count: 1000)
        try #require(await eventually { (try? RawConnection(to: address)) != nil })
        let (stalled, slow) = (try RawConnection(to: address), try RawConnection(to: address))
        stalled.send(requests)
        slow.send(requests)
        // One of them takes what is there with each look: the system lets the server write again once two thirds of its
        // buffer are free, and less than that in time is nothing.
        #expect(
            await eventually {
                while slow.takeSome() > 0 {}
                return !stalled.isOpen
            })
        #expect(slow.isOpen)
        task.cancel()
        _ = await task.result
    }
}
