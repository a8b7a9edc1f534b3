import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

@Suite("Engine", .timeLimit(.minutes(5))) struct EngineTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("A drop goes through its stages into processed, with what they made beside it")
    func processes() async throws {
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, _) throws(Failure) in
                    var payload = payload
                    payload.sidecars = [
                        Sidecar(suffix: ".sum", parts: [.text("abc  "), .name(.verbatim), .text("\n")])
                    ]
                    return payload
                }
            ])
        try engine.start()
        try engine.drop("report.pdf", "contents")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("processed") == ["report.pdf", "report.pdf.sum"])
        #expect(try scratch.text("processed/report.pdf.sum") == "abc  report.pdf\n")
        #expect(try scratch.tree("inbox") == [])
        #expect(try scratch.tree(".dropmill/test/active").allSatisfy { $0.hasSuffix("/") })
        #expect(await engine.stop()?.processed == 1)
    }

    @Test("What waits is told while it waits, and what is left alone with its reason")
    func tellsWhatWaits() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try scratch.link("inbox/link", to: "elsewhere")
        let writer = try OpenFile.open(scratch.path("inbox/held"), O_WRONLY | O_CREAT, mode: 0o600)
        try writer.write([1])
        try engine.start()
        #expect(await eventually { engine.events.contains { if case .refused = $0 { true } else { false } } })
        #expect(await eventually { await engine.waiting(for: "held")?.waiting.code == "open-writer" })
        let snapshot = await engine.waiting()
        #expect(snapshot.watching == .events)
        #expect(snapshot.waiting == 1)
        #expect(snapshot.longest.map(\.path) == [Array("held".utf8)])
        #expect(snapshot.longest.first?.known != nil)
        #expect(snapshot.leftCount == 1)
        #expect(snapshot.left.map(\.waiting.code) == ["refused"])
        #expect(await engine.waiting(limit: 0).longest.isEmpty)
        #expect(await engine.waiting(for: "nothing") == nil)
        #expect(await engine.waiting(for: "held", of: "other") == nil)
        try writer.close()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(await engine.waiting().waiting == 0)
        _ = await engine.stop()
    }

    @Test("Files there at the start pass the same gate")
    func takesWhatIsThere() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.drop("a.txt")
        try engine.drop("b.txt")
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 2)
        #expect(try scratch.tree("processed") == ["a.txt", "b.txt"])
    }

    @Test("A failed drop lies in failed with its reason beside it")
    func fails() async throws {
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (_, _) throws(Failure) in
                    throw .file("test.bad", "The file is bad.", remedy: "Send a good one.", detail: "byte 7")
                }
            ])
        try engine.drop("bad.bin")
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.failed == 1)
        #expect(try scratch.tree("failed") == ["bad.bin", "bad.bin.error.json"])
        let report = try scratch.text("failed/bad.bin.error.json")
        for part in [
            #""summary" : "The file is bad.""#, #""remedy" : "Send a good one.""#, #""code" : "test.bad""#,
            #""stage" : "fake""#, #""attempts" : 1"#, #""detail" : "byte 7""#, #""pipeline" : "test""#,
        ] { #expect(report.contains(part), "\(part) in \(report)") }
    }

    @Test("Drops of one name while the first still runs are jobs of their own")
    func sameNameWhileRunning() async throws {
        let gate = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake(workers: 2) { (payload, context) throws(Failure) in
                    while !gate.withLock({ $0 }) { try context.checkCancelled() }
                    return payload
                }
            ])
        try engine.start()
        for number in 1...3 {
            try engine.drop("same.txt", "\(number)")
            #expect(try await eventually { try scratch.tree("inbox") == [] })
        }
        gate.withLock { $0 = true }
        #expect(await eventually { engine.reports.count == 3 })
        #expect(try scratch.tree("processed") == ["same.2.txt", "same.3.txt", "same.txt"])
        let contents = try ["same.txt", "same.2.txt", "same.3.txt"].map { try scratch.text("processed/\($0)") }
        #expect(Set(contents) == ["1", "2", "3"])
        _ = await engine.stop()
    }

    @Test("No more jobs than the window are claimed at once; the rest waits in the inbox")
    func window() async throws {
        let gate = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, context) throws(Failure) in
                    while !gate.withLock({ $0 }) { try context.checkCancelled() }
                    return payload
                }
            ]
        ) { $0.activeJobs = 3 }
        for number in 0..<10 { try engine.drop("f\(number)") }
        try engine.start()
        #expect(try await eventually { try scratch.tree("inbox").count == 7 })
        gate.withLock { $0 = true }
        #expect(await eventually { engine.reports.count == 10 })
        let most = claimedAtOnce(engine.events)
        #expect(most == 3)
        _ = await engine.stop()
    }

    @Test("What is claimed and still written to takes up nobody's room, and waits for room once it is let go")
    func heldOpen() async throws {
        let gate = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, context) throws(Failure) in
                    while context.job.drop.name.text == "slow", !gate.withLock({ $0 }) { try context.checkCancelled() }
                    return payload
                }
            ], quiet: .milliseconds(20)
        ) { $0.activeJobs = 1 }
        // Claimed by an earlier run.
        let job = try WorkFolder.path(for: engine.pipeline).pushing("active").appending(JobIDGenerator().next().text)
        try scratch.write(Array("held".utf8), to: job.appending("held"))
        let writer = try OpenFile.open(job.appending("held"), O_WRONLY)
        try engine.start()
        try engine.drop("quick")
        #expect(await eventually { engine.reports.count == 1 })
        try engine.drop("slow")
        #expect(
            await eventually {
                engine.events.contains {
                    if case .stageStarted(let job, _) = $0 { job.drop.name.text == "slow" } else { false }
                }
            })
        try writer.close()
        try engine.drop("later")
        gate.withLock { $0 = true }
        #expect(await eventually { engine.reports.count == 4 })
        let names = engine.reports.map(\.job.drop.name.text)
        #expect(names.prefix(2) == ["quick", "slow"] && Set(names) == ["quick", "slow", "held", "later"])
        _ = await engine.stop()
    }

    private func claimedAtOnce(_ events: [EngineEvent]) -> Int {
        var now = 0
        var most = 0
        for event in events {
            if case .claimed = event { now += 1 }
            if case .settled = event { now -= 1 }
            most = max(most, now)
        }
        return most
    }

    @Test("A stage whose `when` does not match is passed by")
    func when() async throws {
        let ran = Mutex<[String]>([])
        let glob = try #require(Glob("*.zip"))
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake(when: glob) { (payload, context) throws(Failure) in
                    ran.withLock { $0.append(context.job.drop.name.text) }
                    return payload
                }
            ])
        try engine.drop("a.zip")
        try engine.drop("b.txt")
        try engine.start(once: true)
        #expect(await eventually { engine.summary?.processed == 2 })
        #expect(ran.withLock { $0 } == ["a.zip"])
    }

    @Test("A transient failure is tried again, and in the end it is given up")
    func retries() async throws {
        let runs = Mutex(0)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, context) throws(Failure) in
                    if context.job.drop.name.text == "never" {
                        throw Failure(.transient, code: "test.busy", summary: "Busy.")
                    }
                    let run = runs.withLock { runs in
                        runs += 1
                        return runs
                    }
                    if run < 3 { throw Failure(.transient, code: "test.busy", summary: "Busy.") }
                    return payload
                }
            ]
        ) { $0.retry = RetryPolicy(attempts: 3, backoff: .milliseconds(20), maxBackoff: .seconds(1)) }
        try engine.drop("third-time-lucky")
        try engine.drop("never")
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 1)
        #expect(try scratch.tree("failed") == ["never", "never.error.json"])
        #expect(try scratch.text("failed/never.error.json").contains(#""attempts" : 3"#))
    }

    @Test("Surroundings that fail pause the pipeline; it goes on by itself and nothing is lost")
    func pauses() async throws {
        // Two runs fail: the first, then either another that had begun or the first probe. Each is one pause all the
        // same.
        let runs = Mutex(0)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, _) throws(Failure) in
                    let run = runs.withLock { runs in
                        runs += 1
                        return runs
                    }
                    if run <= 2 { throw Failure(IOError("write", "/srv/out", Errno.noSpace)) }
                    return payload
                }
            ])
        try engine.start()
        for number in 0..<5 { try engine.drop("f\(number)") }
        #expect(await eventually { engine.reports.count == 5 })
        let pauses = engine.events.compactMap { if case .paused(_, let failure) = $0 { failure.summary } else { nil } }
        #expect(pauses == ["cannot write '/srv/out': No space left on device."])
        #expect(engine.events.count { if case .resumed = $0 { true } else { false } } == 1)
        #expect(try scratch.tree("processed").count == 5)
        #expect(try scratch.tree("failed") == [])
        _ = await engine.stop()
    }

    @Test("What a stage made is given back while its surroundings are waited for: it may be the room that is missing")
    func givesBack() async throws {
        let made = Mutex<FilePath?>(nil)
        let isGone = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, context) throws(Failure) in
                    if let folder = made.withLock({ $0 }) {
                        isGone.withLock { $0 = Folder.kind(of: folder) == nil }
                        return payload
                    }
                    let folder = try context.makeScratch()
                    made.withLock { $0 = folder }
                    throw Failure(.environment, code: "archive.disk-full", summary: "Others took the room.")
                }
            ]
        ) { $0.retry = RetryPolicy(attempts: 1) }
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(isGone.withLock { $0 })
        #expect(try scratch.tree("processed") == ["a"], "no attempt was spent")
        _ = await engine.stop()
    }

    @Test("While the pipeline is paused, what is complete waits for that, and it is told so")
    func tellsOfThePause() async throws {
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (_, _) throws(Failure) in throw Failure(IOError("write", "/srv/out", Errno.noSpace)) }
            ])
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.events.contains { if case .paused = $0 { true } else { false } } })
        try engine.drop("b")
        let reason = "cannot write '/srv/out': No space left on device."
        while await engine.waiting(for: "b")?.waiting != .paused(reason) { await Task.yield() }
        _ = await engine.stop()
    }

    @Test("Stopping lets a running stage finish, and leaves the rest to the next start")
    func stopsAndAdopts() async throws {
        let gate = Mutex(false)
        let stages: [StageEntry] = [
            .fake { (payload, context) throws(Failure) in
                while !gate.withLock({ $0 }) { try context.checkCancelled() }
                return payload
            }
        ]
        let engine = try EngineHarness(scratch: scratch, stages: stages)
        try engine.start()
        for number in 0..<4 { try engine.drop("f\(number)") }
        #expect(await eventually { engine.events.count { if case .claimed = $0 { true } else { false } } == 4 })
        // Grace is over at once: the one that runs is called off as well.
        let summary = await engine.stop(grace: .zero)
        #expect(summary?.unfinished == 4)
        #expect(try scratch.tree("processed") == [])

        gate.withLock { $0 = true }
        let next = try EngineHarness(scratch: scratch, stages: stages)
        try next.start()
        #expect(await eventually { next.reports.count == 4 })
        #expect(try scratch.tree("processed") == ["f0", "f1", "f2", "f3"])
        #expect(await next.stop()?.unfinished == 0)
    }

    @Test("A second engine on the same state folder, or the same work folder, is refused")
    func oneAtATime() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start()
        let second = try EngineHarness(scratch: scratch, stages: [.passing])
        let error = #expect(throws: EngineError.self) { try second.start() }
        #expect(error?.kind == .locked)
        #expect(error?.message.contains("in use by another running dropmill") == true)
        _ = await engine.stop()
        try second.start()
        _ = await second.stop()
    }

    @Test("With `once`, a drop that is still being written stays and is named")
    func onceNamesWhatStays() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing], quiet: .milliseconds(300))
        try engine.drop("done.txt")
        let writer = try OpenFile.open(scratch.path("inbox/growing.txt"), O_WRONLY | O_CREAT, mode: 0o644)
        try writer.write(Array("begun".utf8))
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 1)
        #expect(engine.summary?.remaining.map(\.path.name.text) == ["growing.txt"])
        #expect(try scratch.tree("inbox") == ["growing.txt"])
        try writer.close()
    }

    @Test("What is no file stays where it is and is reported once")
    func refuses() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try scratch.link("inbox/link", to: "/etc/passwd")
        #expect(scratch.path("inbox/pipe").withPlatformString { mkfifo($0, 0o644) } == 0)
        try engine.drop("file")
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        let refused = engine.events.compactMap { event -> String? in
            if case .refused(_, let name, let reason) = event { "\(name): \(reason)" } else { nil }
        }
        #expect(
            refused.sorted() == ["link: a symbolic link; put the file itself here", "pipe: a device, FIFO or socket"])
        #expect(try scratch.tree("processed") == ["file"])
    }

    @Test("A drop with another hard link becomes a private copy")
    func hardLinks() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        let outside = try scratch.write("one", to: "outside")
        let linked = outside.withPlatformString { from in
            scratch.path("inbox/linked").withPlatformString { link(from, $0) }
        }
        #expect(linked == 0)
        try engine.start(once: true)
        #expect(await eventually { engine.summary?.processed == 1 })
        try scratch.append(Array(" more".utf8), to: outside)
        #expect(try scratch.text("processed/linked") == "one")
    }
}
