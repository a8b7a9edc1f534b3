package import FolderWatch
package import PipelineKit

extension ReadyQueue {
    /// A queue in the order that a pipeline asks for.
    package init(order: Pipeline.Order) {
        switch order {
        case .arrival: self.init(by: .arrival)
        case .name: self.init(by: .name)
        case .oldest: self.init(by: .modified)
        case .smallest: self.init(by: .size)
        case .largest: self.init(by: .sizeDescending)
        }
    }
}
