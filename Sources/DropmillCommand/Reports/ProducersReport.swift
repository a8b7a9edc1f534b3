import Control
import Files
import PipelineKit

/// How the producers of pipelines stand, for `status --by producer`.
struct ProducersReport {
    let pipelines: [ProducersVerb.Pipeline]

    var lines: [String] {
        guard !pipelines.isEmpty else {
            return ["no pipeline that is loaded has 'fair', by which producers are told apart"]
        }
        var table = TextTable([
            ("PIPELINE", .left), ("PRODUCER", .left), ("WAITING", .right), ("ACTIVE", .right), ("DONE", .right),
            ("FAILED", .right), ("OLDEST", .right),
        ])
        for pipeline in pipelines {
            for one in pipeline.producers {
                table.add([
                    pipeline.name, EscapedText.printable(one.producer), "\(one.waiting)", "\(one.active)",
                    "\(one.processed)", "\(one.failed)", one.oldest.map { Duration.seconds($0).text } ?? "",
                ])
            }
        }
        let more = pipelines.filter { $0.more > 0 }.map {
            "\($0.name): and \($0.more) more, of which less is under way"
        }
        return table.lines + more + ["done and failed are counted since the daemon has begun"]
    }

    var json: String {
        var json = JSONText()
        json.object { json in
            json.array("pipelines") { json in
                for pipeline in pipelines {
                    json.object { json in
                        json.text("name", pipeline.name)
                        json.array("producers") { json in
                            for one in pipeline.producers { json.object { Self.write(one, &$0) } }
                        }
                        json.integer("more", pipeline.more)
                    }
                }
            }
        }
        return json.string
    }

    private static func write(_ one: ProducersVerb.Producer, _ json: inout JSONText) {
        json.text("producer", one.producer)
        json.integer("waiting", one.waiting)
        json.integer("active", one.active)
        json.integer("done", one.processed)
        json.integer("failed", one.failed)
        if let oldest = one.oldest { json.seconds("oldest_s", .seconds(oldest)) }
    }
}
