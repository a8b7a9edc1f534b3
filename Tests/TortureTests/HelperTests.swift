import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

extension Torture {
    /// The processes that unpack, seen from the daemon's side.
    @Suite struct HelperTests {
        /// What a process of the machine is.
        private struct Process {
            let id: pid_t
            let parent: pid_t
            let command: String
            let name: Substring
        }

        private static func processes() throws -> [Process] {
            try Folder.names(in: "/proc").compactMap { name in
                guard let id = pid_t(name.text) else { return nil }
                do {
                    let status = String(decoding: try ScratchFolder.read(FilePath("/proc/\(id)/stat")), as: UTF8.self)
                    let command = String(
                        decoding: try ScratchFolder.read(FilePath("/proc/\(id)/cmdline")), as: UTF8.self)
                    // The name in brackets may hold anything.
                    let name = status.drop { $0 != "(" }.dropFirst().prefix { $0 != ")" }
                    let fields = status[(status.lastIndex(of: ")") ?? status.startIndex)...].split(separator: " ")
                    guard fields.count > 2, let parent = pid_t(fields[2]) else { return nil }
                    return Process(id: id, parent: parent, command: command, name: name)
                } catch {
                    // It ended meanwhile.
                    return nil
                }
            }
        }

        /// Helpers and the server that makes them.
        private static func unpackers(of daemon: pid_t) throws -> [Process] {
            try processes().filter { $0.parent == daemon && $0.command.contains("unpack-worker") }
        }

        private static func helpers(of daemon: pid_t) throws -> [pid_t] {
            try unpackers(of: daemon).filter { $0.name == "dropmill-helper" }.map(\.id)
        }

        private static func resident(_ process: pid_t) throws -> Int {
            let status = String(decoding: try ScratchFolder.read(FilePath("/proc/\(process)/status")), as: UTF8.self)
            let line = status.split(separator: "\n").first { $0.hasPrefix("VmRSS:") } ?? ""
            return line.split(separator: " ").compactMap { Int($0) }.first ?? 0
        }

        private static func descriptors(_ process: pid_t) throws -> Int {
            try Folder.names(in: FilePath("/proc/\(process)/fd")).count
        }

        /// Helpers are killed at random while archives are unpacked: every archive ends in its place, and no process,
        /// no file and no descriptor is left.
        @Test func killedAtRandom() async throws {
            let site = try Site.plain()
            let (kills, most) = Torture.isLong ? (100, 400) : (6, 40)
            try site.mill.build(["retry: { attempts: 100, backoff: 5ms, max_backoff: 20ms }"])
            for number in 1...most { try site.mill.dropZip("a\(number).zip", members: 60, size: 400) }
            let log = site.mill.logs.appending("log")
            var process = try site.mill.start(once: true, log: log)
            defer { do { try process.end() } catch { Issue.record(error) } }
            let daemon = process.id
            var generator = SeededGenerator(seed: 7)
            var killed = 0
            // How many archives were done when a server last was killed: one that dies before it has made a helper is a
            // trouble of the machine's, with which the pipeline pauses.
            var doneBefore = -1
            while killed < kills, try !process.hasEnded() {
                let unpackers = try Self.unpackers(of: daemon)
                // A helper lives for some milliseconds only; without one it is the server's turn.
                var victims = unpackers.filter { $0.name == "dropmill-helper" }
                if victims.isEmpty {
                    let done = try Folder.names(in: site.mill.layout.output).count
                    guard done > doneBefore, !unpackers.isEmpty else {
                        // The daemon needs the processor more than who looks.
                        poll(nil, 0, 1)
                        continue
                    }
                    doneBefore = done
                    victims = unpackers
                }
                guard let victim = victims.randomElement(using: &generator) else { continue }
                if kill(victim.id, SIGKILL) == 0 { killed += 1 }
                // Until it is gone, so that none is counted twice.
                _ = try await eventually { try !Self.unpackers(of: daemon).map(\.id).contains(victim.id) }
            }
            _ = try process.wait()
            Torture.say("\(killed) helpers killed, \(most) archives")
            #expect(killed >= kills / 2)
            let violations = try site.mill.violations(.settled)
            #expect(violations == [], "\(process.transcript.suffix(4000))")
            #expect(try Self.processes().filter { $0.command.contains("unpack-worker") && $0.parent == 1 }.isEmpty)
        }

