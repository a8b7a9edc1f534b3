import Files
import FoundationEssentials
package import PipelineKit
package import SystemPackage

/// How the kernel's values stand in the journal's JSON columns. The kernel knows nothing of it. Each is written
/// compactly, leaves out what is empty, and reads as nil where it makes no sense.
extension JSONText {
    /// Bytes that are text in nearly every case; where they are not UTF-8: `{"base64":"…"}`.
    package mutating func bytes(_ key: String? = nil, _ bytes: [UInt8]) {
        bytes.withUnsafeBufferPointer { self.bytes(key, $0) }
    }

    /// A path, in the same way.
    package mutating func path(_ key: String? = nil, _ path: FilePath) {
        path.withBytes { bytes(key, $0) }
    }

    private mutating func bytes(_ key: String?, _ bytes: UnsafeBufferPointer<UInt8>) {
        if text(key, ifUTF8: bytes) { return }
        object(key) { $0.text("base64", Base64.text(of: Array(bytes))) }
    }

    private mutating func text(_ key: String, unlessEmpty value: String) {
        if !value.isEmpty { text(key, value) }
    }

    package mutating func strings(_ key: String? = nil, _ strings: [String: String]) {
        object(key) { json in
            for (key, value) in strings.sorted(by: { $0.key < $1.key }) { json.text(key, value) }
        }
    }

    package mutating func failure(_ failure: Failure) {
        object { json in
            json.text("class", failure.class.rawValue)
            json.text("code", failure.code)
            json.sentence("summary", failure.summarySentence)
            if !failure.remedy.isEmpty { json.sentence("remedy", failure.remedySentence) }
            json.text("detail", unlessEmpty: failure.detail)
        }
    }

    /// What stages were given, by their places.
    package mutating func inputs(_ inputs: [Int: Payload]) {
        array { json in
            for (stage, payload) in inputs.sorted(by: { $0.key < $1.key }) { json.payload(payload, of: stage) }
        }
    }

    package mutating func payload(_ payload: Payload, of stage: Int? = nil) {
        object { json in
            if let stage { json.integer("stage", stage) }
            json.path("root", payload.root)
            if case .file(let name) = payload.shape { json.bytes("file", name.bytes) }
            if payload.isDrop { json.flag("drop", true) }
            if payload.isDone { json.flag("done", true) }
            if !payload.sidecars.isEmpty { json.sidecars(payload.sidecars) }
            if !payload.lines.isEmpty { json.lines(payload.lines) }
            if let destination = payload.destination { json.path("destination", destination) }
            if !payload.copies.isEmpty {
                json.array("copies") { json in
                    for copy in payload.copies { json.copy(copy) }
                }
            }
            if !payload.digests.isEmpty { json.strings("digests", payload.digests) }
            if !payload.facts.isEmpty { json.strings("facts", payload.facts) }
        }
    }

    private mutating func copy(_ copy: PayloadCopy) {
        object { json in
            json.path("path", copy.path)
            json.path("source", copy.source)
            json.flag("folder", copy.isFolder)
            json.sidecars(copy.sidecars)
            if !copy.lines.isEmpty { json.lines(copy.lines) }
            json.path("destination", copy.destination)
        }
    }

    private mutating func sidecars(_ sidecars: [Sidecar]) {
        array("companions") { json in
            for sidecar in sidecars {
                json.object { json in
                    json.text("suffix", sidecar.suffix)
                    json.parts("parts", sidecar.parts)
                }
            }
        }
    }

    private mutating func lines(_ lines: [ListLine]) {
        array("lines") { json in
            for line in lines {
                json.object { json in
                    json.bytes("list", line.list.bytes)
                    json.parts("start", line.start)
                    json.text("digest", line.digest)
                    json.parts("end", line.end)
                    if line.mark != ListText.usualMark { json.bytes("mark", [line.mark]) }
                }
            }
        }
    }

