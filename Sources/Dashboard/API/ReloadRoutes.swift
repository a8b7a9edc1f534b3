import Control
import PipelineKit

extension Route {
    static let reload = Route(
        .post, "/api/v1/reload", .role(.operate), "Has the daemon read its files again: all are taken, or none",
        .json(
            .object([
                .field("changes", .array(.object([.field("pipeline", .text), .field("text", .text)]))),
                .field("settings", .array(.text)), .field("warnings", .array(.text)),
            ]))
    ) { call in
        let answer = try await call.change(ReloadVerb.self, Nothing())
        guard let changes = answer.changes else {
            throw Problem(
                .conflict, "reload.refused", "the reload is refused, and nothing is changed", subject: "reload",
                remedy: "Mend the files, and reload again.", problems: answer.problems)
        }
        return HTTPAnswer.json { json in
            json.array("changes") { json in
                for change in changes {
                    json.object { json in
                        json.text("pipeline", change.pipeline)
                        json.text("text", change.text)
                    }
                }
            }
            json.array("settings") { json in for key in answer.settings ?? [] { json.text(nil, key) } }
            json.array("warnings") { json in for warning in answer.warnings ?? [] { json.text(nil, warning) } }
        }
    }

    static let files = Route(
        .get, "/api/v1/files", .role(.look), "Which files are in force, and which are not as they were loaded",
        .json(.part(.files))
    ) { call in
        let answer = try await call.site.daemon.ask(FilesVerb.self, Nothing())
        return HTTPAnswer.json { answer.write(&$0) }
    }
}
