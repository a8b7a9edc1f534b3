import Files
import Testing

@testable import FolderWatch
@testable import Readiness

private let marker = FileName("a.csv.done")
private let sums = FileName("SHA256SUMS")

private let sentences: [(Waiting, String)] = [
    (.unseen, "not examined yet"),
    (.quiet(for: .milliseconds(240), of: .seconds(1)), "unchanged for 0.2 of 1 s"),
    (.quiet(for: .seconds(2), of: .seconds(1)), "unchanged for 1 of 1 s"),
    (.quiet(for: .milliseconds(3), of: .milliseconds(50)), "unchanged for 3 of 50 ms"),
    (.quiet(for: .seconds(30), of: .seconds(120)), "unchanged for 30.0 s of 2 min"),
    (
        .blind(for: .seconds(4), of: .seconds(10)),
        "unchanged for 4 of 10 s, because open writers cannot be detected here"
    ),
    (.empty(for: .seconds(1), of: .seconds(5)), "empty, unchanged for 1 of 5 s"),
    (
        .growing(bytesPerSecond: 3_140_000, for: .milliseconds(200), of: .seconds(1)),
        "growing: 3.1 MB/s, quiet for 0.2 of 1 s"
    ),
    (.growing(bytesPerSecond: 812, for: .zero, of: .seconds(1)), "growing: 812 B/s, quiet for 0 of 1 s"),
    (.changing(for: .milliseconds(500), of: .seconds(1)), "changing: quiet for 0.5 of 1 s"),
    (.heldOpen(.init(process: 4121, program: "rsync")), "held open for writing by rsync (pid 4121)"),
    (.heldOpen(.init(process: 4121)), "held open for writing by process 4121"),
    (
        .heldOpen(.init(process: 7, program: "bash", isInFolder: true)),
        "bash (pid 7) is in the folder and may still add files"
    ),
    (.paused("The disk is full."), "the pipeline is paused: The disk is full."),
    (.heldOpen(.unknown), "held open for writing by a process"),
    (.verifying, "its digests are being verified"),
    (.refused("a symbolic link"), "refused: a symbolic link"),
    (.excluded("*.bak"), "ignored: '*.bak' of `match.exclude` matches its name"),
    (.manifest(.lacks(3, first: "data/b.bin")), "manifest lists 3 missing files, such as data/b.bin"),
    (.manifest(.differs(1, first: "data/b.bin")), "manifest has a different digest for data/b.bin"),
]

@Suite("Waiting") struct WaitingTests {
    @Test("Each reason is one sentence", arguments: sentences)
    func sentence(_ waiting: Waiting, _ expected: String) { #expect(waiting.text == expected) }

    @Test("Markers and manifests are called by their names")
    func names() throws {
        let marker = try #require(marker)
        let sums = try #require(sums)
        #expect(Waiting.marker(marker, .missing).text == "marker a.csv.done missing")
        #expect(
            Waiting.marker(marker, .size(announced: 10, found: 7)).text
                == "marker a.csv.done says 10 bytes; the drop has 7")
        #expect(
            Waiting.manifest(.unusable(sums, "line 3 is no digest")).text
                == "manifest SHA256SUMS cannot be used: line 3 is no digest")
    }

    @Test("What nobody will change by sending does not count as waiting")
    func counts() {
        #expect(Waiting.heldOpen(.unknown).isWaiting)
        #expect(!Waiting.refused("a FIFO").isWaiting)
        #expect(!Waiting.notIncluded.isWaiting)
    }
}
