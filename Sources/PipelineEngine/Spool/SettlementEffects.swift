import Glibc
import PipelineKit
import SystemPackage

/// What the moves of a batch left to be done.
package struct SettlementEffects: Sendable {
    /// Folders whose entries changed, to be brought to the disk.
    var folders: Set<FilePath> = []
    /// Sources whose copies are in their places, to be removed once their jobs are.
    var copied: Set<FilePath> = []
    /// Folders that were made just now, by this batch or another, and are on the disk once those above them are.
    var made: [FilePath] = []
}
