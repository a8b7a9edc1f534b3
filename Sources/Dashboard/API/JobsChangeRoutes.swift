import Control
import HummingbirdCore
import PipelineKit

extension Route {
    private struct Jobs: Decodable {
        var jobs: [String]
    }

    private static let jobsBody = Schema.object([.field("jobs", .array(.text))])
    private static let results = Content.json(
        .object([.field("results", .array(.part(.result))), .maybe("problem", .text)]))

    static let cancel = Route(
        .post, "/api/v1/jobs/cancel", .role(.operate), "Cancels jobs", body: jobsBody, results
    ) { call in
        let answer = try await call.change(CancelVerb.self, .init(jobs: try await call.body(Jobs.self).jobs))
        return HTTPAnswer.json { json in
            write(answer.results.map { ($0.job, $0.isCancelled, $0.text) }, &json)
            if let problem = answer.problem { json.text("problem", problem) }
        }
    }

    static let release = Route(
        .post, "/api/v1/jobs/release", .role(.operate), "Sends drops of unfinished jobs back to their inboxes",
        body: jobsBody, results
    ) { call in
        let answer = try await call.change(ReleaseVerb.self, .init(jobs: try await call.body(Jobs.self).jobs))
        return HTTPAnswer.json { write(answer.results.map { ($0.job, $0.isReleased, $0.text) }, &$0) }
    }

    static let dismiss = Route(
        .post, "/api/v1/jobs/dismiss", .role(.operate), "Takes failed jobs out of the count of failures",
        body: jobsBody, results
    ) { call in
        let order = try JobsOrder(jobs: try await call.body(Jobs.self).jobs).read(of: [])
        let answer = try await call.end(of: try await call.change(DismissVerb.self, order))
        return HTTPAnswer.json { json in
            write(answer.results.map { ($0.job, $0.isDone, $0.text ?? "") }, &json)
            if let problem = answer.problem { json.text("problem", problem) }
        }
    }

    private static func write(_ results: [(job: String, isDone: Bool, text: String)], _ json: inout JSONText) {
        json.array("results") { json in
            for result in results {
                json.object { json in
                    json.text("job", result.job)
                    json.flag("done", result.isDone)
                    json.text("text", result.text)
                }
            }
        }
    }
}
