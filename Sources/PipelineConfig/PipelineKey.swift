import PipelineKit

/// A key of pipeline files, for the editors' schema; docs/pipelines.md says more.
struct PipelineKey: Sendable {
    /// What it takes; of a map only its members' own values.
    indirect enum Shape: Sendable {
        case value(OptionSchema)
        case map([PipelineKey])
        /// One such map, or a list of them.
        case maps([PipelineKey])
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
    private static let plainName = "^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"
    /// A folder's path, with placeholders.
    private static let original = "^(?!~(/|$))."
    /// The name of a file beside another one.
    private static let beside = "^(?![{]name[}]$)[^/]+$"
    /// A folder's path, without placeholders.
    private static let folder = "^(?!~(/|$))([^{]|[$][{])+$"

    /// So many within a time, and so many bytes.
    private static let rate = "^[0-9]*[1-9][0-9]*/(s|min|h|d)$"
    private static let byteRate = "^(?=.*[1-9].*/)[0-9]+([.][0-9]+)? *[A-Za-z]*/(s|min|h|d)$"

    /// The file's own keys, in the order in which they are shown.
    static let all: [PipelineKey] = [
        PipelineKey(
            "name", .value(.pattern(plainName)),
            "the pipeline's name; unless given, the file's name without its extension"),
        PipelineKey("inbox", .value(.pattern(folder)), "the folder to watch; created if missing"),
        PipelineKey(
            "processed", .value(.pattern(original)),
            "where originals go after success, with the placeholders known at the claim; or 'delete'"),
        PipelineKey(
            "failed", .value(.pattern(original)),
            "where originals go after failure, with NAME.error.json beside them; with the same placeholders"),
        PipelineKey("stages", .stages, "what is done with each drop, in order"),
        PipelineKey("match", .map(match), "which names are drops"),
        PipelineKey("ready", .map(ready), "when a drop is complete"),
        choice(
            "order", "which complete drop is claimed first", of: Pipeline.Order.self,
            default: .arrival),
        choice(
            "scan", "which of the nodes that share a journal list the inbox", of: Pipeline.Scan.self, default: .all),
        choice(
            "on_conflict", "what happens where a name is already used", of: Pipeline.ConflictPolicy.self,
            default: .rename),
        PipelineKey("active", .map(active), "how much is claimed at once"),
        PipelineKey(
            "weight", .value(.integer(1...FairRule.mostWeight)),
            "how often its stages have their turn where those of other pipelines have it once, with 'jobs_at_once'",
            default: .number(1)),
        PipelineKey("hours", .value(.oneOrMore(.text)), "when it works, such as 'Mon-Fri 20:00-06:00' or 'Sat,Sun'"),
        PipelineKey(
            "zone", .value(.text), "with 'hours': by whose clocks, such as Europe/Berlin; the host's unless given"),
        PipelineKey(
            "outside", .value(.choice(HoursRule.Outside.allCases.map(\.rawValue))),
            "with 'hours': whether no stage begins outside them, or claimed jobs go on to their end; pause unless given"
        ),
        PipelineKey("limit", .map(limit), "how fast drops are claimed"),
        PipelineKey("fair", .map(fair), "how producers share the pipeline"),
        PipelineKey("priority", .maps(priority), "which drops come before others; the first that matches counts"),
        PipelineKey(
            "aging", .value(.time),
            "with 'priority': after how long a drop is passed by nothing any more; 1h unless given"),
        PipelineKey("retry", .map(retry), "how transient failures are retried"),
        PipelineKey("work", .value(.pattern(folder)), "the work folder; on the inbox's file system"),
        PipelineKey(
            "formerly", .value(.pattern(plainName)),
            "the name of a pipeline that is gone, whose unfinished jobs this one takes over"),
        PipelineKey(
            "trust", .value(.anyNumber(.pattern(folder))),
            "folders and links to accept although other users could replace what is in them"),
        choice(
            "durability", "whether results are on disk before a job counts as done", of: Durability.self,
            default: .full),
        PipelineKey(
            "min_free", .value(.size),
            "the space that each file system written to must have free before a drop is claimed",
            default: .text("256MiB")),
        PipelineKey("keep", .map(keep), "how long originals stay in 'processed' and 'failed'; unless given, for ever"),
        PipelineKey(
            "upload", .value(.flag), "whether drops may be sent into the inbox through the page; unless given, not"),
        PipelineKey(
            "max_upload", .value(.someSize),
            "with 'upload: true': a larger file or folder is not taken; 4GiB unless given"),
        PipelineKey("on_failure", .telling, "stages to run for a job that failed"),
        choice(
            "ownership", "whether a claimed drop becomes Dropmill's own or still belongs to its sender",
            of: Pipeline.Ownership.self, default: .take),
        PipelineKey(
            "mode", .value(.mode("^0?[67][0-7]{2}$", 0o600...0o777)),
            "permission bits of outputs, in octal: '0640'"),
        PipelineKey("owner", .value(.pattern(filled)), "the user who owns outputs"),
        PipelineKey("group", .value(.pattern(filled)), "the group of outputs"),
    ]

    private static let match = [
        PipelineKey("include", .value(.oneOrMore(.text)), "shell patterns of names to take"),
        PipelineKey("exclude", .value(.anyNumber(.text)), "shell patterns of names not to take"),
        PipelineKey(
            "depth", .value(.either(.choice(["all"]), .integer(1...1000))),
            "how many levels of folders to search; 'all' for all of them", default: .number(1)),
    ]

    private static let ready = [
        PipelineKey(
            "quiet", .value(.time), "how long a drop must stand unchanged", default: .text("1s")),
        choice(
            "writers", "whether a drop waits while a process has it open for writing", of: ReadyRule.Writers.self,
            default: .wait),
        PipelineKey(
            "marker", .value(.pattern(beside)), "the file that marks a drop as complete, such as '{name}.done'"),
        PipelineKey(
            "manifest", .value(.pattern(filled)),
            "with 'unit: folder': the files in it, such as SHA256SUMS, that list what must be there"),
        choice(
            "complete", "whether standing unchanged is enough, or a file must also be complete by its format",
            of: ReadyRule.Complete.self, default: .still),
        PipelineKey(
            "timeout", .value(.time), "a drop that is not complete after this long fails, with what it waited for"),
        choice("unit", "what one drop is", of: ReadyRule.Unit.self, default: .file),
        choice("empty", "what to do with a drop of zero bytes", of: ReadyRule.Empty.self, default: .process),
        PipelineKey("max_size", .value(.size), "a larger drop fails"),
        PipelineKey(
            "max_entries", .value(.integer(1...Int(Int32.max))),
            "with 'unit: folder': a drop with more files and folders fails",
            default: .number(ReadyRule.Limits().entries)),
        PipelineKey(
            "max_depth", .value(.integer(ReadyRule.Limits.depths)),
            "a folder drop nested deeper than this fails", default: .number(ReadyRule.Limits().depth)),
    ]

    private static let active = [
        PipelineKey(
            "jobs", .value(.integer(1...100_000)), "how many jobs may be active at once", default: .number(1024)),
        PipelineKey("bytes", .value(.size), "how many bytes their drops may have in total"),
    ]

    private static let limit = [
        PipelineKey("jobs", .value(.pattern(rate)), "how many in which time: 100/min; s, min, h or d"),
        PipelineKey("bytes", .value(.pattern(byteRate)), "how many bytes in which time: 50MiB/s; s, min, h or d"),
    ]

    private static let keep = [
        PipelineKey("processed", .map(kept), "what is kept of those that were processed"),
        PipelineKey("failed", .map(kept), "what is kept of those that failed"),
        PipelineKey(
            "when_short", .value(.choice(["prune"])),
            "whether the oldest go before their time where less than twice 'min_free' is free; unless given, not"),
    ]

    private static let kept = [
        PipelineKey("age", .value(.time), "how long each is kept, counted from the end of its job"),
        PipelineKey("bytes", .value(.someSize), "the oldest go where they have more bytes together"),
        PipelineKey("files", .value(.integer(1...1_000_000_000)), "the oldest go where there are more"),
    ]

    private static let fair = [
        PipelineKey(
            "by", .value(.text),
            "whose a drop is: 'folder' (the first below the inbox), 'owner', or what stands for the '*' of a pattern"),
        PipelineKey(
            "weight", .value(.map(.integer(1...FairRule.mostWeight))),
            "how often some producers have their turn, where others have it once"),
        PipelineKey("active", .value(.integer(1...100_000)), "how many jobs of one producer may be active at once"),
    ]

    private static let priority = [
        PipelineKey("match", .value(.text), "a shell pattern of names"),
        PipelineKey("path", .value(.text), "a shell pattern of paths from the inbox on; '*' matches '/' too"),
        PipelineKey(
            "level", .value(.integer(PriorityRule.levels)), "the highest comes first; other drops have 0"),
    ]

    static let retry = [
        PipelineKey("attempts", .value(.integer(1...100)), "runs in all", default: .number(RetryPolicy().attempts)),
        PipelineKey("backoff", .value(.duration), "the first wait, which doubles", default: .text("2s")),
        PipelineKey("max_backoff", .value(.duration), "the longest wait", default: .text("15m")),
    ]
}
