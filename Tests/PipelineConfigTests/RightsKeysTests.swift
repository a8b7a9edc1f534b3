import PipelineKit
import Testing

@testable import PipelineConfig

@Suite("Ownership and rights of outputs") struct RightsKeysTests {
    private func read(_ keys: String) -> (draft: PipelineDraft?, problems: [String]) {
        PipelineDecoderTests.read(PipelineDecoderTests.head + keys + "\n")
    }

    @Test("A drop is taken over unless the pipeline says otherwise, and outputs stay as they come")
    func defaults() throws {
        let pipeline = try #require(read("").draft?.pipeline)
        #expect(pipeline.ownership == .take)
        #expect(pipeline.rights.isEmpty)
    }

    @Test("Users and groups have a name or a number, modes are octal")
    func values() throws {
        let read = read("mode: \"0640\"\nowner: root\ngroup: 1234")
        #expect(read.problems == [])
        let pipeline = try #require(read.draft?.pipeline)
        #expect(pipeline.rights == OutputRights(mode: 0o640, owner: 0, group: 1234))
        #expect(self.read("ownership: keep").draft?.pipeline?.ownership == .keep)
    }

    @Test("What stays its sender's gets no rights of ours", arguments: ["mode: \"0640\"", "owner: root", "group: 0"])
    func keepsRights(key: String) {
        let problems = read("ownership: keep\n\(key)").problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix("8:") ?? false, "\(problems)")
        #expect(problems.first?.contains("('ownership: keep')") ?? false, "\(problems)")
    }

    @Test(arguments: [
        ("ownership: steal", "7:12", "take"), ("mode: 999", "7:7", "'0640'"), ("mode: \"6755\"", "7:7", "'0640'"),
        ("mode: \"0440\"", "7:7", "'0600'"), ("owner: no-such-user", "7:8", "the user 'no-such-user' does not exist"),
        ("group: no-such-group", "7:8", "the group 'no-such-group' does not exist"),
        ("owner: 4294967295", "7:8", "the user '4294967295' does not exist"),
    ])
    func problems(keys: String, place: String, words: String) {
        let problems = read(keys).problems
        #expect(problems.count == 1)
        #expect(problems.first?.hasPrefix(place) ?? false, "\(problems)")
        #expect(problems.first?.contains(words) ?? false, "\(problems)")
    }
}
