import PipelineKit
package import SystemPackage

extension JobRecord {
    /// The same with other paths: each that is in it is changed.
    package func mappingPaths(_ change: (FilePath) -> FilePath) -> JobRecord {
        var record = self
        record.payload = payload?.mappingPaths(change)
        record.inputs = inputs?.mapValues { $0.mappingPaths(change) }
        for place in intents.indices {
            record.intents[place].source = change(intents[place].source)
            record.intents[place].target = change(intents[place].target)
        }
        record.outputs = outputs.map(change)
        record.original = original.map(change)
        return record
    }
}

extension Payload {
    fileprivate func mappingPaths(_ change: (FilePath) -> FilePath) -> Payload {
        var payload = self
        payload.root = change(root)
        payload.destination = destination.map(change)
        for place in copies.indices {
            payload.copies[place].path = change(copies[place].path)
            payload.copies[place].source = change(copies[place].source)
            payload.copies[place].destination = change(copies[place].destination)
        }
        return payload
    }
}
