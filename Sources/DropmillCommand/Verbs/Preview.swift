import ArgumentParser
import Control
import Journal
import PipelineEngine
import PipelineKit

/// What `--dry-run` says of a change of unfinished jobs: what a running daemon knows of them, else what is on record.
enum Preview {
    /// Why each would stay as it is, by its id.
    static func refusals(
        of records: [JobRecord], _ change: PreviewVerb.Change, in folder: StateFolder, most: Int
    ) throws(ExitCode) -> [JobID: String] {
        var refusals: [JobID: String] = [:]
        if folder.shared != nil {
            let (answers, left) = try folder.askingNodes { asking throws(JournalError) in
                try asking.ask(PreviewVerb.self, of: records.map(\.id)) { .init(change: change, jobs: $0.map(\.text)) }
            }
            for result in answers.flatMap(\.results) { if let id = JobID(result.job) { refusals[id] = result.refusal } }
            for job in left { refusals[job.id] = job.reason }
            return refusals
        }
        guard folder.isHeldIfKnown == false else {
            for start in stride(from: 0, to: records.count, by: most) {
                let ids = records[start..<min(start + most, records.count)].map(\.id)
                let answer: PreviewVerb.Answer
                do throws(ControlClient.Problem) {
                    answer = try DaemonRequest.ask(
                        PreviewVerb.self, .init(change: change, jobs: ids.map(\.text)), in: folder)
                } catch {
                    StandardError.print("error: \(error.message)")
                    throw ExitStatus.failure
                }
                for result in answer.results { if let id = JobID(result.job) { refusals[id] = result.refusal } }
            }
            return refusals
        }
        return try folder.read { journal throws(JournalError) in
            for record in records { refusals[record.id] = try refusal(of: record, change, journal) }
            return refusals
        }
    }

    private static func refusal(
        of found: JobRecord, _ change: PreviewVerb.Change, _ journal: any JournalReading
    ) throws(JournalError) -> String? {
        switch change {
        case .cancel:
            var record = found
            return record.callOff(by: "", at: .now()).refusal
        case .release: return try LoneRelease.preview(found, journal).refusal
        case .forget: return nil
        }
    }

    /// Tells how many jobs would be changed, and what the others are kept by. Throws where there are others.
    static func tell(_ records: [JobRecord], _ refusals: [JobID: String]) throws(ExitCode) {
        print(JobSummary(records.filter { refusals[$0.id] == nil }).text)
        let others = Dictionary(grouping: records.filter { refusals[$0.id] != nil }) { refusals[$0.id] ?? "" }
        for (reason, jobs) in others.sorted(by: { $0.key < $1.key }) {
            StandardError.print("error: \(JobSummary(jobs).text): \(reason)")
        }
        if !others.isEmpty { throw ExitStatus.failure }
    }
}
