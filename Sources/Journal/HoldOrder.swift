import Files

/// What a person asks for: that pipelines be held, or no longer be.
package struct HoldOrder: Sendable {
    /// How they are to be held; nil: not any more.
    package let kind: HoldRecord.Kind?
    /// Who asks: a user's name and number.
    package let by: String
    package let user: UInt32
    package let reason: String
    /// For how long; nil: until it is lifted.
    package let time: Duration?
    /// On which node; nil: wherever they are at work.
    package let node: String?

    /// The longest reason, in characters, and the longest time.
    package static let longestReason = 200
    package static let longestTime = Duration.seconds(366 * 86_400)

    /// Throws where this makes no sense.
    package init(
        _ kind: HoldRecord.Kind?, by name: String, user: UInt32, reason: String = "", for time: Duration? = nil,
        on node: String? = nil
    ) throws(HoldRefusal) {
        if let time, time <= .zero {
            throw HoldRefusal("a hold for \(time.text) would be over at once; give a longer time, such as 30m or 2h")
        }
        if let time, time > Self.longestTime {
            throw HoldRefusal("a hold ends within a year; without a time it lasts until 'dropmill resume'")
        }
        guard reason.count <= Self.longestReason else {
            throw HoldRefusal("the reason is too long; \(Self.longestReason) characters are the most")
        }
        self.kind = kind
        by = name
        self.user = user
        self.reason = EscapedText.printable(reason)
        self.time = time
        self.node = node
    }
}
