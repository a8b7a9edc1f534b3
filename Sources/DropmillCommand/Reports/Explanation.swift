import Control
import Doctor
import Dropmill
import Files
import FolderWatch
import FoundationEssentials
import Journal
import PipelineKit
import SystemPackage

/// What happens to a file, by its path, the pipelines, the journal and a running daemon.
struct Explanation {
    /// One pipeline's view of the file.
    struct Account {
        let pipeline: Pipeline
        let name: FileName
        /// The folders between the inbox and the file.
        let folders: [FileName]
        /// Whether the pipeline takes this name, whatever the file is.
        let isTaken: Bool
        /// Which rule says so.
        let rule: String
        var standing: Standing?

        var isMarker: Bool { pipeline.ready.isMarkerBeside(name) }
    }

    /// What the file waits for now.
    struct Standing {
        /// A word for programs; `gone` and `complete` besides those of `Waiting`.
        let code: String
        let text: String
        /// Whether a daemon reported it; else this program observed it.
        let isFromDaemon: Bool
        /// Whether the pipeline will take it, sooner or later.
        let isTaken: Bool
    }

    let file: FilePath
    let place: PipelineFolders.Place
    private(set) var accounts: [Account] = []
    private(set) var job: JobRecord?
    /// What its job waits for, where that is a slot which nodes have together.
    private(set) var slot: String?
    /// Why no daemon said what the file waits for, where one runs or nodes share the journal.
    private(set) var silence: String?
    let pipelines: [Pipeline]
    let now: Timestamp

    /// How long a file is watched where no daemon can be asked.
    private static let patience = Duration.seconds(3)

    /// `now`: the value of `{date}`. `state`: the daemon's, for what the file waits for and its job; nil: only what
    /// the pipelines say.
    init(of file: FilePath, among folders: PipelineFolders, state: StateFolder?, now: Timestamp) {
        self.file = file
        self.now = now
        pipelines = folders.pipelines
        place = folders.place(of: file)
        switch place {
        case .inbox(let index, let between, let name):
            var account = Self.account(pipelines[index], between, name)
            if let state, account.isTaken || account.isMarker {
                (account.standing, silence) = Self.standing(account, state)
            }
            accounts = [account]
            if let state, account.standing?.code == "gone" { job = Self.newestJob(of: name, account.pipeline, state) }
        case .name(let name): accounts = pipelines.map { Self.account($0, [], name) }
        case .work(let index, let id?):
            job = state?.peek { journal throws(JournalError) in try journal.job(id) }
            slot = Self.slot(of: job, pipelines[index], state)
        case .settled: job = state.flatMap { Self.job(thatLeft: file.absolute.lexicallyNormalized(), $0) }
        case .work, .elsewhere: break
        }
    }

    /// Whether a pipeline takes it, or took it.
    var isTaken: Bool { job != nil || accounts.contains { $0.isTaken && $0.standing?.isTaken ?? true } }

    // MARK: The rule

    static func account(_ pipeline: Pipeline, _ between: [FileName], _ file: FileName) -> Account {
        var (folders, name) = (between, file)
        // The contents of a dropped folder go with it.
        if pipeline.ready.unit == .folder, let drop = between.first { (folders, name) = ([], drop) }
        let (isTaken, rule) =
            pipeline.ready.isMarkerBeside(name)
            ? (false, markerRule(pipeline.ready)) : judge(pipeline.match, folders, name)
        return Account(pipeline: pipeline, name: name, folders: folders, isTaken: isTaken, rule: rule)
    }

    private static func markerRule(_ rule: ReadyRule) -> String {
        rule.marker?.isShared ?? false
            ? "it is a marker: it declares all older drops in its folder complete, and stays"
            : "it is a marker: it declares a drop beside it complete, and moves with that drop"
    }

    private static func judge(_ match: MatchRule, _ folders: [FileName], _ name: FileName) -> (Bool, String) {
        for (place, name) in folders.enumerated() {
            guard !match.enters(name, in: InboxFolder(folders[..<place])) else { continue }
            let reason = place + 1 < match.depth ? "because of its name" : "because `match.depth` is \(match.depth)"
            return (false, "the folder '\(name.text)' is not searched, \(reason)")
        }
        switch match.verdict(on: name) {
        case .taken:
            let pattern = match.include.first { $0.matches(name) }?.pattern ?? "*"
            return (true, pattern == "*" ? "every name is taken" : "`match.include` has '\(pattern)'")
        case .ignored(let reason): return (false, "\(reason), and such files are never taken")
        case .excluded(let glob): return (false, "`match.exclude` has '\(glob.pattern)'")
        case .notIncluded:
            let patterns = match.include.map { "'\($0.pattern)'" }.joined(separator: ", ")
            return (false, "no pattern of `match.include` matches its name: \(patterns)")
        }
    }

