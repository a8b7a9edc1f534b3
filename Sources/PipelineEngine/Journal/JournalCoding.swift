import FoundationEssentials
import PipelineKit
import SystemPackage

/// How the kernel's values stand in the journal's JSON columns. The kernel knows nothing of it. Each is written
/// compactly, leaves out what is empty, and reads as nil where it makes no sense.
extension JSONWriter {
    /// Bytes that are text in nearly every case; where they are not UTF-8: `{"base64":"…"}`.
    mutating func bytes(_ bytes: [UInt8]) {
        if let text = String(validating: bytes, as: UTF8.self) {
            string(text)
        } else {
            object { $0.member("base64", Data(bytes).base64EncodedString()) }
        }
    }

    mutating func member(_ name: String, _ path: FilePath) {
        key(name)
        bytes(path.bytes)
    }

    mutating func strings(_ strings: [String: String]) {
        object { writer in
            for (key, value) in strings.sorted(by: { $0.key < $1.key }) { writer.member(key, value) }
        }
    }

    mutating func failure(_ failure: StageFailure) {
        object { writer in
            writer.member("class", failure.class.rawValue)
            writer.member("code", failure.code)
            writer.member("summary", failure.summary)
            writer.member("remedy", unlessEmpty: failure.remedy)
            writer.member("detail", unlessEmpty: failure.detail)
        }
    }

    mutating func payload(_ payload: Payload) {
        object { writer in
            writer.member("root", payload.root)
            if case .file(let name) = payload.shape {
                writer.key("file")
                writer.bytes(name.bytes)
            }
            if payload.isDrop { writer.member("drop", true) }
            if !payload.companions.isEmpty {
                writer.key("companions")
                writer.array(payload.companions) { $0.companion($1) }
            }
            if let destination = payload.destination { writer.member("destination", destination) }
            if payload.isCopied { writer.member("copied", true) }
            if !payload.copies.isEmpty {
                writer.key("copies")
                writer.array(payload.copies) { $0.copy($1) }
            }
            if !payload.digests.isEmpty {
                writer.key("digests")
                writer.strings(payload.digests)
            }
            if !payload.facts.isEmpty {
                writer.key("facts")
                writer.strings(payload.facts)
            }
        }
    }

    private mutating func copy(_ copy: PayloadCopy) {
        object { writer in
            writer.member("path", copy.path)
            writer.member("folder", copy.isFolder)
            writer.key("companions")
            writer.array(copy.companions) { $0.companion($1) }
            writer.member("destination", copy.destination)
        }
    }

    private mutating func companion(_ companion: Companion) {
        object { writer in
            writer.member("suffix", companion.suffix)
            writer.key("parts")
            writer.array(companion.parts) { writer, part in
                switch part {
                case .text(let text): writer.string(text)
                case .checksumLine(let digest): writer.object { $0.member("checksum", digest) }
                case .taggedLine(let tag, let digest):
                    writer.object { writer in
                        writer.member("tag", tag)
                        writer.member("checksum", digest)
                    }
                case .jsonPath: writer.object { $0.member("path", true) }
                }
            }
        }
    }

    mutating func intent(_ intent: Intent) {
        object { writer in
            writer.member("role", intent.role.rawValue)
            writer.member("source", intent.source)
            writer.member("target", intent.target)
            writer.member("device", intent.identity.device)
            writer.member("inode", intent.identity.inode)
        }
    }

    mutating func transition(_ transition: Transition) {
        object { writer in
            writer.member("event", transition.event)
            writer.member("at", transition.at.nanoseconds)
            if let stage = transition.stage { writer.member("stage", stage) }
            if let duration = transition.duration { writer.member("took", duration.nanoseconds) }
            if let note = transition.note { writer.member("note", note) }
            if transition.times > 1 { writer.member("times", Int64(transition.times)) }
            if let last = transition.lastAt { writer.member("last", last.nanoseconds) }
        }
    }
}

extension JSONValue {
    var bytes: [UInt8]? {
        if let string { return Array(string.utf8) }
        return object?["base64"]?.string.flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    }

    var path: FilePath? { bytes.map { FilePath(bytes: $0) } }

    var strings: [String: String]? {
        guard let object else { return nil }
        let strings = object.compactMapValues(\.string)
        return strings.count == object.count ? strings : nil
    }

    var failure: StageFailure? {
        guard let object, let kind = object["class"]?.string.flatMap({ StageFailure.Class(rawValue: $0) }),
            let code = object["code"]?.string, let summary = object["summary"]?.string
        else { return nil }
        return StageFailure(
            kind, code: code, summary: summary, remedy: object["remedy"]?.string ?? "",
            detail: object["detail"]?.string ?? "")
    }

    var payload: Payload? {
        guard let object, let root = object["root"]?.path else { return nil }
        var payload = Payload(folder: root)
        if let file = object["file"] {
            guard let name = file.bytes.flatMap({ FileName($0) }) else { return nil }
            payload.shape = .file(name)
        }
        payload.isDrop = object["drop"]?.bool ?? false
        if let companions = object["companions"] {
            guard let companions = companions.all(\.companion) else { return nil }
            payload.companions = companions
        }
        if let destination = object["destination"] {
            guard let path = destination.path else { return nil }
            payload.destination = path
        }
        if let digests = object["digests"] {
            guard let digests = digests.strings else { return nil }
            payload.digests = digests
        }
        if let isCopied = object["copied"]?.bool { payload.isCopied = isCopied }
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
        guard let object, let path = object["path"]?.path, let isFolder = object["folder"]?.bool,
            let companions = object["companions"]?.all(\.companion), let destination = object["destination"]?.path
        else { return nil }
        return PayloadCopy(path: path, isFolder: isFolder, companions: companions, destination: destination)
    }

    private var companion: Companion? {
        guard let object, let suffix = object["suffix"]?.string,
            let parts = object["parts"]?.all(\.companionPart)
        else { return nil }
        return Companion(suffix: suffix, parts: parts)
    }

    private var companionPart: Companion.Part? {
        if let string { return .text(string) }
        guard let object else { return nil }
        if object["path"]?.bool == true { return .jsonPath }
        guard let digest = object["checksum"]?.string else { return nil }
        return object["tag"]?.string.map { .taggedLine(tag: $0, digest: digest) } ?? .checksumLine(digest: digest)
    }

    var intent: Intent? {
        guard let object, let role = object["role"]?.string.flatMap({ Intent.Role(rawValue: $0) }),
            let source = object["source"]?.path, let target = object["target"]?.path,
            let device = object["device"]?.integer(UInt64.self), let inode = object["inode"]?.integer(UInt64.self)
        else { return nil }
        return Intent(
            role: role, source: source, target: target, identity: FileIdentity(device: device, inode: inode))
    }

    var transition: Transition? {
        guard let object, let event = object["event"]?.string, let time = object["at"]?.integer(Int64.self) else {
            return nil
        }
        var transition = Transition(
            event, at: Timestamp(nanoseconds: time), stage: object["stage"]?.string,
            duration: object["took"]?.integer(Int64.self).map { .nanoseconds($0) }, note: object["note"]?.string)
        transition.times = object["times"]?.integer(Int.self) ?? 1
        transition.lastAt = object["last"]?.integer(Int64.self).map { Timestamp(nanoseconds: $0) }
        return transition
    }

    /// An array's elements; nil where it is none, or where one of them makes no sense.
    func all<Element>(_ read: (JSONValue) -> Element?) -> [Element]? {
        guard let array else { return nil }
        let elements = array.compactMap(read)
        return elements.count == array.count ? elements : nil
    }
}
