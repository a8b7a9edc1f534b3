package import Files
package import PipelineKit

/// Failures of one pipeline with one code that are open: neither sent in again nor dismissed.
package struct FailureGroup: Sendable, Equatable {
    /// One of its jobs.
    package struct Example: Sendable, Equatable {
        package let job: JobID
        /// The drop's.
        package let name: FileName

        package init(job: JobID, name: FileName) { (self.job, self.name) = (job, name) }
    }

    package let pipeline: String
    package let code: String
    package let jobs: Int
    /// The size of all their drops.
    package let bytes: Int64
    /// What they have in common to say.
    package let sentence: FailureSentence
    /// When the first and the last of them failed.
    package let first: Timestamp
    package let last: Timestamp
    /// How many failed in each of the last 24 hours of the clock, the oldest first; the last one is under way.
    package let hours: [Int]
    /// The newest, first.
    package let newest: [Example]

    package init(
        pipeline: String, code: String, jobs: Int, bytes: Int64, sentence: FailureSentence, first: Timestamp,
        last: Timestamp, hours: [Int], newest: [Example]
    ) {
        (self.pipeline, self.code, self.jobs, self.bytes) = (pipeline, code, jobs, bytes)
        (self.sentence, self.first, self.last, self.hours, self.newest) = (sentence, first, last, hours, newest)
    }

    /// How many examples it has.
    private static let mostNewest = 3
    private static let hoursOfADay = 24

    /// `records`: the newest of them, first; `hours`: how many failed in each, by its number.
    package init(
        _ records: [JobRecord], pipeline: String, code: String, jobs: Int, bytes: Int64, first: Timestamp,
        last: Timestamp, hours: [Int64: Int], at now: Timestamp
    ) {
        let newest = records.prefix(Self.mostNewest).map { Example(job: $0.id, name: $0.drop.name) }
        let this = Self.hour(of: now)
        let counts = (0..<Self.hoursOfADay).map { hours[this - Int64(Self.hoursOfADay - 1 - $0)] ?? 0 }
        self.init(
            pipeline: pipeline, code: code, jobs: jobs, bytes: bytes,
            sentence: FailureSentence(of: records) ?? FailureSentence(summary: "", remedy: ""), first: first,
            last: last, hours: counts, newest: newest)
    }

    /// The number of the hour in which a time is.
    package static func hour(of time: Timestamp) -> Int64 {
        let (hours, rest) = time.nanoseconds.quotientAndRemainder(dividingBy: nanosecondsOfAnHour)
        return rest < 0 ? hours - 1 : hours
    }

    package static let nanosecondsOfAnHour: Int64 = 3_600_000_000_000
}
