import PipelineKit
import SQLite
import SystemPackage

extension Parameters {
    mutating func blob(_ path: FilePath?) {
        guard let path else { return null() }
        blob { (bytes: inout [UInt8]) in path.withBytes { bytes += $0 } }
    }

    /// What `write` says of a value; NULL where there is none.
    mutating func json<Value>(_ value: Value?, _ write: (inout JSONText, Value) -> Void) {
        guard let value else { return null() }
        text { bytes in
            var json = JSONText(after: bytes)
            // It is the only owner while it writes, so that nothing is copied.
            bytes = []
            write(&json, value)
            bytes = json.bytes
        }
    }

    /// A list; NULL where it is empty.
    mutating func json<Element>(all elements: [Element], _ write: (inout JSONText, Element) -> Void) {
        json(elements.isEmpty ? nil : elements) { json, elements in
            json.array { json in
                for place in elements.indices { write(&json, elements[place]) }
            }
        }
    }
}
