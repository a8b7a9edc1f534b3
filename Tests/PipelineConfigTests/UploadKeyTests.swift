import Files
import PipelineKit
import Testing

@testable import PipelineConfig

/// `upload` and `max_upload`: what may be sent in.
@Suite struct UploadKeyTests {
    private func load(_ keys: String) throws(ConfigProblems) -> Pipeline? {
        let text = "inbox: /x/in\nprocessed: /x/done\nfailed: /x/failed\nstages: [checksum]\n\(keys)\n"
        return try PipelineLoader(registry: FakeStages.registry, environment: [:])
            .load([PipelineDescription(name: "p", base: "/x", text: text)]).first
    }

    @Test func areRead() throws {
        #expect(try load("")?.upload == nil)
        #expect(try load("upload: false")?.upload == nil)
        #expect(try load("upload: true")?.upload == UploadRule())
        #expect(try load("upload: true\nmax_upload: 1MiB")?.upload?.most == ByteSize(bytes: 1 << 20))
        #expect(try load("upload: true\nready: { unit: folder }")?.upload == UploadRule())
    }

    @Test func aReloadSeesThem() throws {
        let (open, closed) = (try #require(try load("upload: true")), try #require(try load("")))
        #expect(open.differences(from: closed) == ["upload"])
        #expect(open.definition == closed.definition)
    }

    @Test(arguments: [
        ("upload: yes", "5:9: error: 'upload': expected true or false, found 'yes'; did you mean 'true'?"),
        ("upload: true\nmax_upload: 0", "6:13: error: 'max_upload': nothing could be sent in; write a larger size"),
        ("max_upload: 1GiB", "5:1: error: 'max_upload' needs 'upload: true', which lets files be sent in"),
    ])
    func areRefused(keys: String, message: String) {
        let problems = #expect(throws: ConfigProblems.self) { try load(keys) }
        #expect(problems?.all.map(\.description) == ["/x/p.yaml:\(message)"])
    }
}
