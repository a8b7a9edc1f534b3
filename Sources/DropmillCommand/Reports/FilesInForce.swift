import Control
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

    /// What it does not wait for: whoever looks there beside it hangs until that answers (a look at a name waits for
    /// another one's, without an end).
    var silent: [PipelineReading.Silence] {
        differences.filter { $0.kind == .silent }.map { left in
            PipelineReading.Silence(file: Self.path(left.file), place: FilePath(bytes: Array(left.place ?? left.file)))
        }
    }

    /// The pipelines as the daemon has them, but for those whose folders do not answer; nil where it does not say that
    /// to everybody, or they cannot be read here.
    func pipelines(by loader: PipelineLoader) -> [Pipeline]? {
        let news = differences.filter { ![.added, .silent].contains($0.kind) }.map { (Self.path($0.file), $0.loaded) }
        let texts = Dictionary(news) { first, _ in first }
        let lookout = Lookout(label: "dropmill.reading")
        do throws(PipelineReading.Unanswered) {
            var files = try PipelineReading.read(loaded.filter { texts[$0] == nil }, lookout)
            for path in loaded {
                guard let text = texts[path] else { continue }
                guard let text else { return nil }
                files.add(Array(text.utf8), of: path)
            }
            let pipelines = try PipelineReading(files, by: loader, but: silent, lookout).pipelines
            do throws(ConfigProblems) { return try pipelines.get() } catch { return nil }
        } catch {
            return nil
        }
    }

    /// As people in the current folder would write it.
    private static func path(_ bytes: Data) -> FilePath {
        let path = FilePath(bytes: Array(bytes))
        var short = path
        let isBelow = short.removePrefix(FilePath(".").absolute.lexicallyNormalized()) && !short.isEmpty
        return isBelow ? short : path
    }
}
