import Control
import FoundationEssentials
import PipelineKit

extension Route {
    static let waiting = Route(
        .get, "/api/v1/waiting", .role(.look), "What waits in the inboxes, page by page, and why",
        parameters: [
            .init(name: "pipeline", about: "Only those of this pipeline"),
            .init(
                name: "kind", about: "Only these; without it complete ones are only counted",
                schema: .choice(waitingKinds)),
            .init(name: "name", about: "A pattern of their names, or of their paths where it has a slash"),
            .init(name: "after", about: "The `more` of a page of this pipeline"),
            .init(name: "left_after", about: "The `left_more` of a page"),
            .init(name: "limit", about: "At most so many of each: 1 to 200, else 100", schema: .integer),
        ],
        .json(
            .object([
                .field(
                    "pipelines",
                    .array(
                        .object([
                            .field("name", .text), .field("state", .text), .maybe("hold", .part(.hold)),
                            .maybe("trouble", .part(.trouble)), .field("waiting", .integer),
                            .maybe("oldest_s", .number),
                            .maybe(
                                "complete",
                                .object([
                                    .field("drops", .integer), .field("bytes", .integer),
                                    .maybe("oldest", .part(.drop)),
                                ])),
                            .maybe(
                                "reasons",
                                .array(.object([.field("code", .text), .field("drops", .integer)]))),
                            .maybe("counted", .integer), .maybe("left_alone", .integer),
                            .maybe("drops", .array(.part(.drop))), .maybe("more", .text),
                        ]))), .field("left", .array(.part(.drop))), .maybe("left_more", .text),
            ])), refusals: [.badRequest]
    ) { call in
        let query = call.query
        let name = try query.text("name")
        if let name, name.utf8.count > DropsVerb.longestPattern || Glob(name) == nil {
            throw Problem.badPattern("name", name)
        }
        let ask = DropsVerb.Arguments(
            pipeline: try query.text("pipeline"), kind: try query.choice("kind", of: waitingKinds), name: name,
            after: try query.text("after"), leftAfter: try query.text("left_after"),
            limit: try query.integer("limit", in: 1...200) ?? 100)
        async let board = call.site.daemon.ask(BoardVerb.self, Nothing())
        let answer = try await call.site.daemon.ask(DropsVerb.self, ask)
        let found = Dictionary(answer.pipelines.map { ($0.name, $0) }) { first, _ in first }
        let pipelines = try await board.pipelines.filter { ask.pipeline == nil || ask.pipeline == $0.name }
        return HTTPAnswer.json { json in
            json.array("pipelines") { json in
                for pipeline in pipelines {
                    json.object { json in
                        json.text("name", pipeline.name)
                        json.text("state", found[pipeline.name] == nil ? "silent" : pipeline.state)
                        if let hold = pipeline.hold { json.object("hold") { hold.write(&$0) } }
                        if let paused = pipeline.paused {
                            json.object("trouble") { paused.write(&$0, since: pipeline.pausedSince) }
                        }
                        if let drops = found[pipeline.name] { drops.write(&json) } else { json.integer("waiting", 0) }
                    }
                }
            }
            json.array("left") { json in for drop in answer.left { json.object { drop.write(&$0) } } }
            if let more = answer.leftMore { json.text("left_more", more) }
        }
    }

    private static let waitingKinds = ["incomplete", "complete", "held", "left"]

    private struct Bump: Decodable {
        var job: String?
        var pipeline: String?
        var path: String?
        var bytes: Data?
        var last: Bool?

        enum CodingKeys: String, CodingKey {
            case job, pipeline, path, last
            case bytes = "path_base64"
        }
    }

    static let bump = Route(
        .post, "/api/v1/waiting/bump", .role(.operate), "Puts a job or a drop first in its line, or last",
        body: .object([
            .maybe("job", .text), .maybe("pipeline", .text), .maybe("path", .text), .maybe("path_base64", .text),
            .maybe("last", .flag),
        ]), .json(.object([.field("text", .text)]))
    ) { call in
        let wish = try await call.body(Bump.self)
        let waiting: BumpVerb.Waiting
        if let job = wish.job {
            waiting = .job(job)
        } else if let pipeline = wish.pipeline, let path = wish.bytes ?? wish.path.map({ Data($0.utf8) }) {
            waiting = .drop(.init(pipeline: pipeline, path: path))
        } else {
            throw Problem(
                .badRequest, "body.incomplete", "neither a job nor a drop is named", subject: "body",
                remedy: "Give 'job', or 'pipeline' and 'path'.")
        }
        let answer = try await call.change(BumpVerb.self, .init(waiting: waiting, isLast: wish.last ?? false))
        return HTTPAnswer.json { $0.text("text", answer.text) }
    }
}

extension DropsVerb.Pipeline {
    fileprivate func write(_ json: inout JSONText) {
        let kind = folders ? "folder" : "file"
        json.integer("waiting", waiting)
        if let oldest { json.seconds("oldest_s", .seconds(oldest)) }
        json.object("complete") { json in
            json.integer("drops", complete.drops)
            json.integer("bytes", complete.bytes)
            if let oldest = complete.oldest { json.object("oldest") { oldest.write(&$0, kind) } }
        }
        json.array("reasons") { json in
            for reason in reasons {
                json.object { json in
                    json.text("code", reason.code)
                    json.integer("drops", reason.drops)
                }
            }
        }
        json.integer("counted", counted)
        json.integer("left_alone", leftAlone)
        json.array("drops") { json in for drop in drops { json.object { drop.write(&$0, kind) } } }
        if let more { json.text("more", more) }
    }
}

extension DropsVerb.Drop {
    fileprivate func write(_ json: inout JSONText, _ kind: String? = nil) {
        json.text("pipeline", pipeline)
        json.name("path", Array(path))
        if let size { json.integer("size", size) }
        if let kind { json.text("kind", kind) }
        if let known { json.seconds("for_s", .seconds(known)) }
        json.text("code", code)
        json.text("text", text)
        json.flag("complete", complete)
        json.flag("claimed", claimed)
    }
}
