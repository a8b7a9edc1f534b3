import Files

/// Who is notified of which events: an entry of `notify`.
package struct NotifyRule: Sendable, Equatable {
    /// The least time between two messages about the same, unless another one is given.
    package static let usualDigest = Duration.seconds(300)

    /// Its place in the file, counted from 1.
    package let number: Int
    package let events: Set<NotifyEvent>
    /// After how long without a processed job a pipeline is quiet; nil where that is not told.
    package let quiet: Duration?
    /// Of which pipelines; empty: all.
    package let pipelines: [Glob]
    package let target: NotifyTarget
    /// The least time between two messages about the same.
    package let digest: Duration
    /// What it is known by over reloads and restarts: what it tells of, by which way, and where to.
    package private(set) var identity: String
    /// The same without where to, which may be corrected: what has not been sent goes there then.
    package var kin: Substring { Self.kin(of: identity) }

    package init(
        number: Int = 1, events: Set<NotifyEvent>, quiet: Duration? = nil, pipelines: [Glob] = [],
        target: NotifyTarget, digest: Duration = usualDigest
    ) {
        self.number = number
        self.events = quiet == nil ? events : events.union([.quiet])
        self.quiet = quiet
        self.pipelines = pipelines
        self.target = target
        self.digest = digest
        let words =
            self.events.map(\.rawValue).sorted() + [""] + pipelines.map(\.pattern) + [target.way.rawValue]
        identity = "\(Self.hash(words.joined(separator: "\n")))-\(Self.hash(target.place))"
    }

    package static func kin(of identity: String) -> Substring { identity.prefix { $0 != "-" } }

    /// Several that are alike in all are told apart by their order.
    mutating func follow(_ others: Int) {
        if others > 0 { identity += "-\(others + 1)" }
    }

    /// Whether it is about this pipeline.
    package func concerns(_ pipeline: String) -> Bool {
        pipelines.isEmpty || pipelines.contains { $0.matches(Array(pipeline.utf8)) }
    }

    /// FNV-1a: it tells rules apart, and keeps nothing secret.
    private static func hash(_ text: String) -> String {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
    }
}
