import Files
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

extension Resubmission {
    /// The named jobs (ids, beginnings of ids, drops' names) that can be sent back.
    mutating func find(_ names: [String]) throws(JournalError) -> [JobRecord] {
        var seen: Set<JobID> = []
        var records: [JobRecord] = []
        for name in names {
            switch try JobFinder.find(name, in: journal) {
            case .nothing(let message): reportProblem(EscapedText.of(RawArguments.bytes(of: name)), message)
            case .found(let record):
                if seen.insert(record.id).inserted, try mayBeSent(record) { records.append(record) }
            }
        }
        return records
    }

    /// The selected jobs that can be sent back.
    mutating func find(_ selection: JobSelection) throws(JournalError) -> [JobRecord] {
        guard selection.jobs.isEmpty else { return selection.limited(try find(selection.jobs)) }
        return selection.limited(try find(selection.filters.query))
    }

    /// What came of it, in a line.
    var text: String {
        let lines = sent.map { "\($0.record.id): \($0.path.text)" } + problems.map { "\($0.subject): \($0.message)" }
        return lines.joined(separator: "; ")
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
