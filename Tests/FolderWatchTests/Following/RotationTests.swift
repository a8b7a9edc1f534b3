@preconcurrency import Dispatch
import Files
import Platform
import Synchronization
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

/// Files that are rotated, truncated and removed while they are written.
@Suite("Rotation", .timeLimit(.minutes(5))) struct RotationTests {
    private let log: FollowedFile

    init() throws { log = try FollowedFile() }

    @Test("Nothing is lost while a file is rotated as it is read")
    func meanwhile() throws {
        let rounds = 300
        var reader = try log.reader()
        try log.append("b")
        var told = try #require(try reader.next()?.bytes)
        let read = Atomic(told.count)
        let done = DispatchSemaphore(value: 0)
        // The last byte of the old file comes at any time before the first of the new one, once all before is read.
        DispatchQueue(label: "writer").async { [log] in
            defer { done.signal() }
            for round in 0..<rounds {
                while read.load(ordering: .acquiring) <= 2 * round { sched_yield() }
                let isWritten: Void? = try? {
                    try log.append("a")
                    try log.rename("log", "log.1")
                    try log.append("b")
                }()
                if isWritten == nil { return }
            }
        }
        let deadline = MonotonicTime.now() + .seconds(60)
        while told.count <= 2 * rounds, MonotonicTime.now() < deadline {
            if let piece = try reader.next() { told += piece.bytes }
            read.store(told.count, ordering: .releasing)
        }
        read.store(.max, ordering: .releasing)
        done.wait()
        #expect(String(decoding: told, as: UTF8.self) == "b" + String(repeating: "ab", count: rounds))
    }

    /// Lines by a generator: appended, and the file truncated, rotated, replaced and removed, the follower stopped and
    /// started.
    @Test("What is told is what was written", arguments: SystemEvents.Kind.allCases, 0..<3 as Range<UInt64>)
    func random(_ kind: SystemEvents.Kind, _ seed: UInt64) async throws {
        print("rotation: \(kind), seed \(seed)")
        var random = SeededGenerator(seed: seed)
        let follower = log.follower(kind)
        let lines = Gathered<FollowedLine>()
        let listening = follower.addLineListener { lines.add($0) }
        try follower.start()
        var written: [String] = []
        var (reopened, truncated) = (0, 0)
        /// A file that is written anew has another size: one that has not is another file by its time only, and that
        /// moves on in steps.
        func line() -> String {
            written.append("\(written.count) " + String(repeating: "x", count: written.count % 50))
            return (written.last ?? "") + "\n"
        }
        func isAllRead() async -> Bool { await eventually { lines.all.count == written.count } }
        try log.append(line())
        for step in 0..<60 {
            let wasRead = Bool.random(using: &random)
            if wasRead { try #require(await isAllRead(), "\(kind), seed \(seed), step \(step)") }
            switch Int.random(in: 0..<10, using: &random) {
            case 0 where wasRead:
                try log.truncate()
                truncated += 1
                try log.append(line())
            case 1 where wasRead:
                try log.append(line())
                try log.rename("log", "log.1")
                if Bool.random(using: &random) { try log.append("") }
                try log.append(line(), to: "log.1")
                reopened += 1
                try log.append(line())
                try #require(await isAllRead(), "\(kind), seed \(seed), step \(step)")
            case 2 where wasRead:
                try log.append(line(), to: "tmp")
                try log.rename("tmp", "log")
                reopened += 1
                try #require(await isAllRead(), "\(kind), seed \(seed), step \(step)")
            case 3 where wasRead:
                try log.remove()
                reopened += 1
                try log.append(line())
                try #require(await isAllRead(), "\(kind), seed \(seed), step \(step)")
            case 4:
                follower.stop()
                if Bool.random(using: &random) { try log.append(line()) }
                try follower.start()
            default: try log.append(line())
            }
        }
        try #require(await isAllRead(), "\(kind), seed \(seed)")
        #expect(lines.all.map(\.text) == written, "\(kind), seed \(seed)")
        #expect(lines.all.allSatisfy { $0.isComplete })
        #expect(lines.all.count { $0.isReopened } == reopened, "\(kind), seed \(seed)")
        #expect(lines.all.count { $0.isTruncated } == truncated, "\(kind), seed \(seed)")
        withExtendedLifetime(listening) {}
    }

    #if os(Linux)
        /// Writes numbered lines until it is told to end, to the file that it opened last.
        private final class Writer: Sendable {
            private let state = Mutex((mayWrite: true, mustOpen: false))
            private let count = Atomic(0)
            private let end = DispatchSemaphore(value: 0)

            var lines: Int { count.load(ordering: .acquiring) }

            init(_ path: FilePath) {
                DispatchQueue(label: "writer").async { [self] in
                    defer { end.signal() }
                    var file = try? OpenFile.open(path, O_WRONLY | O_APPEND | O_CREAT, mode: 0o644)
                    while state.withLock({ $0.mayWrite }) {
                        if state.withLock({ $0.mustOpen }) {
                            file = try? OpenFile.open(path, O_WRONLY | O_APPEND | O_CREAT, mode: 0o644)
                            state.withLock { $0.mustOpen = false }
                        }
                        guard (try? file?.write(Array("\(lines)\n".utf8))) != nil else { return }
                        count.add(1, ordering: .releasing)
                        // As fast as a disk is, and still faster than logs are.
                        try? file?.sync()
                    }
                }
            }

            /// As a daemon does after SIGHUP.
            func reopen() async {
                state.withLock { $0.mustOpen = true }
                _ = await eventually { state.withLock { !$0.mustOpen } }
            }

            func stop() {
                state.withLock { $0.mayWrite = false }
                end.wait()
            }
        }

        @Test(
            "logrotate may rotate it as it is written",
            .enabled(if: Tool.find("/usr/sbin/logrotate") != nil, Comment(rawValue: Tool.skip("logrotate"))),
            arguments: SystemEvents.Kind.allCases, ["create", "copytruncate"])
        func logrotate(_ kind: SystemEvents.Kind, _ how: String) async throws {
            let tool = try #require(Tool.find("/usr/sbin/logrotate"))
            try log.scratch.write("\(log.path) {\nrotate 20\nmissingok\n\(how)\n}\n", to: "conf")
            try #require(log.scratch.path("conf").withPlatformString { chmod($0, 0o644) } == 0)
            let follower = log.follower(kind)
            let told = Gathered<FollowedLine>()
            let listening = follower.addLineListener { told.add($0) }
            try follower.start()
            let writer = Writer(log.path)
            for round in 1...4 {
                let before = writer.lines
                try await #require(eventually { writer.lines > before + 50 })
                let output = try tool.run([
                    "-f", "-s", log.scratch.path("state").string, log.scratch.path("conf").string,
                ])
                try #require(output.status == 0, "\(output.text)")
                if how == "create" {
                    await writer.reopen()
                    try await #require(eventually { told.all.count { $0.isReopened } == round })
                } else {
                    try await #require(eventually { told.all.count { $0.isTruncated } == round })
                }
            }
            writer.stop()
            let last = "\(writer.lines - 1)"
            try await #require(eventually { told.all.last?.text == last })
            let numbers = told.all.filter(\.isComplete).compactMap { Int($0.text) }
            if how == "create" {
                #expect(numbers == Array(0..<writer.lines))
                #expect(told.all.allSatisfy { $0.isComplete })
            } else {
                // What is written between the copy and the cut is lost to all.
                #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 })
            }
            withExtendedLifetime(listening) {}
        }
    #endif
}
