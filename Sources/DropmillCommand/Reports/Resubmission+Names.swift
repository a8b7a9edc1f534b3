import Files
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

extension Resubmission {
    /// Sends back the named jobs: ids, beginnings of ids, drops' names.
    mutating func send(_ names: [String]) throws(JournalError) {
        var seen: Set<JobID> = []
        for name in names {
            switch try JobFinder.find(name, in: journal) {
            case .nothing(let message): reportProblem(EscapedText.of(RawArguments.bytes(of: name)), message)
            case .found(let record): if seen.insert(record.id).inserted { try send(record) }
            }
        }
    }

    /// For programs: what was sent back, and what was not.
    var json: String {
        var json = JSONText()
        json.object { json in
            json.array("sent") { json in
                for sent in sent {
                    json.object { json in
                        json.text("id", sent.record.id.text)
                        json.text("pipeline", sent.record.pipeline)
                        json.name("name", sent.record.drop.name.bytes)
                        json.name("path", sent.path.bytes)
                        if let leftover = sent.leftover { json.text("warning", leftover) }
                    }
                }
            }
            json.array("problems") { json in
                for problem in problems {
                    json.object { json in
                        json.text("job", problem.subject)
                        json.text("message", problem.message)
                    }
                }
            }
        }
        return json.string
    }
}
