import FoundationEssentials
import PipelineEngine

/// What is asked of a running daemon: one line of JSON. Nothing can be changed this way.
struct ControlRequest: Codable, Equatable {
    enum Ask: String, Codable {
        /// What waits in every inbox.
        case waiting
        /// What one file waits for.
        case drop
    }

    var ask: Ask
    /// The most waiting drops to report.
    var limit: Int?
    /// Whose inbox the file is in.
    var pipeline: String?
    /// Its path from the inbox on, in bytes.
    var path: Data?

    /// What waits: the first `limit` drops of each inbox.
    static func waiting(limit: Int) -> ControlRequest { ControlRequest(ask: .waiting, limit: limit) }

    /// What one file waits for.
    static func drop(_ path: [UInt8], of pipeline: String) -> ControlRequest {
        ControlRequest(ask: .drop, pipeline: pipeline, path: Data(path))
    }
}
