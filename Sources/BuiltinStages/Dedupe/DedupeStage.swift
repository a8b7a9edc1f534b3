import Digests
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Knows content that came before.
struct DedupeStage: OwnStage {
    private enum Seen: String, CaseIterable, Sendable { case skip, fail, `continue` }
    private enum Scope: String, CaseIterable, Sendable { case pipeline, all }

    private static let seen = StageOption<Seen>.choice(
        "seen",
        "what to do with content seen before: skip the remaining stages and go to processed, fail, or only "
            + "note it in the job's history", default: .skip)
    private static let scope = StageOption<Scope>.choice(
        "scope", "which drops to compare with: this pipeline's, or those of all", default: .pipeline)
    private static let window = StageOption<Duration?>(
        "window", "how long content is remembered", takes: "a duration such as 30d", default: .some(nil),
        shown: "as long as the journal is kept", schema: .duration
    ) { (node, _) throws(OptionProblem) in try node.duration() }

    static let descriptor = StageDescriptor(
        kind: "dedupe",
        summary: "Recognizes content seen before, by its SHA-256, and names the first job that had it.",
        options: [seen.erased, scope.erased, window.erased],
        example: "dedupe: { seen: skip, window: 30d }")

    private let seen: Seen
    private let scope: Scope
    private let window: Duration?

    var facts: [String] { ["sha256"] }
    var memory: Duration? { window }
    var effects: Set<StageDescriptor.Effect> { seen == .skip ? [.ends] : [] }

    init(options: StageOptions) throws(OptionProblem) {
        seen = try options.value(Self.seen)
        scope = try options.value(Self.scope)
        window = try options.value(Self.window)
    }

    func run(_ payload: Payload, in context: StageContext) throws(Failure) -> Payload {
        try context.checkCancelled()
        var payload = payload
        let content = try content(of: &payload, context)
        let since = window.map { Timestamp(nanoseconds: context.job.values.date.nanoseconds - $0.nanoseconds) }
        let query = SeenQuery(
            content, job: context.job.id, pipeline: context.job.values.pipeline, everywhere: scope == .all, since: since
        )
        guard let first = try first(query, context)?.id else { return payload }
        switch seen {
        case .continue: context.work.notes.add("the same content as job \(first)")
        case .skip:
            context.work.notes.add("the same content as job \(first), so the other stages are skipped")
            payload.isDone = true
        case .fail:
            throw .file(
                "dedupe.seen", "'\(context.job.drop.name)' has the same content as the earlier job \(first).",
                remedy: "Check that job (dropmill show \(first)); this file can be deleted safely.",
                detail: content)
        }
        return payload
    }

    /// The job that brought the content first. Before anything is skipped because of it, that job has to be over: it
    /// may fail, and then this one is the first.
    private func first(_ query: SeenQuery, _ context: StageContext) throws(Failure) -> SeenJob? {
        let begun = ContinuousClock.now
        while true {
            guard let first = try context.seen.first(query) else { return nil }
            if seen != .skip || first.isOver { return first }
            try context.checkCancelled()
            guard ContinuousClock.now - begun < Self.patience else {
                throw Failure(
                    .transient, code: "dedupe.waiting",
                    summary:
                        "'\(context.job.drop.name)' has the same content as job \(first.id), which has not finished.",
                    remedy: "Check that job (dropmill show \(first.id)); once it has finished, send this file again.")
            }
            poll(nil, 0, 50)
        }
    }

    /// How long a run waits for another job; after that it is tried again later, so that others get their turn.
    private static let patience = Duration.seconds(10)

    /// What tells the content from any other: a file's digest, or that of a list of a folder's files.
    private func content(of payload: inout Payload, _ context: StageContext) throws(Failure) -> String {
        if case .file = payload.shape, let known = payload.digests["sha256"] { return "sha256:\(known)" }
        let files = try Failure.onIOError { () throws(IOError) in try context.files(of: payload) }
        let hashing = PayloadHashing(root: payload.root, algorithms: [.sha256], context: context)
        let digests = try hashing.digests(of: files, announcingSize: files.count == 1)
        if case .file = payload.shape, let digest = digests.first?.first {
            payload.digests["sha256"] = digest.hex
            return "sha256:\(digest.hex)"
        }
        let list = ChecksumFormat.gnu.list(zip(files, digests).lazy.map { (file: $0, digests: $1) })
        do throws(DigestError) {
            return "sha256-of-list:\(try Digest.of(list, .sha256).hex)"
        } catch {
            throw Failure(
                .environment, code: "dedupe.algorithm", summary: "The digests cannot be computed.",
                remedy: "Allow SHA-256 in OpenSSL's configuration.", detail: "\(error)")
        }
    }
}
