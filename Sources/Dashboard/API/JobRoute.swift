import Control
import Files
import Journal
import PipelineKit

extension Route {
    static let job = Route(
        .get, "/api/v1/jobs/{id}", .role(.look), "One job, with all that happened", .json(.part(.job)),
        refusals: [.notFound]
    ) { call in
        let text = try call.text("id")
        guard let id = JobID(text) else {
            throw Problem.notFound(
                EscapedText.of(text.prefix(100).utf8), "this is no id of a job",
                remedy: "An id has 26 letters and digits.")
        }
        let ask = { (query: JobQuery) async throws -> [JobRecord] in
            try await call.site.daemon.ask(JobsVerb.self, .init(query)).records.compactMap(\.job)
        }
        var query = JobQuery()
        query.idPrefix = id.text
        query.limit = 1
        guard let record = try await ask(query).first else {
            throw Problem.notFound(
                id.text, "the journal does not know this job", remedy: "It may have been forgotten; look for its name.")
        }
        var (retries, replays) = (JobQuery(), JobQuery())
        retries.retryOf = id
        replays.replayOf = id
        let board = try await call.site.daemon.ask(BoardVerb.self, Nothing())
        let pipeline = board.pipelines.first { $0.name == record.pipeline }
        let retried = try await ask(retries)
        let story = JobJSON.story(
            record, retries: retried, replays: try await ask(replays), stages: pipeline?.stages.map(\.kind) ?? [],
            JobSurroundings(of: board),
            choices: JobChoices(record, retries: retried, isHeld: pipeline?.hold != nil, node: board.node))
        return HTTPAnswer.text(story, "application/json")
    }
}
