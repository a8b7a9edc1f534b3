import PipelineKit

/// A key of pipeline files, as editors are told of it; README says more.
struct PipelineKey: Sendable {
    /// What it takes; of a map only its members' own values.
    indirect enum Shape: Sendable {
        case value(OptionSchema)
        case map([PipelineKey])
        case stages
        case telling
    }

    /// A default that can be written down.
    enum Fallback: Sendable {
        case text(String)
        case number(Int)
    }

    let name: String
    let summary: String
    let fallback: Fallback?
    let shape: Shape

    init(_ name: String, _ shape: Shape, _ summary: String = "", default fallback: Fallback? = nil) {
        self.name = name
        self.summary = summary
        self.fallback = fallback
        self.shape = shape
    }

    /// One of some words, the first of which is the default.
    private static func choice<Word: CaseIterable & RawRepresentable<String>>(
        _ name: String, _ summary: String, of type: Word.Type, default fallback: Word
    ) -> PipelineKey {
        PipelineKey(
            name, .value(.choice(Word.allCases.map(\.rawValue))), summary, default: .text(fallback.rawValue))
    }

    private static let filled = "."
    /// A folder's path, with placeholders.
    private static let original = "^(?!~(/|$))."
    /// The name of a file beside another one.
    private static let beside = "^(?![{]name[}]$)[^/]+$"
    /// A folder's path, without placeholders.
    private static let folder = "^(?!~(/|$))([^{]|[$][{])+$"

    /// The file's own keys, in the order in which they are shown.
    static let all: [PipelineKey] = [
        PipelineKey(
            "name", .value(.pattern("^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$")),
            "what the pipeline is called; the file's own name without its ending, unless given"),
        PipelineKey("inbox", .value(.pattern(folder)), "the folder that is watched; made if missing"),
        PipelineKey(
            "processed", .value(.pattern(original)),
            "where originals go after success, with placeholders that are known at the claim; or 'delete'"),
        PipelineKey(
            "failed", .value(.pattern(original)),
            "where originals go after failure, with NAME.error.json beside them; with the same placeholders"),
        PipelineKey("stages", .stages, "what is done with each drop, in order"),
        PipelineKey("match", .map(match), "which names are drops"),
        PipelineKey("ready", .map(ready), "when a drop is complete"),
        choice(
            "order", "which of the drops that are complete is claimed first", of: Pipeline.Order.self,
            default: .arrival),
        choice(
            "on_conflict", "what happens where a name is taken", of: Pipeline.ConflictPolicy.self, default: .rename),
        PipelineKey("active", .map(active), "how much is claimed at once"),
        PipelineKey("retry", .map(retry), "how failures that may pass are tried again"),
        PipelineKey("work", .value(.pattern(folder)), "the work folder; on the inbox's file system"),
        PipelineKey(
            "trust", .value(.anyNumber(.pattern(folder))),
            "folders and links that are accepted although others could exchange what is in them"),
        choice(
            "durability", "whether results are on disk before a job counts as done", of: Durability.self,
            default: .full),
        PipelineKey(
            "min_free", .value(.size), "what each file system written to must have free before a drop is claimed",
            default: .text("256MiB")),
        PipelineKey("on_failure", .telling, "what is done for a job that failed"),
        choice(
            "ownership", "whether a claimed drop becomes Dropmill's own or stays its sender's",
            of: Pipeline.Ownership.self, default: .take),
        PipelineKey(
            "mode", .value(.mode("^0?[67][0-7]{2}$", 0o600...0o777)),
            "permission bits of outputs, in octal: '0640'"),
        PipelineKey("owner", .value(.pattern(filled)), "the user that outputs are given to"),
        PipelineKey("group", .value(.pattern(filled)), "the group that outputs are given to"),
    ]

    private static let match = [
        PipelineKey("include", .value(.oneOrMore(.text)), "shell patterns of names that are taken"),
        PipelineKey("exclude", .value(.anyNumber(.text)), "shell patterns of names that are not"),
        PipelineKey(
            "depth", .value(.either(.choice(["all"]), .integer(1...1000))),
            "how many levels of folders are looked into; 'all' for all of them", default: .number(1)),
    ]

    private static let ready = [
        PipelineKey(
            "quiet", .value(.time), "how long a drop must stand unchanged", default: .text("1s")),
        choice(
            "writers", "whether a drop waits while a process has it open for writing", of: ReadyRule.Writers.self,
            default: .wait),
        PipelineKey(
            "marker", .value(.pattern(beside)), "the file that says that a drop is complete, such as '{name}.done'"),
        PipelineKey(
            "manifest", .value(.pattern(filled)),
            "with 'unit: folder': the files in it, such as SHA256SUMS, that list what has to be there"),
        choice(
            "complete", "whether standing still is enough, or a file also has to be whole by its format",
            of: ReadyRule.Complete.self, default: .still),
        PipelineKey(
            "timeout", .value(.time), "a drop that is not complete after so long fails with what it waited for"),
        choice("unit", "what one drop is", of: ReadyRule.Unit.self, default: .file),
        choice("empty", "what a drop of zero bytes is", of: ReadyRule.Empty.self, default: .process),
        PipelineKey("max_size", .value(.size), "a drop of more bytes fails"),
        PipelineKey(
            "max_entries", .value(.integer(1...Int(Int32.max))),
            "with 'unit: folder': one that holds more files and folders fails",
            default: .number(ReadyRule.Limits().entries)),
        PipelineKey(
            "max_depth", .value(.integer(ReadyRule.Limits.depths)),
            "a folder drop that has more folders in each other fails", default: .number(ReadyRule.Limits().depth)),
    ]

    private static let active = [
        PipelineKey("jobs", .value(.integer(1...100_000)), "how many jobs may be under way", default: .number(256)),
        PipelineKey("bytes", .value(.size), "how many bytes they may have together"),
    ]

    static let retry = [
        PipelineKey("attempts", .value(.integer(1...100)), "runs in all", default: .number(RetryPolicy().attempts)),
        PipelineKey("backoff", .value(.duration), "the first wait, which doubles", default: .text("2s")),
        PipelineKey("max_backoff", .value(.duration), "the longest wait", default: .text("15m")),
    ]
}
