import Dispatch
import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// The real daemon against real senders, all at once: which drops are taken whole, which early, and how soon.
@Suite(.timeLimit(.minutes(5))) struct SenderTests {
    /// How one sender fared.
    private struct Result: Sendable {
        let sender: Sender
        var isWhole = false
        var isEarly = false
        var isSkipped = false
        /// Whether the machine made its pauses so long that nothing is proved.
        var isHeldUp = false
        /// From its last write until the drop was settled, without the quiet time; in milliseconds.
        var latency: Int?

        var row: String {
            if isSkipped { return "| \(sender.title) | – | – | – |" }
            let time = latency.map { "\($0) ms" } ?? "–"
            return "| \(sender.title) | \(isWhole ? "yes" : "no") | \(isEarly ? "yes" : "no") | \(time) |"
        }
    }

    private static let quiet = Duration.seconds(1)

    /// How often a sender is tried whose own pauses the machine made too long.
    private static let mostTries = 10

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("Only who closes its file and is silent for longer than `quiet` is taken early")
    func matrix() async throws {
        try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            durability: fast
            ready: { quiet: 1s }
            stages: [checksum]

            """, to: "pipelines/main.yaml")
        let outside = try scratch.makeFolder("outside")
        let server =
            LoopbackServer.isPossible ? try await LoopbackServer.start(in: scratch.path("sshd")) : nil
        var daemon = try DropmillProcess(
            ["run", "--log-format", "json"], in: scratch.path, log: scratch.path("log"))
        try #require(await eventually { try daemon.hasLogged("started") })

        let results = try await withThrowingTaskGroup(of: Result.self) { group in
            for (number, sender) in Sender.all.enumerated() {
                group.addTask { [self] in try await result(of: sender, number, outside, server) }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try daemon.send(SIGTERM)
        _ = try daemon.wait()

        let titles = Sender.all.map(\.title)
        let rows = results.sorted {
            (titles.firstIndex(of: $0.sender.title) ?? 0) < (titles.firstIndex(of: $1.sender.title) ?? 0)
        }
        let head = "| sender | whole | early | latency beyond `quiet` |\n|---|---|---|---|"
        print(([head] + rows.map(\.row)).joined(separator: "\n"))
        for result in rows where result.isHeldUp { print("proves nothing, the machine is too slow: \(result.row)") }
        for result in rows where !result.isSkipped && !result.isHeldUp {
            #expect(result.isWhole != result.sender.mayBeEarly, "\(result.row)\n\(daemon.transcript)")
            #expect(result.isEarly == result.sender.mayBeEarly, "\(result.row)")
        }
        #expect(try scratch.tree("inbox").isEmpty)
    }

    @Test("docs/readiness.md has the table, with the same verdicts")
    func documented() throws {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        let text = String(decoding: try ScratchFolder.read(root.pushing("docs/readiness.md")), as: UTF8.self)
        for sender in Sender.all {
            let verdict = sender.mayBeEarly ? "no | yes" : "yes | no"
            #expect(text.contains("| \(sender.title) | \(verdict) |"))
        }
    }

    /// Has one sender send until its own pauses were as they should be, and waits for what becomes of it.
    private func result(
        of sender: Sender, _ number: Int, _ outside: FilePath, _ server: LoopbackServer?
    ) async throws -> Result {
        var result = Result(sender: sender)
        let isThere = sender.needs.allSatisfy { need in
            need == "sshd" ? server != nil : need.hasPrefix("/") || Tool.find(need) != nil
        }
        guard isThere else {
            result.isSkipped = true
            print("skipped: \(sender.title) (\(Tool.skip(sender.needs.joined(separator: ", "))))")
            return result
        }
        for attempt in 1...Self.mostTries {
            let name = "drop-\(number)-\(attempt)"
            let desk = try SenderDesk(
                name: name, in: scratch.path("inbox"), outside: outside, quiet: Self.quiet, server: server)
            let end = try await Self.send(sender, desk)
            let isTaken = await eventually {
                scratch.exists("processed/\(name)") && !scratch.exists("inbox/\(name)")
            }
            #expect(isTaken, "\(sender.title) was never taken")
            #expect(try await eventually { try !settled(name).isEmpty })
            let times = try settled(name)
            result.isWhole = try times.count == 1 && scratch.read("processed/\(name)") == desk.contents
            result.isEarly = !result.isWhole || times.contains { Self.span(from: end, to: $0) < 0 }
            if !sender.mayBeEarly, let last = times.last {
                result.latency = Int(Self.span(from: end, to: last) - Self.quiet.nanoseconds / 1_000_000)
            }
            // A machine that is held up may make any pause longer than the quiet time.
            let longest = sender.silence.map { Self.quiet * $0 } ?? .seconds(3600)
            result.isHeldUp = result.isEarly != sender.mayBeEarly && desk.longestSilence >= longest
            if !result.isHeldUp { break }
        }
        return result
    }

    /// Sends, on a queue of its own; returns the time of the end, in milliseconds of the day.
    private static func send(_ sender: Sender, _ desk: SenderDesk) async throws -> Int64 {
        try await onOwnThread {
            try sender.send(desk)
            return Timestamp.now().nanoseconds / 1_000_000 % day
        }
    }

    /// When jobs of drops of this name were settled, in milliseconds of the day, by the times of their log lines.
    private func settled(_ name: String) throws -> [Int64] {
        let log = try scratch.text("log")
        return log.split(separator: "\n").compactMap { line in
            guard line.contains("\"event\":\"processed\""), line.contains("\"name\":\"\(name)\"") else { return nil }
            return Self.time(of: line)
        }
    }

    /// `{"time":"2026-03-01T12:34:56.789Z",…` as milliseconds of the day.
    private static func time(of line: Substring) -> Int64? {
        guard let start = line.firstRange(of: "\"time\":\"")?.upperBound else { return nil }
        let digits = line[start...].prefix { $0 != "\"" }.drop { $0 != "T" }.split { ":.TZ".contains($0) }
        let numbers = digits.compactMap { Int64($0) }
        guard numbers.count == 4 else { return nil }
        return ((numbers[0] * 60 + numbers[1]) * 60 + numbers[2]) * 1000 + numbers[3]
    }

    /// From one time of a day to another, also past midnight.
    private static func span(from start: Int64, to end: Int64) -> Int64 {
        let span = (end - start) % day
        return span > day / 2 ? span - day : span < -day / 2 ? span + day : span
    }

    private static let day: Int64 = 86_400_000
}

/// Runs what blocks where it keeps no other test waiting.
func onOwnThread<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { continuation in
        DispatchQueue(label: "blocking").async { @Sendable in
            continuation.resume(with: Swift.Result { try body() })
        }
    }
}
