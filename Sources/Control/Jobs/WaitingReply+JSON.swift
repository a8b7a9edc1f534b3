import Files
package import PipelineKit

extension WaitingReply {
    /// The keys of one object: `path`, `known_s`, `why`, `text`, `claimed`.
    package func write(_ json: inout JSONText) {
        json.name("path", Array(path))
        if let known { json.seconds("known_s", .seconds(known)) }
        json.text("why", code)
        json.text("text", text)
        json.flag("claimed", claimed)
    }
}
