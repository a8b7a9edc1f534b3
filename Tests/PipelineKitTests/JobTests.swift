import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct JobIDTests {
    @Test func sortsInTheOrderOfAskingWithinAMillisecond() {
        let generator = JobIDGenerator()
        let time = Timestamp(seconds: 1_772_323_200, nanoseconds: 123_000_000)
        let ids = (0..<1000).map { _ in generator.next(at: time) }
        #expect(ids == ids.sorted())
        #expect(Set(ids).count == ids.count)
        #expect(ids.allSatisfy { $0.time == time })
    }

    @Test func sortsInTheOrderOfAskingWhenTheClockIsSetBack() {
        let generator = JobIDGenerator()
        let ids = [5, 3, 1, 6].map { generator.next(at: Timestamp(seconds: $0, nanoseconds: 0)) }
        #expect(ids == ids.sorted())
        #expect(ids[1].time == ids[0].time)
        #expect(ids[3].time.milliseconds == 6000)
    }

    @Test func sortsByTimeAcrossGenerators() {
        let early = JobIDGenerator().next(at: Timestamp(seconds: 100, nanoseconds: 0))
        let late = JobIDGenerator().next(at: Timestamp(seconds: 100, nanoseconds: 1_000_000))
        #expect(early < late)
        #expect(early.text < late.text)
    }

    @Test func isTheSameWhenReadAgain() throws {
        let id = JobIDGenerator().next()
        #expect(JobID(id.text) == id)
        #expect(FileName(id.text)?.utf8 == "\(id)")
        #expect(id.text.utf8.count == 26)
    }

    @Test func timesBeforeTheEpochCountAsIt() {
        #expect(JobIDGenerator().next(at: Timestamp(nanoseconds: -5)).time.nanoseconds == 0)
    }

    @Test(arguments: [
        "", "0", "01ARZ3NDEKTSV4RRFFQ69G5FA", "01ARZ3NDEKTSV4RRFFQ69G5FAVX", "01arz3ndektsv4rrffq69g5fav",
        "81ARZ3NDEKTSV4RRFFQ69G5FAV", "01ARZ3NDEKTSV4RRFFQ69G5FAU", "01ARZ3NDEKTSV4RRFFQ69G5FA/",
        "é1ARZ3NDEKTSV4RRFFQ69G5FA",
    ])
    func refusesOtherTexts(_ text: String) {
        #expect(JobID(text) == nil)
    }

    @Test func takesAULID() throws {
        #expect(try #require(JobID("01ARZ3NDEKTSV4RRFFQ69G5FAV")).time.milliseconds == 1_469_922_850_259)
    }
}

@Suite struct PayloadTests {
    private func job(_ name: FileName) -> Job {
        Job(
            id: JobIDGenerator().next(), pipeline: "p",
            drop: Drop(name: name, size: 1, droppedAt: Timestamp(nanoseconds: 0)),
            claimedAt: Timestamp(nanoseconds: 0), folder: "/work/J")
    }

    @Test func atFirstIsTheDrop() throws {
        let job = job(try #require(FileName("a.zip")))
        let payload = Payload(dropOf: job)
        #expect(payload.isDrop)
        #expect(payload.path == "/work/J/a.zip")
        #expect(payload.path == job.original)
        #expect(job.scratch(stage: 0, kind: "unpack") == "/work/J/.1-unpack")
    }

    @Test func aFolderListsItsFilesByBytes() throws {
        let scratch = try ScratchFolder()
        for name in ["b", "a/z", "a-b", "B"] { try scratch.write("", to: "job/made/\(name)") }
        let job = job(try #require(FileName("drop")))
        let context = StageContext(
            job: .init(of: job), disk: .init(scratch: scratch.path("job/.1-fake")))
        let payload = Payload(folder: scratch.path("job/made"))
        let files = try context.files(of: payload)
        #expect(files.map(\.relative) == ["B", "a-b", "a/z", "b"])
        #expect(payload.path(of: files[2]) == scratch.path("job/made/a/z"))
        #expect(!payload.isDrop)
    }

    @Test(arguments: [
        ("a b.txt", "# a b.txt|a b.txt|\"path\":\"a b.txt\""), ("a\nb", "\\# a\nb|a\\nb|\"path\":\"a\\nb\""),
        ("a\rb\\", "\\# a\rb\\|a\\rb\\\\|\"path\":\"a\\rb\\\\\""),
    ])
    func aSidecarNamesThePayloadAsItEndsUp(_ name: String, _ text: String) throws {
        let parts: [Sidecar.Part] = [
            .escapeMark, .text("# "), .name(.verbatim), .text("|"), .name(.checksumList), .text("|"),
            .name(.jsonMember("path")),
        ]
        let sidecar = Sidecar(suffix: ".x", parts: parts)
        #expect(String(decoding: sidecar.contents(for: try #require(FileName(name))), as: UTF8.self) == text)
    }

    @Test func aNameThatIsNoTextIsTwoMembers() throws {
        let sidecar = Sidecar(suffix: ".x", parts: [.name(.jsonMember("path"))])
        let contents = sidecar.contents(for: try #require(FileName([0x61, 0xFF])))
        #expect(String(decoding: contents, as: UTF8.self) == #""path":"a\\xFF","path_base64":"Yf8=""#)
    }
}
