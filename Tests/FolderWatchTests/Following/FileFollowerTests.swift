@preconcurrency import Dispatch
import Files
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

@Suite("FileFollower", .timeLimit(.minutes(5))) struct FileFollowerTests {
    private let log: FollowedFile

    init() throws { log = try FollowedFile() }

    private func listen(_ follower: FileFollower) -> (told: Gathered<FollowedBytes>, listening: Listening) {
        let told = Gathered<FollowedBytes>()
        return (told, follower.addListener { told.add($0) })
    }

    private func iterate<Told>(
        _ sequence: some AsyncSequence<Told, Never> & Sendable
    ) -> (told: Gathered<Told>, task: Task<Void, Never>) {
        let told = Gathered<Told>()
        return (told, Task { for await piece in sequence { told.add(piece) } })
    }

    @Test("Listeners and iterations are told bytes and lines", arguments: SystemEvents.Kind.allCases)
    func told(_ kind: SystemEvents.Kind) async throws {
        try log.append("one\ntw")
        let follower = log.follower(kind)
        let (bytes, bytesListening) = listen(follower)
        let lines = Gathered<FollowedLine>()
        let linesListening = follower.addLineListener { lines.add($0) }
        let (byteSequence, lineSequence) = (iterate(follower.bytes), iterate(follower.lines))
        try follower.start()
        #expect(follower.isRunning)
        try log.append("o\n")
        try await #require(eventually { bytes.text == "one\ntwo\n" })
        try await #require(eventually { lines.all.map(\.text) == ["one", "two"] })
        try await #require(eventually { byteSequence.told.text == "one\ntwo\n" })
        try await #require(eventually { lineSequence.told.all == lines.all })
        try log.append("three\n")
        try await #require(eventually { bytes.text == "one\ntwo\nthree\n" })
        try await #require(eventually { byteSequence.told.text == bytes.text && lineSequence.told.all.count == 3 })
        follower.stop()
        await byteSequence.task.value
        await lineSequence.task.value
        withExtendedLifetime((bytesListening, linesListening)) {}
    }

    @Test("From the end, all is told that comes after start has returned", arguments: SystemEvents.Kind.allCases)
    func end(_ kind: SystemEvents.Kind) async throws {
        try log.append("before")
        let follower = log.follower(kind, from: .end)
        let early = listen(follower)
        try follower.start()
        try log.append("1")
        let late = listen(follower)
        var iterator = follower.bytes.makeAsyncIterator()
        try log.append("2")
        #expect(await iterator.next(isolation: nil)?.bytes == Array("2".utf8))
        try await #require(eventually { early.told.text == "12" && late.told.text == "2" })
    }

    @Test("A checkpoint goes on in another follower, line by line", arguments: SystemEvents.Kind.allCases)
    func checkpoint(_ kind: SystemEvents.Kind) async throws {
        try log.append("one\ntwo\nthree\n")
        let first = log.follower(kind)
        try first.start()
        var lines = first.lines.makeAsyncIterator()
        let place = try #require(await lines.next(isolation: nil)?.checkpoint)
        first.stop()
        try log.rename("log", "log.1")
        try log.append("four\n")
        let second = log.follower(kind, from: .checkpoint(place))
        let told = iterate(second.lines)
        try second.start()
        try await #require(eventually { told.told.all.count == 3 })
        #expect(told.told.all.map(\.text) == ["two", "three", "four"])
        #expect(told.told.all.map(\.isReopened) == [false, false, true])
    }

    @Test("Truncation and replacement are told in the stream", arguments: SystemEvents.Kind.allCases)
    func marks(_ kind: SystemEvents.Kind) async throws {
        let follower = log.follower(kind)
        let (told, listening) = listen(follower)
        try follower.start()
        try log.append("one")
        try await #require(eventually { told.text == "one" })
        try log.truncate()
        try await #require(eventually { told.text == "one^" })
        try log.append("two")
        try await #require(eventually { told.text == "one^two" })
        try log.append("three", to: "tmp")
        try log.rename("tmp", "log")
        try await #require(eventually { told.text == "one^two|three" })
        try log.rename("log", "log.1")
        try log.append("4", to: "log.1")
        try log.append("five")
        try await #require(eventually { told.text == "one^two|three4|five" })
        try log.remove()
        try log.append("six")
        try await #require(eventually { told.text == "one^two|three4|five|six" })
        withExtendedLifetime(listening) {}
    }

    @Test("The file may come later, also one whose name is no text", arguments: SystemEvents.Kind.allCases)
    func absent(_ kind: SystemEvents.Kind) async throws {
        let name = try #require(FileName([0xFF, 0x0A]))
        let path = log.scratch.path("folder").appending(name)
        var options = FileFollower.Options()
        options.monitor = .quick(kind)
        let follower = FileFollower(path, from: .end, options: options)
        let (told, listening) = listen(follower)
        try follower.start()
        try log.append("of another name")
        try log.scratch.append(Array("all".utf8), to: path)
        try await #require(eventually { told.text == "all" })
        withExtendedLifetime(listening) {}
    }

    @Test("What cannot be followed is refused at the start", arguments: SystemEvents.Kind.allCases)
    func refused(_ kind: SystemEvents.Kind) throws {
        let away = FileFollower(log.scratch.path("absent/log"))
        let error = #expect(throws: WatchError.self) { try away.start() }
        #expect(error?.errno == .noSuchFileOrDirectory)
        #expect(!away.isRunning)
        try log.scratch.link("folder/log", to: "other")
        for path in [log.path, log.scratch.path("folder"), "/", "/dev/null"] {
            let follower = FileFollower(path)
            let error = #expect(throws: WatchError.self) { try follower.start() }
            #expect(error.map { "\($0)" }?.hasSuffix("give the path of a regular file") == true)
            #expect(!follower.isRunning)
        }
    }

    @Test("The folder may be removed and made again", arguments: SystemEvents.Kind.allCases)
    func folder(_ kind: SystemEvents.Kind) async throws {
        try log.append("one ")
        let follower = log.follower(kind)
        let (told, listening) = listen(follower)
        try follower.start()
        try await #require(eventually { told.text == "one " })
        try log.move("folder", "away")
        try log.scratch.append(Array("two ".utf8), to: log.scratch.path("away/log"))
        try log.scratch.makeFolder("folder")
        try log.append("three")
        try await #require(eventually { told.text == "one two |three" })
        withExtendedLifetime(listening) {}
    }

    @Test("Start and stop may be called twice, and stop ends iterations", arguments: SystemEvents.Kind.allCases)
    func stop(_ kind: SystemEvents.Kind) async throws {
        try log.append("text\n")
        let follower = log.follower(kind)
        let (told, listening) = listen(follower)
        let iterations = [iterate(follower.bytes), iterate(follower.bytes)]
        try follower.start()
        try follower.start()
        try await #require(eventually { iterations.allSatisfy { $0.told.text == "text\n" } && told.text == "text\n" })
        #if os(Linux)
            #expect(try log.descriptors() > 0)
        #endif
        follower.stop()
        #if os(Linux)
            #expect(try log.descriptors() == 0)
        #endif
        follower.stop()
        #expect(!follower.isRunning)
        for iteration in iterations { await iteration.task.value }
        withExtendedLifetime(listening) {}
    }

    @Test("Started again it goes on where it was", arguments: SystemEvents.Kind.allCases)
    func restarted(_ kind: SystemEvents.Kind) async throws {
        let follower = log.follower(kind)
        let (told, listening) = listen(follower)
        let lines = Gathered<FollowedLine>()
        let lineListening = follower.addLineListener { lines.add($0) }
        for round in 0..<5 {
            try follower.start()
            try log.append("\(round), still \(round)\nand ")
            let text = (0...round).map { "\($0), still \($0)\nand " }.joined()
            try await #require(eventually { told.text == text && lines.all.count == round + 1 })
            follower.stop()
        }
        try log.append("5\n")
        try log.rename("log", "log.1")
        try log.append("six\n")
        try follower.start()
        // Two listeners, two queues: neither waits for the other.
        try await #require(eventually { lines.all.count == 7 && told.text.hasSuffix("six\n") })
        #expect(lines.all[5...].map(\.text) == ["and 5", "six"])
        #expect(told.text.hasSuffix("and 5\n|six\n"))
        withExtendedLifetime((listening, lineListening)) {}
    }

    @Test("A listener may stop it", arguments: SystemEvents.Kind.allCases)
    func stopWithin(_ kind: SystemEvents.Kind) async throws {
        try log.append("text")
        let follower = log.follower(kind)
        let told = Gathered<FollowedBytes>()
        let listening = follower.addListener { [weak follower] bytes in
            follower?.stop()
            told.add(bytes)
        }
        try follower.start()
        try await #require(eventually { told.text == "text" })
        #expect(!follower.isRunning)
        withExtendedLifetime(listening) {}
    }

    @Test("A listener that blocks holds up no other, and is told what is in the file once it goes on")
    func blocked() async throws {
        try log.append(String(repeating: "old", count: 50_000))
        let follower = log.follower(.system)
        let gate = DispatchSemaphore(value: 0)
        let slow = Gathered<FollowedBytes>()
        let listening = follower.addListener { bytes in
            slow.add(bytes)
            if slow.all.count == 1 { gate.wait() }
        }
        let (quick, quickListening) = listen(follower)
        try follower.start()
        try await #require(eventually { quick.text.utf8.count == 150_000 && slow.all.count == 1 })
        // Nothing was read ahead for it.
        try log.truncate()
        try log.append("new")
        try await #require(eventually { quick.text.hasSuffix("new") })
        #expect(slow.all.count == 1)
        gate.signal()
        try await #require(eventually { slow.text.hasSuffix("new") })
        #expect(slow.all.count == 2)
        #expect(slow.all.last?.isTruncated == true)
        withExtendedLifetime((listening, quickListening)) {}
    }

    @Test("A listener that is cancelled or released is told nothing more, and holds nothing open")
    func cancelled() async throws {
        try log.append("1")
        let follower = log.follower(.none)
        let first = listen(follower)
        var second: (told: Gathered<FollowedBytes>, listening: Listening)? = listen(follower)
        let (third, listening) = listen(follower)
        try follower.start()
        let told = try #require(second?.told)
        try await #require(eventually { first.told.text == "1" && told.text == "1" && third.text == "1" })
        first.listening.cancel()
        first.listening.cancel()
        second = nil
        try log.append("2")
        try await #require(eventually { third.text == "12" })
        #expect(first.told.text == "1")
        #expect(told.text == "1")
        #if os(Linux)
            try await #require(eventually { try log.descriptors() == 1 })
        #endif
        withExtendedLifetime(listening) {}
    }

    @Test("Cancelling a task ends its iteration alone", arguments: SystemEvents.Kind.allCases)
    func cancelledTask(_ kind: SystemEvents.Kind) async throws {
        let follower = log.follower(kind)
        let (first, second) = (iterate(follower.lines), iterate(follower.lines))
        try follower.start()
        try log.append("1\n")
        try await #require(eventually { first.told.all.count == 1 && second.told.all.count == 1 })
        first.task.cancel()
        await first.task.value
        try log.append("2\n")
        try await #require(eventually { second.told.all.count == 2 })
        #expect(first.told.all.count == 1)
        #expect(follower.isRunning)
        follower.stop()
        await second.task.value
    }

    @Test("The last reference ends iterations, also those that begin later")
    func released() async throws {
        var follower: FileFollower? = log.follower(.system)
        let bytes = try #require(follower?.bytes)
        let early = iterate(bytes)
        try follower?.start()
        try log.append("text")
        try await #require(eventually { early.told.text == "text" })
        follower = nil
        await early.task.value
        await iterate(bytes).task.value
        #if os(Linux)
            #expect(try log.descriptors() == 0)
        #endif
    }

    @Test("Trouble is told once, also to those who ask later, and passes", arguments: SystemEvents.Kind.allCases)
    func trouble(_ kind: SystemEvents.Kind) async throws {
        let follower = log.follower(kind)
        let listeners = [listen(follower), listen(follower)]
        let troubles = Gathered<WatchError>()
        let listening = follower.addTroubleListener { troubles.add($0) }
        try follower.start()
        #expect(troubles.all.isEmpty)
        try log.scratch.link("folder/log", to: "other")
        try await #require(eventually { !troubles.all.isEmpty })
        let late = Gathered<WatchError>()
        let lateListening = follower.addTroubleListener { late.add($0) }
        try await #require(eventually { late.all.count == 1 })
        try log.remove()
        try log.append("text")
        try await #require(eventually { listeners.allSatisfy { $0.told.text == "text" } })
        #expect(troubles.all.count == 1)
        #expect(late.all.first.map { "\($0)" } == troubles.all.first.map { "\($0)" })
        withExtendedLifetime((listening, lateListening)) {}
    }

    @Test("Started and stopped by several at once, it loses nothing", arguments: SystemEvents.Kind.allCases)
    func hammered(_ kind: SystemEvents.Kind) async throws {
        let follower = log.follower(kind)
        let (told, listening) = listen(follower)
        let iterations = (0..<3).map { _ in
            Task { while !Task.isCancelled { for await _ in follower.lines { break } } }
        }
        try await withThrowingTaskGroup { group in
            for _ in 0..<3 {
                group.addTask {
                    for _ in 0..<30 {
                        try follower.start()
                        follower.stop()
                    }
                }
            }
            for number in 0..<100 { try log.append("\(number)\n") }
            try await group.waitForAll()
        }
        for iteration in iterations {
            iteration.cancel()
            await iteration.value
        }
        try follower.start()
        let all = (0..<100).map { "\($0)\n" }.joined()
        try await #require(eventually { told.text == all })
        withExtendedLifetime(listening) {}
    }
}
