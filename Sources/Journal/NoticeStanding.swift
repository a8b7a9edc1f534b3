/// How a rule stands with an event of a pipeline: what was told of it, as those that send messages write it down.
package struct NoticeStanding: Sendable, Equatable {
    /// What it is about.
    package struct Key: Sendable, Hashable {
        package let rule: String
        package let event: String
        /// Empty where it is about the daemon.
        package let pipeline: String

        package init(rule: String, event: String, pipeline: String) {
            (self.rule, self.event, self.pipeline) = (rule, event, pipeline)
        }
    }

    package let key: Key
    package let value: String

    package init(_ key: Key, value: String) { (self.key, self.value) = (key, value) }
}
