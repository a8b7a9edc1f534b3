package import Files
import Glibc
package import PipelineKit
package import SystemPackage

/// Reads pipelines from files: all that is wrong in any of them is reported at once, and only whole sets are handed
/// out.
package struct PipelineLoader: Sendable {
    private static let largestFile = 1 << 20

    private let registry: StageRegistry
    private let environment: [String: String]
    private let cores: Int
    private let mayBeNone: Bool
    private let isShared: Bool

    /// A loader that knows these stage kinds and variables. `cores`: what `workers: auto` means; `mayBeNone`: whether
    /// a folder without a pipeline is as good as one with some; `isShared`: whether other nodes share the journal.
    package init(
        registry: StageRegistry, environment: [String: String],
        cores: Int = max(1, Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))), mayBeNone: Bool = false,
        isShared: Bool = false
    ) {
        self.isShared = isShared
        self.mayBeNone = mayBeNone
        self.registry = registry
        self.environment = environment
        self.cores = min(cores, 256)
    }

    /// The pipelines of these files and of the `*.yaml` and `*.yml` files in these folders, in that order; a file that
    /// is reached twice is read once.
    package func load(_ paths: [FilePath]) throws(ConfigProblems) -> [Pipeline] { try load(Self.read(paths)) }

    /// The pipelines of these files, as they were read. `known`: folders that need not be looked at. `mayLook`: asked
    /// before others are.
    package func load(
        _ files: PipelineFiles, _ known: KnownFolders = KnownFolders(),
        _ mayLook: Lookout.Permit = .always
    ) throws(ConfigProblems) -> [Pipeline] {
        var problems = files.problems
        if !mayBeNone {
            problems += files.empty.map {
                ConfigProblem("no *.yaml file in this folder; 'dropmill init' makes a first one", in: $0)
            }
        }
        let settings = settings(of: files, &problems)
        let archive = files.settings.flatMap { file in settings.history.archive.map { (file.path, $0) } }
        return try load(files.all.map { ($0.path, $0.text) }, archive, problems, known, mayLook)
    }

    /// What the pipeline of a file is called; nil where that is not to be understood.
    package func name(of file: PipelineFiles.File) -> String? {
        var problems: [ConfigProblem] = []
        return draft(of: file.path, file.text, &problems)?.name?.value
    }

    /// A pipeline file as it may be shown; nil where it cannot be read as YAML, and where in it, so that nobody knows
    /// what in it is a secret.
    package func shown(_ file: PipelineFiles.File) -> ShownText? {
        ShownText(file.text, .file(registry), secretKeys: ShownKeys.secretKeys(registry))
    }

    /// The daemon's settings of these files, as they were read.
    package func settings(of files: PipelineFiles) throws(ConfigProblems) -> ServiceSettings {
        var problems: [ConfigProblem] = []
        let settings = settings(of: files, &problems)
        guard problems.isEmpty else { throw ConfigProblems(problems) }
        return settings
    }

    /// Reads these files and those in these folders, and the daemon's settings where that is said. `mayLook`: asked
    /// before each.
    package static func read(
        _ paths: [FilePath], settings: SettingsPlace? = nil, _ mayLook: Lookout.Permit = .always
    ) -> PipelineFiles {
        var files = PipelineFiles()
        for file in list(paths, mayLook, &files) where mayLook(file) { read(file, &files) }
        if paths.allSatisfy({ mayLook($0) }), let (file, folder) = settings?.find(for: paths), mayLook(file) {
            readSettings(file, by: folder, &files)
        }
        return files
    }

    /// Reads only the daemon's settings for these files and folders.
    package static func readSettings(_ place: SettingsPlace, for paths: [FilePath]) -> PipelineFiles {
        var files = PipelineFiles()
        if let (file, folder) = place.find(for: paths) { readSettings(file, by: folder, &files) }
        return files
    }

    /// The pipelines of these texts, as if each were in a file.
    package func load(_ descriptions: [PipelineDescription]) throws(ConfigProblems) -> [Pipeline] {
        try load(descriptions.map { ($0.file, Array($0.text.utf8)) }, nil, [], KnownFolders(), .always)
    }

    /// `archive`: the folder that jobs are archived in, and the file that says so.
    private func load(
        _ texts: [(file: FilePath, text: [UInt8])], _ archive: (file: FilePath, folder: FilePath)?,
        _ found: [ConfigProblem], _ known: KnownFolders, _ mayLook: Lookout.Permit
    ) throws(ConfigProblems) -> [Pipeline] {
        var problems = found
        let drafts = texts.compactMap { draft(of: $0.file, $0.text, &problems) }
        let resolved = FolderResolver(knowing: known.folders(of: drafts), mayLook)
        problems += PipelineChecks.problems(of: drafts, among: registry, resolved)
        if isShared {
            for draft in drafts {
                problems += draft.solitary.map {
                    ConfigProblem(
                        "'\($0.value)' does not work with a shared journal, where nodes do not wait for each other; "
                            + "leave it out, or run this pipeline on one host without '--journal'", in: draft.source,
                        at: $0.position)
                }
            }
        }
        if let archive { problems += ArchiveCheck.problems(with: archive.folder, in: archive.file, drafts) }
        guard problems.isEmpty else { throw ConfigProblems(problems) }
        let lists = ListFolders(of: drafts, resolved)
        return drafts.compactMap { draft in
            guard var pipeline = draft.pipeline else { return nil }
            (pipeline.lists, pipeline.listsInFailed) = lists.names(for: draft)
            return pipeline
        }
    }

    private static func list(
        _ paths: [FilePath], _ mayLook: Lookout.Permit, _ files: inout PipelineFiles
    ) -> [FilePath] {
        var found: [FilePath] = []
        var seen: Set<ResolvedFolder> = []
        func add(_ file: FilePath) {
            if mayLook(file), seen.insert(ResolvedFolder(file)).inserted { found.append(file) }
        }
        for path in paths where mayLook(path) {
            guard Folder.kind(of: path, followingLinks: true) == .folder else {
                add(path)
                continue
            }
            if let mode = FileStatus.of(path.pushing("."))?.st_mode, mode & 0o002 != 0 {
                let problem =
                    "is a folder that everybody may write to, who could have the daemon run programs; chmod o-w it"
                files.problems.append(ConfigProblem(problem, in: path))
                continue
            }
            do throws(IOError) {
                // The folder itself may be a symbolic link, which listing does not follow.
                let names = try Folder.names(in: path.pushing(".")).filter { name in
                    !name.isHidden && name != SettingsPlace.fileName
                        && [Array("yaml".utf8), Array("yml".utf8)].contains(name.extension)
                }
                if names.isEmpty { files.empty.append(path) }
                for name in names.sorted() { add(path.appending(name)) }
            } catch {
                files.problems.append(ConfigProblem("\(error)", in: path))
            }
        }
        return found
    }

    private static func read(_ file: FilePath, _ files: inout PipelineFiles) {
        do throws(IOError) {
            let (found, status) = try read(file)
            guard status.st_mode & 0o002 == 0 else {
                let problem = "is writable by everybody, who could have the daemon run programs; chmod o-w it"
                return files.problems.append(ConfigProblem(problem, in: file))
            }
            files.all.append(found)
        } catch {
            let problem =
                switch error.errno {
                case .noSuchFileOrDirectory: "\(error); give a pipeline file or a folder of them"
                case .isDirectory: "is a folder, not a file; give a pipeline file another place"
                case .invalidArgument: "is no regular file; give a pipeline file or a folder of them"
                case .fileTooLarge: "larger than 1 MiB, which no pipeline needs"
                default: "\(error)"
                }
            files.problems.append(ConfigProblem(problem, in: file))
        }
    }

    private static func readSettings(_ path: FilePath, by folder: FilePath?, _ files: inout PipelineFiles) {
        do throws(IOError) {
            let entry = FileStatus.of(path)
            let (file, status) = try read(path)
            if let folder, let problem = SettingsPlace.fault(of: entry, status, by: folder) {
                files.problems.append(
                    ConfigProblem("\(problem); name the file with --settings, or remove it", in: path))
            } else {
                files.settings = file
            }
        } catch {
            let isFolder = error.errno == .isDirectory
            files.problems.append(
                ConfigProblem(isFolder ? "is a folder, not a file; move it away" : "\(error)", in: path))
        }
    }

    private func settings(of files: PipelineFiles, _ problems: inout [ConfigProblem]) -> ServiceSettings {
        guard let file = files.settings else { return ServiceSettings() }
        var (root, found) = YAMLReader.read(file.text, mayBeEmpty: true)
        var settings = ServiceSettings()
        if let root {
            var expansion = EnvironmentExpansion(environment)
            let expanded = expansion.expand(root)
            found += expansion.problems
            let base = file.path.removingLastComponent()
            settings = ServiceSettings(
                expanded, in: OptionContext(base: base, environment: environment), problems: &found)
        }
        problems += found.map { ConfigProblem($0.message, in: file.path, at: $0.position) }
        return settings
    }

    private func draft(
        of file: FilePath, _ text: [UInt8], _ problems: inout [ConfigProblem]
    ) -> PipelineDraft? {
        func report(_ found: [OptionProblem]) {
            problems += found.map { problem in
                let remedy = problem.isOfSecret ? "; \(registry.secretOptions)" : ""
                return ConfigProblem(problem.message + remedy, in: file, at: problem.position)
            }
        }
        let (root, syntax) = YAMLReader.read(text)
        report(syntax)
        guard let root else { return nil }
        var expansion = EnvironmentExpansion(environment)
        let expanded = expansion.expand(root)
        report(expansion.problems)
        var decoder = PipelineDecoder(source: file, registry: registry, cores: cores, environment: environment)
        let draft = decoder.decode(expanded)
        report(decoder.problems)
        return draft
    }

    private static func read(_ path: FilePath) throws(IOError) -> (file: PipelineFiles.File, status: stat) {
        // Do not wait for a writer if the path is a FIFO.
        let file = try OpenFile.open(path, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        switch FileKind(mode: status.st_mode) {
        case .regular: break
        case .folder: throw IOError("read", path, .isDirectory)
        default: throw IOError("read", path, .invalidArgument)
        }
        let text = try SmallFile.read(file, atMost: largestFile)
        return (PipelineFiles.File(path: path, text: text, changed: FileTime(status.st_mtim)), status)
    }
}
