import Control
import Files
import FoundationEssentials
import Journal
import PipelineKit
import SystemPackage

/// Finds what waits in a line: a drop in an inbox by its path or name, or a job that is not over.
enum WaitingFinder {
    typealias Found = (waiting: BumpVerb.Waiting, name: String)

    /// `loaded`: the pipelines that the daemon runs, if it says: others may have had the same inboxes.
    static func find(
        _ text: String, in journal: any JournalReading, loaded: Set<String>?
    ) throws(JournalError) -> Result<Found, ControlClient.Problem> {
        let path = RawArguments.path(text)
        // What matters here are their names and inboxes.
        let pipelines = try journal.pipelines().filter { loaded?.contains($0.name) ?? true }.map {
            Pipeline(name: $0.name, source: "", inbox: $0.inbox, processed: .delete, failed: $0.failed)
        }
        if case .inbox(let index, let folders, let name) = PipelineFolders(pipelines).place(of: path) {
            if Folder.kind(of: path) == .symbolicLink {
                return .failure(.init(message: "'\(path.text)' is a symbolic link, and those are never claimed"))
            }
            if Folder.kind(of: path) != nil { return .success(drop(folders + [name], of: pipelines[index])) }
            var query = JobQuery()
            (query.name, query.pipeline, query.limit) = (name, pipelines[index].name, 1)
            if let record = try journal.jobs(query).first { return job(record) }
            let names = names(in: path.removingLastComponent())
            return .failure(
                .init(message: "there is no '\(path.text)'\(Suggestion.hint(for: name.text, among: names))"))
        }
        let match = try JobFinder.find(text, in: journal)
        if case .found(let record) = match, !record.state.isFinal { return job(record) }
        if path.components.count == 1, let name = path.lastName {
            for pipeline in pipelines where Folder.kind(of: pipeline.inbox.appending(name)) != nil {
                return .success(drop([name], of: pipeline))
            }
        }
        switch match {
        case .found(let record): return job(record)
        case .nothing where path.components.count > 1 && Folder.kind(of: path) != nil:
            return .failure(.init(message: "'\(path.text)' is in no inbox; 'dropmill status' lists what waits"))
        case .nothing(let message):
            let known = pipelines.flatMap { names(in: $0.inbox) }
            let unfinished = try journal.unfinished().map(\.drop.name.text)
            return .failure(.init(message: message + Suggestion.hint(for: text, among: known + unfinished)))
        }
    }

    private static func job(_ record: JobRecord) -> Result<Found, ControlClient.Problem> {
        let name = "\(record.id) (\(record.drop.name.text))"
        guard !record.state.isFinal else {
            return .failure(.init(message: "\(name) is over: \(record.word)"))
        }
        return .success((.job(record.id.text), name))
    }

    private static func drop(_ names: [FileName], of pipeline: Pipeline) -> Found {
        let path = names.map(\.bytes).joined(separator: [UInt8(ascii: "/")])
        let drop = DropVerb.Arguments(pipeline: pipeline.name, path: Data(path))
        return (.drop(drop), EscapedText.of(Array(path)))
    }

    private static func names(in folder: FilePath) -> [String] {
        do throws(IOError) { return try Folder.names(in: folder).map(\.text) } catch { return [] }
    }
}
