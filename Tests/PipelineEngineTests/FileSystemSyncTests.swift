import Files
import TestSupport
import Testing

@testable import PipelineEngine

@Suite struct FileSystemSyncTests {
    /// A folder that is opened only for a sync is not told of writes that failed before, once anybody else was.
    @Test func syncsAreByTheFolderThatWasOpenAtFirst() throws {
        let scratch = try ScratchFolder()
        let folder = scratch.path("folder")
        try Folder.make(folder)
        let whole = try FileSystemSync(of: folder)
        try Folder.remove(folder)
        for _ in 1...2 { try whole.sync() }
        #expect(!whole.hasLostWrites)
        #expect(throws: IOError.self, "the folder is gone for whoever opens it") { try FileSystemSync(of: folder) }
    }
}
