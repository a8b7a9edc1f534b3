import Files
import PipelineKit
import Testing

@testable import PipelineConfig

/// `keep`: how long originals stay.
@Suite struct KeepKeyTests {
    private func load(_ keys: String, processed: String = "/x/done") throws(ConfigProblems) -> Pipeline? {
        let folders = "inbox: /x/in\nprocessed: \(processed)\nfailed: /x/failed"
        let text = "\(folders)\nstages: [checksum, move: { to: /x/out }]\n\(keys)\n"
        return try PipelineLoader(registry: FakeStages.registry, environment: [:])
            .load([PipelineDescription(name: "p", base: "/x", text: text)]).first
    }

    @Test func isRead() throws {
        #expect(try load("")?.keep == nil)
        let keep = try load("keep:\n  processed: { age: 90d, bytes: 500GiB, files: 1000000 }\n  failed: { age: 1y }")?
            .keep
        let limits = KeepRule.Limits(
            age: .seconds(90 * 86_400), bytes: ByteSize(bytes: 500 << 30), files: 1_000_000)
        #expect(keep == KeepRule(processed: limits, failed: KeepRule.Limits(age: .seconds(365 * 86_400))))
        #expect(try load("keep: { when_short: prune, failed: { files: 1 } }")?.keep?.prunesWhenShort == true)
    }

    @Test(arguments: [
        (
            "keep: { processed: { age: 0s } }",
            "5:27: error: 'keep.processed.age': nothing would be kept; write more, such as 90d"
        ),
        (
            "keep: { failed: { bytes: 0 } }",
            "5:26: error: 'keep.failed.bytes': nothing would be kept; write more, such as 500GiB"
        ),
        (
            "keep: { failed: { files: 0 } }",
            "5:26: error: 'keep.failed.files': expected at least 1, found 0"
        ),
        (
            "keep: { failed: { ages: 1d } }",
            "5:19: error: 'keep.failed' has no key 'ages'; did you mean 'age'?"
        ),
        (
            "keep: { failed: {} }",
            "5:17: error: 'keep.failed' says no limit; write 'age: 90d', 'bytes: 500GiB' or 'files: 1000000' into it, "
                + "or leave it out"
        ),
        (
            "keep: { when_short: prune }",
            "5:7: error: 'keep' says neither of 'processed' nor of 'failed' what stays there; write 'processed: { age: "
                + "90d }' into it, or leave it out"
        ),
        (
            "keep: { when_short: stop }",
            "5:21: error: 'keep.when_short': expected 'prune', or nothing"
        ),
        (
            "min_free: 0\nkeep: { when_short: prune }",
            "6:21: error: 'keep.when_short': with 'min_free: 0' space is never short; give 'min_free' a size, or leave "
                + "it out"
        ),
    ])
    func mistakesAreNamed(_ keys: String, _ problem: String) throws {
        let error = #expect(throws: ConfigProblems.self) { _ = try load(keys) }
        #expect(error?.description.contains(problem) == true, "\(String(describing: error))")
    }

    /// What another pipeline has yet to take is not to go.
    @Test func anInboxKeepsNothing() throws {
        func text(_ inbox: String, _ processed: String) -> String {
            "inbox: \(inbox)\nprocessed: \(processed)\nfailed: /x/failed\nstages: [checksum]\n"
        }
        let keep = "keep: { processed: { age: 1d } }\n"
        let error = #expect(throws: ConfigProblems.self) {
            _ = try PipelineLoader(registry: FakeStages.registry, environment: [:]).load([
                PipelineDescription(name: "a", base: "/x", text: text("/x/in", "/x/done") + keep),
                PipelineDescription(name: "b", base: "/x", text: text("/x/done", "/x/done2") + keep),
            ])
        }
        #expect(
            error?.description
                == "/x/a.yaml:2:12: error: 'keep.processed' would remove drops before the pipeline in /x/b.yaml takes "
                + "them, whose inbox 'processed' is; leave it out, and say there what is to be kept",
            "\(String(describing: error))")
    }

    @Test func nothingIsKeptOfWhatIsDeleted() throws {
        let error = #expect(throws: ConfigProblems.self) {
            _ = try load("keep: { processed: { age: 1d } }", processed: "delete")
        }
        #expect(
            error?.description.contains(
                "5:9: error: 'keep.processed' has nothing to keep with 'processed: delete'; leave it out, or give ")
                == true, "\(String(describing: error))")
        #expect(try load("keep: { failed: { age: 1d } }", processed: "delete")?.keep?.failed != nil)
    }
}