        /// The daemon is killed: its helpers go with it, idle or not.
        @Test func noneOutlivesTheDaemon() async throws {
            let site = try Site.plain()
            try site.mill.build()
            for number in 1...20 { try site.mill.dropZip("a\(number).zip", members: 400, size: 400) }
            var process = try site.mill.start(log: site.mill.logs.appending("log"))
            let daemon = process.id
            // One that is stopped cannot see that the daemon is gone: only the kernel can end it.
            let isStopped = try await eventually {
                for helper in try Self.helpers(of: daemon) { kill(helper, SIGSTOP) }
                return try !Self.helpers(of: daemon).isEmpty
            }
            #expect(isStopped, "no helper was found at work: \(process.transcript)")
            let unpackers = try Self.unpackers(of: daemon).map(\.id)
            try process.end()
            #expect(
                try await eventually {
                    let alive = Set(try Self.processes().map(\.id))
                    return unpackers.allSatisfy { !alive.contains($0) }
                })
        }

        /// The daemon is killed while a helper is in the midst of an archive, and cannot even be told: the kernel ends
        /// it, and the next start does it all over and leaves nothing of it.
        @Test func killedWithTheDaemonInAnArchive() async throws {
            let site = try Site.plain()
            try site.mill.build()
            let members = 400
            var dropped = 0
            let active = site.mill.layout.work.appending("active")
            var process = try site.mill.start(log: site.mill.logs.appending("log"))
            let daemon = process.id
            var victims: [pid_t] = []
            let isCaught = try await eventually {
                // Step by step, until there are the archives themselves and some of what is in one. On a busy machine
                // one may be done between two looks: there is always a next one.
                for _ in 0..<50 {
                    if try Folder.names(in: site.mill.layout.inbox).isEmpty {
                        dropped += 1
                        try site.mill.dropZip("a\(dropped).zip", members: members, size: 30)
                    }
                    victims = try Self.helpers(of: daemon)
                    for helper in victims { kill(helper, SIGSTOP) }
                    if !victims.isEmpty, (10..<members).contains(Self.files(in: active)) { return true }
                    for helper in victims { kill(helper, SIGCONT) }
                    poll(nil, 0, 1)
                }
                return false
            }
            try #require(isCaught, "no helper was found at work: \(process.transcript)")
            try process.end()
            #expect(try await eventually { try !Self.processes().contains { victims.contains($0.id) } })
            #expect(Self.files(in: active) >= 10, "it was in the midst of it")

            let run = try site.mill.runOnce()
            #expect(run.status == 0, "\(run.log)")
            #expect(try site.mill.violations(.settled) == [])
        }

        /// How many files lie below a folder, as far as it is there.
        private static func files(in folder: FilePath) -> Int {
            do throws(IOError) { return try FileTree.list(folder).files.count } catch { return 0 }
        }

        /// Many archives in one daemon: memory and descriptors stay as they are.
        @Test func manyArchives() async throws {
            let site = try Site.plain()
            try site.mill.build(["durability: fast"])
            let (rounds, each) = Torture.isLong ? (20, 500) : (4, 60)
            var process = try site.mill.start(log: site.mill.logs.appending("log"))
            defer { do { try process.end() } catch { Issue.record(error) } }
            var sizes: [Int] = []
            var open: [Int] = []
            for round in 1...rounds {
                for number in 1...each { try site.mill.dropZip("r\(round)-\(number).zip", members: 5, size: 3000) }
                let inbox = site.mill.layout.inbox
                let output = site.mill.layout.output
                let isDone = try await eventually(within: .seconds(240)) {
                    try Folder.names(in: inbox).isEmpty && Folder.names(in: output).count >= round * each
                }
                try #require(isDone, "\(process.transcript)")
                sizes.append(try Self.resident(process.id))
                open.append(try Self.descriptors(process.id))
            }
            Torture.say("\(rounds * each) archives: resident KiB \(sizes), descriptors \(open)")
            let settled = sizes[rounds / 4]
            #expect(Double(sizes[rounds - 1]) <= Double(settled) * 1.1)
            #expect(open[rounds - 1] <= open[rounds / 4] + 4)
        }
    }
}
