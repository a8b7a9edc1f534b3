import Files

/// How one producer stands in a pipeline that is shared.
package struct ProducerStanding: Sendable, Equatable {
    /// What it is called.
    package let producer: String
    /// Its complete drops that wait.
    package internal(set) var waiting = 0
    /// Its jobs that are not over.
    package internal(set) var active = 0
    /// Its jobs that were over since the daemon has begun.
    package internal(set) var processed = 0
    package internal(set) var failed = 0
    /// For how long the drop or job is known that is known for longest, of those that are not over.
    package internal(set) var oldest: Duration?

    init(_ producer: String) { self.producer = producer }
}
