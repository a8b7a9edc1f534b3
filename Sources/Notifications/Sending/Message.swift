import Files
import Journal
import PipelineKit

/// A message as it is sent, in each form.
struct Message {
    /// The line of a head that tells a message that is sent twice.
    static let idHeader = "X-Dropmill-Id"

    let notice: Notice
    let host: String
    let time: Timestamp

    init(_ notice: Notice, host: String, at time: Timestamp) {
        (self.notice, self.host, self.time) = (notice, host, time)
    }

    var isTrouble: Bool { notice.state == .begun || notice.state == .happened }

    /// One line, for those who hear of several hosts.
    var subject: String { "[\(host)] \(notice.title)" }

    func value(_ field: NotifyTemplate.Field) -> String {
        switch field {
        case .id: notice.id
        case .event: notice.event
        case .pipeline: notice.pipeline
        case .count: String(notice.count)
        case .title: notice.title
        case .message: notice.text
        case .state: notice.state.rawValue
        case .host: host
        case .since: notice.since.iso8601
        case .time: time.iso8601
        }
    }

    /// All of it, as JSON.
    var json: String {
        var json = JSONText()
        json.object { json in
            for field in NotifyTemplate.Field.allCases {
                if field == .count {
                    json.integer(field.rawValue, notice.count)
                } else {
                    json.text(field.rawValue, value(field))
                }
            }
        }
        return json.string
    }

    /// What a template makes of it. `isJSON`: values are written as the inside of JSON's strings.
    func filled(_ template: NotifyTemplate, isJSON: Bool) -> String {
        template.filled { field in
            guard isJSON else { return value(field) }
            var json = JSONText()
            json.text(nil, value(field))
            return String(json.string.dropFirst().dropLast())
        }
    }

    /// The same for Apprise's API.
    var apprise: String {
        var json = JSONText()
        json.object { json in
            json.text("title", subject)
            json.text("body", notice.text)
            json.text("type", notice.state == .test ? "info" : isTrouble ? "failure" : "success")
        }
        return json.string
    }

    /// A mail (RFC 5322). Its id lets programs see that it came before.
    func mail(to recipients: [String], from sender: String?) -> String {
        var lines = recipients.isEmpty ? [] : ["To: \(recipients.joined(separator: ",\n "))"]
        if let sender { lines.append("From: \(sender)") }
        lines += [
            "Subject: \(Self.encoded(subject))", "Message-ID: <\(notice.id)@dropmill.invalid>",
            "\(Self.idHeader): \(notice.id)", "Auto-Submitted: auto-generated", "MIME-Version: 1.0",
            "Content-Type: text/plain; charset=utf-8", "Content-Transfer-Encoding: base64", "",
        ]
        let body = Base64.text(of: Array((notice.text + "\n").utf8))
        var rest = body[...]
        while !rest.isEmpty {
            lines.append(String(rest.prefix(76)))
            rest = rest.dropFirst(76)
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// A line of a head: as it is where it is ASCII, else in words that are (RFC 2047), each within its 75 bytes.
    static func encoded(_ text: String) -> String {
        let line = String(text.map { $0.isNewline ? " " : $0 })
        guard !line.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return line }
        var words: [String] = []
        var word = ""
        for scalar in line.unicodeScalars {
            if word.utf8.count + UTF8.width(scalar) > 45, !word.isEmpty {
                words.append(word)
                word = ""
            }
            word.unicodeScalars.append(scalar)
        }
        return (words + [word]).map { "=?UTF-8?B?\(Base64.text(of: Array($0.utf8)))?=" }.joined(separator: " ")
    }
}
