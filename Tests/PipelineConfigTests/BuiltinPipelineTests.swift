import BuiltinStages
import Glibc
import PipelineConfig
import SystemPackage
import TestSupport
import Testing

/// What `check` says of pipelines of the real kinds, where only a look at several stages tells that something is wrong.
@Suite struct BuiltinPipelineTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func problems(_ text: String) throws -> [String] {
        let file = try scratch.write("inbox: in\nfailed: failed\n\(text)\n", to: "a.yaml")
        let loader = PipelineLoader(registry: .builtin, environment: ["HOME_OF_SECRETS": scratch.path.string])
        do throws(ConfigProblems) {
            _ = try loader.load([file])
            return []
        } catch {
            return error.all.map(\.message)
        }
    }

    @Test(arguments: [
        // Nothing may be destroyed.
        ("processed: delete\nstages: [dedupe, move: { to: out }]", "'dedupe' may end a job before any stage has"),
        ("processed: delete\nstages: [select: { keep: a, require: false }, move: { to: out/x }]", "'select' may end"),
        ("processed: done\nready: { unit: folder }\nstages: [move: { to: done }]", "'to' is 'processed'"),
        // What a new payload replaced is not known of it.
        ("processed: done\nstages: [checksum, compress, move: { to: 'x/{sha256}' }]", "{sha256}"),
        (
            "processed: done\nstages: [detect, unpack, scan: { when: { type: text/plain } }, move: { to: out/x }]",
            "detect"
        ),
        // A stage of on_failure is run once.
        (
            "processed: done\nstages: [checksum]\non_failure: [run: { command: x, retry: { attempts: 3 } }]",
            "stages of 'on_failure' run once"
        ),
        ("processed: done\nstages: [checksum]\non_failure: [compress]", "'compress' creates or publishes files"),
        ("processed: done\nstages: [checksum]\non_failure: [compress]", "notify someone, such as run or http"),
        // What there is to help is known to the kinds.
        ("processed: done\nstages: [unpack]", "add 'move: { to: … }' after it"),
        (
            "processed: done\nstages: [checksum: { manifest: '${file:x}' }]",
            "'manifest': a secret could be seen here; only 'env' of run and 'url' and 'headers' of http take one"
        ),
        ("processed: done\nstages: [move: { to: x, when: { type: text/plain } }]", "put a stage 'detect' before"),
        ("processed: done\nstages: [move: { to: x, when: { archive: missed } }]", "put a stage 'unpack' before"),
    ])
    func refused(text: String, problem: String) throws {
        let problems = try problems(text)
        #expect(problems.count == 1 && problems[0].contains(problem), "\(problems)")
    }

    @Test(arguments: [
        ("processed: b\nstages: [checksum: { into: list }]", "processed"),
        ("processed: done\nstages: [checksum: { into: list }, move: { to: b }]", "to"),
        ("processed: b\nstages: [checksum: { into: list }, move: { to: out }]", nil),
        ("processed: b\nstages: [checksum: { into: list }, move: { to: out, when: '*.pdf' }]", "processed"),
        ("processed: done\nstages: [checksum: { into: list }, move: { to: 'b/{ext}' }]", "to"),
        ("processed: done\nstages: [checksum: { into: list }, move: { to: b/below }]", "to"),
        ("processed: b\nstages: [checksum]", nil),
    ])
    func aListIsNoDrop(text: String, key: String?) throws {
        let first = try scratch.write("inbox: in\nfailed: failed\n\(text)\n", to: "a.yaml")
        let second = try scratch.write("inbox: b\nprocessed: x\nfailed: fb\nstages: [checksum]\n", to: "b.yaml")
        var messages: [String] = []
        do throws(ConfigProblems) {
            _ = try PipelineLoader(registry: .builtin, environment: [:]).load([first, second])
        } catch {
            messages = error.all.map(\.message)
        }
        let expected = key.map {
            "'\($0)' is in the inbox of the pipeline in \(second.string), which would treat the list 'SHA256SUMS' as a "
                + "drop; use a folder that no pipeline watches, or leave 'into: list' out"
        }
        #expect(messages == [expected].compactMap(\.self))
    }

    @Test(arguments: [
        "processed: delete\nstages: [copy: { to: box }, dedupe, move: { to: out }]",
        "processed: delete\nstages: [dedupe: { seen: fail }, move: { to: out }]",
        "processed: done\nstages: [checksum, rename: { to: '{stem}-{sha256}' }, move: { to: 'out/{sha256}' }]",
        "processed: done\nstages: [compress, checksum, move: { to: 'out/{sha256}' }]",
        // A job may fail with whatever was known by then.
        "processed: done\nstages: [detect, compress, move: { to: out }]\n"
            + "on_failure: [run: { command: [logger, '{type}'], when: { type: text/plain } }]",
    ])
    func accepted(text: String) throws { #expect(try problems(text) == []) }

    /// What is wrong with an option is all that is said of its stage.
    @Test func oneMistakeOneProblem() throws {
        let found = try problems("processed: done\nstages: [run: { command: 'ls -l', output: replace }, checksum]")
        #expect(found.count == 1 && found[0].contains("no shell runs the command"), "\(found)")
    }

    @Test func theFileOfASecretMayLieWhereAVariableSays() throws {
        let secret = try scratch.write("s3cr3t", to: "token")
        #expect(chmod(secret.string, 0o600) == 0)
        let url = "'https://h/${file:${HOME_OF_SECRETS}/token}'"
        #expect(try problems("processed: done\nstages: [http: { url: \(url) }]") == [])
    }

    @Test func aStageOfOnFailureHasAMinute() throws {
        let text = "stages: [checksum]\non_failure: [run: { command: x }, run: { command: x, timeout: 5m }]"
        let file = try scratch.write("inbox: in\nprocessed: done\nfailed: failed\n\(text)\n", to: "a.yaml")
        let pipelines = try PipelineLoader(registry: .builtin, environment: [:]).load([file])
        #expect(pipelines.first?.onFailure.map(\.timeout) == [.seconds(60), .seconds(300)])
    }
}
