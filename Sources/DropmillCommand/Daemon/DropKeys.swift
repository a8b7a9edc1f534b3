import Files
import FoundationEssentials
import PipelineEngine

/// Where a page of drops ends, as text for who asks for the next one.
enum DropKeys {
    /// `12345-BASE64`
    static func text(of place: DropPlace) -> String {
        "\(place.since.nanoseconds)-\(Data(place.path.bytes).base64EncodedString())"
    }

    static func place(_ text: String) -> DropPlace? {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let since = Int64(parts[0]), let path = path(String(parts[1])) else { return nil }
        return DropPlace(since: MonotonicTime(nanoseconds: since), path: path)
    }

    /// `pipeline-BASE64`, the pipeline's name in Base64, too.
    static func text(of path: DropPath, in pipeline: String) -> String {
        "\(Data(pipeline.utf8).base64EncodedString())-\(Data(path.bytes).base64EncodedString())"
    }

    static func left(_ text: String) -> (pipeline: String, path: DropPath)? {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let name = Data(base64Encoded: String(parts[0])), let path = path(String(parts[1]))
        else {
            return nil
        }
        return (String(decoding: name, as: UTF8.self), path)
    }

    private static func path(_ text: String) -> DropPath? {
        Data(base64Encoded: text).flatMap { DropPath(bytes: Array($0)) }
    }
}
