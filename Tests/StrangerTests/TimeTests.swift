import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Times, sizes and looks that end the daemon.
@Suite(.timeLimit(.minutes(5)), .enabled(if: World.isPossible, Comment(rawValue: World.skip)))
struct TimeTests {
    /// Beyond what nanoseconds in 64 bits can tell, beyond what ext4 keeps, and beyond all sense.
    private static let seconds: [Int] = [1 << 33, 1 << 34, 1 << 62, -(1 << 62), .max, .min]

    private static let xfs: Comment = "needs root, loop devices and mkfs.xfs"

    private static func setTime(of path: FilePath, _ second: Int) throws {
        let times = [timespec(tv_sec: second, tv_nsec: 999_999_999), timespec(tv_sec: second, tv_nsec: 999_999_999)]
        guard path.withPlatformString({ utimensat(AT_FDCWD, $0, times, 0) }) == 0 else {
            throw IOError("set the time of", path, .last)
        }
    }

    @Test(
        "F0: no time of a file or folder ends the daemon", arguments: DaemonUser.allCases, [World.Disk.scratch, .tmpfs])
    func times(_ user: DaemonUser, _ disk: World.Disk) async throws { try await expectTimesPass(user, disk) }

    @Test("F0: nor on xfs", .enabled(if: DiskImage.isXFSPossible, xfs), arguments: DaemonUser.allCases)
    func timesOnXFS(_ user: DaemonUser) async throws { try await expectTimesPass(user, .xfs) }

    private func expectTimesPass(_ user: DaemonUser, _ disk: World.Disk) async throws {
        let world = try World(user, on: disk)
        for folder in ["trees", "files"] {
            try Folder.make(world.path(folder))
            try World.own(world.path(folder), user.user, Sender.group, 0o2775)
        }
        let stages = "stages: [checksum, { move: { to: ../output } }]"
        try world.pipeline(stages, name: "files", inbox: "files")
        try world.pipeline(
            stages.replacing("../output", with: "\"../output/{stem}\""), ready: "quiet: 20ms, unit: folder",
            name: "trees",
            inbox: "trees")
        for (number, second) in Self.seconds.enumerated() {
            try Self.setTime(of: try world.prepare("file-\(number)", "x"), second)
            try world.handIn("file-\(number)", inbox: "files")
            try world.prepareFolder("tree-\(number)", ["file": "x"])
            try Self.setTime(of: world.path("home/tree-\(number)/file"), second)
            try Self.setTime(of: world.path("home/tree-\(number)"), second)
            try world.handIn("tree-\(number)", inbox: "trees")
        }
        var daemon = try world.start()
        let count = Self.seconds.count * 2
        _ = try await eventually { try daemon.count("processed", "failed") == count || daemon.hasEnded() }
        #expect(daemon.status == nil, "it ended by itself: \(daemon.transcript)")
        let missing = Self.seconds.indices.flatMap { ["file-\($0)", "tree-\($0)/file"] }.filter {
            !world.exists("output/\($0)")
        }
        #expect(missing.isEmpty, "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }

    @Test("F0b: no size of a file ends the daemon", arguments: DaemonUser.allCases)
    func sizes(_ user: DaemonUser) async throws { try await expectSizesPass(user, .tmpfs) }

    @Test("F0b: nor on xfs", .enabled(if: DiskImage.isXFSPossible, xfs), arguments: DaemonUser.allCases)
    func sizesOnXFS(_ user: DaemonUser) async throws { try await expectSizesPass(user, .xfs) }

    private func expectSizesPass(_ user: DaemonUser, _ disk: World.Disk) async throws {
        let world = try World(user, on: disk)
        try Folder.make(world.path("trees"))
        try World.own(world.path("trees"), user.user, Sender.group, 0o2775)
        // The largest file that there can be, several times at once.
        func grow(_ path: FilePath) throws {
            guard path.withPlatformString({ truncate($0, .max) }) == 0 else { throw IOError("size", path, .last) }
        }
        let wait = "run: { command: [sh, -c, \"until test -e \(world.path("go").string); do sleep 0.1; done\"] }"
        try world.pipeline("stages: [{ \(wait) }, { move: { to: ../output } }]")
        try world.pipeline(
            "stages: [{ move: { to: \"../output/{stem}\" } }]", ready: "quiet: 20ms, unit: folder", name: "trees",
            inbox: "trees")
        for name in ["a", "b", "c"] {
            try grow(try world.prepare(name, ""))
            try world.handIn(name)
        }
        try world.prepareFolder("tree", ["a": "", "b": "", "c": ""])
        for name in ["a", "b", "c"] { try grow(world.path("home/tree/\(name)")) }
        try world.handIn("tree", inbox: "trees")
        var daemon = try world.start()
        // Taken or failed: what is too large for a drop fails, and nothing of it can be copied.
        let looked = try await eventually {
            if try daemon.hasEnded() { return true }
            return try world.names("inbox").isEmpty && world.names("trees").isEmpty
        }
        #expect(looked && daemon.status == nil, "it ended by itself: \(daemon.transcript)")
        try world.drop("honest", "x")
        try world.scratch.write("", to: "mill/go")
        let isThere = try await eventually { try world.exists("output/honest") || daemon.hasEnded() }
        #expect(isThere && world.exists("output/honest"), "\(daemon.transcript)")
        // No file system holds what they claim to have.
        let haveFailed = try await eventually {
            try ["a", "b", "c", "tree"].allSatisfy { world.exists("failed/\($0)") } || daemon.hasEnded()
        }
        #expect(haveFailed && daemon.status == nil, "\(daemon.transcript)")
        #expect(try await daemon.stops())
    }
}
