import SystemPackage
import TestSupport
import Testing

@testable import Doctor
@testable import Files
@testable import PipelineKit

@Suite("Mounts") struct MountTableTests {
    @Test("A path is found on its mount")
    func now() throws {
        let scratch = try ScratchFolder()
        let mount = try #require(MountTable.now().mount(of: scratch.path))
        #expect(!mount.kind.isEmpty)
        #expect(scratch.path.starts(with: mount.point))
        #expect(!mount.isReadOnly)
    }

    @Test("The two mounts of one file system are told apart", .enabled(if: TemporaryMount.isPossible, "needs root"))
    func bind() throws {
        let scratch = try ScratchFolder()
        let mount = try TemporaryMount(bind: scratch.makeFolder("a b"), at: scratch.path("c\\d e"))
        let found = try #require(MountTable.now().mount(of: mount.path))
        #expect(found.point == mount.path)
        #expect(found != MountTable.now().mount(of: scratch.path))
    }

    @Test("Lines that make no sense, and paths that nobody mounted, are nothing")
    func nonsense() {
        let table = MountTable("\nx y z\n36 35 98:0 / /mnt rw\n36 35 98:0 / /mnt rw - ext4\n")
        #expect(table.mount(of: "/") == nil)
        #expect(MountTable.now().mount(of: "/nothing/there") == nil)
    }
}
