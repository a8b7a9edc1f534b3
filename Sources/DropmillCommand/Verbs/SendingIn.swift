import ArgumentParser
import Journal
import PipelineEngine

/// How `retry` and `replay` are carried out, whether a daemon runs or not: that sees only a rename into the inbox.
enum SendingIn {
    /// `none`: what is said where no job can be sent in.
    static func carryOut(
        _ verb: String, _ kind: Resubmission.Kind, _ selection: JobSelection, in folder: StateFolder, json: Bool,
        none: String
    ) throws(ExitCode) {
        var found: [JobRecord] = []
        let result = try folder.write { journal throws(JournalError) in
            var resubmission = try Resubmission(journal, kind)
            found = try resubmission.find(selection)
            guard !selection.dryRun, !found.isEmpty else { return resubmission }
            var pace = selection.rate
            return try folder.change(verb, found, in: journal) { () throws(JournalError) in
                for record in found {
                    pace?.wait()
                    // Much may have become of it since it was found.
                    try resubmission.send(record.id)
                }
                return (resubmission, resubmission.text)
            }
        }
        if json {
            print(result.json)
        } else {
            if selection.dryRun, !found.isEmpty { print(JobSelection.text(of: found)) }
            for sent in result.sent {
                print("\(sent.record.id.text) \(sent.record.drop.name.text) → \(sent.path.shortText)")
                if let leftover = sent.leftover { StandardError.print("warning: \(leftover)") }
            }
            for problem in result.problems { StandardError.print("error: \(problem.subject): \(problem.message)") }
            if found.isEmpty, result.problems.isEmpty { StandardError.print(none) }
        }
        if found.isEmpty || !result.problems.isEmpty { throw ExitStatus.failure }
    }
}
