import Control
import Files
import PipelineKit

extension Route {
    static let file = Route(
        .get, "/api/v1/pipelines/{name}/file", .role(.look),
        "A pipeline's file as it is loaded, and how it differs on disk, without the secrets in it",
        .json(
            .object([
                .field("file", .text), .maybe("file_base64", .text), .field("loaded_at", .time),
                .field("disk", .choice(FileVerb.Disk.allCases.map(\.rawValue))), .maybe("changed_at", .time),
                .maybe("reason", .text),
                .field(
                    "lines",
                    .array(
                        .object([
                            .field("kind", .choice(["same"] + FileVerb.Line.Place.allCases.map(\.rawValue))),
                            .field("text", .text),
                        ]))),
                .maybe("more", .integer),
            ])), refusals: [.notFound]
    ) { call in
        let name = try call.text("name")
        guard let file = try await call.site.daemon.ask(FileVerb.self, .init(pipeline: name)).file else {
            throw Problem.unknownPipeline(name)
        }
        return HTTPAnswer.json { file.write(&$0) }
    }
}

extension FileVerb.File {
    fileprivate func write(_ json: inout JSONText) {
        json.name("file", Array(path))
        json.time("loaded_at", loaded)
        json.text("disk", disk.rawValue)
        if let changed { json.time("changed_at", changed) }
        if let reason { json.text("reason", reason) }
        json.array("lines") { json in
            for line in lines {
                json.object { json in
                    json.text("kind", line.only?.rawValue ?? "same")
                    json.text("text", line.text)
                }
            }
        }
        if let more { json.integer("more", more) }
    }
}
