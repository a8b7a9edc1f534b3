import Files
package import Journal
package import PipelineKit
import Synchronization
import SystemPackage

/// Releases jobs that no pipeline has at work: theirs was removed, or no daemon runs.
package struct LoneRelease {
    private let journal: any Journal
    private let writer: JournalWriter

    /// `writer`: that of this journal.
    package init(_ journal: any Journal, _ writer: JournalWriter) {
        self.journal = journal
        self.writer = writer
    }

    /// Releases one, with its work folder locked. Blocks.
    package func release(_ id: JobID, by person: String) -> Releasing {
        do throws(JournalError) {
            guard let found = try journal.job(id) else { return .refused("no such job is on record") }
            if let rest = found.rest { return .refused(rest) }
            guard let own = try Self.pipeline(of: found, journal) else { return .refused(Self.nowhere) }
            let work: WorkFolder
            do throws(FolderError) { work = try WorkFolder(for: own) } catch { return .refused(error.message) }
            defer { work.release() }
            // Whoever had it before this lock may have changed it.
            guard let record = try journal.job(id) else { return .refused("no such job is on record") }
            return try release(record, Spool(pipeline: own.givingBack, work: work), by: person)
        } catch {
            return .refused("\(error.message) \(error.remedy)")
        }
    }

    /// What would become of it, as far as its record and its folder show.
    package static func preview(
        _ found: JobRecord, _ journal: any JournalReading
    ) throws(JournalError) -> Releasing {
        var record = found
        if let reason = record.release(by: "", at: .now()) { return .refused(reason) }
        return try pipeline(of: found, journal).map { .goes($0.inbox) } ?? .refused(nowhere)
    }

    private static let elsewhere = "another node has taken it over; release it again"
    private static let nowhere = "its folder is not in the work folder; 'dropmill doctor' says more"

    /// Its pipeline, with the work folder that it is in; nil where none is known that has it.
    private static func pipeline(
        of record: JobRecord, _ journal: any JournalReading
    ) throws(JournalError) -> Pipeline? {
        let known = try journal.pipelines().first { $0.name == record.pipeline }
        let place = known?.works.first { WorkFolder.holds(record.folder, below: $0.path) }
        guard let known, let place else { return nil }
        return Pipeline(of: known, at: place)
    }

    private func release(
        _ found: JobRecord, _ spool: Spool, by person: String
    ) throws(JournalError) -> Releasing {
        var record = found
        if let reason = record.release(by: person, at: .now()) { return .refused(reason) }
        let job = record.job(in: spool.work.folder(record.folder))
        guard !record.intents.isEmpty || Folder.kind(of: job.original) != nil else {
            return .refused("its drop is not in '\(job.folder.text)'; 'dropmill forget \(record.id)' gives it up")
        }
        guard let failure = record.failure else { return .refused("it is being settled") }
        if let strange = record.intents.first(where: { !spool.bounds.allow($0, of: job) }) {
            return .refused(Failure.outside(strange, of: job).summary)
        }
        // What is under way is on record before: a start, or the next call, goes on with it.
        guard try writer.commit([record]).isEmpty else { return .refused(Self.elsewhere) }
        let settlement = Settlement(job: job, record: record, outcome: .failed(failure), report: nil)
        var batch = SettlementBatch([settlement], spool: spool, journal: writer, names: NameChooser())
        batch.prepare()
        batch.execute()
        batch.syncFolders()
        let outcome = Mutex<Settler.Outcome?>(nil)
        batch.end { @Sendable outcomes in outcome.withLock { $0 = outcomes.first } }
        try writer.flush()
        guard let (settlement, result) = outcome.withLock({ $0 }) else {
            return .waits("its end is not on record yet; release it again")
        }
        switch result {
        case .settled: return settlement.record.original.map { .went($0) } ?? .goes(spool.pipeline.inbox)
        case .fenced: return .refused(Self.elsewhere)
        case .failed(let failure), .outputsLost(let failure): return .waits("\(failure.summary) \(failure.remedy)")
        }
    }
}

extension Pipeline {
    /// What is known of a pipeline that is not loaded, with jobs in that work folder.
    fileprivate init(of record: PipelineRecord, at place: WorkPlace) {
        self.init(
            name: record.name, source: record.source ?? FilePath(record.name), inbox: record.inbox,
            processed: .folder(record.failed), failed: record.failed, work: place.path)
    }
}
