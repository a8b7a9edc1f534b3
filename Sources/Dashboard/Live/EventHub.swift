import Control
import Files
import PipelineKit

/// What all browsers are told as it happens: it asks the daemon once for all of them, and only while there is one.
actor EventHub {
    /// How many browsers it tells.
    static let most = 64

    private let daemon: DaemonLink
    private let pace: Pace
    private var streams: [ObjectIdentifier: EventStream] = [:]
    /// Those that go on.
    private var watches: Set<Watch> = []
    private var feed = EventFeed()
    /// What was heard of changes: of which run, and up to which number.
    private var heard: (run: String, last: UInt64)?

    private enum Watch: CaseIterable { case board, files, changes, comment }

    /// How often something happens; tests are in a hurry.
    struct Pace: Sendable {
        var board = Duration.seconds(1)
        var files = Duration.seconds(5)
        var changes = Duration.milliseconds(250)
        var comment = Duration.seconds(15)
    }

    init(_ daemon: DaemonLink, pace: Pace = Pace()) { (self.daemon, self.pace) = (daemon, pace) }

    /// Whether one more may be told.
    func check() throws(Problem) {
        guard streams.count < Self.most else {
            throw Problem(
                .serviceUnavailable, "events.full", "\(Self.most) browsers are watching already", subject: "events",
                remedy: "Close one, or read without being told: what changes is shown when the page is loaded.",
                retryAfter: 30)
        }
    }

    /// Begins to tell one. `last`: the last event that it knows.
    func open(after last: String?) throws(Problem) -> EventStream {
        try check()
        let stream = EventStream()
        streams[ObjectIdentifier(stream)] = stream
        for event in feed.events(after: last) { stream.send(event) }
        for watch in Watch.allCases where !watches.contains(watch) {
            watches.insert(watch)
            Task { await follow(watch) }
        }
        return stream
    }

    func close(_ stream: EventStream) {
        stream.end()
        streams[ObjectIdentifier(stream)] = nil
    }

    /// Nobody is told any more.
    func stop() {
        for stream in streams.values { stream.end() }
        streams = [:]
    }

    /// Runs while somebody watches. A question to the daemon cannot be cancelled, so its answer is awaited; a browser
    /// that connects meanwhile finds the watch still running.
    private func follow(_ watch: Watch) async {
        while !streams.isEmpty {
            switch watch {
            case .board: await lookAtBoard()
            case .files: await lookAtFiles()
            case .changes: await lookAtChanges()
            case .comment: await pause(pace.comment) { $0.send([EventFeed.comment]) }
            }
        }
        watches.remove(watch)
        // What is known grows old when nobody asks.
        if watch == .board { feed.forget() }
        if watch == .changes { heard = nil }
    }

    private func pause(_ time: Duration, _ body: (isolated EventHub) -> Void = { _ in }) async {
        do { try await Task.sleep(for: time) } catch { return }
        body(self)
    }

    private func send(_ events: [[UInt8]]) {
        for event in events {
            for (key, stream) in streams where !stream.send(event) { streams[key] = nil }
        }
    }

    private func lookAtBoard() async {
        do throws(Problem) {
            send(feed.take(try await daemon.ask(BoardVerb.self, Nothing())))
        } catch {
            send(feed.lose(error))
        }
        await pause(pace.board)
    }

    private func lookAtFiles() async {
        // Without an answer what was known is.
        if let files = try? await daemon.ask(FilesVerb.self, Nothing()) { feed.take(files) }
        await pause(pace.files)
    }

    private func lookAtChanges() async {
        do throws(Problem) {
            let ask = SubscribeVerb.Arguments(after: heard?.last, run: heard?.run, wait: 25)
            let answer = try await daemon.listen(SubscribeVerb.self, ask)
            if heard != nil, answer.missed || answer.run != heard?.run { send(feed.miss()) }
            send(feed.take(answer.changes))
            heard = (answer.run, answer.last)
            await pause(pace.changes)
        } catch {
            // The board says so; what has changed meanwhile is not known.
            await pause(pace.board)
        }
    }
}
