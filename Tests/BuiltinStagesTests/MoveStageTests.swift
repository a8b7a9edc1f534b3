import BuiltinStages
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

    @Test func aTargetIsNeeded() throws {
        let fixture = try StageFixture(drop: "a", [1])
        #expect(throws: OptionProblem.self) { try fixture.stage("move") }
    }
}
