import BuiltinStages
import Files
import PipelineKit
import TestSupport
import Testing

@Suite struct MoveStageTests {
    @Test func thePayloadGetsADestination() throws {
        let fixture = try StageFixture(drop: "scan.tar.gz", [1])
        let payload = try fixture.run("move", ["to": ["out/{stem}"]])
        #expect(payload.destination == fixture.scratch.path("out/scan"))
        #expect(payload.isDrop)
        #expect(Folder.kind(of: fixture.scratch.path("out")) == nil, "nothing is made before the settlement")
    }

    @Test func namesThatAreNotTextStayAsTheyAre() throws {
        let name = try #require(FileName(Array("V".utf8) + [0xED]))
        let fixture = try StageFixture(drop: name, [1])
        let payload = try fixture.run("move", ["to": ["out/{name}"]])
        #expect(payload.destination?.lastName == name)
    }

    /// One drop's name must not stop the others.
    @Test(arguments: ["move", "copy"])
    func namesThatCannotBeFolders(kind: String) throws {
        let fixture = try StageFixture(drop: "a.txt", [1])
        try fixture.scratch.write("x", to: "out/a")
        let failure = try fixture.failure(kind, ["to": "out/{stem}/in"])
        #expect(failure.class == .file)
        #expect(failure.code == "\(kind).taken")
        let long = try StageFixture(drop: String(repeating: "x", count: 100), [1])
        #expect(try long.failure(kind, ["to": "out/{stem}-{stem}-{stem}"]).code == "\(kind).destination")
    }

    @Test func aTargetIsNeeded() throws {
        let fixture = try StageFixture(drop: "a", [1])
        #expect(throws: OptionProblem.self) { try fixture.stage("move") }
    }
}

extension MoveStage: ContractSubject {
    // It touches no data.
    static var contract: StageContract { StageContract(options: ["to": "out/{stem}"], work: nil) }
}
