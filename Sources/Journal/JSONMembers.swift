import PipelineKit

/// An object's members, as they are read one after another.
struct JSONMembers {
    private let object: [String: JSONValue]
    /// Whether all that were there could be read.
    private(set) var makeSense = true

    init(_ value: JSONValue) { object = value.object ?? [:] }

    subscript<Value>(_ key: String, _ read: (JSONValue) -> Value?) -> Value? {
        mutating get {
            guard let member = object[key] else { return nil }
            let value = read(member)
            if value == nil { makeSense = false }
            return value
        }
    }

    mutating func id(_ key: String) -> JobID? { self[key, { $0.string.flatMap { JobID($0) } }] }
}
