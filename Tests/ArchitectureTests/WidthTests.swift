import Glibc
import Synchronization
import Testing
import width

/// However the tests are started, no more of them run at once than `Tests/width` says.
@Suite struct WidthTests {
    /// The cases of `holds` that run, and the most that ever did.
    private static let running = Mutex((now: 0, most: 0))

    private static let width: Int? = getenv(DM_WIDTH_VARIABLE).flatMap { Int(String(cString: $0)) }

    @Test func isSet() throws {
        let width = try #require(Self.width)
        #expect(width > 0)
    }

    /// Far more cases than may run. Each gives way so often that all would have begun before the first ends.
    @Test(arguments: 0..<1000)
    func holds(_: Int) async throws {
        Self.running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
        for _ in 0..<100 { await Task.yield() }
        let most = Self.running.withLock {
            $0.now -= 1
            return $0.most
        }
        #expect(most <= (try #require(Self.width)))
    }
}
