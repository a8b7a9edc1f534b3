package import Files
package import PipelineKit

/// Which drops take the quick lane: small single files of our own, in pipelines whose stages can do with their content
/// alone. Pure.
package struct LaneRule: Sendable {
    /// Drops up to this size. Larger ones gain little: their content costs more than all that is done for each drop.
    package static let largest = ByteSize(bytes: 1 << 20)

    private let takesEmpty: Bool

    /// Nil where a pipeline has no lane.
    init?(of pipeline: Pipeline) {
        guard Self.hindrance(of: pipeline) == nil else { return nil }
        takesEmpty = pipeline.ready.empty != .fail
    }

    /// Whether it takes a drop of that size.
    func takes(size: Int64) -> Bool { size <= Self.largest.bytes && (size > 0 || takesEmpty) }

    /// Why a pipeline has no lane, as the end of a sentence; nil where it has one.
    package static func hindrance(of pipeline: Pipeline) -> String? {
        if pipeline.ready.unit == .folder { return "its drops are folders" }
        if pipeline.ready.marker != nil { return "its drops have markers" }
        if pipeline.ownership == .keep { return "`ownership: keep` leaves drops to their senders" }
        if pipeline.order != .arrival { return "`order: \(pipeline.order.rawValue)` asks for one drop after the other" }
        if pipeline.onConflict != .rename {
            return "`on_conflict: \(pipeline.onConflict.rawValue)` asks for one drop after the other"
        }
        if pipeline.processed == .delete { return "`processed: delete` destroys drops" }
        if let limited = pipeline.stages.first(where: \.isFleetWide) {
            return "its stage `\(limited.kind)` may run so often on all nodes together"
        }
        guard let slow = pipeline.stages.first(where: { !$0.stage.isQuick }) else { return nil }
        return "its stage `\(slow.kind)` works with files"
    }
}
