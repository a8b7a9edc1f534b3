public import Files

/// Names as keys, where a test does not care what they are.
extension DropPath: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral {
    /// Traps where the text is not a file name.
    public init(stringLiteral text: String) {
        guard let name = FileName(text) else { preconditionFailure("\(text) is no file name") }
        self.init(name)
    }

    /// Its digits as a name.
    public init(integerLiteral number: Int) { self.init(stringLiteral: "\(number)") }
}
