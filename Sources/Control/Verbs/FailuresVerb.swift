import Files
package import FoundationEssentials
package import Journal
import PipelineKit

/// What failed and was neither sent in again nor dismissed, in groups. Counts no jobs.
package enum FailuresVerb: ControlVerb {
    package static let name = "failures"
    /// Others may be asking, too.
    package static let patience = 60

    package struct Arguments: Codable, Equatable, Sendable {
        package var pipeline: String?
        /// Only what failed since the beginning of the hour of that time: nanoseconds since 1970.
        package var since: Int64?

        package init(pipeline: String? = nil, since: Int64? = nil) {
            (self.pipeline, self.since) = (pipeline, since)
        }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// How many jobs, also of groups that are left out.
        package var total: Int
        /// The largest first.
        package var groups: [Group]
    }

    package struct Group: Codable, Equatable, Sendable {
        package var pipeline: String
        package var code: String
        package var jobs: Int
        package var bytes: Int64
        /// What they have in common to say, and what to do about it.
        package var summary: String
        package var remedy: String
        /// When the first and the last of them failed: nanoseconds since 1970.
        package var first: Int64
        package var last: Int64
        /// How many in each of the last 24 hours, the oldest first.
        package var hours: [Int]
        package var newest: [Example]
        /// Why they are not to be sent in again all together; nil where they may be.
        package var objection: String?
    }

    package struct Example: Codable, Equatable, Sendable {
        package var job: String
        /// In bytes.
        package var name: Data
    }
}

extension FailuresVerb.Answer {
    package init(_ found: FailureGroups) {
        total = found.total
        groups = found.groups.map { group in
            FailuresVerb.Group(
                pipeline: group.pipeline, code: group.code, jobs: group.jobs, bytes: group.bytes,
                summary: group.sentence.summary, remedy: group.sentence.remedy, first: group.first.nanoseconds,
                last: group.last.nanoseconds, hours: group.hours,
                newest: group.newest.map { .init(job: $0.job.text, name: Data($0.name.bytes)) },
                objection: group.objection)
        }
    }

    /// Nil where it makes no sense.
    package var failures: FailureGroups? {
        let read = groups.compactMap { group -> FailureGroup? in
            let newest = group.newest.compactMap { example in
                JobID(example.job).flatMap { id in FileName(Array(example.name)).map { .init(job: id, name: $0) } }
                    as FailureGroup.Example?
            }
            guard newest.count == group.newest.count else { return nil }
            return FailureGroup(
                pipeline: group.pipeline, code: group.code, jobs: group.jobs, bytes: group.bytes,
                sentence: FailureSentence(summary: group.summary, remedy: group.remedy),
                first: Timestamp(nanoseconds: group.first), last: Timestamp(nanoseconds: group.last),
                hours: group.hours, newest: newest)
        }
        return read.count == groups.count ? FailureGroups(total: total, groups: read) : nil
    }
}
