package import PipelineKit

extension BoardPipeline.Run {
    /// How far it is: in bytes, or in entries where it counts nothing else. Nothing where it counts nothing at all.
    package func writeProgress(_ json: inout JSONText) {
        let (done, unit) = bytes > 0 || total != nil ? (bytes, "bytes") : (entries, "entries")
        guard done > 0 || total != nil else { return }
        json.object("progress") { json in
            json.integer("done", done)
            if let total { json.integer("of", total) }
            json.text("unit", unit)
            // What a second took so far, all in all.
            if time > 0, let rate = Int64(exactly: (Double(done) / time).rounded()) { json.integer("rate", rate) }
        }
    }
}
