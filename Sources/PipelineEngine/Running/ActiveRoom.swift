import Files

/// How much more a pipeline may claim: jobs and bytes, and jobs of each producer. Pure.
struct ActiveRoom {
    private let mostJobs: Int
    /// Nil: as many as there are.
    private let mostBytes: Int64?
    private let mostOfEach: Int?
    private(set) var jobs = 0
    /// Wider than any size, so that what is given back is what was taken.
    private var bytes: Int128 = 0
    /// By producer, where that is bounded.
    private var producers: [String: Int] = [:]

    static var unlimited: ActiveRoom { ActiveRoom(jobs: .max, bytes: nil) }

    init(jobs: Int, bytes: ByteSize?, ofEach most: Int? = nil) {
        mostJobs = jobs
        mostBytes = bytes?.bytes
        mostOfEach = most
    }

    /// Whether one of that size may be claimed. One that is larger than all there may be is claimed alone.
    func has(_ size: Int64, of producer: String? = nil) -> Bool {
        guard jobs < mostJobs, !isFull(producer) else { return false }
        guard let mostBytes, jobs > 0 else { return true }
        return bytes + Int128(size) <= mostBytes
    }

    /// Whether a producer has as many jobs as it may.
    func isFull(_ producer: String?) -> Bool {
        guard let mostOfEach, let producer else { return false }
        return producers[producer] ?? 0 >= mostOfEach
    }

    /// A job takes up room.
    mutating func reserve(_ size: Int64, of producer: String? = nil) {
        jobs += 1
        bytes += Int128(size)
        if mostOfEach != nil, let producer { producers[producer, default: 0] += 1 }
    }

    /// It gives it back.
    mutating func giveBack(_ size: Int64, of producer: String? = nil) {
        jobs -= 1
        bytes -= Int128(size)
        guard let producer, let count = producers[producer] else { return }
        producers[producer] = count > 1 ? count - 1 : nil
    }
}
