import Control
import Files
import PipelineKit

extension Route {
    static let pipeline = Route(
        .get, "/api/v1/pipelines/{name}", .role(.look), "How one pipeline stands", .json(.part(.pipeline)),
        refusals: [.notFound]
    ) { call in
        let name = try call.text("name")
        let board = try await call.site.daemon.ask(BoardVerb.self, Nothing())
        guard let pipeline = board.pipelines.first(where: { $0.name == name }) else {
            throw Problem.unknownPipeline(name)
        }
        return HTTPAnswer.json { pipeline.write(&$0, today: board.today) }
    }
}

extension Problem {
    static func unknownPipeline(_ name: String) -> Problem {
        .notFound(
            EscapedText.of(name), "the daemon runs no pipeline of that name",
            remedy: "The overview lists those that it runs; what was added to a file is to be reloaded.")
    }
}
