import Files
import PipelineKit
import Testing

@testable import FolderWatch
@testable import PipelineEngine
@testable import Readiness

@Suite("ReadyQueue and ActiveRoom") struct ReadyQueueTests {
    private func fingerprint(_ size: Int64, modified: Int = 0) -> Fingerprint {
        Fingerprint(device: 1, inode: 1, size: size, modified: FileTime(seconds: modified), changed: .distantPast)
    }

    private func drain(_ queue: inout ReadyQueue) -> [String] {
        var names: [String] = []
        while let next = queue.first() {
            names.append(next.path.text)
            queue.removeFirst()
        }
        return names
    }

    @Test(
        "Drops come in the order that was asked for",
        arguments: [
            (Pipeline.Order.arrival, ["c", "a", "b", "d"]), (.name, ["a", "b", "c", "d"]),
            (.oldest, ["b", "c", "d", "a"]),
            (.smallest, ["a", "c", "d", "b"]), (.largest, ["b", "d", "c", "a"]),
        ])
    func orders(order: Pipeline.Order, expected: [String]) throws {
        var queue = ReadyQueue(by: .init(order))
        for (name, size, modified) in [("c", 20, 2), ("a", 10, 4), ("b", 40, 1), ("d", 30, 3)] {
            queue.add(DropPath(try name.fileName), fingerprint(Int64(size), modified: modified))
        }
        #expect(queue.count == 4)
        #expect(drain(&queue) == expected)
        #expect(queue.isEmpty)
    }

    @Test(
        "A drop that was taken out and added again has the place of its new state, once",
        arguments: Pipeline.Order.allCases)
    func again(order: Pipeline.Order) throws {
        var queue = ReadyQueue(by: .init(order))
        let path = DropPath(try "a".fileName)
        for round in 0..<5000 {
            queue.add(path, fingerprint(Int64(round)))
            if round < 4999 {
                let wasThere = queue.remove(path)
                #expect(wasThere)
            }
        }
        queue.add(DropPath(try "b".fileName), fingerprint(100))
        #expect(drain(&queue) == (order == .smallest ? ["b", "a"] : order == .largest ? ["a", "b"] : ["a", "b"]))
        #expect(!queue.contains(path))
    }

    @Test("Drops that the order does not tell apart come as they arrived; times are compared to the nanosecond")
    func equals() throws {
        let names = ["d", "b", "c", "a"]
        for order in Pipeline.Order.allCases where order != .name {
            var queue = ReadyQueue(by: .init(order))
            for name in names { queue.add(DropPath(try name.fileName), fingerprint(7)) }
            #expect(drain(&queue) == names, "\(order)")
        }
        var queue = ReadyQueue(by: .init(.oldest))
        for (name, seconds, nanoseconds) in [("a", 1, 9), ("b", 1, 8), ("c", Int.max, 0), ("d", Int.min, 7)] {
            let time = FileTime(seconds: seconds, nanoseconds: nanoseconds)
            queue.add(
                DropPath(try name.fileName),
                Fingerprint(device: 1, inode: 1, size: .max, modified: time, changed: .distantPast))
        }
        #expect(drain(&queue) == ["d", "b", "a", "c"])
    }

    @Test("States come out as they went in, whatever a file system says of times")
    func states() throws {
        var queue = ReadyQueue(by: .init(.arrival))
        let seconds = [0, 1, -1, 1 << 47 - 1, 1 << 47, -1 << 47, -1 << 47 - 1, 1 << 32, .max, .min, 1_700_000_000]
        let states = seconds.enumerated().map { number, seconds in
            let time = FileTime(seconds: seconds, nanoseconds: number)
            return Fingerprint(
                device: UInt64(number % 3), inode: UInt64(number), size: 1, modified: time, changed: time,
                listing: number.isMultiple(of: 4) ? number : 0)
        }
        let paths = try states.indices.map { DropPath(try "\($0)".fileName) }
        for (path, state) in zip(paths, states) { queue.add(path, state) }
        // The last one takes the place of one that goes.
        let gone = [0, 5, 8]
        for place in gone { queue.remove(paths[place]) }
        for place in states.indices where !gone.contains(place) {
            let next = try #require(queue.first())
            #expect(next.path == paths[place] && next.fingerprint == states[place])
            queue.removeFirst()
        }
        #expect(queue.isEmpty)
    }

