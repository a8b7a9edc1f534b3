import Control
import PipelineKit

extension Route {
    private static let progress = Content.json(.part(.progress))

    static let runs = Route(
        .get, "/api/v1/runs", .role(.look), "Which runs over many jobs are under way",
        .json(
            .object([
                .field(
                    "runs",
                    .array(
                        .object([
                            .field("run", .text), .field("verb", .choice(RunOrder.verbs)), .maybe("jobs", .integer),
                            .maybe("left", .integer),
                        ])))
            ]))
    ) { call in
        let answer = try await call.site.daemon.ask(RunsVerb.self, Nothing())
        return HTTPAnswer.json { json in
            json.array("runs") { json in
                for run in answer.runs {
                    json.object { json in
                        json.text("run", run.run)
                        json.text("verb", run.verb.rawValue)
                        if let jobs = run.jobs { json.integer("jobs", jobs) }
                        if let left = run.left { json.integer("left", left) }
                    }
                }
            }
        }
    }

    static let run = Route(
        .get, "/api/v1/runs/{run}", .role(.look), "How far a run is; answers when there is more, or after a while",
        parameters: [.init(name: "after", about: "How many results are known", schema: .integer)], progress
    ) { call in
        let after = try call.query.integer("after", in: 0...Int(Int32.max)) ?? 0
        let answer = try await call.site.daemon.ask(
            SendingVerb.self, .init(run: try call.text("run"), after: after, wait: shortWait))
        return HTTPAnswer.json { answer.write(&$0) }
    }

    /// Others ask, too, and few at a time may.
    fileprivate static let shortWait = 1.0
    fileprivate static let mostRounds = 60

    static let preview = Route(
        .post, "/api/v1/runs/preview", .role(.operate),
        "To which jobs a run would do something, and a key for that run",
        body: RunOrder.body, progress
    ) { call in
        let wish = try await call.body(RunOrder.self)
        let begun = try await call.site.daemon.ask(SendableVerb.self, .init(verb: wish.kind, order: wish.order))
        let answer = try await call.end(of: begun)
        return HTTPAnswer.json { answer.write(&$0) }
    }

    static let startRun = Route(
        .post, "/api/v1/runs", .role(.operate), "Does something to many jobs, to those that a preview has found",
        body: RunOrder.body, progress
    ) { call in
        let wish = try await call.body(RunOrder.self)
        let order = wish.order
        guard order.names || order.key != nil else {
            throw Problem(
                .badRequest, "body.key", "jobs are chosen by a filter, and no 'key' says which of them were seen",
                subject: "key", remedy: "Ask for a preview first, and send its 'key'.")
        }
        let answer =
            switch wish.kind {
            case .retry: try await call.change(RetryVerb.self, order)
            case .replay: try await call.change(ReplayVerb.self, order)
            case .cancel: try await call.change(CancelAllVerb.self, order)
            case .dismiss: try await call.change(DismissVerb.self, order)
            }
        return HTTPAnswer.json { answer.write(&$0) }
    }

    static let haltRun = Route(
        .post, "/api/v1/runs/{run}/halt", .role(.operate), "Ends a run after the job at hand", success: .noContent,
        .nothing
    ) { call in
        _ = try await call.change(HaltVerb.self, .init(run: try call.text("run")))
        return HTTPAnswer.nothing
    }
}

extension Call {
    /// All that came of a run.
    func end(of begun: SendingVerb.Answer) async throws(Problem) -> SendingVerb.Answer {
        var (answer, results) = (begun, begun.results)
        for _ in 0..<Route.mostRounds where !answer.isOver {
            answer = try await site.daemon.ask(
                SendingVerb.self, .init(run: answer.run, after: results.count, wait: Route.shortWait))
            results += answer.results
        }
        // Each answer has only what came after the one before.
        answer.results = results
        guard answer.isOver else {
            throw Problem(
                .serviceUnavailable, "run.late", "the jobs have not been gone through within a minute", subject: "run",
                remedy: "Ask for fewer.", retryAfter: 60)
        }
        return answer
    }
}

extension SendingVerb.Answer {
    fileprivate func write(_ json: inout JSONText) {
        json.text("run", run)
        if found != nil || key != nil {
            let found = found ?? JobSummary()
            json.integer("jobs", found.jobs)
            json.integer("bytes", found.bytes)
            json.names("names", found.names.map { Array($0) })
            if let key {
                json.flag("more", found.more ?? false)
                json.text("key", key)
            }
        }
        json.array("results") { json in
            for result in results {
                json.object { json in
                    json.text("job", result.job)
                    json.flag("done", result.isDone)
                    if let pipeline = result.pipeline { json.text("pipeline", pipeline) }
                    if let name = result.name { json.name("name", Array(name)) }
                    if let path = result.path { json.name("path", Array(path)) }
                    if let text = result.text { json.text("text", text) }
                }
            }
        }
        json.integer("left", left)
        if let problem { json.text("problem", problem) }
        json.flag("over", isOver)
    }
}
