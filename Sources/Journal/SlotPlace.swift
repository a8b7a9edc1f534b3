/// A stage of a pipeline, as all nodes know it.
package struct SlotPlace: Sendable, Hashable {
    package let pipeline: String
    /// The kind, and which one of several: `unpack`, `unpack 2`.
    package let stage: String

    package init(pipeline: String, stage: String) { (self.pipeline, self.stage) = (pipeline, stage) }

    /// Those of stages of these kinds, in order.
    package static func places(of kinds: [String], in pipeline: String) -> [SlotPlace] {
        var counts: [String: Int] = [:]
        return kinds.map { kind in
            let number = counts[kind, default: 0] + 1
            counts[kind] = number
            return SlotPlace(pipeline: pipeline, stage: number == 1 ? kind : "\(kind) \(number)")
        }
    }
}
