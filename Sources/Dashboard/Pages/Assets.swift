import CDashboard
import Digests
import HTTPTypes
import HummingbirdCore
import PipelineKit
import Synchronization

/// What the pages consist of: files in the program itself.
enum Assets {
    private struct Asset: Sendable {
        let bytes: [UInt8]
        let mediaType: String
        /// Says whether a browser has it already.
        let tag: String?
    }

    private static let all: [String: Asset] = {
        let found = (0..<dm_asset_count()).compactMap { index -> (String, Asset)? in
            guard let asset = dm_asset_at(index)?.pointee, let pointer = asset.name else { return nil }
            let bytes = Array(UnsafeBufferPointer(start: asset.bytes, count: asset.size))
            let name = String(cString: pointer)
            return (name, Asset(bytes: bytes, mediaType: mediaType(of: name), tag: tag(of: bytes)))
        }
        return Dictionary(found) { first, _ in first }
    }()

    /// Nil where there is no digest: then they are sent each time.
    private static func tag(of bytes: [UInt8]) -> String? {
        do throws(DigestError) {
            return "\"\(try Digest.of(bytes, .sha256).hex.prefix(16))\""
        } catch {
            return nil
        }
    }

    private static func mediaType(of name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }

    static var names: [String] { all.keys.sorted() }

    static func answer(_ name: String, to request: Request) throws(Problem) -> Response {
        guard let asset = all[name] else {
            throw Problem.notFound(name, "there is no such file", remedy: "Load the page again.")
        }
        var headers: HTTPFields = [.cacheControl: "no-cache", .contentType: asset.mediaType]
        headers[.eTag] = asset.tag
        if let tag = asset.tag, request.headers[.ifNoneMatch] == tag {
            return Response(status: .notModified, headers: headers)
        }
        var response = HTTPAnswer.bytes(asset.bytes, asset.mediaType)
        for field in headers { response.headers[field.name] = field.value }
        return response
    }
}
