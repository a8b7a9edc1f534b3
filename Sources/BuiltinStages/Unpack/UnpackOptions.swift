import Archive
import Files
import PipelineKit
import SystemPackage

/// The options of the stage `unpack`.
struct UnpackOptions: Sendable {
    private static let require = StageOption<Bool>.flag(
        "require", "whether a drop that is not an archive fails", default: false)
    private static let documents = StageOption<Bool>.flag(
        "documents", "whether documents that happen to be archives (docx, epub, jar, deb, …) are unpacked too",
        default: false)
    private static let formats = StageOption<Set<ArchiveFormat>>(
        "formats", "the formats that are unpacked; files of others pass",
        takes: "a list of " + formatNames.joined(separator: ", "), default: ArchiveFormat.usual,
        shown: "all but rar, iso, cab, xar, lha, rpm, lzip", schema: .oneOrMore(.choice(formatNames))
    ) { (node, _) throws(OptionProblem) in try readFormats(node) }
    private static let links = StageOption<UnpackPolicy.Links>.choice(
        "links", "inside keeps links that stay inside and fails the archive for others; skip and fail apply to all",
        default: .inside)
    private static let mode = StageOption<UInt32>(
        "mode", "a mask on 0644 for files and on 0755 for folders; the umask applies too",
        takes: "an octal number", default: 0o755, shown: "0755",
        schema: .mode("^0*[0-7]{1,3}$", 0...0o777)
    ) { (node, _) throws(OptionProblem) in try readMode(node) }
    private static let executable = StageOption<Bool>.flag(
        "executable", "whether files keep their execute permission", default: false)
    private static let uniqueNames = StageOption<UnpackPolicy.UniqueNames>.choice(
        "unique_names", "strict: names that differ only in case or in how letters are composed fail the archive too",
        default: .exact)
    private static let tarEnd = StageOption<UnpackPolicy.TarEnd>.choice(
        "tar_end", "whether a tar must end with its mark; without one, a tar that was cut may pass", default: .required)
    private static let duplicates = StageOption<UnpackPolicy.Duplicates>.choice(
        "duplicates", "whether two entries with one name in a tar, cpio or ar fail the archive, or the last one counts",
        default: .fail)
    private static let nameEncoding = StageOption<UnpackPolicy.NameEncoding>.choice(
        "name_encoding", "the character set of a zip's names that are not marked as UTF-8; bytes: kept as they are",
        default: .bytes)
    private static let nested = StageOption<Int>.integer(
        "nested", "how many layers of archives within archives are unpacked too, within the same limits", in: 0...3,
        default: 0)
    private static let maxBytes = StageOption<Int64>.size(
        "max_bytes", "the maximum total size of an archive's files, and never more than min_free leaves",
        default: 10 << 30)
    private static let maxEntry = StageOption<Int64?>.optionalSize(
        "max_entry", "the maximum size of one file", shown: "as max_bytes")
    private static let maxRatio = StageOption<Int>.integer(
        "max_ratio", "the maximum number of bytes out per byte in, once 64MiB are out", in: 1...1_000_000, default: 100)
    private static let maxEntries = StageOption<Int>.integer(
        "max_entries", "the maximum number of entries", in: 1...100_000_000, default: 100_000)
    private static let maxName = StageOption<Int>.integer(
        "max_name", "the maximum length of a name in bytes", in: 1...255, default: 255)
    private static let maxPath = StageOption<Int>.integer(
        "max_path", "the maximum length of a path in bytes", in: 1...3000, default: 1024)
    private static let maxDepth = StageOption<Int>.integer(
        "max_depth", "the maximum depth of a path", in: 1...128, default: 32)
    private static let requireIntegrity = StageOption<Bool>.flag(
        "require_integrity", "whether an archive fails unless checksums cover all its content", default: false)
    private static let requireSandbox = StageOption<Bool>.flag(
        "require_sandbox", "whether to refuse to unpack if the kernel has no Landlock", default: true)
    private static let passwordsFile = StageOption<FilePath?>.file(
        "passwords_file", "a file, readable by its owner alone, of passwords to try on encrypted zips, one per line")

