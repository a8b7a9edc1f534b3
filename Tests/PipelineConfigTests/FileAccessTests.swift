import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import PipelineConfig

/// Who may write to what pipelines are read from.
@Suite struct FileAccessTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The messages of this path's problems.
    private func problems(_ path: String) -> [String] {
        let loader = PipelineLoader(registry: FakeStages.registry, environment: [:], cores: 2)
        do throws(ConfigProblems) {
            _ = try loader.load([scratch.path(path)])
            return []
        } catch {
            return error.all.map(\.message)
        }
    }

    private func permit(_ mode: mode_t, _ path: String) { #expect(chmod(scratch.path(path).string, mode) == 0) }

    @Test func whatEverybodyMayWriteIsRefused() throws {
        let text = "inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n"
        try scratch.write(text, to: "conf/a.yaml")
        let remedy = "who could have the daemon run programs; chmod o-w it"
        for path in ["conf/a.yaml", "conf"] { #expect(problems(path) == []) }
        permit(0o646, "conf/a.yaml")
        for path in ["conf/a.yaml", "conf"] { #expect(problems(path) == ["is writable by everybody, \(remedy)"]) }
        permit(0o644, "conf/a.yaml")
        for mode: mode_t in [0o757, 0o1777] {
            permit(mode, "conf")
            #expect(problems("conf") == ["is a folder that everybody may write to, \(remedy)"])
        }
        permit(0o755, "conf")
        #expect(problems("conf") == [])
    }
}