    private mutating func parts(_ key: String, _ parts: [Sidecar.Part]) {
        array(key) { json in
            for part in parts { json.part(part) }
        }
    }

    private mutating func part(_ part: Sidecar.Part) {
        switch part {
        case .text(let value): text(nil, value)
        case .name(.verbatim): object { $0.flag("name", true) }
        case .name(.checksumList): object { $0.text("name", "checksum_list") }
        case .name(.jsonMember(let key)): object { $0.text("member", key) }
        case .escapeMark: object { $0.flag("escape_mark", true) }
        }
    }

    package mutating func intent(_ intent: Intent) {
        object { json in
            json.text("role", intent.role.rawValue)
            json.path("source", intent.source)
            json.path("target", intent.target)
            json.integer("device", intent.identity.device)
            json.integer("inode", intent.identity.inode)
        }
    }

    package mutating func workPlace(_ place: WorkPlace) {
        object { json in
            json.path("path", place.path)
            json.integer("inbox", place.inbox)
            json.integer("file_system", place.fileSystem)
            json.integer("mount", place.mount)
            if let run = place.leftBy { json.value("left_by") { $0.run(run) } }
        }
    }

    package mutating func transition(_ transition: Transition) {
        object { json in
            json.text("event", transition.event)
            json.integer("at", transition.at.nanoseconds)
            if let stage = transition.stage { json.text("stage", stage) }
            if let duration = transition.duration { json.integer("took", duration.nanoseconds) }
            if let code = transition.code { json.text("code", code) }
            if let note = transition.note { json.text("note", note) }
            if transition.times > 1 { json.integer("times", transition.times) }
            if let last = transition.lastAt { json.integer("last", last.nanoseconds) }
        }
    }
}

extension JSONValue {
    package var bytes: [UInt8]? {
        if let string { return Array(string.utf8) }
        return object?["base64"]?.string.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    }

    package var path: FilePath? { bytes.map { FilePath(bytes: $0) } }

    package var strings: [String: String]? {
        guard let object else { return nil }
        let strings = object.compactMapValues(\.string)
        return strings.count == object.count ? strings : nil
    }

    package var failure: Failure? {
        guard let object, let kind = object["class"]?.string.flatMap({ Failure.Class(rawValue: $0) }),
            let code = object["code"]?.string, let summary = object["summary"]?.string
        else { return nil }
        return Failure(
            kind, code: code, summary: object.sentence("summary") ?? Sentence(summary),
            remedy: object.sentence("remedy") ?? "", detail: object["detail"]?.string ?? "")
    }

    package var inputs: [Int: Payload]? {
        all { value in
            value.object?["stage"]?.integer(Int.self).flatMap { stage in value.payload.map { (stage, $0) } }
        }.map { Dictionary($0) { first, _ in first } }
    }

    package var payload: Payload? {
        guard let object, let root = object["root"]?.path else { return nil }
        var payload = Payload(folder: root)
        if let file = object["file"] {
            guard let name = file.bytes.flatMap({ FileName($0) }) else { return nil }
            payload.shape = .file(name)
        }
        payload.isDrop = object["drop"]?.bool ?? false
        payload.isDone = object["done"]?.bool ?? false
        if let sidecars = object["companions"] {
            guard let sidecars = sidecars.all(\.sidecar) else { return nil }
            payload.sidecars = sidecars
        }
        if let lines = object["lines"] {
            guard let lines = lines.all(\.line) else { return nil }
            payload.lines = lines
        }
        if let destination = object["destination"] {
            guard let path = destination.path else { return nil }
            payload.destination = path
        }
        if let digests = object["digests"] {
            guard let digests = digests.strings else { return nil }
            payload.digests = digests
        }
        if let copies = object["copies"] {
            guard let copies = copies.all(\.copy) else { return nil }
            payload.copies = copies
        }
        if let facts = object["facts"] {
            guard let facts = facts.strings else { return nil }
            payload.facts = facts
        }
        return payload
    }

