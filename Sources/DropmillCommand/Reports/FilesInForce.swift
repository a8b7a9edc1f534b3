import Files
import FoundationEssentials
import PipelineConfig
import PipelineKit
import SystemPackage

/// The files of a daemon that answers: which they are, and what is in force of them.
struct FilesInForce {
    /// What it was started with.
    let given: [FilePath]
    let settings: SettingsPlace
    /// How they are not as they were loaded.
    let differences: [FilesVerb.Difference]
    private let loaded: [FilePath]

    /// Nil where none answers.
    init?(asking folder: StateFolder) {
        guard folder.isHeldIfKnown != false else { return nil }
        do throws(ControlClient.Problem) {
            let answer = try ControlClient.ask(FilesVerb.self, Nothing(), in: folder.path)
            given = answer.given.map { Self.path($0) }
            settings = answer.settings.map { .file(Self.path($0)) } ?? .beside
            loaded = answer.loaded.map { Self.path($0) }
            differences = answer.differences
        } catch {
            return nil
        }
    }

    /// The pipelines as the daemon has them; nil where it does not say that to everybody, or they cannot be read here.
    func pipelines(by loader: PipelineLoader) -> [Pipeline]? {
        let news = differences.filter { $0.kind != .added }.map { (Self.path($0.file), $0.loaded) }
        let texts = Dictionary(news) { first, _ in first }
        var files = PipelineLoader.read(loaded.filter { texts[$0] == nil })
        for path in loaded {
            guard let text = texts[path] else { continue }
            guard let text else { return nil }
            files.add(Array(text.utf8), of: path)
        }
        do throws(ConfigProblems) { return try loader.load(files) } catch { return nil }
    }

    /// As people in the current folder would write it.
    private static func path(_ bytes: Data) -> FilePath {
        let path = FilePath(bytes: Array(bytes))
        var short = path
        let isBelow = short.removePrefix(FilePath(".").absolute.lexicallyNormalized()) && !short.isEmpty
        return isBelow ? short : path
    }
}
