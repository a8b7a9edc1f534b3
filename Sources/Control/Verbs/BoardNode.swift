import Files
package import Journal

/// How one of the nodes that share a journal stands, as the database has it.
package struct BoardNode: Codable, Equatable, Sendable {
    package enum State: String, Codable, Sendable {
        case alive
        /// Its lease is over, and nobody has taken its jobs yet.
        case silent
        /// Its jobs are others'.
        case dead
    }

    /// What it has said of a pipeline that it pauses.
    package struct Paused: Codable, Equatable, Sendable {
        package var pipeline: String
        package var why: WaitingVerb.Pause
        /// Nanoseconds since 1970.
        package var since: Int64?

        package init(pipeline: String, why: WaitingVerb.Pause, since: Int64?) {
            (self.pipeline, self.why, self.since) = (pipeline, why, since)
        }
    }

    /// What people hold.
    package struct Held: Codable, Equatable, Sendable {
        package var pipeline: String
        package var hold: BoardPipeline.Hold

        package init(_ record: HoldRecord) { (pipeline, hold) = (record.pipeline, BoardPipeline.Hold(record)) }

        package var record: HoldRecord { hold.record(of: pipeline) }
    }

    package var name: String
    package var host: String
    package var version: String
    /// Nanoseconds since 1970.
    package var since: Int64
    package var state: State
    /// How many jobs it has that are not over.
    package var jobs: Int
    package var paused: [Paused] = []
    /// On it alone.
    package var held: [Held] = []

    package init(_ record: NodeRecord) {
        (name, host, version) = (record.name, record.host, record.version)
        since = record.since.nanoseconds
        state = record.isAlive ? .alive : record.isDead ? .dead : .silent
        jobs = record.jobs
    }
}