    private var copy: PayloadCopy? {
        guard let object, let path = object["path"]?.path, let source = object["source"]?.path,
            let isFolder = object["folder"]?.bool, let sidecars = object["companions"]?.all(\.sidecar),
            let destination = object["destination"]?.path
        else { return nil }
        var lines: [ListLine] = []
        if let found = object["lines"] {
            guard let all = found.all(\.line) else { return nil }
            lines = all
        }
        return PayloadCopy(
            path: path, of: source, isFolder: isFolder, sidecars: sidecars, lines: lines, destination: destination)
    }

    private var line: ListLine? {
        guard let object, let list = object["list"]?.bytes.flatMap({ FileName($0) }),
            let start = object["start"]?.all(\.sidecarParts), let digest = object["digest"]?.string,
            let end = object["end"]?.all(\.sidecarParts)
        else { return nil }
        let mark = object["mark"]?.bytes?.first ?? ListText.usualMark
        return ListLine(
            list: list, start: Array(start.joined()), digest: digest, end: Array(end.joined()), mark: mark)
    }

    private var sidecar: Sidecar? {
        guard let object, let suffix = object["suffix"]?.string, let parts = object["parts"]?.all(\.sidecarParts)
        else { return nil }
        return Sidecar(suffix: suffix, parts: Array(parts.joined()))
    }

    private var sidecarParts: [Sidecar.Part]? {
        if let string { return [.text(string)] }
        guard let object else { return nil }
        if object["name"]?.bool == true { return [.name(.verbatim)] }
        if object["name"]?.string == "checksum_list" { return [.name(.checksumList)] }
        if let key = object["member"]?.string { return [.name(.jsonMember(key))] }
        if object["escape_mark"]?.bool == true { return [.escapeMark] }
        // Version 0.1.0 wrote whole lines of checksum lists.
        if object["path"]?.bool == true { return [.name(.jsonMember("path"))] }
        guard let digest = object["checksum"]?.string else { return nil }
        guard let tag = object["tag"]?.string else {
            return [.escapeMark, .text("\(digest)  "), .name(.checksumList), .text("\n")]
        }
        return [.escapeMark, .text("\(tag) ("), .name(.checksumList), .text(") = \(digest)\n")]
    }

    package var intent: Intent? {
        guard let object, let role = object["role"]?.string.flatMap({ Intent.Role(rawValue: $0) }),
            let source = object["source"]?.path, let target = object["target"]?.path,
            let device = object["device"]?.integer(UInt64.self), let inode = object["inode"]?.integer(UInt64.self)
        else { return nil }
        return Intent(
            role: role, source: source, target: target, identity: FileIdentity(device: device, inode: inode))
    }

    package var workPlace: WorkPlace? {
        guard let path = object?["path"]?.path, let inbox = object?["inbox"]?.integer(UInt64.self) else { return nil }
        var place = WorkPlace(
            path: path, inbox: inbox, fileSystem: object?["file_system"]?.integer(UInt64.self) ?? 0,
            mount: object?["mount"]?.integer(UInt64.self) ?? 0)
        place.leftBy = object?["left_by"]?.run
        return place
    }

    package var transition: Transition? {
        guard let object, let event = object["event"]?.string, let time = object["at"]?.integer(Int64.self) else {
            return nil
        }
        var transition = Transition(
            event, at: Timestamp(nanoseconds: time), stage: object["stage"]?.string,
            duration: object["took"]?.integer(Int64.self).map { .nanoseconds($0) }, code: object["code"]?.string,
            note: object["note"]?.string)
        transition.times = object["times"]?.integer(Int.self) ?? 1
        transition.lastAt = object["last"]?.integer(Int64.self).map { Timestamp(nanoseconds: $0) }
        return transition
    }

    /// An array's elements; nil where it is none, or where one of them makes no sense.
    package func all<Element>(_ read: (JSONValue) -> Element?) -> [Element]? {
        guard let array else { return nil }
        let elements = array.compactMap(read)
        return elements.count == array.count ? elements : nil
    }
}
