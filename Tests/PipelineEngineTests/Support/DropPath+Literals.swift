import PipelineKit

/// Names as keys, where a test does not care what they are.
extension DropPath: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    public init(stringLiteral text: String) {
        guard let name = FileName(text) else { preconditionFailure("\(text) is no file name") }
        self.init(name)
    }

    public init(integerLiteral number: Int) { self.init(stringLiteral: "\(number)") }
}
