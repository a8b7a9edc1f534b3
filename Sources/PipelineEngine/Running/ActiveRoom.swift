import Files

/// How much more a pipeline may claim: jobs and bytes. Pure.
struct ActiveRoom {
    private let mostJobs: Int
    /// Nil: as many as there are.
    private let mostBytes: Int64?
    private(set) var jobs = 0
    /// Wider than any size, so that what is given back is what was taken.
    private var bytes: Int128 = 0

    static var unlimited: ActiveRoom { ActiveRoom(jobs: .max, bytes: nil) }

    init(jobs: Int, bytes: ByteSize?) {
        mostJobs = jobs
        mostBytes = bytes?.bytes
    }

    /// Whether one of that size may be claimed. One that is larger than all there may be is claimed alone.
    func has(_ size: Int64) -> Bool {
        guard jobs < mostJobs else { return false }
        guard let mostBytes, jobs > 0 else { return true }
        return bytes + Int128(size) <= mostBytes
    }

    /// A job takes up room.
    mutating func reserve(_ size: Int64) {
        jobs += 1
        bytes += Int128(size)
    }

    /// It gives it back.
    mutating func giveBack(_ size: Int64) {
        jobs -= 1
        bytes -= Int128(size)
    }
}
