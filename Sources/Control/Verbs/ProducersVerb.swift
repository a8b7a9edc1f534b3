/// How the producers of pipelines stand that are shared (`fair`).
package enum ProducersVerb: ControlVerb {
    package static let name = "producers"
    /// The daemon waits four seconds for inboxes.
    package static let patience = 8
    /// The most of a pipeline.
    package static let most = 1000

    package struct Arguments: Codable, Equatable, Sendable {
        package var pipeline: String?
        package var limit: Int?

        package init(pipeline: String? = nil, limit: Int? = nil) { (self.pipeline, self.limit) = (pipeline, limit) }
    }

    package struct Answer: Codable, Equatable, Sendable {
        /// In the order of the files, without those whose inboxes do not answer.
        package var pipelines: [Pipeline]

        package init(pipelines: [Pipeline]) { self.pipelines = pipelines }
    }

    package struct Pipeline: Codable, Equatable, Sendable {
        package var name: String
        /// Those with the most that is not over first.
        package var producers: [Producer]
        /// How many more there are.
        package var more: Int

        package init(name: String, producers: [Producer], more: Int) {
            (self.name, self.producers, self.more) = (name, producers, more)
        }
    }

    package struct Producer: Codable, Equatable, Sendable {
        package var producer: String
        /// Complete drops that wait, and jobs that are not over.
        package var waiting: Int
        package var active: Int
        /// Jobs that were over since the daemon has begun.
        package var processed: Int
        package var failed: Int
        /// For how many seconds the oldest drop or job is known that is not over.
        package var oldest: Double?

        package init(
            producer: String, waiting: Int, active: Int, processed: Int, failed: Int, oldest: Double?
        ) {
            self.producer = producer
            self.waiting = waiting
            self.active = active
            self.processed = processed
            self.failed = failed
            self.oldest = oldest
        }
    }
}
