@preconcurrency import Dispatch
import Files
import Journal
package import PipelineKit
import SystemPackage

/// Why no pipeline has a job at work.
extension Engine {
    /// As the journal knows it, and for one that is to be at work as its work folder shows it. Blocks.
    nonisolated func absence(of id: JobID, _ journal: any Journal) -> String {
        let record: JobRecord?
        do throws(JournalError) { record = try journal.job(id) } catch { return error.message }
        guard let record else {
            return "no such job is on record; one that was claimed a moment ago, or is still written, is so later"
        }
        if let rest = record.rest { return rest }
        let name = record.pipeline
        let (reason, works) = sync { engine in
            (engine.absenceNow(of: id, name), engine.works(of: name))
        }
        if let reason { return reason }
        let look = lookout.attempt(until: .now() + Self.patienceWithOld) { mayLook in
            works.allSatisfy { mayLook($0.path) } ? Self.isGone(record.folder, from: works) : nil
        }
        switch look {
        case .over(true?):
            return
                "its files are not in the work folder; 'dropmill doctor' says more, and "
                + "'dropmill forget \(id)' gives it up"
        case .over(false?):
            return "it was not taken up when its pipeline was loaded, and the log says why; a restart tries again"
        default: return "its work folder cannot be reached; try again once it can"
        }
    }

    /// Why jobs are not to be given up: nil for one that no pipeline has at work.
    package nonisolated func presence(of ids: [JobID]) -> [String?] {
        sync { engine in
            ids.map { id in
                let isHere = engine.all.contains { $0.machine.jobs[id] != nil }
                return isHere ? "the daemon will finish it; stop the daemon first, or wait" : nil
            }
        }
    }

    /// A place among these that does not answer; nil where all do. Blocks, for so long at most.
    nonisolated func silence(at places: [FilePath]) -> FilePath? {
        let look = lookout.attempt(until: .now() + Self.patienceWithOld) { mayLook in
            for place in places where mayLook(place) { _ = Folder.kind(of: place) }
        }
        guard case .silent(let place) = look else { return nil }
        return place ?? places.first
    }

    /// Nil where its pipeline is to have it.
    private func absenceNow(of id: JobID, _ pipeline: String) -> String? {
        if all.contains(where: { $0.machine.jobs[id] != nil }) {
            return "a reload has only just loaded its pipeline; try again"
        }
        if isStopping { return "the daemon is stopping" }
        if isArriving(pipeline) { return "a reload is about to load its pipeline '\(pipeline)'; try again after it" }
        if let place = awaited[pipeline] {
            return
                "its pipeline '\(pipeline)' has not begun: '\(place.text)' does not answer; it goes on once that does"
        }
        guard runners.contains(where: { $0.pipeline.name == pipeline }) else {
            return
                "its pipeline '\(pipeline)' is not loaded; 'dropmill release \(id)' sends its drop back to the inbox, "
                + "'dropmill forget \(id)' gives it up"
        }
        return nil
    }

    /// Whether a reload is about to add a pipeline that has jobs of this name.
    func isArriving(_ pipeline: String) -> Bool {
        arriving.contains { $0.name == pipeline || $0.formerly == pipeline }
    }

    private func works(of pipeline: String) -> [WorkFolder] {
        (tails + runners).filter { $0.pipeline.name == pipeline }.map(\.intake.spool.work)
    }

    /// Nil where that cannot be told.
    private static func isGone(_ folder: JobID, from works: [WorkFolder]) -> Bool? {
        do throws(IOError) {
            var isKnown = true
            for work in works {
                guard let isGone = try work.isGone(work.folder(folder)) else {
                    isKnown = false
                    continue
                }
                if !isGone { return false }
            }
            return isKnown ? true : nil
        } catch {
            return nil
        }
    }
}
