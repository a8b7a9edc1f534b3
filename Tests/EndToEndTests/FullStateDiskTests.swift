import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// A start while the disk of the state folder is full: it says so, and nothing ends by a signal.
@Suite(.enabled(if: DiskImage.isPossible, "\(DiskImage.skip)"), .timeLimit(.minutes(5))) struct FullStateDiskTests {
    /// In small blocks SQLite finds room for a part of what it maps into memory.
    @Test(arguments: [1024, 4096]) func isSaid(block: Int) throws {
        let scratch = try ScratchFolder()
        let disk = try DiskImage(at: scratch.path("disk"), megabytes: 16, block: block)
        try scratch.write(
            """
            inbox: inbox
            processed: processed
            failed: failed
            ready: { quiet: 20ms }
            stages:
              - checksum

            """, to: "main.yaml")
        try scratch.write("x", to: "inbox/a")
        func dropmill(_ arguments: String...) throws -> Tool.Output {
            try Tool(DropmillProcess.binary).run(arguments + ["--state-dir", "disk/state"], in: scratch.path)
        }
        #expect(try dropmill("run", "main.yaml", "--once").status == 0)
        try Self.fill(disk.path)
        try scratch.write("y", to: "inbox/b")

        let start = try dropmill("run", "main.yaml", "--once")
        #expect(start.status == 75 && start.text.contains("No space left on device"), "\(start.text)")
        let doctor = try dropmill("doctor", "main.yaml")
        #expect(doctor.status == 1 && doctor.text.contains("the file system is full"), "\(doctor.text)")
        // What only reads does not need any.
        let jobs = try dropmill("jobs")
        #expect(jobs.status == 0 && jobs.text.contains("processed"), "\(jobs.text)")
        #expect(try dropmill("status").status == 0)
        #expect(try scratch.tree("inbox") == ["b"])

        for number in 0... {
            let ballast = disk.path.appending("ballast-\(number)")
            guard Folder.kind(of: ballast) != nil else { break }
            try Folder.remove(ballast)
        }
        #expect(try dropmill("run", "main.yaml", "--once").status == 0)
        #expect(try scratch.tree("inbox") == [])
        withExtendedLifetime(disk) {}
    }

    /// What is claimed then is in the work folder, and only the daemon knows it.
    @Test func whatIsClaimedMeanwhileIsKnown() async throws {
        let scratch = try ScratchFolder()
        let disk = try DiskImage(at: scratch.path("disk"), megabytes: 16)
        let folders = "inbox: inbox\nprocessed: processed\nfailed: failed\nready: { quiet: 20ms }\n"
        try scratch.write("\(folders)stages: [run: { command: ['true'] }]\n", to: "main.yaml")
        func dropmill(_ arguments: String...) throws -> Tool.Output {
            try Tool(DropmillProcess.binary).run(arguments + ["--state-dir", "disk/state"], in: scratch.path)
        }
        var daemon = try DropmillProcess(
            ["run", "main.yaml", "--state-dir", "disk/state"], in: scratch.path, log: scratch.path("log"))
        try #require(try await eventually { try dropmill("status").text.hasPrefix("running since") })
        try Self.fill(disk.path)
        try scratch.write("y", to: "inbox/b")
        #expect(
            try await eventually {
                try dropmill("status").text.contains("these numbers are out of date for 1 job: the journal")
            })
        let explained = try dropmill("explain", "inbox/b")
        #expect(explained.status == 0, "\(explained.text)")
        #expect(explained.text.contains("which cannot be written to the journal yet"), "\(explained.text)")
        for file in try Folder.names(in: disk.path) where file.text.hasPrefix("ballast") {
            try Folder.remove(disk.path.appending(file))
        }
        #expect(await eventually { scratch.exists("processed/b") })
        #expect(try await eventually { try !dropmill("status").text.contains("out of date") })
        try daemon.send(SIGTERM)
        #expect(try daemon.wait() == 0)
        withExtendedLifetime(disk) {}
    }

    /// To the last block.
    private static func fill(_ folder: FilePath) throws {
        for (number, size) in [1 << 20, 64 << 10, 1 << 10].enumerated() {
            let file = try OpenFile.open(
                folder.appending("ballast-\(number)"), O_WRONLY | O_CREAT | O_EXCL, mode: 0o600)
            let zeros = [UInt8](repeating: 0, count: size)
            var isFull = false
            while !isFull {
                do throws(IOError) {
                    try file.write(zeros)
                } catch {
                    guard error.errno == .noSpace else { throw error }
                    isFull = true
                }
            }
            try file.sync()
        }
    }
}
