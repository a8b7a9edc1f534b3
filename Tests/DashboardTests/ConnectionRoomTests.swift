import Synchronization
import Testing

@testable import Dashboard

/// Who is let in where there are many, and who makes room.
@Suite struct ConnectionRoomTests {
    private final class Door: Sendable {
        let room: ConnectionRoom
        private let closed = Mutex<[String]>([])

        init(for most: Int, proxies: Set<String> = []) { room = ConnectionRoom(for: most, proxies: proxies) }

        func enter(_ name: String, _ address: String?) -> Int? {
            room.enter(from: address) { @Sendable [weak self] in self?.closed.withLock { $0.append(name) } }
        }

        /// Those that had to make room since it was asked last.
        var left: [String] {
            closed.withLock { closed in
                defer { closed = [] }
                return closed
            }
        }
    }

    @Test func theOldestThatWaitsMakesRoomOfWhoHasTheMost() {
        let door = Door(for: 4)
        let local = (0..<3).map { door.enter("local \($0)", "127.0.0.1") }
        #expect(door.enter("other", "10.0.0.1") != nil && door.left == [])
        #expect(door.enter("new", "10.0.0.2") != nil && door.left == ["local 0"])
        if let first = local[1] { door.room.begin(first) }
        #expect(door.enter("newer", "127.0.0.1") != nil && door.left == ["local 2"])
        if let first = local[1] { door.room.wait(first) }
        #expect(door.enter("newest", nil) != nil && door.left == ["newer"], "that has waited for longer")
    }

    @Test func whoIsBusyIsLeftAlone() {
        let door = Door(for: 2)
        let numbers = (0..<2).compactMap { door.enter("\($0)", nil) }
        for number in numbers { door.room.begin(number) }
        #expect(door.enter("new", nil) == nil && door.left == [])
        door.room.leave(numbers[0])
        #expect(door.enter("new", nil) != nil && door.left == [])
    }

    @Test(arguments: [
        ("10.0.0.1", "10.0.0.1", true), ("10.0.0.1", "10.0.0.2", false), ("2001:db8::1", "2001:db8::ffff", true),
        ("2001:db8::1", "2001:db8:0:1::1", false), ("127.0.0.1", "127.0.0.1", false), ("::1", "::1", false),
        ("10.0.0.9", "10.0.0.9", false), ("::ffff:10.0.0.1", "::ffff:10.0.0.2", false),
    ])
    func oneAddressHasAHalf(first: String, second: String, isOne: Bool) {
        let door = Door(for: 4, proxies: ["10.0.0.9"])
        let numbers = [first, second].compactMap { door.enter($0, $0) }
        #expect(numbers.count == 2)
        #expect(door.enter("third", first) != nil)
        #expect(door.left == (isOne ? [first] : []))
    }

    @Test func oneAddressThatIsBusyHasToWait() {
        let door = Door(for: 4)
        for _ in 0..<2 { if let number = door.enter("busy", "10.0.0.1") { door.room.begin(number) } }
        #expect(door.enter("third", "10.0.0.1") == nil && door.enter("other", "10.0.0.2") != nil && door.left == [])
    }

    @Test func leavingTwiceIsNothing() {
        let door = Door(for: 1)
        let first = door.enter("first", nil)
        #expect(door.enter("second", nil) != nil && door.left == ["first"])
        if let first { door.room.leave(first) }
        #expect(door.enter("third", nil) != nil && door.left == ["second"])
    }
}
