import Dispatch
import Files
import PipelineConfig
import PipelineKit
import SystemPackage

/// Pipeline files, read and checked as far as their file systems answer: a pipeline whose folders do not is left out,
/// rather than that all wait for it.
struct PipelineReading: Sendable {
    /// A pipeline that is left out.
    struct Silence: Sendable, Equatable {
        /// Its file.
        let file: FilePath
        /// What does not answer.
        let place: FilePath
        /// What it is called; nil where that is not to be understood.
        var name: String?

        /// Why it could not begin although that has answered since.
        var reason: String?

        var text: String { reason ?? "'\(place.text)' does not answer" }

        var problem: ConfigProblem {
            ConfigProblem("\(text); mount its file system again, or do without this pipeline", in: file)
        }
    }

    /// The files themselves do not answer.
    struct Unanswered: Error {
        let message: String

        /// `place`: what does not answer, as far as that is known.
        init(_ place: FilePath?, within patience: Double) {
            let why = place.map { ": '\($0.text)' does not answer; mount its file system again, or do without it" }
            message =
                "the pipeline files were not read and checked within \(Duration.seconds(patience).text)\(why ?? "")"
        }
    }

    let files: PipelineFiles
    /// All but those that are left out.
    let pipelines: Result<[Pipeline], ConfigProblems>
    let silent: [Silence]

    /// How many seconds one look may take when a person waits for the answer.
    private static let patience = 5.0

    /// Reads these files and folders. `patience`: how many seconds one look may take.
    /// `silent`: what is known not to answer; it is not looked at.
    init(
        _ paths: [FilePath], settings: SettingsPlace? = nil, by loader: PipelineLoader, but silent: [Silence] = [],
        _ lookout: Lookout = Lookout(label: "dropmill.reading"), patience: Double = patience
    ) throws(Unanswered) {
        let files = try Self.read(paths, settings: settings, lookout, patience: patience)
        try self.init(files, by: loader, but: silent, lookout, patience: patience)
    }

    /// Only reads them.
    static func read(
        _ paths: [FilePath], settings: SettingsPlace? = nil, _ lookout: Lookout, patience: Double = patience
    ) throws(Unanswered) -> PipelineFiles {
        let read = lookout.attempt(resting: patience) { mayLook in
            PipelineLoader.read(paths, settings: settings, mayLook)
        }
        switch read {
        case .over(let files): return files
        case .silent(let place): throw Unanswered(place, within: patience)
        }
    }

    /// Checks what was read. `known`: folders that need not be looked at.
    init(
        _ files: PipelineFiles, _ known: KnownFolders = KnownFolders(), by loader: PipelineLoader,
        but silent: [Silence] = [], _ lookout: Lookout, patience: Double = patience
    ) throws(Unanswered) {
        func load(
            _ files: PipelineFiles, within patience: Double
        ) -> Lookout.Outcome<Result<[Pipeline], ConfigProblems>> {
            lookout.attempt(resting: patience) { mayLook in
                Result { () throws(ConfigProblems) in try loader.load(files, known, mayLook) }
            }
        }
        self.files = files
        var silent = silent
        func rest() -> PipelineFiles {
            files.keeping { file in !silent.contains { $0.file.absolute == file.absolute } }
        }
        var loaded = load(rest(), within: patience)
        if case .silent(let first) = loaded {
            for file in rest().all {
                let own = load(files.keeping { $0 == file.path }, within: min(patience, Self.patience))
                guard case .silent(let place) = own else { continue }
                silent.append(
                    Silence(file: file.path, place: place ?? first ?? file.path, name: loader.name(of: file)))
            }
            loaded = load(rest(), within: patience)
        }
        switch loaded {
        case .silent(let place): throw Unanswered(place, within: patience)
        case .over(let pipelines):
            self.pipelines =
                silent.isEmpty
                ? pipelines
                : pipelines.flatMap { pipelines in
                    // What is wrong with all of them, as far as that shows without a look.
                    Result { () throws(ConfigProblems) in
                        _ = try loader.load(files, known, .never)
                        return pipelines
                    }
                }
        }
        self.silent = silent.filter { left in files.all.contains { $0.path.absolute == left.file.absolute } }
    }
}
