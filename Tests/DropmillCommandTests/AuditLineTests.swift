import FoundationEssentials
import Testing

@testable import Control
@testable import DropmillCommand
@testable import Journal

@Suite struct AuditLineTests {
    private func text(_ verb: String, _ arguments: some Encodable) -> String {
        text(verb, json: ControlLine.text(of: arguments))
    }

    private func text(_ verb: String, json: String) -> String {
        let line = AuditLine(AuditEntry(user: 0, name: "anna", verb: verb, arguments: json))
        return "\(line.verb) \(line.arguments)"
    }

    @Test func aChangeIsToldAsAPersonTypesIt() {
        let drain = HoldVerb.Arguments(kind: .drain, pipelines: ["a", "b"], reason: "RIP", seconds: 5400)
        #expect(text("hold", drain) == #"drain a b --reason "RIP" --for 90m"#)
        #expect(text("hold", HoldVerb.Arguments(kind: nil, pipelines: [], reason: "", seconds: nil)) == "resume ")
        #expect(text("cancel", CancelVerb.Arguments(jobs: ["1", "2", "3", "4", "5"])) == "cancel 1 2 3 and 2 more")
        let drop = DropVerb.Arguments(pipeline: "scans", path: Data("a\nb".utf8))
        #expect(text("bump", BumpVerb.Arguments(waiting: .drop(drop), isLast: true)) == #"bump 'a\nb' of scans --last"#)
        let order = SendingOrder(all: true, pipeline: "scans", name: "*.pdf", code: "x.y", limit: 3)
        #expect(text("retry", order) == "retry --pipeline scans --name '*.pdf' --code x.y --limit 3")
        #expect(text("reload", Nothing()) == "reload ")
    }

    @Test func aVerbIsLookedForAsPeopleTypeIt() {
        for verb in ["pause", "resume", "cancel", nil] {
            var query = AuditQuery(limit: 3)
            query.choose(verb: verb)
            let arguments = AuditVerb.Arguments(query)
            #expect(arguments.verb == verb && arguments.query(limit: 3) == query)
        }
        let pause = ControlLine.text(of: HoldVerb.Arguments(kind: .pause, pipelines: [], reason: ""))
        let resume = ControlLine.text(of: HoldVerb.Arguments(pipelines: [], reason: ""))
        var query = AuditQuery(limit: 3)
        query.choose(verb: "pause")
        #expect(query.verb == "hold" && pause.contains(query.with ?? "") && !resume.contains(query.with ?? ""))
        query.choose(verb: "resume")
        #expect(pause.contains(query.without ?? "") && !resume.contains(query.without ?? "") && query.with == nil)
    }

    @Test func whatNobodyCanReadStaysAsItIs() {
        #expect(text("hold", json: #"{"left_out_bytes":9}"#) == #"hold {"left_out_bytes":9}"#)
        #expect(text("later", json: #"{"a":1}"#) == #"later {"a":1}"#)
        #expect(text("reload", json: #"{"signal":"SIGHUP"}"#) == #"reload {"signal":"SIGHUP"}"#)
    }
}
