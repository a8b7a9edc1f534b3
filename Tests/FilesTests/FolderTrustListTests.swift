import Files
import TestSupport
import Testing

@Suite("Trust in folders with access lists") struct FolderTrustListTests {
    @Test("An access list that lets others write shows", .enabled(if: Tool.find("setfacl") != nil, "needs setfacl"))
    func accessList() throws {
        let scratch = try ScratchFolder()
        try scratch.makeFolder("a/b")
        let tool = try #require(Tool.find("setfacl"))
        #expect(try tool.run(["-m", "u:65534:rwx", scratch.path("a").string]).status == 0)
        let faults = FolderTrust().way(to: scratch.path("a/b")).faults
        #expect(faults.map(\.path) == [scratch.path("a")] && faults.map(\.reason) == [.writable])
    }
}
