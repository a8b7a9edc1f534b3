package import Files

/// What a job waited for and what was done for it, as spans of time: in its inbox, at each stage, at its end. Made of
/// its history, whatever version wrote that; what is not known is left out. Pure.
///
/// A job does one thing at a time, so spans follow each other and never overlap. Where the clock was set back, what
/// came after goes on by the clock that was before: nothing takes less time than it did.
package struct TimeLine: Sendable, Equatable {
    /// Some time in which one thing was the case.
    package struct Span: Sendable, Equatable {
        package enum Kind: String, Sendable, CaseIterable {
            case inbox, queued, run, deferred, settling
        }

        package enum Outcome: String, Sendable {
            case done
            /// It did not succeed, and was or will be tried again.
            case again
            case failed
        }

        package let kind: Kind
        package let from: Timestamp
        /// Nil where it goes on.
        package let to: Timestamp?
        /// For a run: which of its stage it is, from 1 on.
        package var attempt: Int?
        package var outcome: Outcome?
        /// A sentence, where there is more to say.
        package var text: String?

        /// Nil where it goes on.
        package var time: Duration? { to.map { $0 - from } }
    }

    /// Whose time it was.
    package enum Place: Sendable, Hashable {
        case inbox
        /// By its place in the pipeline.
        case stage(Int)
        /// One of this kind that the pipeline does not have any more.
        case former(String)
        /// A stage of `on_failure`, by its kind.
        case onFailure(String)
        case settling
    }

    package struct Row: Sendable, Equatable {
        package let place: Place
        /// The stage's kind, `inbox` or `settling`.
        package let kind: String
        /// In order; none of a stage that was not reached.
        package var spans: [Span] = []
        /// Whether the stage was not for this drop.
        package var isSkipped = false
    }

    /// What held the drop before it was claimed.
    package struct Hold: Sendable, Equatable {
        /// A word for programs.
        package let code: String
        package let text: String
        /// When it began first, and how long it held in all.
        package let from: Timestamp
        package let time: Duration
    }

    /// When the drop was first seen by the daemon that claimed it; nil where that is not known.
    package let firstSeen: Timestamp?
    package let held: [Hold]
    /// The inbox, each stage of the pipeline, what else there was, and the end.
    package let rows: [Row]

    /// `stages`: the kinds of its pipeline's stages, in order.
    ///
    /// A history tells stages by their kinds: of two of one kind a run is that of the next one to come.
    package init(of record: JobRecord, stages: [String]) {
        var builder = TimeLineBuilder(of: record, stages: stages)
        builder.claim()
        for transition in record.history { builder.add(transition) }
        builder.end()
        (firstSeen, held, rows) = (builder.firstSeen, builder.held, builder.rows)
    }

    /// All spans, in the order in which they were.
    package var spans: [Span] {
        rows.flatMap(\.spans).sorted { first, second in
            guard first.from == second.from else { return first.from < second.from }
            guard let end = first.to else { return false }
            return second.to.map { end < $0 } ?? true
        }
    }
}

extension TimeLine.Row {
    /// How long all its spans of a kind took, but for one that goes on.
    package func time(_ kind: TimeLine.Span.Kind) -> Duration {
        .nanoseconds(spans.lazy.filter { $0.kind == kind }.compactMap { $0.time?.nanoseconds }.saturatedSum)
    }
}