    // MARK: What it waits for

    /// What it waits for; and why no daemon said it.
    private static func standing(_ account: Account, _ state: StateFolder) -> (Standing?, silence: String?) {
        let path = (account.folders + [account.name]).map(\.bytes).joined(separator: [UInt8(ascii: "/")])
        if state.isHeldIfKnown == true {
            do throws(ControlClient.Problem) {
                let question = DropVerb.Arguments(pipeline: account.pipeline.name, path: Data(path))
                if let drop = try ControlClient.ask(DropVerb.self, question, in: state.path).drop {
                    return (Standing(code: drop.code, text: drop.text, isFromDaemon: true, isTaken: drop.waits), nil)
                }
            } catch {
                // What can be seen from here at once says as much as it can.
                return (watched(account, for: .zero), error.message)
            }
        }
        let remedy = "ask on a host where a node runs, or 'dropmill nodes' what they pause"
        return (watched(account, for: patience), state.shared == nil ? nil : "none runs here; \(remedy)")
    }

    private static func watched(_ account: Account, for patience: Duration) -> Standing {
        func standing(_ code: String, _ text: String, isTaken: Bool = true) -> Standing {
            Standing(code: code, text: text, isFromDaemon: false, isTaken: isTaken)
        }
        do throws(IOError) {
            let pipeline = account.pipeline
            let path = DropPath(account.name, in: InboxFolder(account.folders))
            if account.isMarker {
                let folder = try OpenInbox(pipeline.inbox).open(path.folder)
                guard Folder.kind(of: folder.file.path.appending(path.name)) != nil else {
                    return standing("gone", "not there")
                }
                if pipeline.ready.marker?.isShared ?? false {
                    return standing(Waiting.markerOfAll.code, Waiting.markerOfAll.text)
                }
                let drop = try pipeline.drop(needing: path.name, in: folder.file)
                let waiting = drop.map { Waiting.markerOf($0) } ?? .markerWithoutDrop
                return standing(waiting.code, waiting.text)
            }
            switch try DropProbe.watch(
                path, of: pipeline, asking: FormatProgram.own.judge, patience: patience)
            {
            case .gone: return standing("gone", "not there")
            case .complete: return standing("complete", "complete; a running daemon claims it at once")
            case .waiting(let waiting): return standing(waiting.code, waiting.text, isTaken: waiting.isWaiting)
            }
        } catch {
            guard error.errno != .noSuchFileOrDirectory else { return standing("gone", "not there") }
            return standing("unknown", "\(error)")
        }
    }

    // MARK: Its job

    private static func newestJob(of name: FileName, _ pipeline: Pipeline, _ state: StateFolder) -> JobRecord? {
        var query = JobQuery()
        query.pipeline = pipeline.name
        query.name = name
        query.limit = 1
        return state.peek { journal throws(JournalError) in try journal.jobs(query).first }
    }

    private static func slot(of job: JobRecord?, _ pipeline: Pipeline, _ state: StateFolder?) -> String? {
        let places = SlotPlace.places(of: pipeline.allStages.map(\.kind), in: pipeline.name)
        guard let job, [.queued, .running].contains(job.state), places.indices.contains(job.stage) else { return nil }
        let use = state?.peek { journal throws(JournalError) in
            try (journal as? any SharedJournal)?.slotsInUse().first { $0.place == places[job.stage] }
        }
        return use?.text
    }

    /// The newest job that left this where it is, or the folder that it is in.
    private static func job(thatLeft path: FilePath, _ state: StateFolder) -> JobRecord? {
        var query = JobQuery()
        var rest = path
        while !rest.components.isEmpty, query.left.count < mostFolders {
            query.left.append(rest)
            rest.removeLastComponent()
        }
        let jobs = state.peek { [query] journal throws(JournalError) in try journal.jobs(query) } ?? []
        return query.left.lazy.compactMap { path in jobs.first { $0.original == path || $0.outputs.contains(path) } }
            .first
    }

    /// How deep in a folder that was published a file is known.
    private static let mostFolders = 16
}
