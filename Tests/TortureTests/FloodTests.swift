import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// Folders with very many files. `Benchmarks/bench.py` measures the same.
    @Suite("Floods") struct FloodTests {
        /// The most memory that the process had, in bytes.
        private func peak(_ process: DropmillProcess) throws -> Int {
            let status = FilePath("/proc/\(process.id)/status")
            let text = String(decoding: try ScratchFolder.read(status), as: UTF8.self)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
            return 1024 * (try #require(Int(line.filter(\.isNumber))))
        }

        private func count(in folder: FilePath) throws -> Int {
            var count = 0
            try Folder.forEachEntry(of: folder) { (_, _) in count += 1 }
            return count
        }

        /// Cheaper than counting, for a look every few milliseconds.
        private func isEmpty(_ folder: FilePath) -> Bool {
            do throws(IOError) {
                try Folder.forEachEntry(of: folder) { (_, _) throws(IOError) in
                    throw IOError("leave", folder, .fileExists)
                }
                return true
            } catch {
                return false
            }
        }

        @Test("Very many files at once: each is settled, in bounded memory", .timeLimit(.minutes(10)))
        func flood() async throws {
            let count = Torture.isLong ? 200_000 : 3_000
            let scratch = try ScratchFolder()
            let outside = try scratch.makeFolder("outside")
            for folder in ["inbox", "processed", "failed", "pipelines"] { try scratch.makeFolder(folder) }
            let content = Array(repeating: UInt8(ascii: "x"), count: 1024)
            for number in 0..<count {
                let file = try OpenFile.open(
                    outside.appending("f\(number)"), O_WRONLY | O_CREAT | O_TRUNC, mode: 0o644)
                try file.write(content)
            }
            let pipeline = """
                inbox: ../inbox
                processed: ../processed
                failed: ../failed
                ready: { quiet: 200ms }
                durability: fast
                stages: [move: { to: ../output }]

                """
            try scratch.write(pipeline, to: "pipelines/flood.yaml")
            let log = scratch.path("log")
            var daemon = try DropmillProcess(
                ["run", "pipelines", "--state", "state", "--log-format", "json", "--log-level", "warning"],
                in: scratch.path, log: log)
            let (from, to) = (outside, scratch.path("inbox"))
            for number in 0..<count {
                let name = "f\(number)"
                let (old, new) = (from.appending(name), to.appending(name))
                let renamed = old.withPlatformString { old in new.withPlatformString { rename(old, $0) } }
                try #require(renamed == 0)
            }
            let output = scratch.path("output")
            let limit = Duration.seconds(Torture.isLong ? 500 : 120)
            #expect(await eventually(within: limit) { self.isEmpty(to) }, "\(daemon.transcript)")
            #expect(try await eventually { try self.count(in: output) == count }, "\(daemon.transcript)")
            let memory = try peak(daemon)
            #expect(memory <= 250 << 20)
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            Torture.say("\(count) files at once: peak memory \(memory >> 20) MiB")
        }

        @Test("Very many idle files cost no memory, and hold up none that is wanted", .timeLimit(.minutes(5)))
        func idle() async throws {
            let count = Torture.isLong ? 100_000 : 20_000
            let scratch = try ScratchFolder()
            let inbox = try scratch.makeFolder("inbox")
            for folder in ["processed", "failed", "pipelines"] { try scratch.makeFolder(folder) }
            for number in 0..<count {
                _ = try OpenFile.open(inbox.appending("f\(number).txt"), O_WRONLY | O_CREAT, mode: 0o644)
            }
            let pipeline = """
                inbox: ../inbox
                processed: ../processed
                failed: ../failed
                match: { include: "*.pdf" }
                ready: { quiet: 100ms }
                stages: [checksum]

                """
            try scratch.write(pipeline, to: "pipelines/idle.yaml")
            var daemon = try DropmillProcess(
                ["run", "pipelines", "--state", "state", "--log-format", "json"], in: scratch.path,
                log: scratch.path("log"))
            try scratch.write("x", to: "inbox/wanted.pdf")
            #expect(await eventually { scratch.exists("processed/wanted.pdf") }, "\(daemon.transcript)")
            let memory = try peak(daemon)
            #expect(memory <= 80 << 20)
            try daemon.send(SIGTERM)
            #expect(try daemon.wait() == 0)
            Torture.say("\(count) idle files: peak memory \(memory >> 20) MiB")
        }
    }
}
