package import Journal
package import PipelineKit

extension FailureGroups {
    /// The keys of one object: `total` and `groups`.
    package func write(_ json: inout JSONText) {
        json.integer("total", total)
        json.array("groups") { json in
            for group in groups { json.object { group.write(&$0) } }
        }
    }
}

extension FailureGroup {
    fileprivate func write(_ json: inout JSONText) {
        json.text("pipeline", pipeline)
        json.text("code", code)
        json.integer("jobs", jobs)
        json.integer("bytes", bytes)
        json.text("sentence", sentence.summary)
        json.text("remedy", sentence.remedy)
        json.text("first_at", first.iso8601)
        json.text("last_at", last.iso8601)
        json.array("hours") { json in
            for count in hours { json.integer(nil, count) }
        }
        json.array("newest") { json in
            for example in newest {
                json.object { json in
                    json.text("id", example.job.text)
                    json.name("name", example.name.bytes)
                }
            }
        }
        if let objection { json.text("retry", objection) } else { json.flag("retry", true) }
    }
}
