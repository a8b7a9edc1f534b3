public import SystemPackage

/// A pipeline as text, for programs that have no file of it: what a pipeline file says, read by the same rules.
public struct PipelineDescription: Sendable, Hashable {
    /// The pipeline's name, unless the text says another.
    public let name: String
    /// What a pipeline file holds: YAML.
    public let text: String
    /// The folder that relative paths in the text start from.
    public let base: FilePath

    /// A pipeline of this text.
    public init(name: String, base: FilePath, text: String) {
        self.name = name
        self.base = base
        self.text = text
    }

    /// The file that it could be, for messages. A name that is no file's is none of a pipeline either.
    var file: FilePath {
        let plain = String(name.map { $0 == "/" || $0 == "\0" ? ":" : $0 })
        return base.appending("\(plain).yaml")
    }
}
