@preconcurrency import Dispatch
import Files
import Synchronization
import TestTools
import Testing

@testable import Dashboard

/// Whose the folders are that come, and when they are given up.
@Suite struct FolderUploadsTests {
    private final class Coming: ComingFolder {
        let id: String
        private let closings = Mutex(0)
        var isClosed: Bool { closings.withLock { $0 > 0 } }

        init(_ id: String) { self.id = id }
        func close() { closings.withLock { $0 += 1 } }
    }

    private struct Broken: Error {}

    private final class Desk: Sendable {
        let mayGoOn = Mutex(true)
        let coming = Coming("a")
        let uploads: FolderUploads<Coming>

        init() {
            let time = SharedTime()
            uploads = FolderUploads { time.now }
            self.shared = time
            uploads.enter(coming, owner: "token anna") { [weak self] in self?.mayGoOn.withLock { $0 } ?? false }
        }

        private let shared: SharedTime
        func pass(_ seconds: Int) { shared.pass(.seconds(seconds)) }

        func code(
            _ id: String = "a", by owner: String = "token anna", for use: FolderUploads<Coming>.Use = .part,
            size: Int64 = 3
        ) async throws -> String? {
            do {
                try await uploads.use(id, by: owner, for: use, size: size) { _, _ in }
                return nil
            } catch let problem as Problem {
                return "\(problem.status.code) \(problem.code)"
            }
        }
    }

    private final class SharedTime: Sendable {
        private let time = Mutex(MonotonicTime.now())
        var now: MonotonicTime { time.withLock { $0 } }
        func pass(_ duration: Duration) { time.withLock { $0 = $0 + duration } }
    }

    @Test func itIsItsOwnersAloneAndNobodyLearnsOfIt() async throws {
        let desk = Desk()
        #expect(try await desk.code(by: "token bert") == "404 upload.unknown")
        #expect(try await desk.code(by: "socket anna") == "404 upload.unknown")
        #expect(try await desk.code("b") == "404 upload.unknown")
        #expect(throws: Problem.self) { try desk.uploads.cancel("a", by: "token bert") }
        #expect(!desk.coming.isClosed)
        #expect(try await desk.code() == nil)
        let before = try await desk.uploads.use("a", by: "token anna", for: .part) { _, before in before }
        #expect(before == 3)
        try desk.uploads.cancel("a", by: "token anna")
        #expect(desk.coming.isClosed)
        #expect(try await desk.code() == "404 upload.unknown")
    }

    @Test func oneRequestAtATimeIsAboutIt() async throws {
        let desk = Desk()
        try await desk.uploads.use("a", by: "token anna", for: .part) { _, _ async throws -> Void in
            #expect(try await desk.code() == "409 upload.turn")
            #expect(try await desk.code(for: .finish) == "409 upload.turn")
        }
        #expect(!desk.coming.isClosed)
        try await desk.uploads.use("a", by: "token anna", for: .finish) { _, _ async throws -> Void in
            #expect(throws: Problem.self) { try desk.uploads.cancel("a", by: "token anna") }
        }
        #expect(!desk.coming.isClosed && !desk.uploads.goesOn("a"))
    }

    @Test func whatGoesWrongEndsIt() async throws {
        let desk = Desk()
        await #expect(throws: Broken.self) {
            try await desk.uploads.use("a", by: "token anna", for: .part) { _, _ async throws -> Void in throw Broken()
            }
        }
        #expect(desk.coming.isClosed)
        #expect(try await desk.code() == "404 upload.unknown")
    }

    @Test func silenceEndsIt() async throws {
        let desk = Desk()
        desk.pass(59)
        #expect(desk.uploads.goesOn("a"))
        #expect(try await desk.code(size: 1 << 20) == nil)
        desk.pass(59)
        #expect(desk.uploads.goesOn("a"))
        #expect(try await desk.code(size: 1 << 20) == nil)
        try await desk.uploads.use("a", by: "token anna", for: .part) { _, _ async throws -> Void in
            desk.pass(600)
            #expect(desk.uploads.goesOn("a"), "something comes")
        }
        desk.pass(60)
        #expect(!desk.uploads.goesOn("a") && desk.coming.isClosed)
    }

    /// As one would who wants to keep a place from others.
    @Test func littleByLittleIsNotEnough() async throws {
        let desk = Desk()
        for _ in 0..<3 {
            desk.pass(20)
            #expect(desk.uploads.goesOn("a"))
            #expect(try await desk.code() == nil)
        }
        desk.pass(20)
        #expect(!desk.uploads.goesOn("a") && desk.coming.isClosed)
    }

    @Test func whatComesForOneThatWasGivenUpIsNotThere() async throws {
        let desk = Desk()
        await #expect(throws: Problem.self) {
            try await desk.uploads.use("a", by: "token anna", for: .part) { _, _ async throws -> Void in
                try desk.uploads.cancel("a", by: "token anna")
            }
        }
    }

    /// The look at the rights takes its time, and meanwhile it is finished.
    @Test func whatIsBeingFinishedIsNotGivenUp() async throws {
        let (time, coming) = (SharedTime(), Coming("a"))
        let uploads = FolderUploads<Coming> { time.now }
        let (looks, goesOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        uploads.enter(coming, owner: "token anna") {
            looks.signal()
            goesOn.wait()
            return true
        }
        time.pass(.seconds(60))
        let looked = Mutex<Bool?>(nil)
        DispatchQueue.global().async { @Sendable in
            let answer = uploads.goesOn("a")
            looked.withLock { $0 = answer }
        }
        looks.wait()
        try await uploads.use("a", by: "token anna", for: .finish) { _, _ async throws -> Void in
            // Once for the look, and once for one of its own.
            goesOn.signal()
            goesOn.signal()
            #expect(await eventually { looked.withLock { $0 != nil } })
        }
        #expect(looked.withLock { $0 } == true && !coming.isClosed)
    }

    @Test func whoIsNotLetInAnyMoreLosesIt() async throws {
        let desk = Desk()
        desk.mayGoOn.withLock { $0 = false }
        #expect(!desk.uploads.goesOn("a") && desk.coming.isClosed)
        #expect(try await desk.code() == "404 upload.unknown")
    }
}
