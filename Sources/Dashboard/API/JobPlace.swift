import Control
import Files
import Journal

/// A place in the list of jobs: behind those that were claimed then, of which so many are known.
struct JobPlace: Equatable {
    let until: Int64
    let skip: Int

    init?(_ text: String) {
        let parts = text.split(separator: ".")
        guard parts.count == 2, let until = Int64(parts[0]), let skip = Int(parts[1]), (0...10_000).contains(skip)
        else {
            return nil
        }
        (self.until, self.skip) = (until, skip)
    }

    /// Behind the last of these, or behind what was looked at; nil where there is none.
    init?(behind records: [JobRecord], _ horizon: Int64?, from ask: JobsVerb.Arguments) {
        if let horizon {
            (until, skip) = (horizon, 0)
            return
        }
        guard let last = records.last?.claimedAt else { return nil }
        let same = records.reversed().prefix { $0.claimedAt == last }.count
        let until = last.nanoseconds.addingSaturated(1)
        (self.until, skip) = (until, same == records.count && until == ask.until ? same + (ask.skip ?? 0) : same)
    }

    var text: String { "\(until).\(skip)" }
}