    /// All of them, in the order they are shown.
    static let all: [AnyStageOption] = [
        require.erased, documents.erased, formats.erased, nested.erased, links.erased, mode.erased, executable.erased,
        uniqueNames.erased, tarEnd.erased, duplicates.erased, nameEncoding.erased, maxBytes.erased, maxEntry.erased,
        maxRatio.erased, maxEntries.erased,
        maxName.erased, maxPath.erased, maxDepth.erased, requireIntegrity.erased, requireSandbox.erased,
        passwordsFile.erased,
    ]

    let require: Bool
    let documents: Bool
    /// Whether the pipeline says which formats are unpacked.
    let namesFormats: Bool
    let requiresSandbox: Bool
    let passwordsFile: FilePath?
    /// The policy, as far as it is known before there is a job.
    let policy: UnpackPolicy

    init(_ options: StageOptions) throws(OptionProblem) {
        require = try options.value(Self.require)
        documents = try options.value(Self.documents)
        namesFormats = options.isGiven(Self.formats)
        requiresSandbox = try options.value(Self.requireSandbox)
        passwordsFile = try options.value(Self.passwordsFile)
        var policy = UnpackPolicy()
        policy.formats = try options.value(Self.formats)
        policy.links = try options.value(Self.links)
        policy.mode = try options.value(Self.mode)
        policy.keepsExecutable = try options.value(Self.executable)
        policy.uniqueNames = try options.value(Self.uniqueNames)
        policy.tarEnd = try options.value(Self.tarEnd)
        policy.duplicates = try options.value(Self.duplicates)
        policy.nameEncoding = try options.value(Self.nameEncoding)
        policy.nested = try options.value(Self.nested)
        policy.takesDocuments = documents
        policy.requiresIntegrity = try options.value(Self.requireIntegrity)
        policy.limits.bytes = try options.value(Self.maxBytes)
        policy.limits.entry = try options.value(Self.maxEntry)
        policy.limits.ratio = Int64(try options.value(Self.maxRatio))
        policy.limits.entries = Int64(try options.value(Self.maxEntries))
        policy.limits.name = try options.value(Self.maxName)
        policy.limits.path = try options.value(Self.maxPath)
        policy.limits.depth = try options.value(Self.maxDepth)
        self.policy = policy
    }

    /// `rar` stands for both of its formats, which users do not distinguish.
    private static let formatNames = ArchiveFormat.all.map(\.name)

    private static func readFormats(_ node: OptionNode) throws(OptionProblem) -> Set<ArchiveFormat> {
        var formats: Set<ArchiveFormat> = []
        for member in node.members {
            let name = try member.string()
            guard let format = ArchiveFormat.all.first(where: { $0.name == name }) else {
                let hint = Suggestion.nearest(to: name, among: formatNames).map { "; did you mean '\($0)'?" } ?? ""
                throw member.problem("'\(name)' is not one of \(formatNames.joined(separator: ", "))\(hint)")
            }
            formats.insert(format)
            if format == .container(.rar) { formats.insert(.container(.rar5)) }
        }
        if formats.isEmpty { throw node.problem("name at least one format, such as zip") }
        return formats
    }

    private static func readMode(_ node: OptionNode) throws(OptionProblem) -> UInt32 {
        let text = try node.string()
        guard let mode = UInt32(text, radix: 8), mode <= 0o777 else {
            throw node.problem("'\(text)' is not a mode; write an octal number such as 0750")
        }
        return mode
    }
}

extension StageOption where Value == Int64 {
    fileprivate static func size(_ name: String, _ summary: String, default fallback: Int64) -> Self {
        Self(
            name, summary, takes: "a size", default: fallback,
            shown: "\(ByteSize(bytes: fallback))".filter { $0 != " " }, schema: .someSize
        ) { (node, _) throws(OptionProblem) in try node.positiveSize() }
    }
}

extension StageOption where Value == Int64? {
    fileprivate static func optionalSize(_ name: String, _ summary: String, shown: String) -> Self {
        Self(name, summary, takes: "a size", default: .some(nil), shown: shown, schema: .someSize) {
            (node, _) throws(OptionProblem) in
            try node.positiveSize()
        }
    }
}

extension OptionNode {
    fileprivate func positiveSize() throws(OptionProblem) -> Int64 {
        let size = try size().bytes
        guard size > 0 else { throw problem("0 bytes would reject everything; write a size such as 10GiB") }
        return size
    }
}
