import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import Journal

/// What shells offer, asked as they ask.
@Suite struct CompletionTests {
    private let fixture: JournalFixture

    init() throws { fixture = try JournalFixture() }

    /// What bash offers behind these words.
    private func offered(_ words: String...) throws -> [String] {
        let script = try Tool(DropmillBinary.path).run(
            ["--generate-completion-script", "bash"], in: fixture.scratch.path)
        try fixture.scratch.write(script.text, to: "completion")
        let typed = (["dropmill"] + words).map { "'\($0)'" }.joined(separator: " ")
        let asking = """
            PATH=\(DropmillBinary.path.removingLastComponent().string):$PATH
            source completion
            COMP_WORDS=(\(typed)) COMP_CWORD=\(words.count)
            COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE}
            _dropmill dropmill "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let answer = try #require(Tool.find("bash")).run(["-c", asking], in: fixture.scratch.path)
        return answer.text.split(separator: "\n").map(String.init)
    }

    @Test func pipelinesAndJobsAreOfferedByName() throws {
        let failed = try JournalFixture.job(1, .failed, named: "broken.zip")
        try fixture.journal.write([failed, JournalFixture.job(2, .processed)], pipelines: [fixture.pipeline()])
        #expect(try offered("retry", "--state-dir", "state", "") == ["broken.zip", failed.id.text])
        #expect(try offered("pause", "--state-dir", "state", "").contains("scans"))
        #expect(try offered("jobs", "--state-dir", "state", "--pipeline", "").contains("scans"))
        #expect(try offered("pau") == ["pause"])
        let script = try Tool(DropmillBinary.path).run(
            ["--generate-completion-script", "fish"], in: fixture.scratch.path)
        #expect(!script.text.contains("'man'"), "it is for packages")
    }

    @Test func namesThatNeedNoQuotesAreOfferedOnce() throws {
        let records = try ["a.pdf", "two words", "a.pdf", "-x", "it's"].enumerated().map { number, name in
            try JournalFixture.job(number, named: name)
        }
        #expect(Completion.candidates(of: records) == ["a.pdf"] + records.map(\.id.text))
        #expect(Completion.states(for: "retry") == [.failed] && Completion.states(for: "show").isEmpty)
    }
}
