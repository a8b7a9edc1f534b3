import Control
import PipelineKit

extension FilesVerb.Answer {
    /// The keys of one object: `loaded`, how many are in force, and `changed`, those that are not as they were loaded.
    func write(_ json: inout JSONText) {
        json.integer("loaded", loaded.count)
        json.array("changed") { json in
            for difference in differences {
                json.object { json in
                    json.name("file", Array(difference.file))
                    json.text("kind", difference.kind.rawValue)
                    if let at = difference.at { json.time("at", at) }
                    if let reason = difference.reason { json.text("reason", reason) }
                }
            }
        }
    }
}
