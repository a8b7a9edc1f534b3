import Control
import Files
import FoundationEssentials
import HTTPTypes
import HummingbirdCore
import PipelineKit

extension Route {
    /// What sending a file may be refused with.
    static let uploadRefusals: [HTTPResponse.Status] = [
        .forbidden, .requestTimeout, .lengthRequired, .contentTooLarge, .unsupportedMediaType,
        .unprocessableContent, .internalServerError, .noSpace,
    ]

    static let upload = Route(
        .put, "/api/v1/pipelines/{name}/drops/{path*}", .role(.drop),
        "Sends a file into the inbox of a pipeline: the body as it is, with its Content-Length", success: .created,
        .json(
            .object([
                .field("pipeline", .text), .field("path", .text), .maybe("path_base64", .text),
                .field("size", .integer),
            ])),
        refusals: uploadRefusals
    ) { call in
        let pipeline = try call.text("name")
        let caller = try dropper(call, into: pipeline)
        let head = try UploadHead(call.request.headers)
        let path = try uploadPath(of: call)
        let link = try await UploadLink.begin(
            .init(pipeline: pipeline, path: Data(path), size: head.size), for: caller.behalf,
            digest: head.sha256, subject: EscapedText.of(path), in: call.site.daemon.folder,
            turn: call.site.uploads)
        try await link.send(call.request.body)
        return HTTPAnswer.json(.created) { json in
            json.text("pipeline", pipeline)
            json.name("path", path)
            json.integer("size", head.size)
        }
    }

    /// Who asks, where that one may drop into this pipeline.
    static func dropper(_ call: Call, into pipeline: String) throws(Problem) -> Caller {
        guard let caller = call.caller, caller.mayDrop(into: pipeline) else {
            throw Problem(
                .forbidden, "role.pipeline", "this token may not drop into '\(EscapedText.of(pipeline))'",
                subject: call.caller?.name, remedy: "Use one for that pipeline, or choose another pipeline.")
        }
        return caller
    }

    /// From the inbox on, or from a folder on that is sent in. An escaped slash is none that leads into a folder.
    static func uploadPath(of call: Call) throws(Problem) -> [UInt8] {
        let parts = call.path["path"] ?? []
        guard !parts.contains(where: { $0.contains(UInt8(ascii: "/")) }) else {
            throw Problem(
                .unprocessableContent, "name.refused", "a name in its path has a slash", subject: "path",
                remedy: "Give it another name.")
        }
        return Array(parts.joined(separator: [UInt8(ascii: "/")]))
    }
}
