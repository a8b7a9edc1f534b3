package import Files

/// How long originals stay where Dropmill has left them (`keep`).
package struct KeepRule: Sendable, Equatable {
    /// The most that is kept in one folder, whichever limit is reached first; the oldest go first.
    package struct Limits: Sendable, Equatable {
        /// How long each is kept, counted from the end of its job; nil: for ever.
        package var age: Duration?
        /// How many bytes they may have together; nil: any number.
        package var bytes: ByteSize?
        /// How many there may be; nil: any number.
        package var files: Int?

        package init(age: Duration? = nil, bytes: ByteSize? = nil, files: Int? = nil) {
            (self.age, self.bytes, self.files) = (age, bytes, files)
        }
    }

    /// Of those in `processed`; nil: all are kept.
    package var processed: Limits?
    /// The same of those in `failed`.
    package var failed: Limits?
    /// Whether the oldest go before their time where less than twice `min_free` is free.
    package var prunesWhenShort: Bool

    package init(processed: Limits? = nil, failed: Limits? = nil, prunesWhenShort: Bool = false) {
        (self.processed, self.failed, self.prunesWhenShort) = (processed, failed, prunesWhenShort)
    }
}
