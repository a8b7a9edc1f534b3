import Files
import Journal
import PipelineKit
import SystemPackage

/// What was decided for one placement.
struct Decision {
    /// The moves to be made, sidecars first: whoever sees a failed original finds the reason beside it.
    private(set) var intents: [Intent] = []
    /// What has to be on disk before any of them is made.
    private(set) var unsynced = DiskSync.Unsynced()
    /// What the original looks like, where it is that which is moved.
    private(set) var original: OriginalState?
    /// What was written to go beside that looks like, by its place in the job's folder.
    private(set) var sides: [(source: FilePath, file: FileState)] = []
    /// What there is to be said about the name: a sentence.
    private(set) var note: String?

    /// Writes what goes beside it into the job's folder. `kept`: what an earlier decision speaks of, which stands until
    /// this one is on record.
    mutating func writeSidecars(
        of placement: Placement, as chosen: Placement.Name, number: Int, _ rights: FinalRights, in job: FilePath,
        keeping kept: [Intent]
    ) throws(IOError) {
        for (index, sidecar) in placement.sidecars.enumerated() {
            var source = job.appending(".beside-\(number + 1)-\(index + 1)")
            if kept.contains(where: { $0.source == source }) { source = FilePath("\(source.string)-again") }
            let file = try Spool.makeAnew(source)
            try file.write(sidecar.contents(for: chosen.name))
            try rights.apply(toSidecar: file)
            let status = try file.status()
            try file.close()
            if placement.role == .original { sides.append((source, FileState(status))) }
            intents.append(
                Intent(
                    role: .sidecar, source: source, target: chosen.targets[index + 1],
                    identity: FileIdentity(status)))
        }
    }

    /// Adds the moves of the thing itself and of its marker.
    mutating func add(
        _ placement: Placement, as chosen: Placement.Name, _ found: FileIdentity.Found?, isSynced: Bool,
        in folder: HeldFolder?, _ progress: SettlementProgress
    ) throws(IOError) {
        if let marker = placement.marker?.source, let identity = try FileIdentity.find(marker),
            let target = chosen.targets.last
        {
            intents.append(Intent(role: .sidecar, source: marker, target: target, identity: identity))
        }
        if isSynced { unsynced.files = intents.map(\.source) }
        guard let source = placement.source, let found else { return }
        intents.append(
            Intent(role: placement.role, source: source, target: chosen.targets[0], identity: found.identity))
        if placement.role == .original { original = OriginalState(found.status) }
        if isSynced { try addUnsynced(source, of: placement) }
        if chosen.name != placement.name {
            note = Self.note(on: placement, in: folder, source, named: chosen.name, progress)
        }
    }

    /// What failed may be its sender's again, or what the daemon dies of at a look, and is not looked into; nor is a
    /// tree with a folder that is closed to us.
    private mutating func addUnsynced(_ source: FilePath, of placement: Placement) throws(IOError) {
        guard !placement.isFailure else {
            unsynced.needsWhole = true
            return
        }
        do throws(IOError) {
            unsynced.files += placement.isFolder ? try DiskSync.everything(in: source) : [source]
        } catch {
            guard error.errno.trouble(with: .drop) != .pauses else { throw error }
            unsynced.needsWhole = true
        }
    }

    /// Why a thing did not get its own name. One with the same content is kept as well: only people know whether it was
    /// sent twice by mistake.
    private static func note(
        on placement: Placement, in folder: HeldFolder?, _ source: FilePath, named name: FileName,
        _ progress: SettlementProgress
    ) -> String {
        var note = "'\(placement.name)' was taken: named '\(name)'"
        do throws(IOError) {
            if let folder, try Mover.isCopy(FilePath().appending(placement.name), in: folder, of: source, progress) {
                note += ", though the content is the same"
            }
        } catch {
            // Somebody's file that we may not read says nothing.
        }
        return note
    }
}
