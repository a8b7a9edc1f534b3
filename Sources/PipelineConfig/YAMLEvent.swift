import CYaml
import PipelineKit

/// One thing that the YAML parser met.
struct YAMLEvent {
    enum Content {
        case streamStart, streamEnd, documentStart, documentEnd
        case alias(String)
        /// `plain`: it stood without quotation marks.
        case scalar(String, plain: Bool)
        case listStart, listEnd, mapStart, mapEnd
    }

    let content: Content
    let position: SourcePosition
    var anchor: String?
    var tag: String?
    /// Where a scalar or an alias stands, with its anchor and tag: in characters of the text.
    var range = 0..<0
}
