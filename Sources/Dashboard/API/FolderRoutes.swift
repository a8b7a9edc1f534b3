import Control
import Files
import FoundationEssentials
import HummingbirdCore
import PipelineKit

/// A folder is sent in by several requests: it is begun, its files come one after another, and it is finished.
extension Route {
    private struct Announcement: Decodable {
        var files: Int
        var size: Int64
    }

    private static let path = "/api/v1/uploads/{upload}"
    private static let folder: [Schema.Field] = [
        .field("pipeline", .text), .field("path", .text), .maybe("path_base64", .text), .field("files", .integer),
        .field("size", .integer),
    ]

    static let beginFolder = Route(
        .post, "/api/v1/pipelines/{name}/folders/{path*}", .role(.drop),
        "Begins to send a folder into the inbox of a pipeline whose drops are folders",
        body: .object([.field("files", .integer), .field("size", .integer)]), success: .created,
        .json(.object([.field("upload", .text)] + folder)), refusals: uploadRefusals
    ) { call in
        let pipeline = try call.text("name")
        let caller = try dropper(call, into: pipeline)
        let path = try uploadPath(of: call)
        let announced = try await call.body(Announcement.self)
        let upload = try await FolderUpload.begin(
            .init(pipeline: pipeline, path: Data(path), size: announced.size, files: announced.files),
            for: caller.behalf, subject: EscapedText.of(path), in: call.site.daemon.folder, turn: call.site.uploads)
        call.site.folders.enter(upload, owner: caller.owner, isStillAllowed: call.isStillAllowed)
        return HTTPAnswer.json(.created) { json in
            json.text("upload", upload.id)
            write(upload, &json)
        }
    }

    static let folderFile = Route(
        .put, "\(path)/files/{path*}", .role(.drop),
        "Sends a file of a folder that was begun: the body as it is, with its Content-Length; one after another",
        success: .created,
        .json(.object([.field("path", .text), .maybe("path_base64", .text), .field("size", .integer)])),
        refusals: uploadRefusals
    ) { call in
        // What is wrong with it is said of that upload, and ends it, as all does that is refused of it.
        let head = Result { () throws(Problem) in try UploadHead(call.request.headers) }
        let (size, path) = try await use(call, for: .part, size: (try? head.get().size) ?? 0) { upload, before in
            let (head, path) = (try head.get(), try uploadPath(of: call))
            let link = try await upload.file(
                path, size: head.size, digest: head.sha256, subject: EscapedText.of(path), before: before)
            try await link.send(call.request.body)
            return (head.size, path)
        }
        return HTTPAnswer.json(.created) { json in
            json.name("path", path)
            json.integer("size", size)
        }
    }

    static let folderFolder = Route(
        .put, "\(path)/folders/{path*}", .role(.drop),
        "Makes a folder in a folder that was begun; those in which files lie are made with these", success: .noContent,
        .nothing, refusals: uploadRefusals
    ) { call in
        try await use(call, for: .part) { upload, _ in
            let path = try uploadPath(of: call)
            try await upload.folder(path, subject: EscapedText.of(path))
        }
        return HTTPAnswer.nothing
    }

    static let finishFolder = Route(
        .post, "\(path)/finish", .role(.drop), "Drops a folder that was begun, once all of its files have come",
        success: .created, .json(.object(folder)), refusals: uploadRefusals
    ) { call in
        let upload = try await use(call, for: .finish) { upload, _ in
            try await upload.finish()
            return upload
        }
        return HTTPAnswer.json(.created) { json in write(upload, &json) }
    }

    static let cancelFolder = Route(
        .delete, path, .role(.drop), "Gives up a folder that was begun, of which nothing is left",
        success: .noContent, .nothing
    ) { call in
        try call.site.folders.cancel(try call.text("upload"), by: call.caller?.owner ?? "")
        return HTTPAnswer.nothing
    }

    private static func use<Result>(
        _ call: Call, for use: FolderUploads<FolderUpload>.Use, size: Int64 = 0,
        _ body: (FolderUpload, _ before: Int64) async throws -> Result
    ) async throws -> Result {
        try await call.site.folders.use(
            try call.text("upload"), by: call.caller?.owner ?? "", for: use, size: size, body)
    }

    private static func write(_ upload: FolderUpload, _ json: inout JSONText) {
        json.text("pipeline", upload.arguments.pipeline)
        json.name("path", Array(upload.arguments.path))
        json.integer("files", upload.arguments.files ?? 0)
        json.integer("size", upload.arguments.size)
    }
}
