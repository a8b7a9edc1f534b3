import Files

extension ReadyGate {
    /// What is kept of each candidate: as little as can be, since there may be hundreds of thousands.
    struct Candidate {
        /// The hash of the fingerprint that was last seen, keyed at random in each process; the claim proves the whole
        /// of it. Means nothing before the first sample.
        var state = 0
        var size: Int64 = 0
        /// When it was first heard of.
        let admitted: MonotonicTime
        /// When `state` was first seen, without a touch since.
        var since: MonotonicTime
        var marks: Marks = []

        init(at now: MonotonicTime) {
            admitted = now
            since = now
        }

        /// Whether it was seen in that state last.
        func isStill(_ fingerprint: Fingerprint) -> Bool {
            marks.contains(.sampled) && size == fingerprint.size && state == fingerprint.hashValue
        }
    }

    struct Marks: OptionSet {
        let rawValue: UInt8
        static var sampled: Marks { Marks(rawValue: 1) }
        /// Something touched it since.
        static var touched: Marks { Marks(rawValue: 2) }
        /// It was seen to change, or held open.
        static var disturbed: Marks { Marks(rawValue: 4) }
        /// Out of the schedule: refused or ignored, until touched.
        static var parked: Marks { Marks(rawValue: 8) }
        /// The sample that was asked for may decide.
        static var mayDecide: Marks { Marks(rawValue: 16) }
        /// It lacks what such candidates lack as a rule.
        static var lacksTheUsual: Marks { Marks(rawValue: 32) }
        /// A sample was asked for and has not come yet.
        static var asked: Marks { Marks(rawValue: 64) }
        /// Somebody else is to take it first.
        static var ceded: Marks { Marks(rawValue: 128) }

        mutating func set(_ mark: Marks, _ isSet: Bool) {
            if isSet { insert(mark) } else { remove(mark) }
        }
    }
}
