package import Files
package import FolderWatch
package import PipelineKit

extension ReadyQueue {
    /// A queue in the order that a pipeline asks for, shared as it says.
    package init(of pipeline: Pipeline) {
        let order = ReadyLine.Order(pipeline.order)
        if let turns = FairOrder(of: pipeline) {
            self.init(by: order, turns: turns, aging: pipeline.priority?.aging)
        } else {
            self.init(by: order)
        }
    }
}

extension ReadyLine.Order {
    /// That of a pipeline.
    package init(_ order: Pipeline.Order) {
        self =
            switch order {
            case .arrival: .arrival
            case .name: .name
            case .oldest: .modified
            case .smallest: .size
            case .largest: .sizeDescending
            }
    }
}

extension FairOrder {
    /// How a pipeline's drops take turns; nil where they do not.
    package init?(of pipeline: Pipeline) {
        guard pipeline.fair != nil || pipeline.priority != nil else { return nil }
        self.init(weights: pipeline.fair?.weights ?? [:])
    }
}

extension FairOrder.Place {
    /// Where a drop waits. `owner`: who it is from, where its path does not say that.
    package init(of path: DropPath, in pipeline: Pipeline, owner: @autoclosure () -> String?) {
        let level = pipeline.priority.map { FairLevel(priority: $0.level(of: path)) } ?? .usual
        let producer = pipeline.fair.flatMap { $0.producer(of: path) ?? owner() }
        self.init(level, of: producer ?? "")
    }
}
