import Files
import Glibc
import Logging
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

@Suite struct LogTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    // MARK: Helpers

    /// The lines that these events give, in text or JSON, at a fixed time.
    private func lines(
        _ events: [EngineEvent], json: Bool = false, level: Logger.Level = .debug, colours: Bool = false,
        several: Bool = false
    ) throws -> [String] {
        let path = scratch.path("log")
        let descriptor = path.withPlatformString { open($0, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600) }
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        let output = LogOutput(descriptor: descriptor)
        let now: @Sendable () -> Timestamp = { Timestamp(seconds: 1_772_368_200, nanoseconds: 250_000_000) }
        let logger = Logger(label: "test") { _ -> any LogHandler in
            if json { return JSONLogHandler(output: output, level: level, now: now) }
            return TextLogHandler(output: output, level: level, colours: colours, now: now)
        }
        let log = JobLog(logger: logger, level: level, namesPipeline: several, progress: nil)
        for event in events { log.record(event) }
        output.flush()
        let lines = try scratch.text("log").split(separator: "\n").map(String.init)
        // Text has the local time, which depends on the machine.
        return json ? lines : lines.map { $0.replacing(now().formatted("%H:%M:%S"), with: "TIME") }
    }

    private func job(_ bytes: [UInt8] = Array("a.zip".utf8), size: Int64 = 2048) throws -> Job {
        let name = try #require(FileName(bytes))
        let id = try #require(JobID("01ARZ3NDEKTSV4RRFFQ69G5FAV"))
        let drop = Drop(name: name, size: size, droppedAt: Timestamp(nanoseconds: 0))
        return Job(id: id, pipeline: "scans", drop: drop, claimedAt: Timestamp(nanoseconds: 0), folder: "/w/active/1")
    }

    private func report(_ job: Job, _ outcome: JobState.Outcome, original: FilePath?, outputs: [FilePath] = [])
        -> EngineEvent
    {
        .settled(
            JobReport(
                job: job, outcome: outcome, original: original, outputs: outputs, duration: .milliseconds(1250),
                stages: [
                    .init(kind: "unpack", duration: .milliseconds(800)),
                    .init(kind: "move", duration: .milliseconds(3)),
                ]))
    }

    private let damaged = Failure.file(
        "archive.damaged", "The archive ends too early.", remedy: "Send it again.", detail: "EOF")

    // MARK: Text

    @Test func aJobIsOneLine() throws {
        let job = try job()
        let lines = try lines([
            report(job, .processed, original: "done/a.zip", outputs: ["out/a"]),
            report(job, .processed, original: "done/a.zip", outputs: ["done/a.zip.sha256"]),
            report(job, .processed, original: nil, outputs: ["out/a.zip", "out/a.zip.sha256"]),
            report(job, .processed, original: "done/a.zip", outputs: ["done/a.ok"]),
            report(job, .processed, original: nil),
        ])
        let rest = ", 2.0 KiB, 1.3 s (unpack 800 ms, move 3 ms)"
        let short = ", 2.0 KiB, 1.3 s (unpack 0.8 s, move 3 ms)"
        #expect(
            lines.map { $0.replacing(short, with: rest) } == [
                "TIME ✓ a.zip → out/a" + rest, "TIME ✓ a.zip → done/a.zip" + rest, "TIME ✓ a.zip → out/a.zip" + rest,
                "TIME ✓ a.zip → done/a.zip" + rest, "TIME ✓ a.zip → deleted" + rest,
            ])
    }

    @Test func aFailureTellsReasonAndRemedyBelow() throws {
        let lines = try lines([report(try job(), .failed(damaged), original: "failed/a.zip")], several: true)
        #expect(lines.count == 3)
        #expect(lines.first?.hasPrefix("TIME ✗ scans: a.zip → failed/a.zip, 2.0 KiB") == true)
        #expect(lines.dropFirst() == ["           The archive ends too early.", "           Send it again."])
    }

    @Test func whatIsReleasedHasNotFailed() throws {
        let event = report(try job(), .failed(.released(by: "anna")), original: "in/a.zip")
        #expect(
            try lines([event]) == [
                "TIME · a.zip released → in/a.zip",
                "           The job was released by anna: its drop went back to the inbox.",
            ])
        let line = try lines([event], json: true)[0]
        #expect(line.contains(#""level":"info","event":"released""#) && line.contains(#""code":"operator.released""#))
    }

    @Test func namesNeverReachATerminalRaw() throws {
        let hostile = try job(Array("a\u{1B}[2J\n".utf8) + [0xED])
        let lines = try lines([
            .claimed(hostile, adopted: false),
            .refused(pipeline: "scans", path: hostile.drop.path, reason: "a \u{9B}1m link"),
        ])
        #expect(
            lines == [
                #"TIME · a\x1B[2J\n\xED claimed, 2.0 KiB"#,
                #"TIME ! a\x1B[2J\n\xED stays in the inbox: a \xC2\x9B1m link"#,
            ])
    }

    @Test func coloursOnlyWhereAskedFor() throws {
        let event = EngineEvent.warning(pipeline: nil, message: "The disk is nearly full.")
        #expect(try lines([event]) == ["TIME ! The disk is nearly full."])
        #expect(
            try lines([event], colours: true)
                == ["\u{1B}[2mTIME\u{1B}[0m \u{1B}[33m!\u{1B}[0m \u{1B}[1mThe disk is nearly full.\u{1B}[0m"])
    }

    @Test func levelsSelect() throws {
        let job = try job()
        let events: [EngineEvent] = [
            .claimed(job, adopted: false), .stageStarted(job, stage: "unpack"),
            .started(pipeline: "scans", inbox: "in", adopted: 2),
            .watching(pipeline: "scans", .polling(every: .seconds(2)), reason: "The limit of watches is reached."),
            report(job, .failed(damaged), original: nil),
        ]
        func count(_ level: Logger.Level) throws -> Int { try lines(events, json: true, level: level).count }
        #expect(try count(.debug) == 5)
        #expect(try count(.info) == 3)
        #expect(try count(.warning) == 2)
        #expect(try count(.error) == 1)
    }

    // MARK: JSON

    @Test func programsGetFields() throws {
        let lines = try lines([report(try job(), .failed(damaged), original: "failed/a.zip")], json: true)
        let message =
            "a.zip → failed/a.zip, 2.0 KiB, \(Duration.milliseconds(1250).text) (unpack "
            + "\(Duration.milliseconds(800).text), move 3 ms)"
        #expect(
            lines == [
                #"{"time":"2026-03-01T12:30:00.250Z","level":"error","event":"failed","message":""# + message
                    + #"","pipeline":"scans","job":"01ARZ3NDEKTSV4RRFFQ69G5FAV","name":"a.zip","size":2048,"#
                    + #""duration_s":1.250000,"stages":[{"kind":"unpack","duration_s":0.800000},{"kind":"move","#
                    + #""duration_s":0.003000}],"original":"failed/a.zip","code":"archive.damaged","#
                    + #""reason":"The archive ends too early.","remedy":"Send it again.","detail":"EOF"}"#
            ])
    }

    @Test func bytesThatAreNoTextAreThereInBase64() throws {
        func line(_ name: [UInt8]) throws -> String {
            let event = EngineEvent.refused(pipeline: "s", path: DropPath(try #require(FileName(name))), reason: "r")
            return try lines([event], json: true)[0]
        }
        let odd = try line(Array("V".utf8) + [0xED] + Array("ctor.txt".utf8))
        #expect(odd.contains(#""name":"V\\xEDctor.txt","name_base64":"Vu1jdG9yLnR4dA==""#))
        #expect(try line(Array("é\n".utf8)).contains(#""name":"é\n","reason""#))
    }

    @Test func outputsThatAreNoTextToo() throws {
        let odd = FilePath(bytes: [0x6F, 0x2F, 0xFF])
        let line = try lines([report(job(), .processed, original: nil, outputs: [odd, "o/b"])], json: true)[0]
        #expect(line.hasSuffix(#""outputs":["o/\\xFF","o/b"],"outputs_base64":["by//","by9i"]}"#))
    }

    @Test(arguments: [
        ("plain", #"["plain"]"#), ("a\"b\\c/", #"["a\"b\\c/"]"#),
        ("\n\t\r\u{0}\u{1F}\u{7F}", #"["\n\t\r\u0000\u001f\u007f"]"#),
        ("é→𝄞", #"["é→𝄞"]"#), ("\u{9B}\u{202E}\u{2028}\u{2066}", #"["\u009b\u202e\u2028\u2066"]"#),
    ])
    func jsonIsEscaped(text: String, expected: String) {
        var json = JSONText()
        json.array { $0.text(nil, text) }
        #expect(String(decoding: json.bytes, as: UTF8.self) == expected)
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("foobar", "Zm9vYmFy"),
    ])
    func base64(text: String, expected: String) {
        #expect(Base64.text(of: Array(text.utf8)) == expected)
    }
}
