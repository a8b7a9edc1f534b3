import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// Disks that are really full or read-only: the pipeline pauses, says so, goes on by itself, and loses nothing.
    @Suite(.enabled(if: TemporaryMount.isPossible, "needs root")) struct FullDiskTests {
        @Test func waitsForSpace() async throws {
            let site = try Site.otherDevice("size=16m", ["min_free: 0"])
            let ballast = site.ballast
            try site.mill.fill(ballast, megabytes: 15)
            try await Self.run(site, expecting: "No space left", drops: 4) { try Folder.remove(ballast) }
        }

        @Test func waitsForInodes() async throws {
            let site = try Site.otherDevice("size=16m,nr_inodes=40", ["min_free: 0"])
            let ballast = site.ballast
            try Folder.make(ballast)
            // The file system's own folders, output and processed take some.
            var made = 0
            while site.mill.touch(ballast.appending("file-\(made)")) { made += 1 }
            for number in 0..<2 { try Folder.remove(ballast.appending("file-\(number)")) }
            try await Self.run(site, expecting: "No space left", drops: 2) { try Folder.remove(ballast) }
        }

        @Test(arguments: [false, true]) func waitsForTheFloor(ofOutputAlone: Bool) async throws {
            let site = try Site.otherDevice("size=16m", ["min_free: 12MiB"], outputOnly: ofOutputAlone)
            let ballast = site.ballast
            try site.mill.fill(ballast, megabytes: 8)
            try await Self.run(site, expecting: "free", drops: 2) { try Folder.remove(ballast) }
        }

        @Test func waitsForAWritableFileSystem() async throws {
            let site = try Site.otherMount()
            let path = site.mill.layout.output.removingLastComponent()
            try remount(path, UInt(MS_RDONLY))
            try await Self.run(site, expecting: "Read-only file system", drops: 2) { try remount(path, 0) }
        }

        /// Drops, sees the pause and its reason, ends the trouble, sees that all is settled without anybody's help.
        private static func run(_ site: Site, expecting reason: String, drops: Int, end: () throws -> Void) async throws
        {
            for number in 1...drops {
                try site.mill.dropPlain("plain-\(number).txt", size: 900_000)
                try site.mill.dropZip("zip-\(number).zip", members: 4, size: 200_000)
            }
            let log = site.mill.logs.appending("log")
            var daemon = try site.mill.start(log: log, level: "info")
            let paused = try await eventually(within: .seconds(30)) { try daemon.hasLogged("paused", reason) }
            #expect(paused, "no pause because of '\(reason)': \(daemon.transcript)")
            let running = try !daemon.hasEnded()
            #expect(running)
            let nothingIsLost = await eventually { site.mill.holds(.interrupted(copying: true)) }
            #expect(nothingIsLost, "while it is paused")
            try end()
            let settled = await eventually(within: .seconds(90)) { site.mill.holds(.settled) }
            let left = try site.mill.violations(.settled)
            #expect(settled, "\(left.map(\.description).joined(separator: "\n"))\n\(daemon.transcript)")
            #expect(try daemon.hasLogged("resumed"))
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
        }
    }
}

private func remount(_ path: FilePath, _ flags: UInt) throws(IOError) {
    let flags = UInt(MS_REMOUNT) | UInt(MS_BIND) | flags
    guard path.withPlatformString({ mount("none", $0, nil, flags, nil) }) == 0 else {
        throw IOError("remount", path, .last)
    }
}

extension Mill {
    /// Writes a file of so many zeros.
    fileprivate func fill(_ path: FilePath, megabytes: Int) throws(IOError) {
        try write([UInt8](repeating: 0, count: megabytes << 20), to: path)
    }

    /// Makes an empty file; false where that does not work.
    fileprivate func touch(_ path: FilePath) -> Bool {
        let descriptor = path.withPlatformString { open($0, O_CREAT | O_WRONLY | O_CLOEXEC, 0o600) }
        guard descriptor >= 0 else { return false }
        close(descriptor)
        return true
    }
}

extension Site {
    /// What takes the space, beside the output and not in it.
    fileprivate var ballast: FilePath { mill.layout.output.removingLastComponent().appending("ballast") }
}