    @Test("One that is put first or last is before or behind all others", arguments: Pipeline.Order.allCases)
    func bumped(order: Pipeline.Order) throws {
        var queue = ReadyQueue(by: .init(order))
        let names = ["c", "a", "e", "b", "d"]
        // Times and sizes are senders'.
        let extremes = [Int.min, 0, Int.max, 5, -5]
        for (name, number) in zip(names, extremes) {
            queue.add(DropPath(try name.fileName), fingerprint(Int64(max(0, number)), modified: number))
        }
        for (name, isLast) in [("c", true), ("a", true), ("b", false), ("d", false), ("x", false)] {
            let wasThere = queue.bump(DropPath(try name.fileName), last: isLast)
            #expect(wasThere == (name != "x"))
        }
        queue.add(DropPath(try "later".fileName), fingerprint(.max, modified: .min))
        let drained = drain(&queue)
        #expect(Set(drained[2...3]) == ["e", "later"])
        #expect(Array(drained[..<2]) + Array(drained[4...]) == ["d", "b", "c", "a"])
    }

    @Test("A folder keeps what tells one state of its tree from another")
    func listing() throws {
        var queue = ReadyQueue(by: .init(.arrival))
        var tree = fingerprint(5)
        tree.listing = 99
        queue.add(DropPath(try "a".fileName), tree)
        queue.add(DropPath(try "b".fileName), fingerprint(5))
        #expect(queue.first()?.fingerprint == tree)
        queue.removeFirst()
        #expect(queue.first()?.fingerprint == fingerprint(5))
    }

    @Test("Drops that come without end delay claims only until those are looked at that were due before")
    func claimOrder() {
        var gate = ReadyGate(rule: ReadyRule(quiet: .milliseconds(1)))
        var order = ClaimOrder(.smallest)
        var now = MonotonicTime(nanoseconds: 0)
        var next = 0
        for _ in 0..<10 {
            gate.touch(DropPath(integerLiteral: next), at: now)
            next += 1
        }
        var claims: [Int] = []
        for turn in 1...20 {
            // In each turn as many come as can be looked at in one.
            now = now + .microseconds(1)
            for request in gate.due(at: now, limit: 4) {
                _ = gate.record(.gone, of: request.key, at: now)
                gate.touch(DropPath(integerLiteral: next), at: now + .nanoseconds(1))
                next += 1
            }
            if order.holds(nextDue: gate.nextDue, at: now) { claims.append(turn) }
        }
        #expect(claims.first == 3, "10 were due, 4 a turn")
        #expect(claims.count >= 4)
        var arrival = ClaimOrder(.arrival)
        let holds = arrival.holds(nextDue: MonotonicTime(nanoseconds: 0), at: now)
        #expect(holds)
    }

    @Test("What is left alone is told once for each reason")
    func reported() throws {
        var reported = Reported()
        let path = DropPath(try "a".fileName)
        let news = ["a link", "a link", "a folder"].map { reported.add(path, $0) }
        #expect(news == [true, false, true])
        #expect(reported[path] == "a folder" && reported.count == 1)
        #expect(reported.all.map(\.reason) == ["a folder"])
        reported.forget(path)
        let isNews = reported.add(path, "a folder")
        #expect(isNews)
    }

    @Test("Room is for so many jobs and bytes; what is larger than all of it runs alone")
    func room() {
        var room = ActiveRoom(jobs: 3, bytes: ByteSize(bytes: 100))
        #expect(room.has(1000))
        room.reserve(60)
        #expect(room.has(40))
        #expect(!room.has(41))
        room.reserve(1)
        room.reserve(1)
        #expect(!room.has(0))
        for size: Int64 in [60, 1, 1] { room.giveBack(size) }
        room.reserve(1000)
        #expect(!room.has(0))
        var unlimited = ActiveRoom(jobs: 2, bytes: nil)
        unlimited.reserve(.max / 4)
        #expect(unlimited.has(.max / 4))
    }
}
