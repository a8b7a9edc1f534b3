import PipelineKit

/// A job told as JSON, for a program elsewhere.
enum JobReportText {
    static func json(_ payload: Payload, _ context: StageContext) -> [UInt8] {
        var json = JSONText()
        json.object { json in
            json.text("job", context.job.id.text)
            json.text("pipeline", context.job.values.pipeline)
            json.name("name", context.job.drop.name.bytes)
            json.integer("size", context.job.drop.size)
            json.text("dropped_at", context.job.drop.droppedAt.iso8601)
            json.text("state", context.job.failure == nil ? "running" : "failed")
            for (name, value) in payload.knownFacts.sorted(by: { $0.key < $1.key }) { json.text(name, value) }
            guard let failed = context.job.failure else { return }
            if let stage = failed.stage { json.text("stage", stage) }
            json.integer("attempts", failed.attempts)
            json.text("code", failed.failure.code)
            json.text("summary", failed.failure.summary)
            json.text("remedy", failed.failure.remedy)
            json.text("detail", failed.failure.detail)
        }
        json.newline()
        return json.bytes
    }
}
