import Control

extension Route {
    static let overview = Route(
        .get, "/api/v1/overview", .role(.look), "How the daemon and its pipelines stand",
        .json(
            .object([
                .field("daemon", .part(.daemon)), .maybe("files", .part(.files)), .maybe("nodes", .array(.part(.node))),
                .field("pipelines", .array(.part(.pipeline))),
            ]))
    ) { call in
        let board = try await call.site.daemon.ask(BoardVerb.self, Nothing())
        // They may be on a disk that does not answer.
        let files = try? await call.site.daemon.ask(FilesVerb.self, Nothing())
        return HTTPAnswer.json { board.write(&$0, files) }
    }
}
