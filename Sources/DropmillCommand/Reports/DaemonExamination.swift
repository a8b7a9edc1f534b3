import Control
import Doctor
import Files
import Journal
import PipelineEngine
import PipelineKit
import SystemPackage

/// What the daemon that runs, and the journal, know of what is wrong.
struct DaemonExamination {
    /// Whether one runs; nil if unknown.
    let isRunning: Bool?
    /// The pipelines that it runs.
    private(set) var running: Set<String> = []
    private var findings: [Finding] = []
    /// Why pipelines pause, as the daemon says.
    private var pauses: [String: Failure] = [:]

    var place: ExaminedPlace { ExaminedPlace(role: "daemon", path: nil, findings: findings) }

    init(of state: StateFolder, _ pipelines: [Pipeline]) {
        isRunning = state.isHeldIfKnown
        if isRunning == true { ask(state, pipelines) }
        guard state.shared == nil else {
            findings.append(
                .note(
                    .journal, "is shared by several nodes, which is not examined yet",
                    "'dropmill nodes' shows who is alive and what is paused"))
            return
        }
        do throws(JournalError) {
            try state.look { journal throws(JournalError) in
                let records = try journal.pipelines()
                if isRunning == true { reportPauses(records) }
                report(try journal.holds().filter { !$0.isOver(at: .now()) })
                let works = Dictionary(records.map { ($0.name, $0.works.map(\.path)) }) { first, _ in first }
                try reportStranded(try journal.unfinished(), pipelines, works, journal)
            }
        } catch {
            guard error.kind != .missing || isRunning == true else { return }
            findings.append(.problem(.journal, Self.plain(error.message), Self.plain(error.remedy)))
        }
    }

    private mutating func ask(_ state: StateFolder, _ pipelines: [Pipeline]) {
        do throws(ControlClient.Problem) {
            let answer = try ControlClient.ask(WaitingVerb.self, .init(limit: 0), in: state.path)
            running = Set(answer.inboxes.keys).union(answer.silent).union(answer.busy)
            pauses = answer.inboxes.compactMapValues { $0.paused?.failure }
            findings.append(.good(.daemon, "running and responding"))
            for (name, stalled) in answer.stalled.sorted(by: { $0.key < $1.key }) {
                findings.append(
                    .problem(
                        .daemon, "the pipeline '\(name)' is stalled: \(stalled.text)",
                        "'dropmill status' shows what is at work; see whether its file systems answer"))
            }
        } catch {
            return findings.append(
                .problem(.daemon, error.message, "Check its log; 'dropmill status' queries it again"))
        }
        for pipeline in pipelines where !running.contains(pipeline.name) {
            findings.append(
                .note(
                    .daemon, "does not run the pipeline '\(pipeline.name)'",
                    "If its files are among the daemon's, 'dropmill reload' has it read them again"))
        }
    }

    private mutating func reportPauses(_ records: [PipelineRecord]) {
        for record in records where running.isEmpty || running.contains(record.name) {
            guard let pause = record.paused ?? pauses[record.name] else { continue }
            let since = record.pausedSince.map { " since \($0.localText)" } ?? ""
            findings.append(
                .problem(
                    .pause, "the pipeline '\(record.name)' is paused\(since): \(Self.plain(pause.summary))",
                    pause.remedy.isEmpty ? "Fix that; the pipeline resumes by itself" : Self.plain(pause.remedy)))
        }
    }

    /// What a person holds is meant to be held: it is no problem.
    private mutating func report(_ holds: [HoldRecord]) {
        for hold in holds {
            findings.append(
                .note(
                    .pause, "the pipeline '\(hold.pipeline)' is \(hold.text(at: .now()))",
                    "'dropmill resume \(hold.pipeline)' lets it go on"))
        }
    }

    /// Jobs that no start resumes: their pipeline or their folder is gone.
    private mutating func reportStranded(
        _ unfinished: [JobRecord], _ pipelines: [Pipeline], _ works: [String: [FilePath]], _ journal: any JournalReading
    ) throws(JournalError) {
        let known = running.union(pipelines.map(\.name))
        let left = Dictionary(grouping: unfinished, by: \.pipeline)
        for (name, jobs) in left.sorted(by: { $0.key < $1.key }) where !known.contains(name) {
            findings.append(
                .problem(
                    .jobs, "\(Self.count(jobs)) of the pipeline '\(name)', which is not among these",
                    UnloadedJobs.remedy(name) + "; 'dropmill jobs --pipeline \(name)' lists them"))
        }
        for pipeline in pipelines {
            guard let jobs = left[pipeline.name], let work = Self.work(of: pipeline) else { continue }
            let active = work.appending("active")
            // Jobs may have finished since the list was read.
            var lost: [JobRecord] = []
            for job in jobs where Self.isMissing(active.appending(job.folder.text)) {
                if try journal.job(job.id)?.state.isFinal == false { lost.append(job) }
            }
            guard let first = lost.first else { continue }
            let elsewhere = works[pipeline.name]?.first { WorkFolder.holds(first.folder, below: $0) }
            findings.append(
                .problem(
                    .jobs,
                    "\(Self.count(lost)) of the pipeline '\(pipeline.name)', without a folder in '\(active.text)'",
                    elsewhere.map { "They are in '\($0.text)'; restart Dropmill, which takes them over" }
                        ?? "Restore the file system or folder that they are in, or give them up: "
                        + "dropmill forget \(first.id.text)"))
        }
    }

    private static func work(of pipeline: Pipeline) -> FilePath? {
        do throws(IOError) { return try WorkFolder.path(for: pipeline) } catch { return nil }
    }

    private static func isMissing(_ path: FilePath) -> Bool {
        Folder.kind(of: path) == nil && [.noSuchFileOrDirectory, .notDirectory].contains(Errno.last)
    }

    private static func count(_ jobs: [JobRecord]) -> String {
        jobs.count == 1 ? "1 stranded job" : "\(jobs.count) stranded jobs"
    }

    private static func plain(_ sentence: String) -> String {
        sentence.hasSuffix(".") ? String(sentence.dropLast()) : sentence
    }
}
