import BuiltinStages
import TestSupport
import Testing

@Suite struct DetectStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "IMG_0042.JPG", Array("%PDF-1.7\n".utf8)) }

    @Test func theContentCountsNotTheName() throws {
        let payload = try fixture.run("detect", ["only": ["image/*", "application/pdf"]])
        #expect(payload.facts == ["type": "application/pdf", "encoding": "us-ascii"])
        #expect(payload.isDrop)
        let failure = try fixture.failure("detect", ["only": "image/*"])
        #expect(
            failure.summary == "'IMG_0042.JPG' is application/pdf by its content, which is not accepted here.")
        #expect(failure.class == .file)
        #expect(try fixture.failure("detect", ["never": "application/*"]).code == "detect.type")
    }

    @Test func ofAFolderEveryFileIsLookedAt() throws {
        let payload = try fixture.folder(["a": "%PDF-1.7\n", "b/c": "text", "d": ""])
        #expect(try fixture.run("detect", on: payload) == payload)
        let failure = try fixture.failure("detect", ["only": ["application/pdf", "application/x-empty"]], on: payload)
        #expect(failure.summary.hasPrefix("'b/c' of 'IMG_0042.JPG' is text/plain"))
    }

    /// Each of these tags says that something else follows, which libmagic then looks at in the same way.
    @Test(arguments: [(2, nil), (30, "detect.limit"), (1000, "detect.limit")] as [(Int, String?)])
    func aFileThatIsHardToLookAtHoldsUpNoOther(tags: Int, code: String?) throws {
        let tag = Array("ID3".utf8) + [3, 0, 0, 0, 0, 0, 0]
        let fixture = try StageFixture(drop: "song.mp3", Array(repeating: tag, count: tags).flatMap { $0 })
        guard let code else {
            #expect(try fixture.run("detect").facts["type"] == "application/octet-stream")
            return
        }
        for kind in ["detect", "select"] {
            let failure = try fixture.failure(kind, kind == "select" ? ["type": "audio/*"] : [:])
            #expect(failure.class == .file)
            #expect(failure.code == code)
            #expect(failure.summary.hasPrefix("The type of 'song.mp3' cannot be detected: indirect"))
        }
        // What holds the rules is none the worse.
        #expect(try self.fixture.run("detect").facts["type"] == "application/pdf")
    }
}
