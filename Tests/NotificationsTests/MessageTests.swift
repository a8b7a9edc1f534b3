import Files
import Journal
import PipelineKit
import Testing

@testable import Notifications

/// What is sent, in each form.
@Suite struct MessageTests {
    private func message(_ title: String = "press: 1 failed", _ text: String = "a \"b\"\n{count}") -> Message {
        let start = Timestamp(nanoseconds: 1_700_000_000_000_000_000)
        let notice = Notice(
            id: "abc", rule: "r", event: "failed", pipeline: "press", state: .happened, count: 37, title: title,
            text: text,
            since: start)
        return Message(notice, host: "mill", at: start.advanced(by: .seconds(60)))
    }

    private func template(_ text: String) throws -> NotifyTemplate {
        try NotifyTemplate(OptionNode(.scalar(text, quoted: true), at: SourcePosition(line: 1, column: 1)))
    }

    @Test func templatesAreFilledAsJSONOrAsTheyAre() throws {
        let json = try template(#"{"t":"{message}","n":{count},"x":{"{":1}}"#)
        let filled = message().filled(json, isJSON: true)
        #expect(filled == #"{"t":"a \"b\"\n{count}","n":37,"x":{"{":1}}"#)
        #expect(JSONValue(filled)?.object?["t"]?.string == "a \"b\"\n{count}")
        #expect(
            message().filled(try template("{host}|{state}|{message}"), isJSON: false)
                == "mill|happened|a \"b\"\n{count}")
        #expect(throws: OptionProblem.self) { _ = try template("{pipelin}") }
        #expect(throws: OptionProblem.self) { _ = try template("${file:secret}") }
    }

    @Test func allOfItIsJSON() {
        let members = JSONValue(message().json)?.object
        #expect(members?["count"]?.integer() == 37 && members?["id"]?.string == "abc")
        #expect(members?["since"]?.string == "2023-11-14T22:13:20.000Z" && members?.count == 10)
        #expect(JSONValue(message().apprise)?.object?["type"]?.string == "failure")
    }

    @Test(arguments: [
        ("plain", "plain"), ("größe", "=?UTF-8?B?Z3LDtsOfZQ==?="), ("a\nBcc: x", "a Bcc: x"), ("", ""),
    ])
    func headsAreOneLineOfASCII(text: String, expected: String) {
        #expect(Message.encoded(text) == expected)
    }

    @Test func aLongHeadIsSeveralWords() {
        let words = Message.encoded(String(repeating: "ä", count: 200)).split(separator: " ")
        #expect(words.count == 10 && words.allSatisfy { $0.utf8.count <= 75 })
    }

    @Test func aMailIsOneThatProgramsUnderstand() {
        let mail = message("größe").mail(to: ["a@b", "root"], from: nil)
        #expect(mail.hasPrefix("To: a@b,\n root\nSubject: =?UTF-8?B?"))
        #expect(mail.contains("\nMessage-ID: <abc@dropmill.invalid>\nX-Dropmill-Id: abc\n"))
        #expect(mail.hasSuffix("\n\nYSAiYiIKe2NvdW50fQo=\n"))
        let long = message("x", String(repeating: "a", count: 5000)).mail(to: ["a"], from: nil)
        #expect(long.split(separator: "\n").allSatisfy { $0.utf8.count <= 76 })
    }

    @Test(arguments: [
        ("https://h/key", "https://h/key/fail"), ("https://h/key/", "https://h/key/fail"),
        ("https://h", "https://h/fail"),
        ("https://h/key?a=/b", "https://h/key/fail?a=/b"), ("https://h/key#x", "https://h/key/fail#x"),
    ])
    func aFailureIsBelowTheURL(url: String, expected: String) {
        #expect(WebSender.path("fail", below: url) == expected)
    }

    @Test func whatIsLongIsCut() {
        let notice = message("x", String(repeating: "ä", count: 100_000)).notice
        #expect(notice.text.utf8.count <= 4000 && notice.text.count > 1900 && notice.text.hasSuffix("ä…"))
    }

    /// Servers and rows count bytes, and one character may have any number of them.
    @Test func whatIsOneLongCharacterIsCutToo() throws {
        let endless = "e" + String(repeating: "\u{301}", count: 100_000)
        let notice = message(endless, endless).notice
        #expect(notice.text.utf8.count <= 4000 && notice.title.utf8.count <= 400)
        let read = Notice(
            id: notice.id, rule: "r", event: "failed", pipeline: "press", content: notice.content, since: notice.since,
            tries: 0, next: notice.next)
        #expect(read == notice, "what is cut is not cut again")
        #expect(message(endless).subject.utf8.count < 500)
        let words = Message.encoded(notice.title).split(separator: " ")
        #expect(words.allSatisfy { $0.utf8.count <= 75 }, "\(words.map(\.utf8.count))")
    }
}
